package protect

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// disarm makes a git directory harmless that is about to become one.
func disarm(t *testing.T, dir string, j Judged) (Aside, error) {
	t.Helper()
	at, err := os.Open(dir)
	must(t, err)
	defer at.Close()
	return j.Disarm(int(at.Fd()), dir)
}

// TestDisarm takes hooks and programs of new repositories out of use, in every shape, and puts them back.
func TestDisarm(t *testing.T) {
	const config = "config = [core]\n\tbare = false\n\tfsmonitor = ./evil\n[alias]\n\tst = !evil\n"
	const script = "#!/bin/bash\nevil\n"
	for _, c := range []struct{ name, git string }{
		{"at the root", ".git"}, {"nested", "a/b/.git"}, {"bare", "fixtures/x"}, {"of a submodule", ".git/modules/NEW"}, {"of a worktree", ".git/worktrees/w"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tempDir(t)
			write(t, root, ".git/HEAD", ".git/objects/", ".git/refs/", c.git+"/HEAD", c.git+"/objects/", c.git+"/refs/", c.git+"/hooks/pre-commit = "+script,
				c.git+"/hooks/post-merge = \x7fELF\x00no text", c.git+"/hooks/pre-push -> ../../evil", c.git+"/hooks/update.sample", c.git+"/hooks/lib/x = evil", c.git+"/"+config)
			dir := root + "/" + c.git
			must(t, os.Chmod(dir+"/hooks/pre-commit", 0o755))
			hooks := []string{"post-merge", "pre-commit", "pre-push"}
			done, err := disarm(t, dir, Judged{})
			if err != nil || !slices.Equal(done.Hooks, hooks) || !slices.Equal(done.Keys, []string{"core.fsmonitor", "alias.st"}) {
				t.Fatalf("put aside %+v, %v", done, err)
			}
			for _, name := range hooks {
				cmd := exec.Command("/bin/sh", dir+"/hooks/"+name)
				if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
					t.Errorf("%s: %s, %v", name, out, err)
				}
			}
			if info, err := os.Lstat(dir + "/hooks/pre-commit"); err != nil || info.Mode() != 0o755 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
			text := read(t, dir+"/config")
			for _, k := range gitKeys(text) {
				if GitRuns(k.section, k.sub, k.key, k.value) {
					t.Errorf("%s is in force", k.name())
				}
			}
			if !strings.Contains(text, "bare = false") {
				t.Errorf("the rest is lost:\n%s", text)
			}
			if again, err := disarm(t, dir, Judged{}); err != nil || !again.Empty() {
				t.Errorf("twice: %+v, %v", again, err)
			}
			m := scanned(t, Options{Roots: []string{root}})
			waiting, err := m.Waiting()
			if err != nil || len(waiting) != 1 || waiting[0].Git != dir || !slices.Equal(waiting[0].Hooks, hooks) || !slices.Equal(waiting[0].Keys, done.Keys) {
				t.Fatalf("waiting: %+v, %v", waiting, err)
			}
			changed := waiting[0]
			changed.digest = "another"
			if err := m.LetLive(changed); !errors.Is(err, ErrChangedAgain) {
				t.Errorf("something else was let live: %v", err)
			}
			if err := m.LetLive(waiting[0]); err != nil {
				t.Fatal(err)
			}
			link, err := os.Readlink(dir + "/hooks/pre-push")
			if err != nil || link != "../../evil" || read(t, dir+"/hooks/pre-commit") != script || read(t, dir+"/hooks/post-merge") != "\x7fELF\x00no text" ||
				read(t, dir+"/config") != strings.TrimPrefix(config, "config = ") {
				t.Errorf("not as it was: %q, %v, %q", link, err, read(t, dir+"/config"))
			}
			if waiting, err := m.Waiting(); err != nil || len(waiting) != 0 {
				t.Errorf("still waiting: %+v, %v", waiting, err)
			}
		})
	}
}

// TestDisarmRefuses meets what cannot be judged.
func TestDisarmRefuses(t *testing.T) {
	root := tempDir(t)
	write(t, root, "a/hooks -> ../x", "b/config -> ../x", "c/config = "+strings.Repeat("#", maxConfig), "d/commondir = /elsewhere\n", "e/hooks/x = "+strings.Repeat("#", maxConfig),
		"ok/config/", "ok/hooks = a file", "ok/commondir = inside\n", "ok/hooks.lock", "ok/config.lock")
	within := func(_, target string) bool { return strings.HasPrefix(target, root+"/") }
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if _, err := disarm(t, root+"/"+name, Judged{Within: within}); !errors.Is(err, ErrPart) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if done, err := disarm(t, root+"/ok", Judged{Within: within}); err != nil || !done.Empty() {
		t.Errorf("%+v, %v", done, err)
	}
}

