package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// trial is the reply to agenttool/try.
type trial struct {
	Parts []struct {
		What    string
		Covered bool
	}
	Runs  bool
	Still string
	Calls []string
}

// tried asks for the parts of a prompt that rules would cover.
func (s *wireClient) tried(p prompted, rules ...string) (t trial, err error) {
	err = s.try("agenttool/try", fields{"decision_id": p.Decision.ID, "rules": rules}, &t)
	return t, err
}

// ownRules are rules that a person writes while a call waits that removes, makes and writes.
var ownRules = []struct {
	rules []string
	parts string // that are covered, then those that are not
	runs  bool
	wrong string // in the error; empty: none
}{
	{[]string{"Shell(make *)"}, "make -n | mv a.txt b.txt, writing a.txt, writing b.txt", false, ""},
	{[]string{"Shell(make -n)", "Shell(mv *)", "Write(*.txt)"}, "make -n, mv a.txt b.txt, writing a.txt, writing b.txt |", true, ""},
	{[]string{"Shell"}, "make -n, mv a.txt b.txt, writing a.txt, writing b.txt |", true, ""},
	{[]string{"Shell(go *)"}, " | make -n, mv a.txt b.txt, writing a.txt, writing b.txt", false, ""},
	{[]string{"Shel(go *)"}, "", false, `did you mean shell?`},
	{[]string{"Shell(go *"}, "", false, "the closing parenthesis is missing"},
	{[]string{"Shell()"}, "", false, "the specifier is empty"},
	{[]string{"Shell(make *) with nonsense"}, "", false, "nonsense"},
}

// TestOwnRules: a person writes a rule while a call waits. The session reports its coverage, and keeps the rule as written.
func TestOwnRules(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(false).confinedBy()
	a.write("ws/a.txt", "x")
	a.write("ws/Makefile", "all:\n\t@true\n")
	h.write("nobody.txt").failed("approval_unavailable")
	v := a.viewer()
	earlier := h.write("earlier.txt")
	v.decide(v.prompt("earlier.txt", 1), "allow")
	earlier.worked()

	m := h.make("shell", fields{"command": "make -n && mv a.txt b.txt"})
	p := v.prompt("mv a.txt", 1)
	for _, c := range ownRules {
		got, err := v.tried(p, c.rules...)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%q: %v, want %q", c.rules, err, c.wrong)
			}
			continue
		}
		if err != nil || strings.TrimSpace(got.parted()) != strings.TrimSpace(c.parts) || got.Runs != c.runs || got.Runs == (got.Still != "") {
			t.Errorf("%q: %v, %s, runs %v, still %q", c.rules, err, got.parted(), got.Runs, got.Still)
		}
	}
	if got, err := v.tried(p, "Write(*.txt)"); err != nil || fmt.Sprint(got.Calls) != "[write: earlier.txt write: nobody.txt]" {
		t.Errorf("of the calls so far it covers %v, %v", got.Calls, err)
	}
	if open := v.prompts(); len(open) != 1 {
		t.Errorf("a trial has answered it: %+v", open)
	}
	if why := h.undecided(p, "allow", fields{"scope": "session", "rules": []string{"Shell(make *)"}}); !strings.Contains(why, "toolhost approve") {
		t.Errorf("the client is told %q", why)
	}
	d := v.decide(p, "allow", fields{"scope": "project", "rules": []string{"Shell(make *)", "Shell(mv *)", "Write(*.txt)"}})
	if len(d.RuleRefs) != 3 {
		t.Errorf("the record is %+v", d)
	}
	m.worked()
	if kept := a.read(localSettings); !strings.Contains(kept, "Shell(mv *)") || strings.Contains(kept, "Shell(make -n)") {
		t.Errorf("kept is %s", kept)
	}
	asked := h.asked()
	h.make("shell", fields{"command": "make && mv b.txt c.txt"}).worked()
	if h.asked() != asked {
		t.Error("it asks although the rules cover it")
	}
}

// parted are the parts that are covered, and behind a bar those that are not.
func (t trial) parted() string {
	var covered, rest []string
	for _, part := range t.Parts {
		if part.Covered {
			covered = append(covered, part.What)
		} else {
			rest = append(rest, part.What)
		}
	}
	return strings.Join(covered, ", ") + " | " + strings.Join(rest, ", ")
}

// TestStatusNamesCalls: the status has the command of a running call, and the last calls that were denied with the reason.
func TestStatusNamesCalls(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(false)
	h.write("nobody.txt").failed("approval_unavailable")
	v := a.viewer()
	denied := h.write("no.txt")
	v.decide(v.prompt("no.txt", 1), "deny", fields{"feedback": "not that file"})
	denied.failed("rejected_by_person")
	waits := h.write("waits.txt")
	v.prompt("waits.txt", 1)
	var status struct {
		Calls  []struct{ Subject, Status string }
		Denied []struct{ Tool, Subject, Why, At string }
	}
	v.request("agenttool/status", fields{}, &status)
	if said, _ := json.Marshal(status); len(status.Calls) != 1 || status.Calls[0].Subject != "waits.txt" || len(status.Denied) != 2 ||
		status.Denied[1].Subject != "no.txt" || status.Denied[1].Tool != "write" || status.Denied[1].Why != "a person said no: not that file" || status.Denied[1].At == "" {
		t.Errorf("the status is %s", said)
	}
	v.decide(v.prompt("waits.txt", 1), "deny")
	waits.failed("rejected_by_person")
}
