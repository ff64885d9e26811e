package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/sandbox"
)

// pointed is a name that is protected because something names it, in a repository of its own in the workspace.
type pointed struct {
	name  string
	setup string // makes it, in the repository
	path  string // in the repository
	text  string // what runs code from there; MARK is a file that it makes
	fires string // what the user does next, in the repository
}

const (
	hookText   = "#!/bin/sh\ntouch MARK\n"
	configText = "[core]\n\tfsmonitor = touch MARK\n"
	usersWork  = "git -c user.name=n -c user.email=e@x commit -q --allow-empty -m x || true"
)

var pointedNames = []pointed{
	{"core.hooksPath", "git config core.hooksPath .githooks; mkdir .githooks; echo '#!/bin/sh' > .githooks/pre-commit; chmod +x .githooks/pre-commit",
		".githooks/pre-commit", hookText, usersWork},
	{"core.hooksPath that is not there yet", "git config core.hooksPath hooks/later", "hooks/later/pre-commit", hookText, usersWork},
	{"core.hooksPath at the top", "git config core.hooksPath .", "pre-commit", hookText, usersWork},
	{"include.path", "git config include.path ../team.cfg; : > team.cfg", "team.cfg", configText, "git status"},
	{"include.path that is not there yet", "git config include.path ../conf/team.cfg; mkdir conf", "conf/team.cfg", configText, "git status"},
	{"includeIf", "git config includeIf.gitdir:/.path ../cond.cfg; : > cond.cfg", "cond.cfg", configText, "git status"},
	{"an included file of an included file", "git config include.path ../a.cfg; printf '[include]\\n\\tpath = b.cfg\\n' > a.cfg; : > b.cfg", "b.cfg", configText, "git status"},
	{"core.attributesFile", "git config filter.f.clean 'touch MARK; cat'; git config core.attributesFile \"$PWD/attrs\"; echo '# none' > attrs; echo x > x.txt",
		"attrs", "*.txt filter=f\n", "git add x.txt"},
	{"core.fsmonitor", "mkdir tools; printf '#!/bin/sh\\nexit 1\\n' > tools/monitor; chmod +x tools/monitor; git config core.fsmonitor ./tools/monitor", "tools/monitor", hookText, "git status"},
	{"a script of a filter", "mkdir tools; echo cat > tools/clean.sh; git config filter.f.clean 'sh tools/clean.sh'; echo '*.txt filter=f' > .git/info/attributes; echo x > x.txt",
		"tools/clean.sh", hookText + "cat\n", "git add x.txt"},
	{"a link among the hooks", "mkdir tools; echo '#!/bin/sh' > tools/check; chmod +x tools/check; ln -s ../../tools/check .git/hooks/pre-commit", "tools/check", hookText, usersWork},
	{"a link among the hooks to what is not there yet", "mkdir tools; ln -s ../../tools/later .git/hooks/pre-commit", "tools/later", hookText, usersWork},
	{"a linked directory of hooks", "mkdir shared; rm -r .git/hooks; ln -s ../shared .git/hooks; echo '#!/bin/sh' > shared/pre-commit; chmod +x shared/pre-commit", "shared/pre-commit", hookText, usersWork},
	{"hooks of a linked work tree", "git config core.hooksPath \"$PWD/wt-hooks\"; " + usersWork + "; git worktree add -q wt; mkdir wt-hooks; echo '#!/bin/sh' > wt-hooks/pre-commit; chmod +x wt-hooks/pre-commit",
		"wt-hooks/pre-commit", hookText, "cd wt; " + usersWork},
	{"the configuration of a work tree, which is a link", "git config extensions.worktreeConfig true; : > wt.cfg; ln -s ../wt.cfg .git/config.worktree", "wt.cfg", configText, "git status"},
	{"a start-up file of the home", "echo '# mine' > bashrc; ln -sf \"$PWD/bashrc\" ~/.bashrc", "bashrc", "touch MARK\n", "bash -ic true"},
	{"a directory of start-up files of the home", "mkdir conf; echo '[core]' > conf/config; mkdir -p ~/.config; rm -rf ~/.config/git; ln -s \"$PWD/conf\" ~/.config/git", "conf/config", configText, "git status"},
}

