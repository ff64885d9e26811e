// Package permissions decides whether a call may run. A decision is a pure function of a policy (mode and rules) and
// of the call's facts: no IO, no clock, never an error, and unknown facts never help a call.
//
//	policy := permissions.Policy{Mode: permissions.Default, Workspace: "/home/me/project", Rules: rules}
//	decision := policy.Decide(permissions.Request{Tool: "write", Facts: facts})
//
// What is read-only, not open-world and reads only the workspace runs unasked. For everything else an allow rule
// must cover the whole call; without one it asks.
package permissions

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// Policy is one snapshot of what is allowed. It is a value: With returns a changed copy.
type Policy struct {
	Mode      Mode   // empty: Default
	Workspace string // absolute, without links
	Rules     []Rule // in the order in which they were given
}

// With returns a copy of the policy that has rules as well.
func (p Policy) With(rules ...Rule) Policy {
	p.Rules = append(slices.Clip(slices.Clone(p.Rules)), rules...)
	return p
}

// Request is the call to decide about.
type Request struct {
	Tool     string // the tool's name
	RunsCode bool   // it starts programs: covering its paths is not enough
	Facts    *agenttool.Facts
}

// Decide says whether the call may run: allow, ask or deny, with the reason. The caller fills the ids and the time.
//
// A call that touches toolhost's own state is denied whatever the rules say. Then what only reads the workspace is
// allowed, then what the rules cover entirely; the mode turns the rest into ask or deny. Decide does no IO and never
// fails.
//
// Agent Tool v0.2.0, "tool_permission_decision" (AT-137 … AT-139, AT-165).
func (p Policy) Decide(r Request) agenttool.Decision {
	if p.Mode == "" {
		p.Mode = Default
	}
	d := agenttool.Decision{SchemaVersion: agenttool.SchemaVersion, Mode: string(p.Mode)}
	if path, ok := privatePath(r.Facts); ok {
		return decide(d, agenttool.Deny, "safety_check", path+" is toolhost's own state, which no call may touch").blocked(path)
	}
	if p.runsUnasked(r) {
		return decide(d, agenttool.Allow, "mode", "it only reads, and only inside the workspace").Decision
	}
	if path, ok := protectedWrite(r.Facts); ok && p.Mode != Plan {
		return p.protect(d, path)
	}
	if p.Mode == Plan {
		return decide(d, agenttool.Deny, "mode", "mode plan runs only what is known to read the workspace and nothing else").Decision
	}
	if rules, ok := p.covered(r); ok {
		return allowedBy(d, rules)
	}
	if p.Mode == AcceptEdits && p.editsInside(r) {
		return decide(d, agenttool.Allow, "mode", "mode accept_edits lets the file tools write inside the workspace").Decision
	}
	kind, why := p.whyNot(r)
	if p.Mode == DontAsk {
		return decide(d, agenttool.Deny, kind, why+", and mode dont_ask denies what would ask").Decision
	}
	asked := decide(d, agenttool.Ask, kind, why).Decision
	asked.SuggestedUpdates = p.suggest(r)
	return asked
}

// decided lets a decision be completed in one expression.
type decided struct{ agenttool.Decision }

func decide(d agenttool.Decision, b agenttool.Behavior, kind, detail string) decided {
	d.Behavior, d.Reason = b, &agenttool.DecisionReason{Type: kind, Detail: detail}
	return decided{d}
}

func (d decided) blocked(path string) agenttool.Decision {
	d.BlockedPath = path
	return d.Decision
}

func allowedBy(d agenttool.Decision, rules []Rule) agenttool.Decision {
	d.Behavior, d.Source = agenttool.Allow, rules[0].Source
	for _, r := range rules {
		if !slices.Contains(d.RuleRefs, r.Ref()) {
			d.RuleRefs = append(d.RuleRefs, r.Ref())
		}
	}
	d.Reason = &agenttool.DecisionReason{Type: "rule", Detail: "allowed by " + strings.Join(d.RuleRefs, ", "), RuleRef: d.RuleRefs[0]}
	return d
}

func privatePath(f *agenttool.Facts) (string, bool) {
	for _, p := range slices.Concat(f.Reads, f.Writes) {
		if p.Private {
			return p.Spelling, true
		}
	}
	return "", false
}

// runsUnasked reports whether the call is proved to do nothing but read the workspace.
func (p Policy) runsUnasked(r Request) bool {
	f := r.Facts
	if f.ReadOnly != agenttool.Yes || f.OpenWorld != agenttool.No || f.PathsComplete != agenttool.Yes || len(f.Writes) > 0 {
		return false
	}
	return !slices.ContainsFunc(f.Reads, outside)
}

func outside(p agenttool.Path) bool { return p.Root == "" }

// editsInside reports whether a file tool writes inside the workspace and nowhere else.
func (p Policy) editsInside(r Request) bool {
	f := r.Facts
	return !r.RunsCode && f.PathsComplete == agenttool.Yes && f.OpenWorld == agenttool.No && len(f.Writes) > 0 &&
		!slices.ContainsFunc(f.Writes, outside) && !slices.ContainsFunc(f.Reads, outside)
}

