package settings

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"toolhost/agenttool"
)

// tightening tells whether a value of a key only restricts.
type tightening int

// A key loosens unless its row states otherwise.
const (
	widens     tightening = iota // every value needs trust
	restricts                    // every value counts in a file that is not trusted
	ifStricter                   // a value counts if it is at least as strict as that of the layers below
	never                        // no value counts, even in a file that is trusted
)

// power describes the effect of a key in a workspace file.
type power struct {
	key string
	how tightening

	// copy copies the key's values from a layer, if they may count above below. Nil for keys that loosen.
	copy func(to, from, below *Settings)
	// items lists the values of a layer that need trust. Nil for keys that tighten, or never count.
	items func(c *collector, l, below *Settings)
}

// powers is the table of all keys. A key without a row never counts in a workspace file, even if trusted.
func powers(workspace string) []power {
	rules := func(b agenttool.Behavior) func(to, from, below *Settings) {
		return func(to, from, _ *Settings) { to.Rules = append(to.Rules, rulesOf(from, b)...) }
	}
	return []power{
		{key: "permissions.deny", how: restricts, copy: rules(agenttool.Deny)},
		{key: "permissions.ask", how: restricts, copy: rules(agenttool.Ask)},
		{key: "permissions.allow", how: widens, items: func(c *collector, l, _ *Settings) {
			for _, r := range rulesOf(l, agenttool.Allow) {
				c.add("permissions.allow", r.Origin, r.Text, "runs unasked what the rule %s covers", r.Text)
			}
		}},
		{key: "mode", how: ifStricter, copy: stricterMode, items: looserMode},
		many("add_dirs", "makes %s part of the workspace", func(s *Settings) []Value[string] { return s.AddDirs }),
		{key: "sandbox.require", how: ifStricter, copy: stricterLevel, items: looserLevel},
		single("approvals.wait", func(s *Settings) *Value[string] { return &s.Wait }, identity),
		single("approvals.timeout", func(s *Settings) *Value[time.Duration] { return &s.ApprovalTimeout }, time.Duration.String),
		single("wall.wait", func(s *Settings) *Value[time.Duration] { return &s.WallWait }, time.Duration.String),
		single("approvals.in_band_scopes", func(s *Settings) *Value[string] { return &s.InBandScopes }, identity),
		single("files.durability", func(s *Settings) *Value[string] { return &s.Durability }, identity),
		single("search.index", func(s *Settings) *Value[string] { return &s.SearchIndex }, identity),
		single("jobs.max", func(s *Settings) *Value[int] { return &s.MaxJobs }, strconv.Itoa),
		single("jobs.timeout", func(s *Settings) *Value[time.Duration] { return &s.JobTimeout }, time.Duration.String),
		single("jobs.output", func(s *Settings) *Value[string] { return &s.JobOutput }, identity),
		single("retention.sessions", func(s *Settings) *Value[time.Duration] { return &s.SessionAge }, time.Duration.String),
		single("retention.payloads", func(s *Settings) *Value[time.Duration] { return &s.PayloadAge }, time.Duration.String),
		single("retention.size", func(s *Settings) *Value[string] { return &s.StoredSize }, identity),
		single("redaction.strategy", func(s *Settings) *Value[string] { return &s.RedactionStrategy }, identity),
		{key: "redaction.off", how: never},
		{key: "redaction.patterns", how: widens, items: func(c *collector, l, _ *Settings) {
			for _, p := range l.RedactionPatterns {
				c.add("redaction.patterns", p.Origin, []string{p.Kind, p.Regexp}, "keeps what matches %s out of the session log", p.Regexp)
			}
		}},
		{key: "tools.disable", how: restricts, copy: func(to, from, _ *Settings) { to.Disabled = append(to.Disabled, from.Disabled...) }},
		single("max_parallel", func(s *Settings) *Value[int] { return &s.MaxParallel }, strconv.Itoa),
		named("jobs.limits", "sets jobs.limits.%s to %s", func(s *Settings) map[string]Value[string] { return s.JobLimits }),
		many("env.pass", "gives commands your variable %s", func(s *Settings) []Value[string] { return s.EnvPass }),
		named("env.set", "sets %s=%s for commands", func(s *Settings) map[string]Value[string] { return s.EnvSet }),
		many("http.callback_hosts", "lets results of calls over HTTP be sent to %s", func(s *Settings) []Value[string] { return s.CallbackHosts }),
		{key: "hooks", how: widens, items: func(c *collector, l, _ *Settings) {
			for _, h := range l.Hooks {
				c.add("hooks."+h.Event, h.Origin, hookValue(h, workspace), "runs %s, outside the sandbox, at %s%s", command(h), h.Event, h.Matcher.text())
			}
		}},
	}
}

