package settings

import (
	"slices"

	"toolhost/agenttool"
)

// newerKey is the message for an unknown key. Its arguments are the key and its place.
const newerKey = "this version of toolhost does not know the key %s%s; a newer version may. The file's restrictions count, and nothing that it permits, " +
	"until toolhost is updated or the key is removed"

// mayBeNewer reports whether an unknown key in the object at path may belong to a newer version. It returns false
// where a key may forbid something or change the meaning of a rule or hook: ignoring such a key would permit more
// than its author wanted.
func (d *decoder) mayBeNewer(path string) bool {
	return !d.o.Strict && d.source != agenttool.SourceManaged && slices.Contains([]string{"", "files", "search", "jobs"}, path)
}

// cautious returns the values of a file that count above below. If the file contains unknown keys, it drops the
// permissive values, since the keys may narrow them.
func (s *Settings) cautious(below *Settings) *Settings {
	if len(s.Problems) == 0 {
		return s
	}
	c := &Settings{Durability: s.Durability, SearchIndex: s.SearchIndex, Jobs: s.Jobs, MaxParallel: s.MaxParallel, Hooks: s.Hooks}
	c.Rules = slices.DeleteFunc(slices.Clone(s.Rules), func(r Rule) bool { return r.Behavior == agenttool.Allow })
	stricterMode(c, s, below)
	stricterLevel(c, s, below)
	return c
}
