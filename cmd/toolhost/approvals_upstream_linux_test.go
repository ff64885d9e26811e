package main

import (
	"os"
	"os/exec"
	"slices"
	"testing"
)

// TestFetchFromUpstream: in mode sandboxed a repository with which this one shares object files, as git clone leaves them, is read unasked, and
// written only after a yes. Another one is after a yes that shows so. Everything that the files of a repository say of it may be made up.
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
	git(`git push -q origin main; git clone -q --bare . "$HOME/cloned.git"; git remote add cloned "$HOME/cloned.git"
		git init -q -b main ~/private; cd ~/private; git config user.name a; git config user.email a@example.com; git pull -q "file://$OLDPWD" main
		git checkout -q -b secret; echo SECRET > s; git add s; git commit -qm s; cd - > /dev/null
		git remote add evil "$HOME/private"; git remote add linked "$HOME/link.git"; ln -s "$HOME/cloned.git" "$HOME/link.git"
		git remote add objects "$HOME/bare.git"; git init -q --bare ~/bare.git; git push -q objects main
		for r in evil linked objects; do git update-ref refs/remotes/$r/main main; done
		ln -s "$HOME/bare.git/objects/pack" .git/objects/pa; ln -s "$HOME/bare.git/objects" .git/objects/aa`)
	h := a.serving(true, "--mode", "sandboxed").confinedBy()
	unasked := func(commands ...string) {
		t.Helper()
		asked := h.asked()
		for _, command := range commands {
			h.shell(command).worked()
		}
		if h.asked() != asked {
			t.Errorf("%q asked %d times", commands, h.asked()-asked)
		}
	}
	rejected := func(commands ...string) {
		t.Helper()
		for _, command := range commands {
			m := h.shell(command)
			h.decide(h.prompt(command, 1), "deny")
			m.failed("rejected_by_person")
		}
	}
	unasked("git fetch -q cloned", "git pull -q --ff-only cloned main", "git ls-remote --heads cloned")
	rejected("git fetch -q evil", "git fetch -q evil secret && git log --oneline FETCH_HEAD", "git fetch -q linked", "git fetch -q objects", "git push -q cloned main:other",
		"git fetch -q "+a.path("home/private"))
	m := h.shell("git fetch -q origin")
	p := h.prompt("git fetch -q origin", 1)
	if want := []string{"fetch:" + a.path("home/origin.git")}; !slices.Equal(p.Opens, want) {
		t.Fatalf("the prompt opens %q, want %q", p.Opens, want)
	}
	h.decide(p, "allow", fields{"opens": p.Opens})
	m.worked()
	unasked("git fetch -q origin", "git fetch -q", "git ls-remote --heads origin")
	rejected("git pull -q evil main", "cat "+a.path("home/origin.git/config"), "git push -q origin main:other")
}
