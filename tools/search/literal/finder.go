package literal

// Clause is a set of alternatives: a text fulfils it if one of the needles is in it.
type Clause []Needle

// Finder finds the next of several needles in one buffer. It remembers what it found ahead, so that it passes over the
// buffer at most once for each needle however often it is asked, and once for up to four together where some bytes of
// each can be compared at once. It is for one goroutine; the needles may be shared.
type Finder struct {
	buffer []byte
	groups []group
}

// group is neighbouring needles that are looked for together.
type group struct {
	needles Clause
	number  int    // of the first of them
	crowd   *crowd // nil for a single needle
	next    occurrence
}

// occurrence is where a needle begins, and its number. A position that is the size of the buffer stands for never.
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

// grow makes the group as many of the needles of c as can be looked for together.
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
// needle, the lowest of those that begin there. Both are -1 when there is none. Between resets from never falls.
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