// pointedWrites are the ways by which the text E comes under the name P. Those of tools are made by the test.
var pointedWrites = []struct{ name, command string }{
	{"append", "cat E >> P"}, {"redirect", "cat E > P"}, {"cp", "cp E P"}, {"cp into the directory", "cp IN/N D"}, {"tee", "tee P < E"}, {"tee -a", "tee -a P < E"},
	{"sed -i", "sed -i '$r E' P"}, {"mv", "cp E moved; mv moved P"}, {"mv alone", "mv E2 P"}, {"mv into the directory", "mv IN2/N D"}, {"ln", "ln -sf E P"}, {"ln a hard link", "ln -f E P"},
	{"install", "install -m 755 E P"}, {"a script", "bash SCRIPT"},
}

// TestPointedNames: a name that is protected because configuration, a link or the home names it is written by no unasked decision, in any mode and
// under any rule, by tools and by the words of commands, and not by a script: the user's next command does not run what was put there.
func TestPointedNames(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	r := probedDesk(t)
	var arenas []*escapeAttempt
	for _, who := range accounts(t) {
		for _, level := range r.levels(t, who) {
			if level == sandbox.Full || level == sandbox.LandlockNotify {
				arenas = append(arenas, r.approvalsArena(t, who, level))
			}
		}
	}
	for k, a := range arenas {
		t.Run(a.who.name+" "+string(a.level), func(t *testing.T) {
			t.Parallel()
			a.t = t
			pointedNamesHold(a, func(i, f int) bool { return long() || (i+f+k)%len(arenas) == 0 })
		})
	}
}

// pointedNamesHold tries the names whose turn it is under each kind of flags. The ordinary form tries each of them once, as one of the accounts at
// one of the levels.
func pointedNamesHold(a *escapeAttempt, turn func(name, flags int) bool) {
	a.t.Helper()
	a.host("git config --global init.templateDir ''; git config --global init.defaultBranch main; git config --global core.excludesFile ''")
	for i, p := range pointedNames {
		a.host(fmt.Sprintf("mkdir r%d; cd r%d; git init -q; mkdir -p .git/hooks .git/info; %s", i, i, strings.ReplaceAll(p.setup, "MARK", a.mark(i))))
	}
	for f, flags := range [][]string{
		{"--mode", "sandboxed"}, {"--mode", "accept_edits"}, {"--mode", "default", "--allow", "Write(**)", "--allow", "Edit(**)"},
		{"--mode", "sandboxed", "--allow", "Write(**)", "--allow", "Shell"},
	} {
		h := a.serving(true, flags...).confinedBy()
		for i, p := range pointedNames {
			if !turn(i, f) {
				continue
			}
			a.holdsPointed(h, i, p, flags, func(n int) bool { return long() || (n+i+f)%7 == 0 })
		}
		h.close()
	}
}

// mark is the file that a repository's code makes.
func (a *escapeAttempt) mark(i int) string { return a.path(fmt.Sprintf("outside/mark%d", i)) }

// holdsPointed writes one name in the ways that are tried, and with tools.
func (a *escapeAttempt) holdsPointed(h *approvalsHost, i int, p pointed, flags []string, tried func(int) bool) {
	a.t.Helper()
	dir := fmt.Sprintf("r%d", i)
	path := dir + "/" + p.path
	text := strings.ReplaceAll(p.text, "MARK", a.mark(i))
	before := a.stateOf("ws/" + path)
	check := func(how string, asked int) {
		a.t.Helper()
		where := fmt.Sprintf("%s, %s, %s", strings.Join(flags, " "), p.name, how)
		if now := a.stateOf("ws/" + path); now != before {
			a.t.Errorf("%s: written unasked: it was %q, and is %q", where, before, now)
		} else if asked == 0 {
			a.t.Errorf("%s: nobody was asked", where)
		}
		out, _ := a.said(a.alone("cd " + dir + "; (" + p.fires + "); git reset -q")) // the index as before, for the next
		if _, err := os.Lstat(a.mark(i)); err == nil {
			a.t.Errorf("%s: the user's next command ran the code\n%s", where, out)
			_ = os.Remove(a.mark(i))
		}
	}
	for n, w := range pointedWrites {
		needsMore := before == "none" && (strings.Contains(w.command, " D") || w.name == "sed -i")
		if !tried(n) || needsMore {
			continue
		}
		e := fmt.Sprintf("evil%d", n)
		a.write("ws/"+e, text)
		base := filepath.Base(p.path)
		in := strings.NewReplacer("E2", e, "IN2/N", e+"-in/"+base, "IN/N", e+"-in/"+base, "SCRIPT", e+".sh", "P", path, "D", filepath.Dir(path), "E", e)
		command := in.Replace(w.command)
		a.host(fmt.Sprintf("chmod +x %s; mkdir %s-in; cp %s %s-in/%s; printf 'mkdir -p %s; cp %s %s\\n' > %s.sh", e, e, e, e, base, filepath.Dir(path), e, path, e))
		mark := fmt.Sprintf("# %s %d", dir, n)
		if parent := filepath.Dir(path); !exists(a, "ws/"+parent) {
			command = "mkdir -p " + parent + " && " + command
		}
		asked := h.saysNo(mark, func() *made { return h.shell(command + " " + mark) })
		check(w.name, asked)
		a.host("rm -rf " + e + "* moved; cd " + dir + "; rmdir -p " + filepath.Dir(p.path) + " 2>/dev/null || true")
	}
	asked := 0
	if before != "none" {
		h.make("read", fields{"path": path}).worked()
		old, _, _ := strings.Cut(before, "\n")
		asked += h.saysNo(path, func() *made {
			return h.make("edit", fields{"path": path, "edits": []fields{{"old": old, "new": text}}})
		})
	}
	asked += h.saysNo(path, func() *made { return h.make("write", fields{"path": path, "content": text}) })
	check("tools", asked)
}

