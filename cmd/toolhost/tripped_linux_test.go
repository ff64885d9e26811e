package main

import (
	"os"
	"strings"
	"testing"
)

// TestTripwireReachesThePerson: what a command does to names that other programs obey is told to the person while it runs, to those who look later,
// and in the log. A repository that it makes waits until the person lets it live.
func TestTripwireReachesThePerson(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	a := approvals(t)
	a.write("ws/x.sh", armed+"echo evil > pnpm-workspace.yaml; arm nested/.git; while [ ! -e go ]; do sleep .05; done\n")
	h := a.serving(true, "--allow", "Shell(bash x.sh)").confinedBy()
	job := h.make("shell", fields{"command": "bash x.sh", "run_in_background": true}).result().view().Job
	for _, name := range []string{"pnpm-workspace.yaml", "nested/.git"} {
		h.notice(name, func(n notice) bool {
			return n.Type == "tool.x.protected.changed" && strings.Contains(n.Data.Warning, name)
		})
	}
	if !strings.Contains(a.read("ws/nested/.git/hooks/post-checkout"), "\n# put aside by toolhost: ") || strings.Contains(a.read("ws/nested/.git/config"), "\tfsmonitor") && !strings.Contains(a.read("ws/nested/.git/config"), "put aside by toolhost: \tfsmonitor") {
		t.Error("the repository is live while the job runs")
	}
	v := a.visitor(false)
	if said := strings.Join(v.hello("").Warnings, "\n"); !strings.Contains(said, "pnpm-workspace.yaml") || !strings.Contains(said, "toolhost trust") {
		t.Errorf("who comes later is told %s", said)
	}
	v.leave()
	if said := a.exitsAs(0, "trust", "--yes"); !strings.Contains(said, "nested/.git: the hooks post-checkout and the configuration core.fsmonitor, alias.st") {
		t.Errorf("trust shows %s", said)
	}
	if err := os.WriteFile(a.path("ws/go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	h.make("shell_output", fields{"job": job, "until": "exit", "wait_ms": 50_000}).result()
	if strings.Contains(a.read("ws/nested/.git/hooks/post-checkout"), "put aside") || !strings.Contains(a.read("ws/nested/.git/config"), "\n\tfsmonitor = ./evil\n") {
		t.Errorf("it is not live after the person said so:\n%s", a.read("ws/nested/.git/config"))
	}
	h.close()
	if said := a.exitsAs(0, "log", "show"); !strings.Contains(said, "!! ") || !strings.Contains(said, "pnpm-workspace.yaml") || !strings.Contains(said, "nested/.git") {
		t.Errorf("the log shows %s", said)
	}
}

// TestRepositoryByWrites: files by tools that make a bare repository ask at the one that completes it, and what runs in it waits.
func TestRepositoryByWrites(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	h := a.serving(true, "--mode", "accept_edits")
	for name, text := range map[string]string{
		"config": "[core]\n\tfsmonitor = ./evil\n", "hooks/post-checkout": "evil\n", "HEAD": "ref: refs/heads/main\n", "objects/a": "",
	} {
		h.make("write", fields{"path": "fixtures/x/" + name, "content": text}).worked()
	}
	m := h.make("write", fields{"path": "fixtures/x/refs/a", "content": ""})
	h.decide(h.prompt("fixtures/x/refs/a", 1), "allow")
	m.worked()
	if !strings.Contains(a.read("ws/fixtures/x/hooks/post-checkout"), "\n# put aside by toolhost") || strings.Contains(a.read("ws/fixtures/x/config"), "\n\tfsmonitor") {
		t.Errorf("the repository is live:\n%s", a.read("ws/fixtures/x/config"))
	}
	h.notice("the person is told", func(n notice) bool {
		return n.Type == "tool.x.protected.changed" && strings.Contains(n.Data.Warning, "fixtures/x")
	})
	hook := h.make("write", fields{"path": "fixtures/x/hooks/pre-commit", "content": "#!/bin/sh\n"})
	h.decide(h.prompt("fixtures/x/hooks/pre-commit", 1), "deny")
	hook.failed("rejected_by_person")
}

// TestRepositoryIsMovedWhenAsked: in mode sandboxed a directory moves unasked, but for one that holds a repository.
func TestRepositoryIsMovedWhenAsked(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	a := approvals(t)
	a.host("mkdir -p plain/a vendor; git init -q vendor/sub; echo '#!/bin/sh' > vendor/sub/.git/hooks/post-merge")
	h := a.serving(true, "--mode", "sandboxed", "--allow", "Shell(mv *)").confinedBy()
	h.shell("mv plain other").worked()
	m := h.shell("mv vendor moved")
	h.decide(h.prompt("mv vendor moved", 1), "deny")
	m.failed("rejected_by_person")
	m = h.shell("mv vendor/sub moved")
	h.decide(h.prompt("mv vendor/sub moved", 1), "allow")
	m.worked()
	if !exists(a, "ws/moved/.git/hooks/post-merge") {
		t.Error("the person's own hook was taken out of use by a move that they allowed")
	}
}

// TestRemovedFilesComeBack: in mode sandboxed a command removes files of the workspace unasked, as toolhost has a copy that the user can
// take back and commands cannot reach. Protected names and secrets are asked about.
func TestRemovedFilesComeBack(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	a := approvals(t)
	a.host("git init -q; mkdir -p build .vscode; echo one > build/a; echo two > note; echo K=1 > .env; echo '{}' > .vscode/settings.json; " +
		"git add note; git -c user.name=n -c user.email=e@x commit -qm one; echo mine >> note")
	h := a.serving(true, "--mode", "sandboxed").confinedBy()
	for _, command := range []string{"rm -rf build", "git checkout -q -- note"} {
		reply := h.shell(command).worked()
		id := reply.Invocation.InvocationID
		if !strings.Contains(reply.says(), "toolhost undo "+id) {
			t.Fatalf("%s: the result names no way back: %s", command, reply.says())
		}
		kept := a.path("state/toolhost/copies/" + id)
		if _, err := os.Lstat(kept); err != nil {
			t.Fatal(err)
		}
		h.shell("cat " + kept + "/1; rm -rf " + kept).failed("denied_by_safety_check")
		if out, code := a.said(a.command(a.toolhost, "undo", id)); code != 0 {
			t.Fatalf("undo: %s", out)
		}
	}
	if got := a.read("ws/build/a") + a.read("ws/note"); got != "one\ntwo\nmine\n" {
		t.Errorf("put back was %q", got)
	}
	for _, command := range []string{"rm .env", "rm -rf .vscode"} {
		m := h.shell(command)
		h.decide(h.prompt(command, 1), "deny")
		m.failed("rejected_by_person")
	}
}
