package literal

import "golang.org/x/sys/cpu"

// wide says whether the processor has the registers that scanWide uses.
var wide = cpu.X86.HasAVX2

// scanWide passes over rounds of 64 positions from b on, at least one, in which the pair is nowhere in place. It
// returns at which position the next begins, and a bit for each of its positions where the pair is in place. If there
// is none that is the last one, and 0. It reads 64 bytes a round from either offset of the pair.
//
//go:noescape
func scanWide(b *byte, rounds int, p *pair) (at int, mask uint64)

// scanCrowd is scanWide for a crowd. It reads 64 bytes a round from each of the crowd's steps beyond b.
//
//go:noescape
func scanCrowd(b *byte, rounds int, c *crowd) (at int, mask uint64)
