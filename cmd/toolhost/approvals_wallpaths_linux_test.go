package main

import (
	"slices"
	"strings"
	"testing"

	"toolhost/sandbox"
)

// TestWallAsksAboutPaths: a command that meets the wall at a path is held in that call while a user is asked about it. A yes opens this name,
// and the neighbour stays shut.
func TestWallAsksAboutPaths(t *testing.T) {
	t.Parallel()
	byEach(t, wallAsksAboutPaths)
}

func wallAsksAboutPaths(t *testing.T, who account) {
	a := jobTools(t).approvalsArena(t, who, sandbox.Full)
	a.write("home/old.txt", "old\n")
	a.write("home/is.txt", "is\n")
	a.write("ws/step.sh", "echo step >> steps\nmkdir ~/notes && echo x > ~/notes/a\necho x > ~/no\necho more >> ~/old.txt\necho x > ~/no\necho x > ~/is.txt\n"+
		"mkdir ~/notes2\ntrue\n")
	h := a.serving(true, "--allow", "Shell(bash step.sh)").confinedBy()
	const command = "bash step.sh"
	m := h.shell(command)
	for i, path := range []string{"home/notes", "home/no", "home/old.txt", "home/is.txt", "home/notes2"} {
		p := h.prompt(command, i+1)
		program := map[bool]string{true: "mkdir", false: "bash"}[strings.Contains(path, "notes")]
		if want := "write " + a.path(path) + " (" + program + ")"; !slices.Equal(p.Grants, []string{"write:" + a.path(path)}) || !strings.Contains(p.Decision.Reason.Detail, want) {
			t.Errorf("prompt %d is %s, and not about %s", i+1, p, want)
		}
		if asks := h.heldJob(1); asks[0] != a.path(path) {
			t.Errorf("held for %q", asks)
		}
		if exists(a, path) != strings.HasSuffix(path, ".txt") {
			t.Errorf("%s was made before the answer", path)
		}
		h.decide(p, map[bool]string{true: "allow", false: "deny"}[i%2 == 0 && i < 4])
	}
	r := m.result()
	if a.read("home/notes/a") != "x\n" || a.read("home/old.txt") != "old\nmore\n" {
		t.Errorf("a yes did not do it: %s", r.says())
	}
	if exists(a, "home/no") || exists(a, "home/notes2") || a.read("home/is.txt") != "is\n" || a.read("ws/steps") != "step\n" {
		t.Errorf("it did more than a yes: %s", r.says())
	}
	if h.asked() != 5 {
		t.Errorf("asked %d times", h.asked())
	}
}

// TestWallPathRule: a yes to a path for the session is a rule about it, which holds for the rest of the call and for the next. Nothing is asked
// about that a rule denies, and nobody else says yes.
func TestWallPathRule(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write("ws/step.sh", "mkdir ~/$1; rm -r ~/$1 || rmdir ~/$1; echo y > ~/denied/x; echo y > ~/denied.txt; mkdir ~/.state /usr/x; true\n")
	h := a.serving(true, "--allow", "Shell(bash step.sh *)", "--deny", "Write("+a.path("home")+"/denied*)").confinedBy()
	m := h.shell("bash step.sh kept")
	p := h.prompt("step.sh kept", 1)
	if len(p.Decision.Suggested) != 1 || !strings.Contains(p.Decision.Suggested[0].Rules[0], "Write("+a.path("home/kept")+")") {
		t.Errorf("suggested: %+v", p.Decision.Suggested)
	}
	h.decide(p, "allow", fields{"scope": "session"})
	m.worked()
	h.shell("bash step.sh kept").worked()
	if h.asked() != 1 || !exists(a, "home/kept") || exists(a, "home/denied.txt") || exists(a, "home/.state") {
		t.Errorf("asked %d times", h.asked())
	}
	attended := a.serving(false, "--allow", "Shell(bash step.sh *)")
	r := attended.shell("bash step.sh other").worked()
	if exists(a, "home/other") || !strings.Contains(r.says(), "Read-only") {
		t.Errorf("nobody said yes: %s", r.says())
	}
}
