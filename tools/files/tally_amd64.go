package files

import "golang.org/x/sys/cpu"

// hasWide reports whether the processor has the instructions that tallyWide uses.
var hasWide = cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT

// tallyWide scans rounds of 64 bytes from b, at least one. It returns the number of LF, and one nonzero mask each if
// there are bytes above 0x7f, NUL, and CR.
//
//go:noescape
func tallyWide(b *byte, rounds int) (lf int, beyond, zero, returns uint32)
