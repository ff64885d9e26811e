package match

// maxUnasked bounds the work that is passed to regexp, which cannot be interrupted: bytes × instructions × matches,
// some 30 ms at worst.
const maxUnasked = 3_000_000

// Spans appends the bounds of the matches in line, which has no line end, to dst: in order, without overlap, at most
// max of them, or all if max is negative. The result equals regexp.FindAllIndex.
//
// If ok is false, the rest would cost too much, about a second, or the function set by Interrupt returned true. Then
// dst holds the first matches.
func (m *Matcher) Spans(dst [][2]int, line []byte, max int) (_ [][2]int, ok bool) {
	if m.p.single != nil {
		return occurrences(dst, m.p.single, line, max), true
	}
	if m.places == nil {
		m.places = newLocator(m.p.prog)
		m.places.stop = m.stop
	}
	if m.places.quick || !m.cheap(len(line), max) {
		return m.places.all(dst, line, max)
	}
	for _, loc := range m.p.re.FindAllIndex(line, max) {
		dst = append(dst, [2]int{loc[0], loc[1]})
	}
	return dst, true
}

// SpansAll is Spans for a text of several lines that all end in \n.
func (m *Matcher) SpansAll(dst [][2]int, text []byte, max int) (_ [][2]int, ok bool) {
	return m.Spans(dst, text, max)
}

// cheap reports whether regexp finds max matches in size bytes quickly in every case.
func (m *Matcher) cheap(size, max int) bool {
	if max < 0 || max > size {
		max = size + 1
	}
	return size <= maxUnasked/len(m.p.prog.Inst)/(max+1)
}
