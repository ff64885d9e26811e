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
	c := &Settings{Durability: s.Durability, SearchIndex: s.SearchIndex, Jobs: s.Jobs, Calls: s.Calls, Retention: s.Retention, Hooks: s.Hooks}
	c.Rules = slices.DeleteFunc(slices.Clone(s.Rules), func(r Rule) bool { return r.Behavior == agenttool.Allow })
	c.RedactionPatterns = s.RedactionPatterns
	if s.RedactionStrategy.V == redactModel {
		c.RedactionStrategy = s.RedactionStrategy
	}
	stricterMode(c, s, below)
	stricterLevel(c, s, below)
	return c
}
