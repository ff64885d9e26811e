package permissions

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

// finding is a rule that is about a call, and how sure that is.
type finding struct {
	rule int // its number in the set; -1: none
	sure certainty
	path string // the path that it is about, as it is spelled
	why  string // for a rule that may match: the unknown code that may run
}

// forbidden returns the rule of a behaviour (deny or ask) that matches the call. A certain match comes before a possible one; among
// equals the first rule wins. Every command that is mentioned counts, whether or not it would run. A rule that held
// accepts, which may be nil, is not about code that may run besides the commands that are mentioned.
func (s *ruleset) forbidden(b agenttool.Behavior, r Request, held func(*Rule) bool) (finding, bool) {
	if s == nil {
		return finding{rule: -1}, false
	}
	x, best := s.of(b), finding{rule: -1}
	keep := func(f finding) {
		if f.sure > best.sure || f.sure == best.sure && f.rule < best.rule {
			best = f
		}
	}
	for _, i := range x.whole {
		if s.rules[i].coversTool(r.Tool) && (r.Facts.OwnJobs != agenttool.Yes || s.rules[i].tool == r.Tool) {
			keep(finding{rule: i, sure: surely})
		}
	}
	if r.Facts.OwnJobs == agenttool.Yes { // it runs no command and touches no path: only a rule about its tool means it
		return best, best.rule >= 0
	}
	if r.RunsCode {
		s.forbiddenWords(x, r.Facts, keep)
		if b == agenttool.Deny {
			s.forbiddenCode(x, r.Facts, held, keep)
		}
	}
	s.forbiddenPaths(x, r, keep)
	for _, i := range x.hosts {
		switch {
		case s.rules[i].meetsHosts(r.Facts):
			keep(finding{rule: i, sure: surely})
		case r.Facts.Unmentioned:
			keep(finding{rule: i, sure: maybe})
		}
	}
	return best, best.rule >= 0
}

// meetsHosts reports whether a rule that forbids hosts is about a call.
func (r *matcher) meetsHosts(f *agenttool.Facts) bool {
	if r.host == (hostName{}) {
		return f.OpenWorld == agenttool.Yes || len(f.Hosts) > 0
	}
	return slices.ContainsFunc(f.Hosts, r.host.meets)
}

// forbiddenWords looks at every command that is mentioned.
func (s *ruleset) forbiddenWords(x *ruleIndex, f *agenttool.Facts, keep func(finding)) {
	if !x.speaksOfCommands() {
		return
	}
	for i := range f.Parts {
		part := &f.Parts[i]
		s.forbiddenArgv(x, unread(part.Argv), keep, func(rule *Rule) certainty { return rule.meetsPart(part) })
	}
	for _, argv := range f.Mentions {
		s.forbiddenArgv(x, argv, keep, func(rule *Rule) certainty { return min(rule.meets(argv), rule.meetsVariables(f)) })
	}
	if f.Unmentioned || f.Mentions == nil && f.Parts == nil {
		keep(finding{rule: x.every()[0], sure: maybe})
	}
}

// forbiddenCode looks at the code that may run besides the commands that are mentioned: a rule that denies commands may match it. A
// command that an allow rule names by its words is exempt: the user knows it. So is code from the rules that held accepts, since the sandbox
// holds them, unless it may run on another machine that the call names.
func (s *ruleset) forbiddenCode(x *ruleIndex, f *agenttool.Facts, held func(*Rule) bool, keep func(finding)) {
	if !x.speaksOfCommands() {
		return
	}
	elsewhere := slices.ContainsFunc(f.Hosts, func(host string) bool { return !loopback(host) })
	first := func(openWorld agenttool.Fact) (rule int, found bool) {
		for _, i := range x.every() {
			if held == nil || elsewhere && openWorld == agenttool.Yes || !held(&s.rules[i]) {
				return i, true
			}
		}
		return -1, false
	}
	ofParts := false
	for n := range f.Parts {
		part := &f.Parts[n]
		if part.MayRun == "" {
			continue
		}
		ofParts = ofParts || part.MayRun == f.MayRun
		if s.allowsWords(f, part) {
			continue
		}
		if i, found := first(part.OpenWorld); found {
			keep(finding{rule: i, sure: maybe, why: part.MayRun})
			return
		}
	}
	if f.MayRun == "" || ofParts {
		return
	}
	if i, found := first(f.OpenWorld); found {
		keep(finding{rule: i, sure: maybe, why: f.MayRun})
	}
}

// allowsWords reports whether a rule that allows names a simple command by its words.
func (s *ruleset) allowsWords(f *agenttool.Facts, part *agenttool.Part) bool {
	if len(part.Argv) == 0 || !inRoots(f, part) {
		return false
	}
	return slices.ContainsFunc(s.allow.firstWords(part.Argv[0]), func(i int) bool { return s.rules[i].covers(f, part) })
}

// unread returns the argv of a part with its unknown pieces marked as in mentions.
func unread(argv []string) []string {
	if !slices.ContainsFunc(argv, func(w string) bool { return strings.HasSuffix(w, unknownEnd) }) {
		return argv
	}
	marked := slices.Clone(argv)
	for i, w := range marked {
		if rest, cut := strings.CutSuffix(w, unknownEnd); cut {
			marked[i] = rest + agenttool.Unread
		}
	}
	return marked
}

// unknownEnd ends a word of a part that is not known to its end.
const unknownEnd = "…"

func (s *ruleset) forbiddenArgv(x *ruleIndex, argv []string, keep func(finding), meets func(*Rule) certainty) {
	if len(argv) == 0 {
		return
	}
	candidates := x.firstWords(argv[0], filepath.Base(argv[0]))
	if strings.Contains(argv[0], agenttool.Unread) {
		candidates = x.every()
	}
	for _, i := range candidates {
		if sure := meets(&s.rules[i]); sure > never {
			keep(finding{rule: i, sure: sure})
		}
	}
}

// forbiddenPaths looks at the paths that the call names.
func (s *ruleset) forbiddenPaths(x *ruleIndex, r Request, keep func(finding)) {
	if len(x.paths) == 0 {
		return
	}
	if r.Facts.Unmentioned { // the unread part may name any path
		keep(finding{rule: x.paths[0].rule, sure: maybe})
	}
	for _, p := range r.Facts.Reads {
		low := lower(p)
		for i := range x.paths {
			if rule := &s.rules[x.paths[i].rule]; rule.tool == "read" && !p.Names && x.paths[i].meets(low) {
				keep(finding{rule: x.paths[i].rule, sure: surely, path: p.Spelling})
			}
		}
	}
	for _, p := range r.Facts.Writes {
		low := lower(p)
		for i := range x.paths {
			if rule := &s.rules[x.paths[i].rule]; rule.allowsWrite(r.Tool) && x.paths[i].meets(low) {
				keep(finding{rule: x.paths[i].rule, sure: surely, path: p.Spelling})
			}
		}
	}
}
