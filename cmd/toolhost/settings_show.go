package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/settings"
)

// settingsView is the settings as settings --json prints them. Where is FILE:LINE, and empty for a default.
type settingsView struct {
	Workspace string             `json:"workspace"`
	Rules     []settingRule      `json:"rules"`
	Values    []settingValue     `json:"values"`
	Untrusted []settingUntrusted `json:"untrusted"` // left out, because the project brought it
	Problems  []settingProblem   `json:"problems"`
	Files     []settingsFile     `json:"files"` // weakest first
}

type settingRule struct {
	Rule     string             `json:"rule"`
	Behavior agenttool.Behavior `json:"behavior"`
	Source   string             `json:"source"`
	Where    string             `json:"where"`
	Note     string             `json:"note,omitempty"`
	Added    time.Time          `json:"added,omitzero"`
}

type settingValue struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"`
	Where  string `json:"where,omitempty"`

	text string // the value for a person
}

type settingUntrusted struct {
	Key    string `json:"key"`
	Text   string `json:"text"`
	Source string `json:"source"`
	Where  string `json:"where"`
}

type settingProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

type settingsFile struct {
	Source  string `json:"source"`
	File    string `json:"file"`
	Exists  bool   `json:"exists"`
	Project bool   `json:"project"` // the authors of the project may have written it
	Why     string `json:"why,omitempty"`
	Trusted bool   `json:"trusted"` // all of it counts
}

// viewOf makes the view of settings.
func viewOf(o settings.Options, s *settings.Settings) settingsView {
	v := settingsView{
		Workspace: o.Workspace, Rules: []settingRule{}, Values: valuesOf(s.Over(settings.Default())),
		Untrusted: untrustedView(s.Untrusted), Problems: []settingProblem{}, Files: []settingsFile{},
	}
	for _, r := range rulesInOrder(s) {
		v.Rules = append(v.Rules, settingRule{r.Text, r.Behavior, r.Origin.Source, r.Origin.Where(), r.Note, r.Added})
	}
	for _, p := range s.Problems {
		v.Problems = append(v.Problems, settingProblem(p))
	}
	for _, l := range s.Layers {
		v.Files = append(v.Files, settingsFile{l.Source, l.File, l.Exists, l.Supplied, l.Why, l.Trusted})
	}
	return v
}

func untrustedView(all []settings.Untrusted) []settingUntrusted {
	view := []settingUntrusted{}
	for _, u := range all {
		view = append(view, settingUntrusted{u.Key, u.Text, u.Origin.Source, u.Origin.Where()})
	}
	return view
}

// rulesInOrder returns the rules in order of precedence.
func rulesInOrder(s *settings.Settings) []settings.Rule {
	var ordered []settings.Rule
	for _, b := range []agenttool.Behavior{agenttool.Deny, agenttool.Ask, agenttool.Allow} {
		for _, r := range s.Rules {
			if r.Behavior == b {
				ordered = append(ordered, r)
			}
		}
	}
	return ordered
}

// values collects values.
type values []settingValue

func (v *values) add(key string, value any, text string, o agenttool.Origin) {
	*v = append(*v, settingValue{key, value, o.Source, o.Where(), text})
}

// one adds a value if it is set.
func one[T any](v *values, key string, value settings.Value[T], shown any) {
	if value.Set {
		v.add(key, shown, fmt.Sprint(shown), value.Origin)
	}
}

