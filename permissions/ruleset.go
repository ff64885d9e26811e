package permissions

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// ruleset holds rules so that those that can be about a call are found without looking at all of them. It is built once
// and then only read; nil holds none.
type ruleset struct {
	rules []Rule // deny, then ask, then allow, each as they were given
	deny  ruleIndex
	ask   ruleIndex
	allow ruleIndex
	hosts []string // grants for the hosts that rules allow
}

// ruleIndex are the rules of one behaviour, grouped by subject. The numbers are indices of the rules.
type ruleIndex struct {
	whole []int            // a tool, whatever its input
	words map[string][]int // Shell(WORDS) by their first word
	wild  []int            // those whose first word has a star
	paths []pathRule
	hosts []int
}

// pathRule is a rule about paths, compiled.
type pathRule struct {
	rule     int
	patterns []pathPattern
}

// compile builds the set. Relative patterns are below the workspace.
func compile(rules []Rule, workspace string) *ruleset {
	s := &ruleset{rules: sortedBy(slices.Clone(rules))}
	for i := range s.rules {
		r := &s.rules[i]
		s.of(r.Behavior).add(i, r, workspace)
	}
	s.hosts = s.openHosts()
	return s
}

// openHosts returns grants for the hosts that rules allow, and no rule denies or asks about.
func (s *ruleset) openHosts() []string {
	var grants []string
	forbidding := slices.Concat(s.deny.hosts, s.ask.hosts)
	for _, i := range s.allow.hosts {
		grant := s.rules[i].host.grant()
		host := strings.TrimPrefix(grant, "host:")
		if grant != "" && !slices.ContainsFunc(forbidding, func(i int) bool { return s.rules[i].host.meets(host) }) {
			grants = append(grants, grant)
		}
	}
	return grants
}

func (s *ruleset) of(b agenttool.Behavior) *ruleIndex {
	switch b {
	case agenttool.Deny:
		return &s.deny
	case agenttool.Ask:
		return &s.ask
	}
	return &s.allow
}

func (x *ruleIndex) add(i int, r *Rule, workspace string) {
	switch {
	case isPathTool(r.tool):
		x.paths = append(x.paths, compilePaths(i, r, workspace))
	case r.tool == networkTool:
		x.hosts = append(x.hosts, i)
	case r.argv == nil:
		x.whole = append(x.whole, i)
	default:
		name, plain := r.argv[0].literal()
		if !plain {
			x.wild = append(x.wild, i)
			return
		}
		if r.Behavior != agenttool.Allow {
			name = filepath.Base(name)
		}
		if x.words == nil {
			x.words = map[string][]int{}
		}
		x.words[name] = append(x.words[name], i)
	}
}

func compilePaths(i int, r *Rule, workspace string) pathRule {
	glob := r.glob
	if glob != "" && !filepath.IsAbs(glob) {
		glob = joinGlob(workspace, glob)
	}
	p := pathRule{rule: i}
	for _, g := range append([]string{glob}, r.led...) {
		if r.Behavior != agenttool.Allow {
			g = strings.ToLower(g)
		}
		p.patterns = append(p.patterns, compileGlob(g))
	}
	return p
}

func (p *pathRule) match(path string) bool {
	return slices.ContainsFunc(p.patterns, func(pattern pathPattern) bool { return pattern.match(path) })
}

// covers reports whether a rule that allows covers a path, by its spelling and by where it leads.
func (p *pathRule) covers(path agenttool.Path) bool {
	led := leadsTo(path)
	return p.match(led) && (path.Absolute == led || p.match(filepath.Clean(path.Absolute)))
}

// lowerPath is a path as the rules that forbid see it: without case.
type lowerPath struct{ spelled, resolved string }

func lower(p agenttool.Path) lowerPath {
	l := lowerPath{spelled: strings.ToLower(filepath.Clean(p.Absolute))}
	l.resolved = l.spelled
	if led := leadsTo(p); led != "" && led != p.Absolute {
		l.resolved = strings.ToLower(led)
	}
	return l
}

// leadsTo returns the target of a path as rules spell it. A session keeps its own /tmp in a directory that differs from session to
// session: rules call it /tmp.
func leadsTo(p agenttool.Path) string {
	if p.Seen != "" {
		return p.Seen
	}
	return p.Resolved
}

// meets reports whether a rule that forbids is about a path, by its spelling or by where it leads.
func (p *pathRule) meets(path lowerPath) bool {
	return p.match(path.spelled) || path.resolved != path.spelled && p.match(path.resolved)
}

// firstWords calls visit with the numbers of the Shell rules that may be about a program of that name, in their order.
func (x *ruleIndex) firstWords(names ...string) []int {
	all := x.wild
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			continue
		}
		if found := x.words[name]; len(found) > 0 {
			if len(all) == 0 {
				all = found
				continue
			}
			all = slices.Concat(all, found)
			slices.Sort(all)
		}
	}
	return all
}

// every returns the numbers of all Shell rules with words.
func (x *ruleIndex) every() []int {
	all := slices.Clone(x.wild)
	for _, found := range x.words {
		all = append(all, found...)
	}
	slices.Sort(all)
	return all
}

// speaksOfCommands reports whether there is a rule about the words of commands.
func (x *ruleIndex) speaksOfCommands() bool { return len(x.words)+len(x.wild) > 0 }

// allowing returns the number of the first rule about paths that allows one.
func (s *ruleset) allowing(path agenttool.Path, about func(*Rule) bool) int {
	if s == nil {
		return -1
	}
	for i := range s.allow.paths {
		if x := &s.allow.paths[i]; about(&s.rules[x.rule]) && x.covers(path) {
			return x.rule
		}
	}
	return -1
}

// networks returns grants for the hosts that rules allow, and no rule denies or asks about.
func (s *ruleset) networks() []string {
	if s == nil {
		return nil
	}
	return slices.Clip(s.hosts)
}
