package match

import "slices"

const (
	waitAfter  = 1 << 20 // bytes that are walked before it pays to find out
	waitWeight = 5       // of a byte that is rare enough
	maxSame    = 32      // states
)

// awaited is a byte that all lines that match hold. The zero value: there is none.
type awaited struct {
	byte
	known bool // there is one
	tried bool // whether it can be waited for was found out
	waits bool // it can
}

// awaits chooses a byte that is rare enough.
func (p *Pattern) awaits() awaited {
	for _, clause := range p.required {
		n := &clause[0]
		if len(clause) == 1 && len(n.Text()) == 1 && !n.Fold() && n.Weight() >= waitWeight {
			return awaited{byte: n.Text()[0], known: true}
		}
	}
	return awaited{}
}

// waits reports whether no byte but c leads anywhere from the beginning of a line: what comes before the first c makes
// no difference. Several states may say the same, such as those within a rune that does not matter.
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
