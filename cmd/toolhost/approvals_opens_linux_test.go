package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMadeStaysOpen: a directory outside of the workspace that an allowed call makes stays open to the session, if the answer says that the
// user saw so. Its neighbours, and the names that programs obey, stay shut.
func TestMadeStaysOpen(t *testing.T) {
	t.Parallel()
	byTurns(t, 0, func(t *testing.T, who account) {
		a, h := grantedHome(t, who, "--mode", "sandboxed")
		a.repository()
		a.write("home/.gitconfig", "[safe]\n\tdirectory = *\n")
		opens := func(command string, want ...string) {
			t.Helper()
			m := h.shell(command)
			p := h.prompt(command, 1)
			for i := range want {
				want[i] = a.path(want[i])
			}
			if !slices.Equal(p.Opens, want) {
				t.Errorf("%s: the prompt opens %q, want %q", command, p.Opens, want)
			}
			h.decide(p, "allow", fields{"opens": p.Opens})
			if r := m.result(); !strings.HasPrefix(command, "false") && r.Result.Status != "succeeded" {
				t.Fatalf("%s: %s", command, r.says())
			}
		}
		opens("mkdir "+a.path("home/notes"), "home/notes")
		opens("git worktree add -q "+a.path("home/tree")+" -b tree", "home/tree")
		opens("mkdir -p " + a.path("home/.config/x"))                 // hidden
		opens("mkdir -p " + a.path("home/other"))                     // it is there
		opens("cd " + a.path("home") + " && mkdir p q r s")           // too many to read
		opens("touch " + a.path("home/f"))                            // no directory
		opens("false && mkdir "+a.path("home/unmade"), "home/unmade") // not made: it stays shut
		for _, c := range []string{
			"echo x > " + a.path("home/notes/a") + " && cat " + a.path("home/notes/a"), "cd " + a.path("home/tree") + " && echo x > f && git add f && git commit -qm f && git log --oneline -1",
			"bash -c 'echo x > " + a.path("home/notes/b") + "'",
		} {
			h.shell(c).worked()
		}
		h.make("write", fields{"path": a.path("home/notes/c"), "content": "x\n"}).worked()
		for _, name := range []string{"a", "b", "c"} {
			if a.read("home/notes/"+name) != "x\n" {
				t.Errorf("notes/%s was not written", name)
			}
		}
		if err := os.Symlink(a.path("home/other"), a.path("home/notes/link")); err != nil {
			t.Fatal(err)
		}
		for _, c := range []string{
			"echo x > " + a.path("home/notes2"), "echo x > " + a.path("home/unmade"), "echo x > " + a.path("home/notes/../x"), "echo x > " + a.path("home/notes/link/made"),
			"echo x > " + a.path("home/notes/.git/hooks/post-commit"), "echo x > " + a.path("home/notes/.git/config"), "cat " + a.path("home/notes/link/file"), "echo x > " + a.path("home/tree/.git"),
		} {
			m := h.shell(c)
			h.decide(h.prompt(c, 1), "deny")
			m.failed("rejected_by_person")
		}
		a.write("ws/attack.sh", "for f in "+strings.Join([]string{
			a.path("home/notes2"), a.path("home/x"), a.path("home/notes/link/made"), a.path("home/notes/.git/hooks/x"), a.path("home/notes/.bashrc"), a.path("home/tree2")}, " ")+
			"; do mkdir -p $(dirname $f); echo x > $f && echo WORKED $f; done 2>/dev/null; true")
		if r := h.shell("bash attack.sh").result(); strings.Contains(r.view().Stdout, "WORKED") {
			t.Errorf("a script wrote beside it: %s", r.says())
		}
	})
}

