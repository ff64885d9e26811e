package match

// maxUnasked bounds what regexp is asked, which cannot be interrupted: bytes × instructions × matches, some 30 ms
// at worst.
const maxUnasked = 3_000_000

// Spans appends to dst where matches lie in a line that has no line end, in order and without overlap, max of them at
// most, or all when max is negative. They are those of regexp.FindAllIndex.
//
// With ok false the rest would cost too much, about a second, or Interrupt's stop said yes: dst holds the first matches.
func (m *Matcher) Spans(dst [][2]int, line []byte, max int) (_ [][2]int, ok bool) {
	if m.p.single != nil {
		return occurrences(dst, m.p.single, line, max), true
	}
	if m.places == nil {
		m.places = newLocator(m.p.prog)
		m.places.stop = m.stop
	}
	if m.places.quick || !m.p.cheap(len(line), max) {
		return m.places.all(dst, line, max)
	}
	for _, loc := range m.p.re.FindAllIndex(line, max) {
		dst = append(dst, [2]int{loc[0], loc[1]})
	}
	return dst, true
}

// SpansAll is Spans for a text of several lines, all of which end in \n.
func (m *Matcher) SpansAll(dst [][2]int, text []byte, max int) (_ [][2]int, ok bool) {
	return m.Spans(dst, text, max)
}

// cheap reports whether regexp finds so many matches in so many bytes at once, however it goes.
func (p *Pattern) cheap(size, max int) bool {
	if max < 0 || max > size {
		max = size + 1
	}
	return size <= maxUnasked/len(p.prog.Inst)/(max+1)
}
