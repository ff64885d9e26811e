package permissions

import (
	"strings"

	"toolhost/agenttool"
)

// remedy says what would change the verdict: a word that is known, a rule, or a mode; "" if there is nothing short. All of it was tried.
func (s suggester) remedy(v verdict, suggested []agenttool.SuggestedUpdate) string {
	r := s.r
	if v.kind == kindRule || v.kind == kindSafety || v.behavior == agenttool.Deny && s.p.Mode == Plan {
		return ""
	}
	if c := causeOf(s.p, r); c.fact == "paths_complete" && r.Facts.ReadOnly == agenttool.Yes && !strings.Contains(v.why, "literal path") && !strings.Contains(v.why, ": write `") {
		return ": use a literal path"
	}
	var ways []string
	if rules := s.rulesFor(suggested); len(rules) == 1 {
		ways = append(ways, "a rule `"+rules[0]+"`")
	} else if len(rules) > 1 {
		ways = append(ways, "the rules `"+strings.Join(rules, "` and `")+"`")
	}
	confined := *s.p
	confined.Confines = true
	if mode, found := (suggester{&confined, r}).looser(); found && r.RunsCode {
		way := "mode " + string(mode)
		if mode == Sandboxed && !s.p.Confines {
			way += " at sandbox level full"
		}
		ways = append(ways, way)
	}
	said := ""
	if len(ways) > 0 {
		said = "; " + strings.Join(ways, " or ") + " would allow it"
	}
	if s.p.Mode == Sandboxed && !s.p.Confines && confined.confined(r) {
		said += "; mode sandboxed runs it unasked at sandbox level full only: toolhost doctor says what this machine lacks"
	}
	return said
}

// maxRules is how many rules a sentence names at most.
const maxRules = 2

// rulesFor returns rules that would allow the call: those that are suggested, or the very words of its commands.
func (s suggester) rulesFor(suggested []agenttool.SuggestedUpdate) []string {
	r := s.r
	if len(suggested) > 0 && len(suggested[0].Rules) > 0 {
		if rules := suggested[0].Rules; len(rules) <= maxRules {
			return rules
		}
		return nil
	}
	var rules []string
	c := coverOf(s.p, r)
	for i := range r.Facts.Parts {
		part := &r.Facts.Parts[i]
		variables, ok := beforeWords(part, false)
		switch {
		case readsOnly(part) || c.passing(i):
		case part.WrappedBy >= 0 && !r.Facts.Parts[part.WrappedBy].Passes: // a rule with all words of the wrapper covers it
		case !part.Exact || !ok || len(rules) == maxRules, part.WrappedBy >= 0 && !suggestible(part.Argv):
			return nil
		default:
			rules = append(rules, "Shell("+variables+joinWords(part.Argv)+")")
		}
	}
	for _, path := range r.Facts.Writes {
		rules = append(rules, "Write("+s.spell(path)+")")
	}
	if !r.RunsCode || len(rules) == 0 || len(rules) > maxRules || !s.wouldAllow(rules) {
		return nil
	}
	return rules
}
