package main

import (
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/cmd/toolhost/internal/presence"
)

// approves has it seem that toolhost approve runs, until the test ends or leave is called.
func (a *escapeAttempt) approves() (leave func()) {
	a.t.Helper()
	path := a.state + "/toolhost/" + presence.File
	a.mkdir(a.state + "/toolhost")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK})
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.own(path)
	leave = sync.OnceFunc(func() { f.Close() })
	a.t.Cleanup(leave)
	return leave
}

// TestApprovalsWait: whether a call waits for an answer although no client of its session gives any.
func TestApprovalsWait(t *testing.T) {
	t.Parallel()
	wait := func(when string) string { return `{"approvals": {"wait": "` + when + `"}}` }
	for _, c := range []struct {
		name, user string
		here       bool // toolhost approve runs
		attending  bool
		waits      bool
	}{
		{"attached, and nobody is there", "", false, false, false},
		{"attached, and somebody is there", "", true, false, true},
		{"attached, and the client answers", "", false, true, true},
		{"always", wait("always"), false, false, true},
		{"never, though somebody is there", wait("never"), true, false, false},
		{"never, but the client answers", wait("never"), false, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := approvals(t)
			if c.user != "" {
				a.write(userSettings, c.user)
			}
			if c.here {
				a.approves()
			}
			h := a.serving(c.attending)
			if len(socketsOf(a)) != 0 {
				t.Errorf("before the first prompt there is %v", socketsOf(a))
			}
			m := h.write("a.txt")
			if !c.waits {
				r := m.failed("approval_unavailable")
				for _, help := range []string{"toolhost approve", "--allow 'Write(a.txt)'"} {
					if !strings.Contains(r.says(), help) {
						t.Errorf("it does not say %s: %s", help, r.says())
					}
				}
				within(t, "a refusal", r.took, 5*time.Second, soon)
				if r.Result.Status != "rejected" || r.Result.Error.Class != "approval_rejected" {
					t.Errorf("%s %s", r.Result.Status, r.Result.Error.Class)
				}
				if len(socketsOf(a)) != 1 {
					t.Errorf("after the first prompt there are %v", socketsOf(a))
				}
				return
			}
			v := a.viewer()
			var open []prompted
			eventually(t, "the prompt is open", func() bool { open = v.prompts(); return len(open) == 1 })
			m.waits()
			v.decide(open[0], "allow")
			m.worked()
		})
	}
}

// TestApprovalsWaitEnds: a call that waits for somebody who leaves is refused, and the next one at once, however short ago they were there.
func TestApprovalsWaitEnds(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	leave := a.approves()
	h := a.serving(false)
	m := h.write("a.txt")
	m.waits()
	leave()
	m.failed("approval_unavailable")
	h.write("b.txt").failed("approval_unavailable")
}

// TestApprovalsViewerComes: who could not be asked at first is asked as soon as they are there.
func TestApprovalsViewerComes(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(false)
	h.write("a.txt").failed("approval_unavailable")
	v := a.viewer()
	m := h.write("a.txt")
	v.decide(v.prompt("a.txt", 1), "allow")
	m.worked()
}

// TestApprovalsExpire: a prompt that nobody answers ends, and says so to all who see it.
func TestApprovalsExpire(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write(userSettings, `{"approvals": {"timeout": "1s", "wait": "always"}}`)
	h := a.serving(false)
	if len(socketsOf(a)) != 0 {
		t.Errorf("there is %v", socketsOf(a))
	}
	h.write("first.txt").failed("approval_expired") // with nobody there at all
	v := a.viewer()
	m := h.write("a.txt")
	p := v.prompt("a.txt", 1)
	r := m.failed("approval_expired")
	if r.Result.Status != "rejected" || r.Result.Error.Class != "approval_rejected" || r.took < time.Second {
		t.Errorf("%s %s after %v", r.Result.Status, r.Result.Error.Class, r.took)
	}
	within(t, "a prompt of 1 s", r.took, 5*time.Second, soon)
	if d := v.ended(p); d.Behavior != "deny" || !strings.Contains(d.Reason.Detail, "nobody answered") {
		t.Errorf("the person is told %+v", d)
	}
	if why := v.undecided(p, "allow"); !strings.Contains(why, "expired") {
		t.Errorf("an answer after that: %s", why)
	}
	if open := v.prompts(); len(open) != 0 || exists(a, "ws/a.txt") {
		t.Errorf("open are %+v, written: %v", open, exists(a, "ws/a.txt"))
	}
}

// TestApprovalsSilentClient: a client that never answers holds nobody else up, and one that closes its input ends what it left open.
func TestApprovalsSilentClient(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true)
	m := h.write("a.txt")
	p := h.prompt("a.txt", 1)
	for range 3 {
		h.make("read", fields{"path": "file"}).worked()
	}
	v := a.viewer()
	other := h.write("b.txt")
	v.decide(v.prompt("b.txt", 1), "allow")
	other.worked()
	m.waits()

	begun := time.Now()
	_ = h.CloseInput()
	r := m.result()
	if r.Result.Status == "succeeded" || exists(a, "ws/a.txt") {
		t.Errorf("%s: %s", r.Result.Status, r.says())
	}
	<-h.Ended()
	within(t, "the end of the host", time.Since(begun), 5*time.Second, soon)
	<-v.Ended() // the person hears no more
	if d := v.notices(func(n notice) bool { return n.Data.Decision.RequestRef == p.Decision.ID }); len(d) > 0 && d[0].Data.Decision.Behavior != "deny" {
		t.Errorf("the person was told %+v", d)
	}
}