// TestDisarmedIsNew: who has a part open, or another name of it, changes nothing any more.
func TestDisarmedIsNew(t *testing.T) {
	root := tempDir(t)
	write(t, root, "x/config = [core]\n", "x/hooks/pre-commit = #!/bin/sh\n")
	for _, name := range []string{"config", "hooks/pre-commit"} {
		open, err := os.OpenFile(root+"/x/"+name, os.O_RDWR, 0)
		must(t, err)
		defer open.Close()
		must(t, os.Link(root+"/x/"+name, root+"/"+filepath.Base(name)))
		before := read(t, root+"/x/"+name)
		_, err = disarm(t, root+"/x", Judged{})
		must(t, err)
		_, err = open.WriteString("evil")
		must(t, err)
		if read(t, root+"/x/"+name) != before {
			t.Errorf("%s was written", name)
		}
	}
}

// TestVariablesInForceStay: a new text keeps the programs that the text in force has, and no other.
func TestVariablesInForceStay(t *testing.T) {
	const old = "[alias]\n\tst = !mine\n"
	var done Aside
	text, err := Judged{}.File("/x/.git/config", []byte(old+"\tci = !evil\n[core]\n\tpager = evil\n"), []byte(old), &done)
	if err != nil || !slices.Equal(done.Keys, []string{"alias.ci", "core.pager"}) || !slices.Equal(runningOf(string(text)), runningOf(old)) {
		t.Errorf("%+v, %v\n%s", done, err, text)
	}
}

// TestParts names what git runs and obeys.
func TestParts(t *testing.T) {
	for file, want := range map[string]Part{
		"/a/.git/config": ConfigPart, "/a/x/CONFIG": ConfigPart, "/a/x/config.worktree": ConfigPart, "/a/hooks": HooksPart, "/a/hooks/pre-commit": HookPart,
		"/a/hooks/pre-commit.sample": NoPart, "/a/.git": PointerPart, "/a/.GIT": PointerPart, "/a/commondir": PointerPart, "/a/HEAD": ShapePart, "/a/objects": ShapePart,
		"/a/refs": ShapePart, "/a/conﬁg": ConfigPart, "/a/configs": NoPart, "/a/src/hooks/use.ts": HookPart, "/a/hooks/x/y": NoPart, "/": NoPart, "/a/Makefile": NoPart,
	} {
		if got := PartOf(file); got != want {
			t.Errorf("%s: %v, want %v", file, got, want)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	must(t, err)
	return string(b)
}

// TestKnownHooksStay: hooks that were there before, under another name of their repository, are the person's own.
func TestKnownHooksStay(t *testing.T) {
	root := tempDir(t)
	write(t, root, "a/.git/HEAD", "a/.git/objects/", "a/.git/refs/", "a/.git/hooks/pre-commit = mine", "a/.git/config = [core]\n\tpager = mine\n")
	before, err := Take(scanned(t, Options{Roots: []string{root}}))
	must(t, err)
	must(t, os.Rename(root+"/a", root+"/b"))
	known := Judged{Known: func(file string, content []byte) bool { return before.Knows(filepath.Base(file), content) }}
	if done, err := disarm(t, root+"/b/.git", known); err != nil || !done.Empty() {
		t.Errorf("the person's own: %+v, %v", done, err)
	}
	write(t, root, "b/.git/hooks/post-merge = evil")
	if done, err := disarm(t, root+"/b/.git", known); err != nil || !slices.Equal(done.Hooks, []string{"post-merge"}) || len(done.Keys) != 0 {
		t.Errorf("a new one: %+v, %v", done, err)
	}
}

// TestWorkTreesElsewhere: git checks out into the work tree that a configuration names. One that a command writes has the repository in it, or is that of a
// submodule.
func TestWorkTreesElsewhere(t *testing.T) {
	root := tempDir(t)
	write(t, root, "ws/r/.git/", "ws/x/", "ws/.git/modules/sub/", "ws/sub/", "home -> "+root)
	j := Judged{Within: func(_, target string) bool { return strings.HasPrefix(target, root+"/ws") }}
	for value, held := range map[string]bool{
		"..": true, root + "/ws/r": true, root + "/ws": true, "../../": true, "": false, root: false, "/": false, "../../..": false, "../../x": false, "~": false, root + "/home": false, "%(prefix)/..": false,
		":(optional)..": false,
	} {
		for _, name := range []string{"config", "config.worktree"} {
			file := root + "/ws/r/.git/" + name
			var done Aside
			text, err := j.File(file, []byte("[core]\n\tworktree = "+value+"\n"), nil, &done)
			if err != nil || held != !strings.Contains(string(text), aside) || held != done.Empty() {
				t.Errorf("%s with %q: %q, %v, %v", name, value, text, done, err)
			}
		}
	}
	var done Aside
	if _, err := j.File(root+"/ws/.git/modules/sub/config", []byte("[core]\n\tworktree = ../../../sub\n"), nil, &done); err != nil || !done.Empty() {
		t.Errorf("of a submodule: %v, %v", done, err)
	}
	text := "[core]\n\tworktree = " + root + "\n"
	if _, err := j.File(root+"/ws/r/.git/config", []byte(text), []byte(text), &done); err != nil || !done.Empty() {
		t.Errorf("in force before: %v, %v", done, err)
	}
}
