package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"toolhost/sandbox"
)

// repository makes a repository with one commit in the workspace, and a bare one in the home.
func (a *escapeAttempt) repository() {
	a.t.Helper()
	needs(a.t, "git")
	cmd := exec.Command("sh", "-ec", `
		git init -q -b main; git config user.name a; git config user.email a@example.com
		git add -A; git commit -qm one; git init -q --bare ../home/origin.git; git remote add origin "$HOME/origin.git"; git worktree add -q -b left ../left
		rm -f .git/hooks/* ../home/origin.git/hooks/*; cp -r . ../home/clone; echo true > ../home/clone/.git/hooks/post-commit; chmod -R a+rwX .git ../home/origin.git ../left ../home/clone`)
	cmd.Dir = a.path("ws")
	cmd.Env = append(os.Environ(), "HOME="+a.path("home"), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	if out, err := cmd.CombinedOutput(); err != nil {
		a.t.Fatalf("%v: %s", err, out)
	}
	if id := a.who.id; id != nil { // git and toolhost trust repositories of their own user
		owner := fmt.Sprintf("%d:%d", id.Uid, id.Gid)
		if out, err := exec.Command("chown", "-R", owner, a.path("ws"), a.path("left"), a.path("home/origin.git"), a.path("home/clone")).CombinedOutput(); err != nil {
			a.t.Fatalf("%v: %s", err, out)
		}
	}
}

// TestApprovedIsGranted: what a user said yes to is written, missing or not, and nothing beside it: neither by the same call nor by the next.
func TestApprovedIsGranted(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		name, command string
		made          map[string]string // files from the attempt's directory, with their content; "": a directory
		gone          string            // removed from the attempt's directory
		beside        []string          // what the same command tries, hidden from toolhost, and must not make
	}{
		{"a directory", "mkdir HOME/notes", map[string]string{"home/notes": ""}, "", []string{"home/notes2", "home/x"}},
		{"a directory, and into it", "mkdir HOME/notes && cd HOME/notes && echo x > a && mkdir b", map[string]string{"home/notes/a": "x\n", "home/notes/b": ""}, "", []string{"home/a"}},
		{"a file in a directory", "touch HOME/have/new", map[string]string{"home/have/new": "\x00"}, "", []string{"home/have/other", "home/have/old"}},
		{"a file that is there", "echo more >> HOME/have/old", map[string]string{"home/have/old": "old\nmore\n"}, "", []string{"home/have/new"}},
		{"a start-up file", "echo more >> HOME/.bashrc", map[string]string{"home/.bashrc": "old\nmore\n"}, "", []string{"home/.profile2"}},
		{"a copy", "cp kept.txt HOME/copy", map[string]string{"home/copy": "kept\n"}, "", []string{"home/copy2"}},
		{"outside of the home", "echo x > OUTSIDE/new", map[string]string{"outside/new": "x\n"}, "", []string{"outside/other"}},
		{"directories on the way", "mkdir -p HOME/x/y/z", map[string]string{"home/x/y/z": ""}, "", []string{"home/x/other", "home/x/y/other"}},
		{"a work tree", "git worktree add -q ../tree -b new", map[string]string{"tree/kept.txt": "kept\n"}, "", []string{"tree2", "ws/.git/hooks/post-commit"}},
		{"a push", "git push -q HOME/origin.git main", nil, "", []string{"home/origin.git/hooks/post-receive", "home/origin.git/info/attributes", "home/other.git"}},
		{"a copy that goes again", "mkdir -p HOME/bk/x && cp kept.txt HOME/bk/x && rm -rf HOME/bk", nil, "home/bk", []string{"home/is.old", "outside/old"}},
		{"a directory that goes", "rm -rf HOME/have", nil, "home/have", []string{"home/is.old", "outside/old"}},
		{"a file that goes", "rm HOME/have/old", nil, "home/have/old", []string{"home/is.old", "home/have/too.old", "outside/old"}},
		{"a clone that goes", "rm -rf HOME/clone", nil, "home/clone", []string{"home/is.old", "outside/old", "home/clone2"}},
		{"a repository that goes", "rm -rf HOME/origin.git", nil, "home/origin.git", []string{"home/is.old", "outside/old"}},
		{"what a makefile installs", "make install PREFIX=HOME/.local", map[string]string{"home/.local/bin/kept": "kept\n"}, "", []string{"home/.local/x", "home/.local/share/x", "home/x"}},
		{"a work tree that goes", "git worktree remove ../left", nil, "left", []string{"home/have/old", "outside/old"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			byTurns(t, i, func(t *testing.T, who account) {
				a := jobTools(t).approvalsArena(t, who, sandbox.Full)
				a.write(userSettings, `{"wall": {"wait": "0s"}}`) // what is asked while it runs is for other tests
				for name, text := range map[string]string{"ws/kept.txt": "kept\n", "home/have/old": "old\n", "home/.bashrc": "old\n", "home/is.old": "old\n", "home/have/too.old": "old\n", "outside/old": "old\n",
					"ws/Makefile": "install:\n\tinstall -D -m 644 kept.txt $(PREFIX)/bin/kept\n"} {
					a.write(name, text)
				}
				if strings.Contains(c.command, "git") || strings.Contains(c.command, "clone") {
					a.repository()
				}
				tries := ""
				for _, path := range c.beside {
					tries += "rm -rf " + a.path(path) + "; echo bad > " + a.path(path) + "; mkdir " + a.path(path) + "; mv kept.txt " + a.path(path) + "; ln -s /tmp " + a.path(path) + "\n"
				}
				a.write("ws/tries.sh", tries+"true\n")
				h := a.serving(true, "--allow", "Shell(bash tries.sh)").confinedBy()
				command := strings.NewReplacer("HOME", a.path("home"), "OUTSIDE", a.path("outside")).Replace(c.command)
				m := h.shell(command + "; status=$?; bash tries.sh 2>/dev/null; exit $status")
				p := h.prompt("bash tries.sh", 1)
				h.decide(p, "allow")
				r := m.result()
				if r.view().ExitCode == nil || *r.view().ExitCode != 0 {
					t.Errorf("after a yes it fails: %s", r.says())
				}
				for path, want := range c.made {
					info, err := os.Stat(a.path(path))
					switch {
					case err != nil:
						t.Errorf("it was not made: %v", err)
					case want == "" && !info.IsDir():
						t.Errorf("%s is no directory", path)
					case want != "" && a.read(path) != strings.Trim(want, "\x00"):
						t.Errorf("%s has %q", path, a.read(path))
					}
				}
				if _, err := os.Lstat(a.path(c.gone)); c.gone != "" && err == nil {
					t.Errorf("%s is still there", c.gone)
				}
				for _, path := range c.beside {
					if got := a.read(path); exists(a, path) && (got == "bad\n" || !strings.HasSuffix(path, "old")) {
						t.Errorf("%s was made: %q", path, got)
					}
					if strings.HasSuffix(path, "old") && a.read(path) != "old\n" {
						t.Errorf("%s was removed or changed", path)
					}
				}
				if strings.HasPrefix(c.name, "a push") {
					if b := a.read("home/origin.git/refs/heads/main"); b == "" {
						t.Error("it was not pushed")
					}
				}
				next := h.shell("bash tries.sh") // the yes was for that call
				next.result()
				for _, path := range c.beside {
					if got := a.read(path); got == "bad\n" {
						t.Errorf("the next call made %s", path)
					}
				}
			})
		})
	}
}

