package ignore

import (
	"bytes"
	"strings"
)

// set holds the rules of one ignore file, and those above that it overrides. Most rules are found by looking up the
// name; only the others are tried one by one.
type set struct {
	above    *set
	skip     int   // length of the directory's path, which the file's patterns do not see
	names    table // "x": the last name
	paths    table // "/x", "a/x": the path from the file's directory
	suffixes table // "*.x": the last name from one of its dots on
	dots     int   // the most dots in a key of suffixes
	globs    globs // all others
}

// newSet returns the rules of text in front of those above; at is the path of the file's directory. If text has no
// rules it returns above.
func newSet(above *set, at string, text []byte, fold bool) *set {
	if len(text) == 0 {
		return above
	}
	s := &set{above: above, skip: len(at)}
	var last rank
	for line := range lines(string(text)) {
		if r, ok := parseRule(line, fold); ok {
			last = last.next(r.negated)
			r.rank = last
			s.add(r)
		}
	}
	if last == none {
		return above
	}
	s.globs.lastFirst()
	return s
}

func (s *set) add(r rule) {
	switch {
	case r.literal() && r.path:
		s.paths.add(r.prefix, r)
	case r.literal():
		s.names.add(r.prefix, r)
	case r.extension():
		s.dots = max(s.dots, strings.Count(r.suffix, "."))
		s.suffixes.add(r.suffix, r)
	default:
		s.globs.add(r)
	}
}

// decide returns the last rule of the innermost file that has one for t. When t has no steps left, rules that were not
// tried do not match.
func (s *set) decide(t *target) rank {
	for ; s != nil && t.left.take(setCost+len(t.path)/deepCost); s = s.above {
		t.rel = t.path[s.skip:]
		if found := s.match(t); found != none {
			return found
		}
	}
	return none
}

// match returns the last rule that matches t.
func (s *set) match(t *target) rank {
	found := max(s.names.find(t.name, t.dir), s.paths.find(t.rel, t.dir))
	end := len(t.name)
	for range s.dots {
		if end = bytes.LastIndexByte(t.name[:end], '.'); end < 0 || !t.left.take(dotCost) {
			break
		}
		found = max(found, s.suffixes.find(t.name[end:], t.dir))
	}
	return s.globs.find(t, found)
}
