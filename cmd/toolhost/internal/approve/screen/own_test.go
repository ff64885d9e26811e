package screen

import (
	"errors"
	"strings"
	"testing"
	"time"

	"toolhost/cmd/toolhost/internal/approve"
)

// ownRules are ways to write a rule, with the answers that come of them.
var ownRules = []struct {
	name string
	play func(r *run)
	want []string
}{
	{"as it is suggested", func(r *run) { r.keys("enter", "enter") },
		[]string{`{"decision_id":"p1","behavior":"allow","scope":"session","rules":["Shell(go test ./...)"]}`}},
	{"wider, for the project", func(r *run) {
		for range len("./...)") {
			r.keys("backspace")
		}
		r.types("*)")
		r.keys("enter", "p", "enter")
	}, []string{`{"decision_id":"p1","behavior":"allow","scope":"project","rules":["Shell(go test *)"]}`}},
	{"two, for the user", func(r *run) {
		r.tell(key("alt+enter"))
		r.types("Shell(rm -rf *)")
		r.keys("enter", "u", "enter")
	}, []string{`{"decision_id":"p1","behavior":"allow","scope":"user","rules":["Shell(go test ./...)","Shell(rm -rf *)"]}`}},
	{"once after all", func(r *run) { r.keys("enter", "y") }, []string{`{"decision_id":"p1","behavior":"allow","scope":"once"}`}},
	{"back to the line, and out", func(r *run) { r.keys("enter", "esc", "esc") }, nil},
	{"not chosen", func(r *run) { r.keys("enter", "space", "enter") }, nil},
}

func TestOwnRules(t *testing.T) {
	for _, c := range ownRules {
		t.Run(c.name, func(t *testing.T) {
			in(t, 80, 24, func(r *run) {
				r.session("ses_1", "")
				r.ask("p1", "go test ./... && rm -rf /home/important", "")
				r.keys("R")
				r.sees("covers   go test ./...")
				r.sees("not      rm -rf ⟨ESC⟩[2J/home/important")
				c.play(r)
				r.wait(time.Second)
				r.answered(c.want...)
			})
		})
	}
}

// TestOwnRuleIsTriedAsItStands: the report on the screen is that of the text on the screen, and one that is late counts for nothing.
func TestOwnRuleIsTriedAsItStands(t *testing.T) {
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", "")
		r.ask("p1", "go test ./...", "")
		r.keys("R")
		d := r.m.dialog.(*own)
		late := trialMsg{of: d, outcome: d.outcome}
		r.refuse = errors.New("rule \x1b[2J: no such tool")
		r.keys("x")
		r.sees("refused  rule ⟨ESC⟩[2J: no such tool")
		r.keys("enter")
		if r.m.dialog != d {
			t.Error("a refused rule can be kept")
		}
		r.refuse = nil
		r.keys("ctrl+u")
		r.sees("there is no rule")
		r.tell(late)
		r.keys("enter", "enter")
		r.answered()
		if last := r.tries[len(r.tries)-1]; !strings.HasSuffix(last, "x") {
			t.Errorf("tried last was %q", last)
		}
	})
}

// TestOwnRuleWithoutSuggestion: a rule can be written where none is suggested.
func TestOwnRuleWithoutSuggestion(t *testing.T) {
	in(t, 80, 24, func(r *run) {
		r.session("ses_1", "")
		r.ask("p1", "go test ./...", `{"decision":{"decision_id":"p1","behavior":"ask","reason":{"type":"mode","detail":"x"}}}`)
		r.keys("s")
		r.sees(approve.NothingSuggested)
		r.keys("R")
		r.types("Shell(go *)")
		r.keys("enter", "enter")
		r.answered(`{"decision_id":"p1","behavior":"allow","scope":"session","rules":["Shell(go *)"]}`)
	})
}
