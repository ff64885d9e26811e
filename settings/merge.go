package settings

import (
	"maps"
	"slices"
)

// merge merges the layers of o into one snapshot. Of a workspace file it uses restrictions, rules that toolhost wrote for
// the user, and, if the user trusts the file, the rest.
func merge(o Options, layers []*layer) *Settings {
	items := looseningOf(layers, o.Workspace)
	word := o.wordOn(items)
	merged := &Settings{trusted: word.all, loosening: word.rest}
	if word.problem != nil {
		merged.Problems = append(merged.Problems, *word.problem)
	}
	for _, l := range layers {
		values := l.values
		if l.Supplied && len(values.RedactionOff) > 0 {
			merged.Problems = append(merged.Problems, notOfAProject(values.RedactionOff[0]))
			values = withoutOff(values)
		}
		if l.Supplied && !word.all {
			values = l.believed(merged, word.own, o.Workspace)
		}
		merged.add(values.cautious(merged))
		if l.held != nil {
			held := restricting(l.held, merged)
			merged.Problems = append(merged.Problems, heldProblems(held)...)
			merged.add(held)
		}
		merged.Problems = append(merged.Problems, l.values.Problems...)
		l.Layer.Trusted = word.all || !slices.ContainsFunc(word.rest, func(i item) bool { return i.Origin.File == l.File })
		merged.Layers = append(merged.Layers, l.Layer)
	}
	if !word.all {
		for _, i := range word.rest {
			merged.Untrusted = append(merged.Untrusted, i.Untrusted)
		}
	}
	return merged
}

// add lays a stronger layer over the settings: lists are joined, single values replaced.
func (s *Settings) add(l *Settings) {
	s.Rules = append(s.Rules, l.Rules...)
	s.AddDirs = append(s.AddDirs, l.AddDirs...)
	s.EnvPass = append(s.EnvPass, l.EnvPass...)
	s.CallbackHosts = append(s.CallbackHosts, l.CallbackHosts...)
	s.Hooks = append(s.Hooks, l.Hooks...)
	s.Disabled = append(s.Disabled, l.Disabled...)
	s.RedactionPatterns = append(s.RedactionPatterns, l.RedactionPatterns...)
	s.RedactionOff = append(s.RedactionOff, l.RedactionOff...)
	replace(&s.Mode, l.Mode)
	replace(&s.Require, l.Require)
	replace(&s.Wait, l.Wait)
	replace(&s.ApprovalTimeout, l.ApprovalTimeout)
	replace(&s.WallWait, l.WallWait)
	replace(&s.InBandScopes, l.InBandScopes)
	replace(&s.Durability, l.Durability)
	replace(&s.SearchIndex, l.SearchIndex)
	replace(&s.MaxJobs, l.MaxJobs)
	replace(&s.JobTimeout, l.JobTimeout)
	replace(&s.JobOutput, l.JobOutput)
	replace(&s.MaxParallel, l.MaxParallel)
	replace(&s.SessionAge, l.SessionAge)
	replace(&s.PayloadAge, l.PayloadAge)
	replace(&s.StoredSize, l.StoredSize)
	replace(&s.RedactionStrategy, l.RedactionStrategy)
	s.EnvSet = overlaid(s.EnvSet, l.EnvSet)
	s.JobLimits = overlaid(s.JobLimits, l.JobLimits)
}

// Over returns s laid over weaker settings, such as [Default]. Rules and lists of both are kept.
func (s *Settings) Over(weaker *Settings) *Settings {
	merged := &Settings{Untrusted: s.Untrusted, Problems: s.Problems, Layers: s.Layers, trusted: s.trusted, loosening: s.loosening}
	merged.add(weaker)
	merged.add(s)
	return merged
}

func replace[T any](weak *Value[T], strong Value[T]) {
	if strong.Set {
		*weak = strong
	}
}

// overlaid returns the union of both maps, with the values of strong first; it changes neither.
func overlaid(weak, strong map[string]Value[string]) map[string]Value[string] {
	if len(strong) == 0 {
		return weak
	}
	both := maps.Clone(strong)
	for k, v := range weak {
		if _, there := both[k]; !there {
			both[k] = v
		}
	}
	return both
}

// looseningOf lists the loosening items of the workspace layers, which need trust, weakest layer first.
func looseningOf(layers []*layer, workspace string) []item {
	below := &Settings{}
	var all []item
	for _, l := range layers {
		if !l.Supplied {
			below.add(l.values.cautious(below))
			continue
		}
		all = append(all, loosening(l.values, below, workspace)...)
		below.add(restricting(l.values, below))
	}
	return all
}