// TestPushesStayOpen: after a yes that shows so, further pushes to the user's own repository on this machine run unasked in mode sandboxed.
// Nothing else reaches that repository, and no push destroys in it.
func TestPushesStayOpen(t *testing.T) {
	t.Parallel()
	byTurns(t, 1, func(t *testing.T, who account) {
		a, h := grantedHome(t, who, "--mode", "sandboxed")
		a.repository()
		origin := a.path("home/origin.git")
		a.write("home/.gitconfig", "[safe]\n\tdirectory = *\n[user]\n\tname = n\n\temail = n@example.com\n")
		first := h.shell("git push -q origin main")
		h.decide(h.prompt("git push -q origin main", 1), "allow")
		first.worked()
		command := "git push -q origin main:again"
		m := h.shell(command)
		p := h.prompt(command, 1)
		if want := []string{"push:" + origin}; !slices.Equal(p.Opens, want) {
			t.Fatalf("the prompt opens %q, want %q", p.Opens, want)
		}
		h.decide(p, "allow", fields{"opens": p.Opens})
		m.worked()
		asked := h.asked()
		for _, c := range []string{"git push -q origin main:more", "echo x > f && git add f", "git commit -qm f && git push -q origin main", "git fetch -q && git status --short"} {
			h.shell(c).worked()
		}
		if h.asked() != asked {
			t.Errorf("%d more prompts", h.asked()-asked)
		}
		a.write("ws/attack.sh", "rm -rf "+origin+"/refs; echo x > "+origin+"/hooks/post-receive; echo WORKED > "+origin+"/objects/x; cat "+origin+"/objects/x; true")
		for _, c := range []string{
			"git push -q --force origin main:more", "git push -q origin :more", "git push -q origin +main:more",
			"git push -q " + a.path("home/other.git"), "echo x > " + origin + "/refs/heads/x",
			"echo x > " + origin + "/hooks/post-receive", "rm -rf " + origin, "git push -q; rm -rf " + origin + "/refs", "mv " + origin + " " + a.path("home/moved"), "cat f && git push -q https://example.com/x",
		} {
			m := h.shell(c)
			h.decide(h.prompt(c, 1), "deny")
			m.failed("rejected_by_person")
		}
		a.write("ws/.git/hooks/pre-push", "#!/bin/sh\nexec sh attack.sh\n")
		hooked := h.shell("git push -q origin main:hooked")
		h.decide(h.prompt("git push -q origin main:hooked", 1), "deny")
		hooked.failed("rejected_by_person")
		if err := os.Remove(a.path("ws/.git/hooks/pre-push")); err != nil {
			t.Fatal(err)
		}
		for _, c := range []string{
			"bash attack.sh", "git push -q origin main && bash attack.sh", "git -c alias.x='!bash attack.sh' x", "git push -q --receive-pack='bash attack.sh' origin main",
		} {
			if r := h.answered(h.shell(c), func(prompted) bool { return false }); strings.Contains(r, "WORKED") || a.read("home/origin.git/refs/heads/main") == "" {
				t.Errorf("%s wrote into the repository: %s", c, r)
			}
		}
	})
}

// TestWorktreeGoesWithCopy: a linked work tree in a directory that stays open is copied, and removed unasked.
func TestWorktreeGoesWithCopy(t *testing.T) {
	t.Parallel()
	byTurns(t, 2, func(t *testing.T, who account) {
		a, h := grantedHome(t, who, "--mode", "sandboxed")
		a.repository()
		a.write("home/.gitconfig", "[safe]\n\tdirectory = *\n")
		command := "git worktree add -q " + a.path("home/tree") + " -b tree"
		m := h.shell(command)
		p := h.prompt(command, 1)
		h.decide(p, "allow", fields{"opens": p.Opens})
		m.worked()
		h.shell("echo mine > " + a.path("home/tree/untracked")).worked()
		r := h.shell("git worktree remove --force " + a.path("home/tree") + " && git branch -D tree").worked()
		if _, err := os.Lstat(a.path("home/tree")); err == nil {
			t.Errorf("it is there: %s", r.says())
		}
		if out, code := a.said(a.command(a.toolhost, "undo", r.Invocation.InvocationID)); code != 0 || a.read("home/tree/untracked") != "mine\n" {
			t.Errorf("undo: %d %s of %s", code, out, r.says())
		}
		if h.asked() != 1 {
			t.Errorf("asked %d times", h.asked())
		}
	})
}

