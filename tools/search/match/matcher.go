package match

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"toolhost/tools/search/literal"
)

const blockSize = 64 << 10 // bytes that the automaton processes before the found lines are returned

// Matcher finds the matching lines of one buffer after another. It is for one goroutine.
//
// It keeps its transition table from buffer to buffer, which makes it fast: 8 MiB at most.
type Matcher struct {
	p      *Pattern
	way    way
	finder *literal.Finder // nil: no needles to search for
	trust  trust
	walker walker
	stop   func() bool
	legacy bool     // see Legacy
	places *locator // created on demand
	progress
}

// progress is how far a buffer is searched.
type progress struct {
	buf   []byte
	at    int // lines that begin before this are done: returned, queued in found, or without a match
	found lineIter
}

// Matcher returns a new matcher.
func (p *Pattern) Matcher() *Matcher {
	m := &Matcher{p: p, way: p.way}
	if p.letters != nil {
		m.walker = walker{a: newAutomaton(newSituation(p.prog, p.letters, !p.multiline)), awaited: rareByte(p.required)}
	}
	if m.way.clause != nil {
		m.finder = literal.NewFinder(m.way.clause)
	}
	return m
}

// Legacy sets whether Next, for a pattern that is ASCII, also returns lines that are not UTF-8 and may match once they are
// decoded.
func (m *Matcher) Legacy(also bool) { m.legacy = also && m.p.ascii }

// Reset begins a new buffer of whole lines; the last line may lack its end. buf must not change before the next
// Reset.
func (m *Matcher) Reset(buf []byte) {
	m.progress = progress{buf: buf}
	if m.finder != nil {
		m.finder.Reset(buf)
	}
}

// Interrupt sets a function that is called from time to time while the automaton of a slow pattern grows, or while
// matches are located in much text. Once stop returns true, Next returns no more lines and Has returns false,
// permanently. Most patterns never call it.
func (m *Matcher) Interrupt(stop func() bool) {
	m.stop = stop
	if m.places != nil {
		m.places.stop = stop
	}
	if m.walker.a != nil {
		m.walker.a.stop = stop
	}
}

// stopped reports whether stop returned true.
func (m *Matcher) stopped() bool { return m.walker.a != nil && m.walker.a.stopped }

// Next returns the next matching line that begins at or after from: buf[start:end], without its \n. from must be the
// beginning of a line and must not decrease between resets.
func (m *Matcher) Next(from int) (start, end int, ok bool) {
	for !m.stopped() {
		if line, ok := m.found.next(from); ok {
			return line.start, line.end, true
		}
		if m.at = max(m.at, from); m.at >= len(m.buf) {
			return 0, 0, false
		}
		if m.finder == nil || !m.way.sure && m.trust.lost() {
			m.walk()
		} else if line, ok := m.seek(); ok {
			return line.start, line.end, true
		}
	}
	return 0, 0, false
}

// walk finds the matching lines of the next block with the automaton alone.
func (m *Matcher) walk() {
	to := len(m.buf)
	if to-m.at > blockSize {
		to = min(to, lineEnd(m.buf, m.at+blockSize)+1)
	}
	if m.legacy && !utf8.Valid(m.buf[m.at:to]) {
		m.walkLegacy(to)
		return
	}
	m.found.set(m.walker.walk(m.buf, m.at, to))
	m.trust.walk(to - m.at)
	m.at = to
}

// walkLegacy finds the lines of a block that match or are not UTF-8.
func (m *Matcher) walkLegacy(to int) {
	m.trust.walk(to - m.at)
	var lines []span
	for m.at < to {
		line := span{m.at, lineEnd(m.buf, m.at)}
		m.at = line.end + 1
		if !utf8.Valid(m.buf[line.start:line.end]) || m.walker.matches(m.buf[line.start:line.end]) {
			lines = append(lines, line)
		}
	}
	m.at = to
	m.found.set(&[4]lane{{hits: lines}})
}

// seek finds the next matching line by its needles. It gives up when too many lines hold a needle but do not match.
func (m *Matcher) seek() (line span, ok bool) {
	for m.at < len(m.buf) && (m.way.sure || !m.trust.lost()) {
		at, _ := m.finder.Next(m.at)
		if at < 0 {
			m.trust.pass(len(m.buf) - m.at)
			m.at = len(m.buf)
			break
		}
		line := span{m.at + bytes.LastIndexByte(m.buf[m.at:at], '\n') + 1, lineEnd(m.buf, at)}
		m.trust.pass(line.end - m.at)
		m.at = line.end + 1
		text := m.buf[line.start:line.end]
		if m.way.sure || m.verify(text) || m.legacy && !utf8.Valid(text) {
			return line, true
		}
	}
	return span{}, false
}

// verify reports whether a line with a needle matches.
func (m *Matcher) verify(line []byte) bool {
	if m.way.also != nil && !fulfils(line, m.way.also) {
		return false
	}
	m.trust.check(len(line))
	return m.walker.matches(line)
}

// Has reports whether text contains a match. Every line of text ends in \n.
func (m *Matcher) Has(text []byte) bool {
	if m.p.exact != nil {
		return fulfils(text, m.p.exact)
	}
	for _, clause := range m.p.required {
		if !fulfils(text, clause) {
			return false
		}
	}
	return m.walker.holds(text) && !m.stopped()
}

// May reports whether text fulfils the conditions on every match (Pattern.Required).
func (m *Matcher) May(text []byte) bool {
	return !slices.ContainsFunc(m.p.required, func(c literal.Clause) bool { return !fulfils(text, c) })
}

// fulfils reports whether text contains one of the needles.
func fulfils(text []byte, c literal.Clause) bool {
	for i := range c {
		if c[i].Index(text) >= 0 {
			return true
		}
	}
	return false
}