// saysNo makes a call whose input has a text, says no to every prompt about it until it has ended, and returns how many there were.
func (h *approvalsHost) saysNo(text string, call func() *made) (asked int) {
	h.t.Helper()
	before := h.askedAbout(text)
	m := call()
	for ; m.asksOrEnds(text, before+asked+1); asked++ {
		if asked > 20 {
			h.t.Fatalf("%s asks without an end", m.name)
		}
		h.decide(h.prompt(text, before+asked+1), "deny")
	}
	m.result()
	return asked
}

// stateOf is what is at a path: a file's text, or that it is a link.
func (a *escapeAttempt) stateOf(name string) string {
	info, err := os.Lstat(a.path(name))
	switch {
	case err != nil:
		return "none"
	case info.Mode()&os.ModeSymlink != 0:
		return "a link"
	}
	return a.read(name)
}

// TestPointedNamesOutside: a rule that opens a directory outside of the workspace opens nothing there that a repository around it, or in it, points
// to, and what such a repository points to in the workspace asks from then on.
func TestPointedNamesOutside(t *testing.T) {
	t.Parallel()
	needs(t, "git")
	a := approvals(t)
	a.host("cd $OUT; git init -q lib; cd lib; mkdir scripts src; echo '#!/bin/sh' > scripts/pre-commit; echo x > src/a; git config core.hooksPath scripts; git config include.path $WS/team.cfg; : > $WS/team.cfg")
	lib := a.out + "/lib"
	h := a.serving(true, "--mode", "sandboxed", "--allow", "Write("+lib+"/**)", "--allow", "Read("+lib+"/**)").confinedBy()
	h.shell("echo one >> " + lib + "/src/a").worked()
	h.make("write", fields{"path": lib + "/src/new", "content": "x\n"}).worked()
	for i, command := range []string{"echo x >> LIB/scripts/pre-commit", "cp file LIB/scripts/post-commit", "mv LIB/scripts LIB/other", "cp file LIB/.git/hooks/pre-push", "echo x >> team.cfg"} {
		mark := fmt.Sprint("# outside ", i)
		if h.saysNo(mark, func() *made { return h.shell(strings.ReplaceAll(command, "LIB", lib) + " " + mark) }) == 0 {
			t.Errorf("%s ran unasked", command)
		}
	}
	for _, path := range []string{lib + "/scripts/post-merge", "team.cfg"} {
		if h.saysNo(path, func() *made { return h.make("write", fields{"path": path, "content": "x\n"}) }) == 0 {
			t.Errorf("%s was written unasked", path)
		}
	}
	if got := a.read("outside/lib/scripts/pre-commit") + a.read("ws/team.cfg"); got != "#!/bin/sh\n" || exists(a, "outside/lib/scripts/post-commit") || exists(a, "outside/lib/scripts/post-merge") {
		t.Errorf("written: %q", got)
	}
}
