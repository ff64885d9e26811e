package settings

import (
	"maps"
	"slices"

	"toolhost/agenttool"
)

// merge makes one snapshot of layers. What a project supplied and nobody trusts is cut down to what restricts.
func (o Options) merge(layers []*layer) *Settings {
	loosening := o.looseningOf(layers)
	trusted, problem := o.trusts(loosening)
	merged := &Settings{trusted: trusted, loosening: loosening}
	if problem != nil {
		merged.Problems = append(merged.Problems, *problem)
	}
	for _, l := range layers {
		values := l.values
		if !trusted && l.inProject() {
			values = o.ownWord(l, merged)
		}
		merged.add(values)
		l.Layer.Trusted = trusted || !slices.ContainsFunc(loosening, func(i item) bool { return i.Origin.Source == l.Source })
		merged.Layers = append(merged.Layers, l.Layer)
	}
	if !trusted {
		for _, i := range loosening {
			merged.Untrusted = append(merged.Untrusted, i.Untrusted)
		}
	}
	return merged
}

// add puts a stronger layer over the settings: lists grow, single values are replaced.
func (s *Settings) add(l *Settings) {
	s.Rules = append(s.Rules, l.Rules...)
	s.AddDirs = append(s.AddDirs, l.AddDirs...)
	s.EnvPass = append(s.EnvPass, l.EnvPass...)
	s.CallbackHosts = append(s.CallbackHosts, l.CallbackHosts...)
	s.Hooks = append(s.Hooks, l.Hooks...)
	replace(&s.Mode, l.Mode)
	replace(&s.Require, l.Require)
	replace(&s.Wait, l.Wait)
	replace(&s.ApprovalTimeout, l.ApprovalTimeout)
	replace(&s.InBandScopes, l.InBandScopes)
	replace(&s.Durability, l.Durability)
	replace(&s.SearchIndex, l.SearchIndex)
	replace(&s.MaxJobs, l.MaxJobs)
	replace(&s.JobTimeout, l.JobTimeout)
	replace(&s.JobOutput, l.JobOutput)
	replace(&s.MaxParallel, l.MaxParallel)
	s.EnvSet = overlaid(s.EnvSet, l.EnvSet)
	s.JobLimits = overlaid(s.JobLimits, l.JobLimits)
}

// Over returns what holds where s is laid over weaker settings, such as [Default]. Rules and lists of both stay.
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

// overlaid returns the keys of both maps; neither is changed.
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

// restricting returns the part of a layer that loosens nothing of what is below it.
func restricting(l, below *Settings) *Settings {
	part := &Settings{}
	for _, r := range l.Rules {
		if r.Behavior == agenttool.Deny || r.Behavior == agenttool.Ask {
			part.Rules = append(part.Rules, r)
		}
	}
	if l.Mode.Set && tighterMode(l.Mode.V, below.mode()) {
		part.Mode = l.Mode
	}
	if l.Require.Set && tighterLevel(l.Require.V, below.require()) {
		part.Require = l.Require
	}
	return part
}

func (s *Settings) mode() string {
	if s.Mode.Set {
		return s.Mode.V
	}
	return defaultMode
}

func (s *Settings) require() string {
	if s.Require.Set {
		return s.Require.V
	}
	return defaultRequire
}

// strictness orders the modes. Two that are equal allow things that the other does not.
var strictness = map[string]int{"sandboxed": 0, "accept_edits": 0, "default": 1, "dont_ask": 2, "plan": 3}

// tighterMode reports whether a mode allows nothing that another one does not. An unknown one allows everything.
func tighterMode(mode, than string) bool {
	m, known := strictness[mode]
	return mode == than || known && m > strictness[than]
}

// tighterLevel reports whether commands that run under a required level run under another one as well.
func tighterLevel(level, than string) bool {
	return slices.Index(levels, level) >= slices.Index(levels, than)
}
