package settings

import (
	"slices"

	"toolhost/agenttool"
)

// cautious returns the values of a file that count above below. If the file contains unknown keys, it drops the
// permissive values, since the keys may narrow them.
func (s *Settings) cautious(below *Settings) *Settings {
	if len(s.Problems) == 0 {
		return s
	}
	c := &Settings{Durability: s.Durability, SearchIndex: s.SearchIndex, Jobs: s.Jobs, MaxParallel: s.MaxParallel, Retention: s.Retention, Hooks: s.Hooks}
	c.Rules = slices.DeleteFunc(slices.Clone(s.Rules), func(r Rule) bool { return r.Behavior == agenttool.Allow })
	stricterMode(c, s, below)
	stricterLevel(c, s, below)
	return c
}
