package approve

import (
	"errors"
	"fmt"
	"strings"

	"toolhost/agenttool/visible"
)

// Trial is a session's report on rules of a person's own: the parts of the call that they cover, and the calls of the session so far that
// would have run unasked.
type Trial struct {
	Parts []struct {
		What    string `json:"what"`
		Covered bool   `json:"covered"`
	} `json:"parts"`
	Runs   bool     `json:"runs"`
	Still  string   `json:"still"`
	Grants []string `json:"grants"`
	Calls  []string `json:"calls"`
}

// Covers reports whether the rules cover anything of the call.
func (t Trial) Covers() bool {
	for _, part := range t.Parts {
		if part.Covered {
			return true
		}
	}
	return t.Runs
}

// MaxRule is the length in bytes of the longest rules that a person can write for one call.
const MaxRule = 4096

// OwnRules are the rules of a text, one a line.
func OwnRules(text string) (rules []string) {
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			rules = append(rules, line)
		}
	}
	return rules
}

// Acceptable says why rules cannot be kept, with the trial of a session.
func (t Trial) Acceptable(err error) error {
	if err == nil && !t.Covers() {
		err = errors.New("it covers nothing of this call: change it, or write it into your settings")
	}
	return err
}

// maxCalls is how many calls of the session so far are listed.
const maxCalls = 5

// Lines are the coverage of the rules.
func (t Trial) Lines() []Line {
	var p page
	for _, part := range t.Parts {
		if part.Covered {
			p.add(Good, 9, "covers   "+visible.Text(part.What))
		}
	}
	for _, part := range t.Parts {
		if !part.Covered {
			p.add(Warning, 9, "not      "+visible.Text(part.What))
		}
	}
	switch {
	case !t.Covers():
		p.add(Warning, 9, "refused  it covers nothing of this call")
	case t.Runs:
		p.add(Plain, 9, "then     calls like this one run unasked")
	default:
		p.add(Warning, 9, "CAUTION  it does not cover all: this call is allowed once, and the next like it asks: "+visible.Text(t.Still))
	}
	for _, grant := range t.Grants {
		p.add(Warning, 9, "with     "+GrantText(grant))
	}
	t.before(&p)
	return p
}

// before lists the last calls that would have run by the rules.
func (t Trial) before(p *page) {
	for _, call := range t.Calls[:min(len(t.Calls), maxCalls)] {
		p.add(Faint, 9, "before   "+visible.Text(call))
	}
	if more := len(t.Calls) - maxCalls; more > 0 {
		p.add(Faint, 9, fmt.Sprintf("         and %d more of the last calls", more))
	}
	if len(t.Calls) == 0 && t.Covers() {
		p.add(Faint, 9, "before   no other of the last calls would have run by it")
	}
}
