package settings

import (
	"slices"

	"toolhost/agenttool"
)

// newerKey says what an unknown key means for its file. It takes the key and its place.
const newerKey = "this version of toolhost does not know the key %s%s; a newer version may. The file's restrictions count, and nothing that it permits, " +
	"until toolhost is updated or the key is removed"

// mayBeNewer reports whether an unknown key in the object at path is taken for one of a newer version. It is not where a key may say what is
// forbidden, or what a rule or a hook means: without it the file would permit more than its author wanted.
func (d *decoder) mayBeNewer(path string) bool {
	return !d.o.Strict && d.source != agenttool.SourceManaged && slices.Contains([]string{"", "files", "search", "jobs"}, path)
}

// cautious returns what counts of a file above below: without what permits something if the file holds keys that are not known, since they
// may narrow it.
func (s *Settings) cautious(below *Settings) *Settings {
	if len(s.Problems) == 0 {
		return s
	}
	c := &Settings{Durability: s.Durability, SearchIndex: s.SearchIndex, MaxJobs: s.MaxJobs, JobTimeout: s.JobTimeout, JobOutput: s.JobOutput,
		JobLimits: s.JobLimits, MaxParallel: s.MaxParallel, Hooks: s.Hooks}
	c.Rules = slices.DeleteFunc(slices.Clone(s.Rules), func(r Rule) bool { return r.Behavior == agenttool.Allow })
	stricterMode(c, s, below)
	stricterLevel(c, s, below)
	return c
}
