package main

import (
	"strings"
	"testing"
	"time"

	"toolhost/sandbox"
)

// TestEscapesAsked makes attempts of TestEscapes in a session where a user is there: one name is opened to the command while it runs, and every
// other question is answered with no. The ordinary form makes a few; testdata/long.sh makes all.
func TestEscapesAsked(t *testing.T) {
	t.Parallel()
	if testing.Short() || underRace {
		t.Skip("the attempts are shown by the ordinary run: they are programs, with no race detector in them")
	}
	r := newRig(t)
	all := allAttempts()
	for i, try := range all {
		if try.stdin != "" || try.at == nil && !try.shell || !long() && i%16 != 0 {
			continue
		}
		t.Run(try.name, func(t *testing.T) {
			t.Parallel()
			for _, program := range strings.Fields(try.needs) {
				needs(t, program)
			}
			known(t, try.finding)
			for n, who := range accounts(t) {
				if try.only == "" && (long() || i/16%2 == n || len(accounts(t)) == 1) || try.only == who.name {
					t.Run(who.name, func(t *testing.T) { try.asked(r.approvalsArena(t, who, sandbox.Full)) })
				}
			}
		})
	}
}

// asked makes an attempt while a user answers.
func (try attempt) asked(a *escapeAttempt) {
	if try.set != nil {
		try.set(a)
	}
	h := a.serving(true, "--allow", "Shell(bash attempt.sh)").confinedBy()
	a.write("ws/attempt.sh", a.prelude()+"mkdir $H/opened && echo x > $H/opened/file && echo OPENED\n"+try.script)
	before := a.look()
	said := h.answered(h.shell("bash attempt.sh"), func(p prompted) bool { return len(p.Grants) == 1 && p.Grants[0] == "write:"+a.path("home/opened") })
	harm := changes(before, a.look(), try.changes+" home/opened ws/opened state state-outer run config")
	for line := range strings.Lines(said) {
		if strings.Contains(line, "ESCAPED") || strings.Contains(line, a.canary) {
			harm = append(harm, "it said: "+strings.TrimSpace(line))
		}
	}
	if len(harm) > 0 {
		a.t.Errorf("%s\n%s", strings.Join(harm, "\n"), said)
	}
	if !strings.Contains(said, "OPENED") {
		a.t.Errorf("what was opened was not written:\n%s", said)
	}
}

// answered waits for a call and answers its prompts meanwhile. It returns what the call says.
func (h *approvalsHost) answered(m *made, yes func(prompted) bool) string {
	h.t.Helper()
	over, r := make(chan error, 1), &jobReply{}
	go func() { over <- m.sent.Result(r, 5*patience) }()
	for {
		select {
		case err := <-over:
			if err != nil {
				h.t.Fatalf("%s: %v", m.name, err)
			}
			return r.says() + r.view().Stdout
		case <-time.After(5 * time.Millisecond):
		}
		for _, p := range h.prompts() {
			behavior := "deny"
			if yes(p) {
				behavior = "allow"
			}
			_, _ = h.answer(p, behavior) // it may be over
		}
	}
}
