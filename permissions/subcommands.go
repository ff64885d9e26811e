package permissions

import (
	"slices"

	"toolhost/agenttool"
)

// maxSubcommands is how many simple commands a record speaks of.
const maxSubcommands = 100

// breakdown is a decision about a call, told for each of its simple commands.
type breakdown struct {
	p *Policy
	f *agenttool.Facts
	v verdict
}

// list returns the decision about each simple command. The first rule that denies or asks about it decides, else the rule that
// covers it. Without a rule it only reads, or it shares the decision about the whole call.
func (b breakdown) list(r Request) []agenttool.Subcommand {
	if b.v.covered == nil && b.p.set != nil {
		c := coverOf(b.p, r)
		b.v.covered = c.parts
	}
	list := make([]agenttool.Subcommand, 0, min(len(b.f.Parts), maxSubcommands))
	for n := range b.f.Parts {
		if len(list) == maxSubcommands {
			break
		}
		part := &b.f.Parts[n]
		s := agenttool.Subcommand{Argv: part.Argv, Line: part.Line, Column: part.Column, WrappedBy: part.WrappedBy}
		b.fill(&s, n, part, b.p.heldFor(&r))
		list = append(list, s)
	}
	return list
}

// fill writes the decision about one simple command. held says which rules the sandbox of the call holds.
func (b breakdown) fill(s *agenttool.Subcommand, n int, part *agenttool.Part, held func(*Rule) bool) {
	p, v := b.p, b.v
	if p.set != nil {
		one := *part
		if v.behavior == agenttool.Allow {
			one.MayRun = "" // which was decided about
		}
		alone := agenttool.Facts{Dir: v.dir, Parts: []agenttool.Part{one}, Mentions: [][]string{}}
		for _, forbids := range []agenttool.Behavior{agenttool.Deny, agenttool.Ask} {
			if found, ok := p.set.forbidden(forbids, Request{Tool: shellTool, RunsCode: true, Facts: &alone}, held); ok {
				fallsUnder(s, &p.set.rules[found.rule], forbids, found.sure)
				return
			}
		}
	}
	switch {
	case n < len(v.covered) && v.covered[n] >= 0:
		fallsUnder(s, &p.set.rules[v.covered[n]], agenttool.Allow, surely)
	case b.blocks(n, part):
		s.Behavior, s.Reason = v.behavior, v.why
	case readsOnly(part) || n < len(v.covered) && v.covered[n] == onlyReads:
		s.Behavior, s.Reason = agenttool.Allow, "it only reads"
	case v.behavior == agenttool.Allow:
		s.Behavior, s.Reason = agenttool.Allow, v.why
	case !p.Mode.Asks():
		s.Behavior, s.Reason = agenttool.Deny, partReason(part)
	default:
		s.Behavior, s.Reason = agenttool.Ask, partReason(part)
	}
}

// blocks reports whether the call does not run because of a path that this simple command touches.
func (b breakdown) blocks(n int, part *agenttool.Part) bool {
	v := b.v
	if v.behavior == agenttool.Allow || !readsOnly(part) {
		return false
	}
	return slices.ContainsFunc(v.reads, func(path agenttool.Path) bool {
		return path.By == n+1 && (path.Spelling == v.path || v.path == "" && b.p.outside(path))
	})
}

func fallsUnder(s *agenttool.Subcommand, rule *Rule, b agenttool.Behavior, sure certainty) {
	s.Behavior, s.Rule, s.Source, s.Where = b, rule.Text, rule.Origin.Source, rule.Origin.Where()
	switch {
	case sure == maybe:
		s.Behavior, s.Reason = agenttool.Ask, "it may be a match of "+describe(rule)
	case b == agenttool.Allow:
		s.Reason = "allowed by " + describe(rule)
	case b == agenttool.Ask:
		s.Reason = "asked about because of " + describe(rule)
	default:
		s.Reason = "denied by " + describe(rule)
	}
}

// partReason says why a simple command does not run unasked, by the first fact of it that is not harmless.
func partReason(part *agenttool.Part) string {
	for _, fact := range [...]string{"destructive", "read_only", "open_world", "paths_complete"} {
		if harmless(part, fact) {
			continue
		}
		if why := pick(part.Reasons, fact); why != "" {
			return why
		}
		return withoutReason[fact]
	}
	return "it only reads"
}