// TestMadeGoesWithCopy: a directory outside of the workspace that a call of the session made is copied, repositories in it too, and removed
// unasked. Other removals are not: of a directory that the session did not make, of one that took its place, and of one that cannot be copied.
func TestMadeGoesWithCopy(t *testing.T) {
	t.Parallel()
	byTurns(t, 3, func(t *testing.T, who account) {
		a, h := grantedHome(t, who, "--mode", "sandboxed")
		a.repository()
		a.write("home/.gitconfig", "[safe]\n\tdirectory = *\n")
		makes := func(command string) {
			t.Helper()
			m := h.shell(command)
			p := h.prompt(command, 1)
			h.decide(p, "allow", fields{"opens": p.Opens})
			m.worked()
		}
		asks := func(h *approvalsHost, command string) {
			t.Helper()
			n := h.askedAbout(command)
			m := h.shell(command)
			if !m.asksOrEnds(command, n+1) {
				t.Errorf("%s: it does not ask: %s", command, m.result().says())
				return
			}
			h.decide(h.prompt(command, n+1), "deny")
			m.failed("rejected_by_person")
		}
		second, notes, other := a.path("home/second"), a.path("home/notes"), a.path("home/other")
		makes("git clone -q " + a.path("home/clone") + " " + second)
		makes("mkdir " + notes)
		makes("mkdir " + a.path("home/left"))
		h.shell("mkdir -p " + second + "/sub && echo mine > " + second + "/sub/untracked && echo x > " + notes + "/x").worked()

		for _, name := range []string{"notes/large", "left/.git/hooks/pre-commit", "left/mine"} {
			a.write("home/"+name, "mine\n")
		}
		if err := os.Symlink(other, a.path("home/left/link")); err != nil {
			t.Fatal(err)
		}
		for _, c := range []string{
			"rm -rf " + other, "rm -rf " + second + "/../other", "rm -rf " + a.path("home"), "rm -rf " + second + " " + other, "rm -rf " + second + "*",
			"rm -rf " + a.path("home/left/link/file"), "rm -rf " + a.path("home/left/link") + "/", "rm -rf " + a.path("home/left/.git/hooks"),
			"rm -rf " + a.path("home/left/.git"), "cd " + second + " && rm -rf ../other",
			"bash -c 'rm -rf " + other + "'",
		} {
			asks(h, c)
		}
		h.shell("rm -rf " + second + "/sub").worked()
		h.shell("rm " + notes + "/x").worked()
		h.shell("mkdir " + second + "/sub && echo mine > " + second + "/sub/untracked").worked()
		r := h.shell("rm -rf ~/second").worked()
		if _, err := os.Lstat(second); err == nil {
			t.Errorf("it is there: %s", r.says())
		}
		if out, code := a.said(a.command(a.toolhost, "undo", r.Invocation.InvocationID)); code != 0 {
			t.Fatal(out)
		}
		if a.read("home/second/sub/untracked") != "mine\n" || a.read("home/second/.git/HEAD") == "" {
			t.Error("the copy lacks a part of it")
		}
		asks(h, "rm -rf "+second) // another directory of that name, which the session did not make

		if err := errors.Join(os.Rename(a.path("home/left"), a.path("home/kept")), os.Symlink(other, a.path("home/left"))); err != nil {
			t.Fatal(err)
		}
		asks(h, "rm -rf "+a.path("home/left")+"/file")
		asks(h, "rm -rf "+a.path("home/left")+"/")
		if a.read("home/other/file") != "mine\n" {
			t.Error("a file of the user is gone")
		}
		h.close()
		asks(a.serving(true, "--mode", "sandboxed"), "rm -rf "+notes)
	})
}

