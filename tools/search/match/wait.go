package match

import (
	"slices"

	"toolhost/tools/search/literal"
)

const (
	waitAfter  = 1 << 20 // bytes that are processed before the check pays off
	waitWeight = 5       // minimum weight of a rare byte
	maxSame    = 32      // states
)

// requiredByte is a byte that every matching line contains. The zero value: none.
type requiredByte struct {
	byte
	known bool // there is such a byte
	tried bool // waits was computed
	waits bool // the automaton can jump to the byte
}

// rareByte picks a byte of the conditions that is rare enough.
func rareByte(required []literal.Clause) requiredByte {
	for _, clause := range required {
		n := &clause[0]
		if len(clause) == 1 && len(n.Text()) == 1 && !n.Fold() && n.Weight() >= waitWeight {
			return requiredByte{byte: n.Text()[0], known: true}
		}
	}
	return requiredByte{}
}

// waits reports whether only c leads away from the beginning of a line, so that bytes before the first c make no
// difference. Several states may be equivalent to the start, such as those within an irrelevant rune.
func (a *automaton) waits(c byte) bool {
	same, goal := []uint32{start}, a.step(start, c)
	for i := 0; i < len(same); i++ {
		for other := range 256 {
			to := a.step(same[i], byte(other))
			switch {
			case byte(other) == c:
				if to != goal {
					return false
				}
			case to&special != 0, len(same) == maxSame:
				return false
			case !slices.Contains(same, to):
				same = append(same, to)
			}
		}
	}
	return true
}
