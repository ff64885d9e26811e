package plain

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/approve"
)

// ownWord stands for the rule of the last trial.
const ownWord = "own"

// trial is the last trial of a rule for a prompt.
type trial struct {
	rule string
	said bool // the outcome is known
	err  error
}

// Tried is the event that a session reported the coverage of a rule.
type Tried struct {
	Number  int
	Rule    string
	Outcome approve.Trial
	Err     error
}

// try asks for the coverage of a rule. It answers nothing.
func (t *Talk) try(it *approve.Item, rule string) {
	if rule == "" {
		t.problem("prompt %d: a rule is missing; the widest that is suggested is %s", it.Number, suggested(it))
		return
	}
	if len(rule) > approve.MaxRule {
		t.problem("prompt %d: the rule is longer than %d bytes", it.Number, approve.MaxRule)
		return
	}
	t.trials[it.Number] = trial{rule: rule}
	t.o.Try(it, rule)
}

func suggested(it *approve.Item) string {
	rules := approve.OwnRules(approve.Widest(it))
	if len(rules) == 0 {
		return "none"
	}
	return strings.Join(rules, " and ")
}

// tried prints the outcome of a trial.
func (t *Talk) tried(e Tried) {
	it := t.queue.Find(e.Number)
	if it == nil || t.trials[e.Number].rule != e.Rule {
		return
	}
	err := e.Outcome.Acceptable(e.Err)
	t.trials[e.Number] = trial{rule: e.Rule, said: true, err: err}
	if err != nil {
		t.problem("prompt %d: the rule is refused: %s", e.Number, visible.Text(err.Error()))
		return
	}
	var lines []string
	for _, line := range e.Outcome.Lines() {
		lines = append(lines, line.Text)
	}
	if t.o.JSON {
		t.say(record{Event: "rule", Number: e.Number, Rule: e.Rule, Covers: lines}, "")
		return
	}
	for _, line := range lines {
		t.print("  %s", line)
	}
	t.print("prompt %d, to keep this rule and allow the call: %s", e.Number, strings.Join(t.keeps(it), ", "))
}

// keeps are the answers that keep the rule of the last trial.
func (t *Talk) keeps(it *approve.Item) (answers []string) {
	for _, scope := range slices.DeleteFunc(slices.Clone(t.queue.Session(it.Session).Approvals.Scopes), func(s string) bool { return s == "once" }) {
		answers = append(answers, fmt.Sprintf("%d %s %s", it.Number, scope, ownWord))
	}
	return answers
}

// own adds the rule of the last trial to a choice.
func (t *Talk) own(it *approve.Item, c *approve.Choice) error {
	tried, known := t.trials[it.Number]
	switch {
	case !known:
		return errors.New("no rule was tried yet: rule Shell(go test *) says what one would cover")
	case !tried.said:
		return errors.New("the session has not said yet what that rule covers")
	case tried.err != nil:
		return tried.err
	}
	c.Own = []string{tried.rule}
	return nil
}
