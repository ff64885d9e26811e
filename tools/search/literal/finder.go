package literal

// Finder finds the next of several needles in one buffer. It caches hits further ahead, so it scans the buffer at
// most once per needle however often it is called, and once for up to four needles that can be compared together. It
// is for one goroutine; the needles may be shared.
type Finder struct {
	buffer []byte
	groups []group
}

// group is a set of neighbouring needles that are searched together.
type group struct {
	needles Clause
	number  int    // of the first of them
	crowd   *crowd // nil for a single needle
	next    occurrence
}

// occurrence is the position of a needle, and its number. A position equal to the buffer size means none.
type occurrence struct{ at, which int }

// NewFinder returns a finder for the needles of c, with an empty buffer. c must not change as long as it is in use.
func NewFinder(c Clause) *Finder { return newFinder(c, wide) }

func newFinder(c Clause, wide bool) *Finder {
	f := &Finder{}
	for number := 0; number < len(c); {
		g := group{needles: c[number : number+1], number: number}
		if wide {
			g.grow(c[number:])
		}
		f.groups = append(f.groups, g)
		number += len(g.needles)
	}
	f.Reset(nil)
	return f
}

// grow adds as many needles of c to the group as can be searched together.
func (g *group) grow(c Clause) {
	for size := min(len(c), maxCrowd); size > 1; size-- {
		if crowd := newCrowd(c[:size]); crowd != nil {
			g.needles, g.crowd = c[:size], crowd
			return
		}
	}
}

// Reset gives the finder another buffer, which must not change before the next Reset.
func (f *Finder) Reset(b []byte) {
	f.buffer = b
	for i := range f.groups {
		f.groups[i].next.at = -1
	}
}

// Next returns the first occurrence of a needle that begins at or after from: its position and the number of its
// needle, the lowest if several begin there. Both are -1 if there is none. from must not decrease between resets.
func (f *Finder) Next(from int) (at, which int) {
	first := occurrence{len(f.buffer), -1}
	for i := range f.groups {
		g := &f.groups[i]
		if g.next.at < from {
			g.next = g.find(f.buffer, from)
		}
		if g.next.at < first.at {
			first = g.next
		}
	}
	if first.which < 0 {
		return -1, -1
	}
	return first.at, first.which
}

// find returns the first occurrence of a needle of the group in b that begins at or after from.
func (g *group) find(b []byte, from int) occurrence {
	if g.crowd != nil && len(b) >= round+g.crowd.steps[2] {
		return g.findTogether(b, from)
	}
	first := occurrence{len(b), -1}
	for i := range g.needles {
		if at := g.needles[i].Index(b[min(from, len(b)):]); at >= 0 && from+at < first.at {
			first = occurrence{from + at, g.number + i}
		}
	}
	return first
}
