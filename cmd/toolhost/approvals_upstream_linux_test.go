package main

import (
	"os"
	"os/exec"
	"testing"
)

// TestFetchFromUpstream: in mode sandboxed a repository from which this one has fetched before is read unasked, and written only after a yes.
// An address that somebody else has put into the configuration, of a repository with other commits, asks.
func TestFetchFromUpstream(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write("ws/kept.txt", "kept\n")
	a.repository()
	git := func(script string) {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir, cmd.Env = a.path("ws"), append(os.Environ(), "HOME="+a.path("home"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	git(`git push -q origin main
		git init -q ~/private; cd ~/private; git config user.name a; git config user.email a@example.com; echo SECRET > s; git add s; git commit -qm s
		cd - > /dev/null; git remote add evil "$HOME/private"; git remote add linked "$HOME/link.git"; ln -s "$HOME/origin.git" "$HOME/link.git"
		git update-ref refs/remotes/evil/main main; git update-ref refs/remotes/linked/main main`)
	h := a.serving(true, "--mode", "sandboxed").confinedBy()
	for _, command := range []string{"git fetch -q origin", "git fetch -q", "git ls-remote --heads origin"} {
		h.shell(command).worked()
	}
	if h.asked() != 0 {
		t.Errorf("fetching asked %d times", h.asked())
	}
	for _, command := range []string{"git fetch -q evil", "git fetch -q linked", "git push -q origin main:other", "git fetch -q " + a.path("home/private")} {
		m := h.shell(command)
		h.decide(h.prompt(command, 1), "deny")
		m.failed("rejected_by_person")
	}
}
