package classify

import "toolhost/classify/program"

// scratch is memory of one analysis that the next one reuses. The result of an analysis never refers to it.
type scratch struct {
	parsing program.Memory
	argvs   []program.Word // of simple commands; each expansion takes a part of it
	scopes  []*scope       // of subshells that ended
}

const manyWords = 64

// room returns an empty list with room for some words.
func (s *scratch) room(n int) []program.Word {
	if cap(s.argvs)-len(s.argvs) < n {
		s.argvs = make([]program.Word, 0, max(n, manyWords)) // the words before keep theirs
	}
	at := len(s.argvs)
	s.argvs = s.argvs[:at+n]
	return s.argvs[at : at : at+n]
}

// copied returns a copy of a scope that holds until it is dropped.
func (s *scratch) copied(of *scope) *scope {
	last := len(s.scopes) - 1
	if last < 0 {
		return of.clone()
	}
	c := s.scopes[last]
	s.scopes = s.scopes[:last]
	*c = *of
	c.own()
	return c
}

// dropped takes back what copied returned.
func (s *scratch) dropped(c *scope) { s.scopes = append(s.scopes, c) }