// TestPackageStaysOpen: a package outside of the workspace that an installation names stays open to the session after a yes that showed so.
// What the command does not name does not, nor what lies beside the package, behind its links, or is obeyed; no file of it is removed unasked.
func TestPackageStaysOpen(t *testing.T) {
	t.Parallel()
	needs(t, "npm")
	byTurns(t, 4, func(t *testing.T, who account) {
		a, h := grantedHome(t, who, "--mode", "sandboxed")
		pad, near, options := a.path("home/packages/pad"), a.path("home/packages/near"), " --offline --no-audit --no-fund "
		for _, name := range []string{"packages/pad", "packages/near", ".hidden/pad", "packages/named"} {
			a.write("home/"+name+"/package.json", `{"name": "p", "version": "1.0.0"}`)
		}
		a.write("home/packages/pad/mine.js", "mine\n")
		a.write("home/packages/pad/.git/hooks/pre-commit", "mine\n")
		a.write("home/packages/pad/.git/config", "[core]\n")
		a.write("home/packages/pad/.git/HEAD", "ref: refs/heads/main\n")
		a.write("ws/web/package.json", `{"name": "web", "version": "1.0.0"}`)
		a.write("ws/named/package.json", `{"dependencies": {"named": "file:`+a.path("home/packages/named")+`"}}`)
		if err := errors.Join(os.Symlink(a.path("home/other"), pad+"/link"), os.Symlink(pad, a.path("home/linked"))); err != nil {
			t.Fatal(err)
		}
		for _, dir := range []string{a.path("home"), a.path("home/other"), a.path("home/.hidden/pad"), a.path("home/linked")} {
			command := "(cd web && npm install" + options + dir + ")"
			m := h.shell(command)
			p := h.prompt(command, 1)
			if len(p.Opens) > 0 {
				t.Errorf("%s opens %q", command, p.Opens)
			}
			h.decide(p, "deny")
			m.failed("rejected_by_person")
		}
		first := h.shell("(cd web && npm install" + options + pad + ")")
		p := h.prompt("npm install"+options+pad, 1)
		if want := []string{"link:" + pad}; !slices.Equal(p.Opens, want) {
			t.Fatalf("the prompt opens %q, want %q", p.Opens, want)
		}
		h.decide(p, "allow", fields{"opens": p.Opens})
		first.worked()
		for _, c := range []string{"(cd web && npm ci" + options + ")", "echo x > " + pad + "/made && cat " + pad + "/mine.js", "(cd web && npm install" + options + pad + ")"} {
			h.shell(c).worked()
		}
		a.write("ws/attack.sh", "for f in "+near+"/made "+pad+"/.git/hooks/made "+pad+"/.git/config "+pad+"/link/made "+pad+"2/made; do mkdir -p $(dirname $f); echo x >> $f && echo WORKED $f; done 2>/dev/null; true")
		if r := h.shell("bash attack.sh").result(); strings.Contains(r.view().Stdout, "WORKED") {
			t.Errorf("a script wrote beside it: %s", r.says())
		}
		for _, c := range []string{
			"rm -rf " + pad, "rm " + pad + "/mine.js", "echo x > " + near + "/made", "echo x > " + pad + "/.git/hooks/made", "echo x > " + pad + "/.git/config",
			"echo x > " + pad + "/link/made", "cat " + pad + "/link/file", "echo x > " + pad + "2", "(cd named && npm ci" + options + ")", "(cd web && npm ci && rm -rf " + pad + ")",
		} {
			m := h.shell(c)
			p := h.prompt(c, 1)
			if len(p.Opens) > 0 {
				t.Errorf("%s opens %q", c, p.Opens)
			}
			h.decide(p, "deny")
			m.failed("rejected_by_person")
		}
		h.close()
		again := a.serving(true, "--mode", "sandboxed")
		m := again.shell("(cd web && npm ci" + options + ")")
		again.decide(again.prompt("npm ci", 1), "deny")
		m.failed("rejected_by_person")
	})
}

// TestUnseenOpensNothing: an answer that does not name the directory opens nothing, and none opens another directory.
func TestUnseenOpensNothing(t *testing.T) {
	t.Parallel()
	a, h := grantedHome(t, self, "--mode", "sandboxed")
	command := "mkdir " + a.path("home/notes")
	m := h.shell(command)
	p := h.prompt(command, 1)
	var reply fields
	if err := h.try("agenttool/decide", fields{"decision_id": p.Decision.ID, "behavior": "allow", "opens": []string{a.path("home")}}, &reply); err == nil {
		t.Error("an answer opened what the prompt did not show")
	}
	h.decide(p, "allow")
	m.worked()
	h.shell("echo x > " + a.path("home/notes/a"))
	h.decide(h.prompt("echo x > "+a.path("home/notes/a"), 1), "deny")
}
