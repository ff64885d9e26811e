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
	part int    // the index of the simple command that it is about; -1: of none
	path string // the path that it is about, as it is spelled
}

// forbidden returns the rule of a behaviour (deny or ask) that is about the call. What is surely met comes before what may be, and
// among equals the first rule. Everything counts that is mentioned, whether or not it would run.
func (s *ruleset) forbidden(b agenttool.Behavior, r Request) (finding, bool) {
	if s == nil {
		return finding{rule: -1}, false
	}
	x, best := s.of(b), finding{rule: -1, part: -1}
	keep := func(f finding) {
		if f.sure > best.sure || f.sure == best.sure && f.rule < best.rule {
			best = f
		}
	}
	for _, i := range x.whole {
		if s.rules[i].coversTool(r.Tool) && (r.Facts.OwnJobs != agenttool.Yes || s.rules[i].tool == r.Tool) {
			keep(finding{i, surely, -1, ""})
		}
	}
	if r.Facts.OwnJobs == agenttool.Yes { // it runs no command and touches no path: only a rule about its tool means it
		return best, best.rule >= 0
	}
	if r.RunsCode {
		s.forbiddenWords(x, r.Facts, keep)
	}
	s.forbiddenPaths(x, r, keep)
	for _, i := range x.hosts {
		switch {
		case s.rules[i].meetsHosts(r.Facts):
			keep(finding{i, surely, -1, ""})
		case r.Facts.Unmentioned:
			keep(finding{i, maybe, -1, ""})
		}
	}
	return best, best.rule >= 0
}

// meetsHosts reports whether a rule that forbids hosts is about a call.
func (r *Rule) meetsHosts(f *agenttool.Facts) bool {
	if r.host == (hostName{}) {
		return f.OpenWorld == agenttool.Yes || len(f.Hosts) > 0
	}
	return slices.ContainsFunc(f.Hosts, r.host.meets)
}

// forbiddenWords looks at every command that is mentioned.
func (s *ruleset) forbiddenWords(x *ruled, f *agenttool.Facts, keep func(finding)) {
	if !x.speaksOfCommands() {
		return
	}
	for n, part := range f.Parts {
		s.forbiddenArgv(x, unread(part.Argv), n, keep)
	}
	for _, argv := range f.Mentions {
		s.forbiddenArgv(x, argv, -1, keep)
	}
	if f.Unmentioned || f.Mentions == nil && f.Parts == nil {
		keep(finding{x.every()[0], maybe, -1, ""})
	}
}

// unread is the argv of a part with what is not known marked as in mentions.
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

func (s *ruleset) forbiddenArgv(x *ruled, argv []string, part int, keep func(finding)) {
	if len(argv) == 0 {
		return
	}
	candidates := x.firstWords(argv[0], filepath.Base(argv[0]))
	if strings.Contains(argv[0], agenttool.Unread) {
		candidates = x.every()
	}
	for _, i := range candidates {
		if sure := s.rules[i].meets(argv); sure > never {
			keep(finding{i, sure, part, ""})
		}
	}
}

// forbiddenPaths looks at the paths that the call names.
func (s *ruleset) forbiddenPaths(x *ruled, r Request, keep func(finding)) {
	if len(x.paths) == 0 {
		return
	}
	if r.Facts.Unmentioned { // what was not read may name any path
		keep(finding{x.paths[0].rule, maybe, -1, ""})
	}
	for _, p := range r.Facts.Reads {
		low := lower(p)
		for i := range x.paths {
			if rule := &s.rules[x.paths[i].rule]; rule.tool == "read" && !p.Names && x.paths[i].meets(low) {
				keep(finding{x.paths[i].rule, surely, -1, p.Spelling})
			}
		}
	}
	for _, p := range r.Facts.Writes {
		low := lower(p)
		for i := range x.paths {
			if rule := &s.rules[x.paths[i].rule]; rule.allowsWrite(r.Tool) && x.paths[i].meets(low) {
				keep(finding{x.paths[i].rule, surely, -1, p.Spelling})
			}
		}
	}
}
