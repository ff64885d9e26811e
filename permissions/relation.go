package permissions

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// Relate is how a rule about words stands to a command line.
type Relate uint8

// The relations, the loosest first.
const (
	Apart  Relate = iota
	Near          // it is about the same program, and not about this
	Meets         // it is about it if it forbids, and does not cover it if it allows
	Covers        // it covers a simple command of it
)

// Relation says how a rule stands to a command line, whatever the rule's behaviour and the rest of a policy.
func Relation(r Rule, f *agenttool.Facts) Relate {
	if r.tool != "shell" || r.argv == nil {
		return Apart
	}
	found := Apart
	for _, part := range f.Parts {
		if r.covers(f, &part) {
			return Covers
		}
	}
	for _, argv := range slices.Concat(f.Mentions, f.Commands) {
		switch {
		case r.meets(argv) > never:
			found = Meets
		case found == Apart && len(argv) > 0 && r.argv[0].match(filepath.Base(argv[0])):
			found = Near
		}
	}
	return found
}

// Matches reports whether a rule is about an example: a command line of one simple command whose words stand as they are, a path
// (~/x, /x, else relative to the workspace), or a host.
func Matches(r Rule, example, workspace, home string) bool {
	set := compile([]Rule{r}, workspace)
	switch {
	case r.tool == networkTool:
		return r.host.match(example)
	case isPathTool(r.tool):
		if rest, ok := strings.CutPrefix(example, "~/"); ok && home != "" {
			example = filepath.Join(home, rest)
		} else if !filepath.IsAbs(example) {
			example = filepath.Join(workspace, example)
		}
		example = filepath.Clean(example)
		paths := set.of(r.Behavior).paths
		if r.Behavior != agenttool.Allow {
			return paths[0].meets(lowerPath{strings.ToLower(example), strings.ToLower(example)})
		}
		return paths[0].match(example)
	case r.tool == "shell" && r.argv == nil:
		return true
	case r.tool == "shell":
		vars, words, err := splitWords(strings.ReplaceAll(example, "*", `\*`))
		argv := make([]string, len(words))
		for i, w := range words {
			argv[i], _ = w.literal()
		}
		if r.Behavior == agenttool.Allow {
			return err == nil && r.coversLine(vars, argv)
		}
		given := func(s setting) bool {
			return slices.ContainsFunc(vars, func(v setting) bool { return v.name == s.name && s.value.match(v.value[0]) })
		}
		return err == nil && r.meets(argv) == surely && !slices.ContainsFunc(r.vars, func(s setting) bool { return !given(s) })
	}
	return false
}

// About returns a function that reports whether a rule may be about a call, as generously as one that denies.
func About(r Rule, workspace string) func(Request) bool {
	r.Behavior = agenttool.Deny
	set := compile([]Rule{r}, workspace)
	return func(q Request) bool {
		_, about := set.forbidden(agenttool.Deny, q, nil)
		return about
	}
}

// Forbids returns the rule that denies what a grant would open, or something in it: write:PATH, read:PATH, socket:PATH or host:NAME[:PORT].
func (p Policy) Forbids(grant string) (Rule, bool) {
	kind, value, _ := strings.Cut(grant, ":")
	at := agenttool.Path{Spelling: value, Absolute: value, Resolved: value}
	f := agenttool.Facts{Verdicts: agenttool.Verdicts{PathsComplete: agenttool.Yes}}
	switch kind {
	case "write":
		f.Writes = []agenttool.Path{at}
	case "read", "socket":
		f.Reads = []agenttool.Path{at}
	case "host":
		f.Hosts = []string{value}
	}
	found, ok := p.set.forbidden(agenttool.Deny, Request{Tool: "write", Facts: &f}, nil)
	if ok && found.sure == surely && !p.set.rules[found.rule].coversTool("write") {
		return p.set.rules[found.rule], true
	}
	return p.set.below(kind, strings.ToLower(filepath.Clean(value)))
}