// TestApprovedRemote: a remote may be a directory of this machine, which a yes opens: to read for a fetch, to write for a push.
func TestApprovedRemote(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write("ws/kept.txt", "kept\n")
	a.repository()
	h := a.serving(true).confinedBy()
	for _, command := range []string{"git push -q origin main", "git fetch -q origin", "git ls-remote origin"} {
		m := h.shell(command)
		h.decide(h.prompt(command, 1), "allow")
		m.worked()
	}
	if a.read("home/origin.git/refs/heads/main") == "" {
		t.Error("it was not pushed")
	}
}

// TestRulesWiden: a path that rules allow to write is writable in the sandbox.
func TestRulesWiden(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write("home/notes/", "")
	h := a.serving(false, "--allow", "Write("+a.path("home/notes")+"/**)", "--allow", "Shell(touch *)").confinedBy()
	h.shell("touch " + a.path("home/notes/x")).worked()
	h.shell("touch " + a.path("home/notes2")).failed("approval_unavailable")
	whole := approvals(t)
	whole.write("home/notes/", "")
	h = whole.serving(false, "--allow", "Shell").confinedBy() // which names no path
	h.shell("touch " + whole.path("home/notes/x")).result()
	if !exists(a, "home/notes/x") || exists(a, "home/notes2") || exists(whole, "home/notes/x") {
		t.Error("it is not as the rules say")
	}
}

// TestRulesShow: a directory that a rule lets every call read is seen by commands that do not name it, and cannot be written. Its neighbours are
// not seen.
func TestRulesShow(t *testing.T) {
	t.Parallel()
	a := approvals(t)
	a.write("home/lib/file", "lib\n")
	a.write("home/lib2/file", "SECRET\n")
	a.write("ws/step.sh", "cat ~/lib/file; cat ~/lib2/file ~/lib/../lib2/file; ls ~; echo x > ~/lib/new; echo x > ~/lib/file\n")
	h := a.serving(false, "--allow", "Read("+a.path("home/lib")+"/**)", "--allow", "Shell(bash step.sh)").confinedBy()
	if said := h.shell("bash step.sh").result().says(); !strings.Contains(said, "lib\n") || strings.Contains(said, "SECRET") || strings.Contains(said, "\nlib2\n") {
		t.Errorf("it sees other files than the rule says: %s", said)
	}
	if exists(a, "home/lib/new") || a.read("home/lib/file") != "lib\n" {
		t.Error("it wrote there")
	}
}