// covered returns the allow rules that together cover the whole call.
func (p Policy) covered(r Request) ([]Rule, bool) {
	c := cover{rules: p.Rules}
	if c.by(func(rule Rule) bool { return rule.tool == r.Tool && rule.argv == nil && !isPathTool(rule.tool) }) {
		return c.used, true
	}
	switch {
	case len(r.Facts.Commands) > 0 && p.inWorkspace(r.Facts):
		for _, argv := range r.Facts.Commands {
			if !c.by(func(rule Rule) bool { return rule.coversCommand(argv) }) {
				return nil, false
			}
		}
	case r.RunsCode, r.Facts.PathsComplete != agenttool.Yes, r.Facts.OpenWorld != agenttool.No:
		return nil, false
	}
	for _, path := range r.Facts.Writes {
		if !c.by(func(rule Rule) bool { return rule.allowsWrite(r.Tool) && rule.coversPath(path, p.Workspace) }) {
			return nil, false
		}
	}
	for _, path := range r.Facts.Reads {
		written := slices.ContainsFunc(r.Facts.Writes, func(w agenttool.Path) bool { return w.Resolved == path.Resolved })
		if !written && outside(path) && !c.by(func(rule Rule) bool { return rule.tool == "read" && rule.coversPath(path, p.Workspace) }) {
			return nil, false
		}
	}
	return c.used, len(c.used) > 0
}

// cover collects the allow rules that cover the parts of a call.
type cover struct {
	rules []Rule
	used  []Rule
}

// by reports whether an allow rule matches, and keeps the first that does.
func (c *cover) by(match func(Rule) bool) bool {
	i := slices.IndexFunc(c.rules, func(rule Rule) bool { return rule.Behavior == agenttool.Allow && match(rule) })
	if i >= 0 {
		c.used = append(c.used, c.rules[i])
	}
	return i >= 0
}

// inWorkspace reports whether commands start in the workspace itself. A rule of words is read there: elsewhere the same
// words (make, ./build.sh) run something else.
func (p Policy) inWorkspace(f *agenttool.Facts) bool {
	return f.Dir != nil && f.Dir.Resolved == p.Workspace
}

func (r Rule) allowsWrite(tool string) bool {
	return r.tool == "write" || r.tool == "edit" && tool == "edit"
}

// whyNot says, as a reason type and a sentence, why the call does not run unasked.
func (p Policy) whyNot(r Request) (kind, detail string) {
	f := r.Facts
	switch {
	case r.RunsCode && f.Destructive == agenttool.Yes:
		return "classifier", "it destroys something" + because(f)
	case r.RunsCode && f.ReadOnly == agenttool.Unknown:
		return "classifier", "what the command does is not known" + because(f)
	case r.RunsCode && f.ReadOnly == agenttool.No && len(f.Writes) == 0:
		return "classifier", "it changes something" + because(f)
	case len(f.Writes) > 0:
		return "mode", "it writes " + f.Writes[0].Spelling
	case slices.ContainsFunc(f.Reads, outside):
		i := slices.IndexFunc(f.Reads, outside)
		return "working_dir", f.Reads[i].Spelling + " is outside the workspace"
	case f.OpenWorld != agenttool.No:
		return "classifier", "it may reach beyond this machine"
	}
	return "classifier", "it is not known to be read-only"
}

// because adds the first reason that the classifier gives.
func because(f *agenttool.Facts) string {
	if len(f.Reasons) == 0 {
		return ""
	}
	return ": " + f.Reasons[0].Text
}

// suggest returns the narrowest rules that would have covered this very call, at most five.
func (p Policy) suggest(r Request) []agenttool.SuggestedUpdate {
	var rules []string
	for _, argv := range r.Facts.Commands {
		if !suggestible(argv) || !p.inWorkspace(r.Facts) {
			return nil
		}
		rules = append(rules, "Shell("+strings.Join(argv, " ")+")")
	}
	for _, path := range r.Facts.Writes {
		rules = append(rules, "Write("+p.spell(path)+")")
	}
	for _, path := range r.Facts.Reads {
		if outside(path) && len(r.Facts.Writes) == 0 {
			rules = append(rules, "Read("+p.spell(path)+")")
		}
	}
	if len(rules) == 0 || len(rules) > 5 || r.RunsCode && len(r.Facts.Commands) == 0 {
		return nil
	}
	return []agenttool.SuggestedUpdate{{Op: "add_rules", Destination: "session", Behavior: agenttool.Allow, Rules: rules}}
}

// spell writes a path as a pattern that matches it alone, by its spelling and by where it leads.
func (p Policy) spell(path agenttool.Path) string {
	spelled, resolved := p.pattern(filepath.Clean(path.Absolute)), p.pattern(path.Resolved)
	switch {
	case spelled == resolved:
		return resolved
	case filepath.IsAbs(spelled) && !filepath.IsAbs(resolved): // one pattern is relative or absolute, not both
		resolved = escapeGlob(path.Resolved)
	case filepath.IsAbs(resolved) && !filepath.IsAbs(spelled):
		spelled = escapeGlob(filepath.Clean(path.Absolute))
	}
	if filepath.IsAbs(spelled) {
		return "/{" + spelled[1:] + "," + resolved[1:] + "}"
	}
	return "{" + spelled + "," + resolved + "}"
}

// pattern returns the pattern for one path, relative to the workspace where it lies inside.
func (p Policy) pattern(path string) string {
	if rel, err := filepath.Rel(p.Workspace, path); err == nil && agenttool.Within(p.Workspace, path) {
		return escapeGlob(rel)
	}
	return escapeGlob(path)
}

// neverSuggested are programs whose rule would allow far more than the person has seen.
var neverSuggested = []string{
	"rm", "sh", "bash", "dash", "zsh", "fish", "python", "python3", "node", "perl", "ruby", "php", "lua",
	"sudo", "su", "doas", "env", "xargs", "eval", "exec", "ssh", "dd", "mkfs", "shred",
}

// suggestible reports whether the argv can be spelled as a rule that covers it and nothing else.
func suggestible(argv []string) bool {
	if len(argv) == 0 || slices.Contains(neverSuggested, filepath.Base(argv[0])) {
		return false
	}
	return !slices.ContainsFunc(argv, func(w string) bool {
		return w == "" || strings.ContainsAny(w, " \t\n*()") || strings.HasSuffix(w, ":")
	})
}