// Writes reports whether rules allow to write the path of a grant, and none denies it or wants it asked.
func (p Policy) Writes(grant string) bool {
	path, ok := strings.CutPrefix(grant, "write:")
	if _, denied := p.Forbids(grant); !ok || denied {
		return false
	}
	v := p.verdict(Request{Tool: "write", Facts: &agenttool.Facts{
		Writes:   []agenttool.Path{{Spelling: path, Absolute: path, Resolved: path}},
		Verdicts: agenttool.Verdicts{ReadOnly: agenttool.No, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes, Destructive: agenttool.No},
	}})
	return v.behavior == agenttool.Allow && len(v.rules) > 0
}

// Reaches reports whether a rule names the host of a grant, and none denies it or wants it asked. A rule for all hosts, or for those below a
// name, names none: no person chose the addresses of such a host.
func (p Policy) Reaches(grant string) bool {
	host, ok := strings.CutPrefix(grant, "host:")
	return ok && slices.ContainsFunc(p.set.networks(), func(named string) bool {
		return parseHost(strings.TrimPrefix(named, "host:")).match(host)
	})
}

// MayOpen reports whether a directory may stay open for a session once a person has allowed a call that makes or installs it: an ordinary
// directory outside of the workspace, about whose writing no rule says anything else.
func (p Policy) MayOpen(dir string) bool {
	if !filepath.IsAbs(dir) || !(suggester{p: &p}).narrow(dir) || p.Secret != nil && p.Secret(dir) {
		return false
	}
	at := agenttool.Path{Spelling: dir, Absolute: dir, Resolved: dir}
	p = p.at(Request{Facts: &agenttool.Facts{Writes: []agenttool.Path{at}}})
	if _, err := p.names(); err != nil || p.isProtected(dir, "") {
		return false
	}
	for _, name := range strings.Split(dir, "/") {
		if strings.ContainsFunc(name, func(r rune) bool { return r < ' ' }) {
			return false
		}
	}
	_, denied := p.Forbids("write:" + dir)
	return !denied
}

// maxShown bounds the directories that rules show to commands: each is a mount.
const maxShown = 16