// TestApprovalsViewerKilled: a prompt does not hang on a person who is gone, and not on the words that they had half said.
func TestApprovalsViewerKilled(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(false)
	h.write("nobody.txt").failed("approval_unavailable")
	one, two := a.viewer(), a.viewer()
	m := h.write("a.txt")
	p := one.prompt("a.txt", 1)
	half := `{"jsonrpc":"2.0","id":77,"method":"agenttool/decide","params":{"decision_id":"` + p.Decision.ID + `","behavior":"allow"}}`
	if _, err := one.Write([]byte(half[:len(half)-1])); err != nil {
		t.Fatal(err)
	}
	one.leave()
	two.prompt("a.txt", 1)
	h.make("read", fields{"path": "file"}).worked()
	m.waits()
	if open := two.prompts(); len(open) != 1 {
		t.Errorf("open are %+v", open)
	}
	two.decide(p, "allow")
	m.worked()
	last := h.write("b.txt")
	two.prompt("b.txt", 1)
	two.leave()
	if r := last.failed("approval_unavailable"); exists(a, "ws/b.txt") || r.Result.Status != "rejected" {
		t.Errorf("%s: %s", r.Result.Status, r.says())
	}
	if a.viewer(); a.read("ws/a.txt") != "new\n" {
		t.Error("what was allowed was not written")
	}
}

// TestApprovalsRudeVisitor: who says nothing, or nonsense, or reads nothing, delays neither prompts nor their answers.
func TestApprovalsRudeVisitor(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true)
	m := h.write("a.txt")
	p := h.prompt("a.txt", 1)
	for _, said := range []string{"", "{", "nonsense\n{}\n[]\n", strings.Repeat("x", 1<<16), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"agenttool/decide\"}\n"} {
		rude := a.visitor(false)
		if _, err := rude.Write([]byte(said)); err != nil {
			t.Fatal(err)
		}
	}
	stranger := a.visitor(false) // who never said hello
	if why := stranger.undecided(p, "allow"); why == "" {
		t.Error("an answer counts of somebody who was never looked at")
	}
	for _, method := range []string{"agenttool/mode", "agenttool/shutdown", "agenttool/cancel", "agenttool/replay", "agenttool/batch", "agenttool/read_result"} {
		stranger.refused(method, fields{})
	}
	if why := stranger.refused("agenttool/reload", fields{}); why == "" {
		t.Error("settings are reloaded for somebody who was never looked at")
	}
	for _, tool := range []string{"shell", "write", "read", "shell_input"} {
		stranger.refused("agenttool/invoke", fields{"id": "x", "tool": tool, "input": fields{}})
	}
	h.refused("agenttool/reload", fields{}) // the client is not the person
	m.waits()
	v := a.viewer()
	v.decide(p, "allow")
	m.worked()
}

// TestApprovalsSurviveReload: what waits goes on to wait when settings change that are not about it, and answers count as before.
func TestApprovalsSurviveReload(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true)
	m := h.write("a.txt")
	p := h.prompt("a.txt", 1)
	v := a.viewer()
	for nth, text := range []string{rules("deny Shell(rm *)"), `{"approvals": {"timeout": "1h", "wait": "never"}}`, "{ broken", rules("allow Shell(ls)")} {
		a.replace(userSettings, text)
		h.changed(nth + 1)
	}
	m.waits()
	if open := v.prompts(); len(open) != 1 || open[0].Decision.ID != p.Decision.ID || h.asked() != 1 {
		t.Errorf("open are %+v, asked %d times", open, h.asked())
	}
	v.decide(p, "allow", fields{"scope": "session"})
	m.worked()
	a.replace(userSettings, rules("deny Shell(rm *)"))
	h.changed(5)
	h.write("a.txt").worked() // what was granted for the session stays
	if h.asked() != 1 {
		t.Errorf("asked %d times", h.asked())
	}
}

// TestApprovalsRuleComes: a rule that appears in a file answers what waits and is about it, and nothing else.
func TestApprovalsRuleComes(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true)
	forbidden, allowed, other := h.write("secret/a.txt"), h.write("free/b.txt"), h.write("c.txt")
	shown := h.prompt("secret/a.txt", 1)
	h.prompt("free/b.txt", 1)
	p := h.prompt("c.txt", 1)
	v := a.viewer()
	begun := time.Now()
	a.replace(userSettings, rules("deny Write(secret/**)", "allow Write(free/**)"))
	forbidden.denied()
	allowed.worked()
	within(t, "a rule that comes", time.Since(begun), time.Second+time.Second/2, soon)
	if d := h.ended(shown); d.Behavior != "deny" || d.Reason.Type != "rule" || !strings.Contains(strings.Join(d.RuleRefs, " "), "Write(secret/**)") {
		t.Errorf("the client is told %+v", d)
	}
	v.undecided(shown, "allow")
	other.waits()
	if open := v.prompts(); len(open) != 1 || open[0].Decision.ID != p.Decision.ID {
		t.Errorf("open are %+v", open)
	}
	v.decide(p, "deny", fields{"feedback": "not there"})
	other.failed("rejected_by_person")
	if exists(a, "ws/secret/a.txt") || a.read("ws/free/b.txt") == "" {
		t.Error("the wrong one was written")
	}
}