// restricting returns the part of a layer that loosens nothing in below.
func restricting(l, below *Settings) *Settings {
	part := &Settings{}
	for _, p := range powers("") {
		if p.copy != nil {
			p.copy(part, l, below)
		}
	}
	if len(part.Rules) > 0 { // in the order of the file
		part.Rules = slices.DeleteFunc(slices.Clone(l.Rules), func(r Rule) bool { return !slices.Contains(part.Rules, r) })
	}
	return part
}

// loosening lists the items of a layer that loosen below: everything that [restricting] leaves out.
func loosening(l, below *Settings, workspace string) []item {
	var c collector
	for _, p := range powers(workspace) {
		if p.items != nil {
			p.items(&c, l, below)
		}
	}
	return c.items
}

// single returns the row of a key with one value that loosens.
func single[T any](key string, value func(*Settings) *Value[T], text func(T) string) power {
	return power{key: key, how: widens, items: func(c *collector, l, _ *Settings) {
		if v := value(l); v.Set {
			c.add(key, v.Origin, text(v.V), "sets %s to %s", key, text(v.V))
		}
	}}
}

// many returns the row of a key with a list of values, which all loosen. The format takes one.
func many(key, format string, values func(*Settings) []Value[string]) power {
	return power{key: key, how: widens, items: func(c *collector, l, _ *Settings) {
		for _, v := range values(l) {
			c.add(key, v.Origin, v.V, format, v.V)
		}
	}}
}

// named returns the row of a key with values by name, which all loosen. The format takes a name and its value.
func named(key, format string, values func(*Settings) map[string]Value[string]) power {
	return power{key: key, how: widens, items: func(c *collector, l, _ *Settings) {
		all := values(l)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			c.add(key, all[name].Origin, []string{name, all[name].V}, format, name, all[name].V)
		}
	}}
}

func identity(s string) string { return s }

func rulesOf(l *Settings, b agenttool.Behavior) []Rule {
	return slices.DeleteFunc(slices.Clone(l.Rules), func(r Rule) bool { return r.Behavior != b })
}

func stricterMode(to, from, below *Settings) {
	if from.Mode.Set && tighterMode(from.Mode.V, below.mode()) {
		to.Mode = from.Mode
	}
}

func looserMode(c *collector, l, below *Settings) {
	if l.Mode.Set && !tighterMode(l.Mode.V, below.mode()) {
		c.add("mode", l.Mode.Origin, l.Mode.V, "sets the mode %s instead of %s", l.Mode.V, below.mode())
	}
}

func stricterLevel(to, from, below *Settings) {
	if from.Require.Set && tighterLevel(from.Require.V, below.require()) {
		to.Require = from.Require
	}
}

func looserLevel(c *collector, l, below *Settings) {
	if l.Require.Set && !tighterLevel(l.Require.V, below.require()) {
		c.add("sandbox.require", l.Require.Origin, l.Require.V, "lets commands run with the sandbox level %s; %s is required now", l.Require.V, below.require())
	}
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

// strictness orders the modes. Modes of equal rank allow different things.
func strictness() map[string]int {
	return map[string]int{"sandboxed": 0, "accept_edits": 0, "default": 1, "dont_ask": 2, "plan": 3}
}

// tighterMode reports whether a mode allows nothing that the other forbids. An unknown mode counts as the least
// strict.
func tighterMode(mode, than string) bool {
	m, known := strictness()[mode]
	return mode == than || known && m > strictness()[than]
}

// tighterLevel reports whether a required level is at least as strict as another.
func tighterLevel(level, than string) bool {
	return agenttool.Level(level).AtLeast(agenttool.Level(than))
}