// valuesOf lists all that is set and no rule.
func valuesOf(s *settings.Settings) values {
	var v values
	one(&v, "mode", s.Mode, s.Mode.V)
	for _, d := range s.AddDirs {
		one(&v, "add_dirs", d, d.V)
	}
	one(&v, "sandbox.require", s.Require, s.Require.V)
	one(&v, "approvals.wait", s.Wait, s.Wait.V)
	one(&v, "approvals.timeout", s.ApprovalTimeout, s.ApprovalTimeout.V.String())
	one(&v, "wall.wait", s.WallWait, s.WallWait.V.String())
	one(&v, "approvals.in_band_scopes", s.InBandScopes, s.InBandScopes.V)
	for _, name := range s.EnvPass {
		one(&v, "env.pass", name, name.V)
	}
	for _, name := range slices.Sorted(maps.Keys(s.EnvSet)) {
		one(&v, "env.set."+name, s.EnvSet[name], s.EnvSet[name].V)
	}
	for _, name := range s.CallbackHosts {
		one(&v, "http.callback_hosts", name, name.V)
	}
	one(&v, "files.durability", s.Durability, s.Durability.V)
	one(&v, "search.index", s.SearchIndex, s.SearchIndex.V)
	one(&v, "jobs.max", s.MaxJobs, s.MaxJobs.V)
	one(&v, "jobs.timeout", s.JobTimeout, s.JobTimeout.V.String())
	one(&v, "jobs.output", s.JobOutput, s.JobOutput.V)
	for _, name := range slices.Sorted(maps.Keys(s.JobLimits)) {
		one(&v, "jobs.limits."+name, s.JobLimits[name], s.JobLimits[name].V)
	}
	one(&v, "max_parallel", s.MaxParallel, s.MaxParallel.V)
	one(&v, "retention.sessions", s.SessionAge, s.SessionAge.V.String())
	one(&v, "retention.payloads", s.PayloadAge, s.PayloadAge.V.String())
	one(&v, "retention.size", s.StoredSize, s.StoredSize.V)
	for _, name := range s.Disabled {
		one(&v, "tools.disable", name, name.V)
	}
	for _, p := range s.RedactionPatterns {
		v.add("redaction.patterns", map[string]string{"kind": p.Kind, "pattern": p.Regexp}, p.Kind+" "+p.Regexp, p.Origin)
	}
	for _, kind := range s.RedactionOff {
		one(&v, "redaction.off", kind, kind.V)
	}
	one(&v, "redaction.strategy", s.RedactionStrategy, s.RedactionStrategy.V)
	for _, h := range s.Hooks {
		v.add("hooks."+h.Event, hookView(h), hookText(h), h.Origin)
	}
	return v
}

// hookView is a hook as it is written in settings.
func hookView(h settings.Hook) any {
	view := map[string]any{"command": h.Command}
	matcher := map[string]string{}
	if h.Matcher.Tool != "" {
		matcher["tool"] = h.Matcher.Tool
	}
	if h.Matcher.Input != "" {
		matcher["input"] = h.Matcher.Input
	}
	if len(matcher) > 0 {
		view["matcher"] = matcher
	}
	if h.Timeout > 0 {
		view["timeout_ms"] = h.Timeout.Milliseconds()
	}
	if len(h.Env) > 0 {
		view["env"] = h.Env
	}
	return view
}

// hookText is a hook in a line.
func hookText(h settings.Hook) string {
	words := make([]string, len(h.Command))
	for i, w := range h.Command {
		if words[i] = w; w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?;&|<>()") {
			words[i] = strconv.Quote(w)
		}
	}
	text := strings.Join(words, " ")
	for _, match := range []string{h.Matcher.Tool, h.Matcher.Input} {
		if match != "" {
			text += "  for " + match
		}
	}
	return text
}

// printSettings prints a table for people.
func printSettings(out io.Writer, o settings.Options, s *settings.Settings) error {
	w := output.NewTable(out, "SETTING", "VALUE", "FROM")
	for _, r := range rulesInOrder(s) {
		w.Row(r.Behavior, r.Text, from(o, r.Origin.Source, r.Origin.Where()))
	}
	for _, v := range valuesOf(s.Over(settings.Default())) {
		w.Row(v.Key, v.text, from(o, v.Source, v.Where))
	}
	if err := w.Flush(); err != nil {
		return exitf(exitFailed, "%v", err)
	}
	if len(s.Untrusted) > 0 {
		fmt.Fprintln(out, "\nThe project brings more, which does not count until you trust it (see toolhost trust):")
		printUntrusted(out, o, s.Untrusted)
	}
	warnOfSettings(s)
	return nil
}

// from says where something stands, from where the person is.
func from(o settings.Options, source, where string) string {
	if where == "" {
		return source
	}
	if rel, ok := strings.CutPrefix(where, o.Workspace+string(filepath.Separator)); ok {
		return rel
	}
	if rel, ok := strings.CutPrefix(where, o.Home+string(filepath.Separator)); ok && o.Home != "" {
		return filepath.Join("~", rel)
	}
	return where
}

// printUntrusted lists what a project would loosen.
func printUntrusted(out io.Writer, o settings.Options, all []settings.Untrusted) {
	for _, u := range all {
		fmt.Fprintf(out, "  %s\n      %s, %s\n", visible.Text(u.Text), visible.Text(u.Key), visible.Text(from(o, u.Origin.Source, u.Origin.Where())))
	}
}
