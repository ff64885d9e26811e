package literal

import "golang.org/x/sys/cpu"

// wide reports whether the processor has the registers that scanWide uses.
var wide = cpu.X86.HasAVX2

// scanWide skips rounds of 64 positions from b, at least one, without a position where the pair matches. It returns
// the position of the next round, and a bit for each of its positions where the pair matches. If there is no such
// round it returns the last round and 0. It reads 64 bytes a round at both offsets of the pair.
//
//go:noescape
func scanWide(b *byte, rounds int, p *pair) (at int, mask uint64)

// scanCrowd is scanWide for a crowd. It reads 64 bytes a round at each of the crowd's steps beyond b.
//
//go:noescape
func scanCrowd(b *byte, rounds int, c *crowd) (at int, mask uint64)