// Shown returns the directories outside of the workspace that a rule lets every call of the session read, each with all below it. None is
// hidden, and a rule that denies or asks is about none of them, nor about anything in one.
func (p Policy) Shown() (dirs []string) {
	for _, r := range p.Rules() {
		dir, whole := strings.CutSuffix(r.glob, "/**")
		plain := r.Behavior == agenttool.Allow && r.tool == "read" && r.Origin.Thread == "" && whole && filepath.IsAbs(dir) && !strings.ContainsAny(dir, `*?[{\`)
		if !plain || len(dirs) == maxShown || slices.Contains(dirs, dir) || !(suggester{p: &p}).narrow(dir) || p.Secret != nil && p.Secret(dir) {
			continue
		}
		if !p.set.deny.limits(p.set, dir) && !p.set.ask.limits(p.set, dir) && !agenttool.Within(p.Workspace, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// limits reports whether one of the rules may be about reading a directory or something in it.
func (x *ruleIndex) limits(s *ruleset, dir string) bool {
	dir = strings.ToLower(dir)
	return slices.ContainsFunc(x.paths, func(of pathRule) bool {
		return s.rules[of.rule].tool == "read" && slices.ContainsFunc(of.patterns, func(p pathPattern) bool {
			return strings.HasPrefix(dir, p.prefix) || strings.HasPrefix(p.prefix, dir)
		})
	})
}

// Pushes begins the name of an opening that is a repository to which a call pushes, Fetches that of one from which it fetches, and Links that of
// one that is a package which a call installs.
const (
	Pushes  = "push:"
	Fetches = "fetch:"
	Links   = "link:"
)

// Opened splits the name of an opening into its beginning, "" for a directory that a call makes, and the path.
func Opened(of string) (kind, dir string) {
	n := max(strings.IndexByte(of, '/'), 0)
	return of[:n], of[n:]
}

// Opening returns the rules for a thing that stays open to a session: a directory with all below it, or, behind [Pushes] and [Fetches], a
// repository for pushes or for fetches alone.
func Opening(of string) []string {
	switch kind, dir := Opened(of); kind {
	case Pushes:
		return []string{"Push(" + escapeGlob(dir) + ")"}
	case Fetches:
		return []string{"Fetch(" + escapeGlob(dir) + ")"}
	}
	_, dir := Opened(of)
	return []string{"Read(" + escapeGlob(dir) + "/**)", "Write(" + escapeGlob(dir) + "/**)"}
}

// below returns the first rule that denies something in a directory that a grant would open.
func (s *ruleset) below(kind, dir string) (Rule, bool) {
	if s == nil || !filepath.IsAbs(dir) {
		return Rule{}, false
	}
	for i := range s.deny.paths {
		x := &s.deny.paths[i]
		about := s.rules[x.rule].tool == kind || kind == "socket" && s.rules[x.rule].tool == "read"
		if about && slices.ContainsFunc(x.patterns, func(p pathPattern) bool {
			return p.prefix != "" && agenttool.Within(dir, filepath.Clean(p.prefix))
		}) {
			return s.rules[x.rule], true
		}
	}
	return Rule{}, false
}

// Uses are the paths that every call of a tool touches.
type Uses struct{ Reads, Writes bool }

// Hides returns the rule that denies every call of a tool, if there is one: a rule without a specifier about the tool itself, or about all
// paths that its calls touch. A model need not see such a tool.
func (p Policy) Hides(tool string, u Uses) (Rule, bool) {
	for _, r := range p.Rules() {
		if r.Behavior != agenttool.Deny || r.argv != nil || r.glob != "" || r.host != (hostName{}) {
			continue
		}
		if r.tool == networkTool {
			continue
		}
		if r.coversTool(tool) || u.Reads && r.tool == "read" || u.Writes && r.tool == "write" {
			return r, true
		}
	}
	return Rule{}, false
}

// Covered is a part of a call that takes a rule, and whether the rules of a policy allow it.
type Covered struct {
	What string `json:"what"` // a command line, "writing PATH" or "reading PATH"
	By   bool   `json:"covered"`
}

// Coverage returns the parts of a call that need a rule, in their order, with those that have one. A call with unknown parts has
// one more, which only a rule about the whole tool covers.
func (p Policy) Coverage(r Request) (parts []Covered) {
	c := coverOf(&p, r)
	seen := map[string]bool{}
	add := func(what string, by bool) {
		if !seen[what] {
			seen[what] = true
			parts = append(parts, Covered{what, by})
		}
	}
	all := c.whole && len(c.parts) == 0
	f := r.Facts
	if r.RunsCode && f.PartsComplete != agenttool.Yes {
		add("what it runs beside the commands that are known", all)
	}
	for n := range f.Parts {
		covered := n < len(c.parts) && c.parts[n] >= 0
		if !readsOnly(&f.Parts[n]) && (n >= len(c.parts) || c.parts[n] != onlyReads) {
			add(strings.Join(f.Parts[n].Argv, " "), all || covered)
		}
	}
	c.coveredPaths(func(what string, by bool) { add(what, all || by) })
	return parts
}

// coveredPaths reports the paths and hosts of a call that need a rule, and whether they have one.
func (c *cover) coveredPaths(report func(what string, by bool)) {
	f := c.r.Facts
	for _, path := range f.Writes {
		if !c.p.keeps(path) {
			report("writing "+path.Spelling, c.p.set.allowing(path, func(rule *Rule) bool { return rule.takes(path, c.r.Tool) }) >= 0)
		}
	}
	for _, path := range f.Reads {
		if c.p.outside(path) {
			report("reading "+path.Spelling, c.p.set.allowing(path, func(rule *Rule) bool { return rule.lends(path) }) >= 0)
		}
	}
	for _, host := range f.Hosts {
		if len(f.Parts) == 0 {
			report("reaching "+host, false)
		}
	}
}

// Allows reports whether a call would run unasked.
func (p Policy) Allows(r Request) bool { return p.verdict(r).behavior == agenttool.Allow }
