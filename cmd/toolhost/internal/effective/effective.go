// Package effective shows the settings in force: rules and values, each with the file and line that it is from.
package effective

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

// Settings are those in force. Where is FILE:LINE, and empty for a default.
type Settings struct {
	Workspace string             `json:"workspace"`
	Rules     []rule             `json:"rules"` // in order of precedence
	Values    []value            `json:"values"`
	Untrusted []untrusted        `json:"untrusted"` // left out, because the project brought it
	Problems  []settings.Problem `json:"problems"`
	Files     []settings.Layer   `json:"files"` // weakest first

	from settings.Options
	left []settings.Untrusted
}

type rule struct {
	Rule     string             `json:"rule"`
	Behavior agenttool.Behavior `json:"behavior"`
	Source   string             `json:"source"`
	Where    string             `json:"where"`
	Note     string             `json:"note,omitempty"`
	Added    time.Time          `json:"added,omitzero"`
}

type value struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Source string `json:"source"`
	Where  string `json:"where,omitempty"`

	text string // the value for a person
}

type untrusted struct {
	Key    string `json:"key"`
	Text   string `json:"text"`
	Source string `json:"source"`
	Where  string `json:"where"`
}

// Of shows settings that were read from files.
func Of(o settings.Options, s *settings.Settings) Settings {
	v := Settings{
		from: o, left: s.Untrusted, Workspace: o.Workspace, Rules: []rule{}, Values: valuesOf(s.Over(settings.Default())),
		Untrusted: []untrusted{}, Problems: output.List(s.Problems), Files: output.List(s.Layers),
	}
	order := []agenttool.Behavior{agenttool.Deny, agenttool.Ask, agenttool.Allow}
	for _, r := range slices.SortedStableFunc(slices.Values(s.Rules), func(a, b settings.Rule) int {
		return slices.Index(order, a.Behavior) - slices.Index(order, b.Behavior)
	}) {
		v.Rules = append(v.Rules, rule{r.Text, r.Behavior, r.Origin.Source, r.Origin.Where(), r.Note, r.Added})
	}
	for _, u := range s.Untrusted {
		v.Untrusted = append(v.Untrusted, untrusted{u.Key, u.Text, u.Origin.Source, u.Origin.Where()})
	}
	return v
}

// values collects values.
type values []value

func (v *values) add(key string, shown any, text string, o agenttool.Origin) {
	*v = append(*v, value{key, shown, o.Source, o.Where(), text})
}

// one adds a value if it is set.
func one[T any](v *values, key string, read settings.Value[T], shown any) {
	if read.Set {
		v.add(key, shown, fmt.Sprint(shown), read.Origin)
	}
}

// each adds the values of a list.
func each[T any](v *values, key string, read []settings.Value[T]) {
	for _, value := range read {
		one(v, key, value, value.V)
	}
}

// valuesOf lists all that is set and no rule.
func valuesOf(s *settings.Settings) values {
	var v values
	one(&v, "mode", s.Mode, s.Mode.V)
	each(&v, "add_dirs", s.AddDirs)
	one(&v, "sandbox.require", s.Require, s.Require.V)
	one(&v, "approvals.wait", s.Wait, s.Wait.V)
	one(&v, "approvals.timeout", s.ApprovalTimeout, s.ApprovalTimeout.V.String())
	one(&v, "wall.wait", s.WallWait, s.WallWait.V.String())
	one(&v, "approvals.in_band_scopes", s.InBandScopes, s.InBandScopes.V)
	each(&v, "env.pass", s.EnvPass)
	for _, name := range slices.Sorted(maps.Keys(s.EnvSet)) {
		one(&v, "env.set."+name, s.EnvSet[name], s.EnvSet[name].V)
	}
	each(&v, "http.callback_hosts", s.CallbackHosts)
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
	each(&v, "tools.disable", s.Disabled)
	for _, p := range s.RedactionPatterns {
		v.add("redaction.patterns", map[string]string{"kind": p.Kind, "pattern": p.Regexp}, p.Kind+" "+p.Regexp, p.Origin)
	}
	each(&v, "redaction.off", s.RedactionOff)
	one(&v, "redaction.strategy", s.RedactionStrategy, s.RedactionStrategy.V)
	for _, h := range s.Hooks {
		v.add("hooks."+h.Event, hookOf(h), hookText(h), h.Origin)
	}
	return v
}

// hook is a hook as it is written in settings.
type hook struct {
	Command []string          `json:"command"`
	Env     map[string]string `json:"env,omitempty"`
	Matcher struct {
		Input string `json:"input,omitempty"`
		Tool  string `json:"tool,omitempty"`
	} `json:"matcher,omitzero"`
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
}

func hookOf(h settings.Hook) hook {
	shown := hook{Command: h.Command, Env: h.Env, TimeoutMS: h.Timeout.Milliseconds()}
	shown.Matcher.Input, shown.Matcher.Tool = h.Matcher.Input, h.Matcher.Tool
	return shown
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

// Print prints a table, and the settings that the project would add.
func (v Settings) Print(out io.Writer) error {
	w := output.NewTable(out, "SETTING", "VALUE", "FROM")
	for _, r := range v.Rules {
		w.Row(r.Behavior, r.Rule, from(v.from, r.Source, r.Where))
	}
	for _, one := range v.Values {
		w.Row(one.Key, one.text, from(v.from, one.Source, one.Where))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if len(v.Untrusted) > 0 {
		fmt.Fprintln(out, "\nThe project brings more, which does not count until you trust it (see toolhost trust):")
		PrintUntrusted(out, v.from, v.left)
	}
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

// PrintUntrusted lists the settings that a project would loosen.
func PrintUntrusted(out io.Writer, o settings.Options, all []settings.Untrusted) {
	for _, u := range all {
		fmt.Fprintf(out, "  %s\n      %s, %s\n", visible.Text(u.Text), visible.Text(u.Key), visible.Text(from(o, u.Origin.Source, u.Origin.Where())))
	}
}
