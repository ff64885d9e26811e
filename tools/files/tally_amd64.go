package files

import "golang.org/x/sys/cpu"

// hasWide says whether the processor has what tallyWide uses.
var hasWide = cpu.X86.HasAVX2 && cpu.X86.HasPOPCNT

// tallyWide looks at rounds of 64 bytes from b on, at least one: how many LF there are, and a bit each for places with a
// byte above 0x7f, with NUL and with CR.
//
//go:noescape
func tallyWide(b *byte, rounds int) (lf int, beyond, zero, returns uint32)
