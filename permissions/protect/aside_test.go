package protect

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gitOf is what the map knows of the git directory at a path below the root.
func gitOf(t *testing.T, m *Map, name string) GitDir {
	t.Helper()
	i := slices.IndexFunc(m.Git, func(g GitDir) bool { return g.Path == m.Roots[0]+"/"+name })
	if i < 0 {
		t.Fatalf("%s is not known: %+v", name, m.Git)
	}
	return m.Git[i]
}

// TestPutAside takes hooks and programs of new repositories out of use, in every shape, and puts them back.
func TestPutAside(t *testing.T) {
	const config = "config = [core]\n\tbare = false\n\tfsmonitor = ./evil\n[alias]\n\tst = !evil\n"
	for _, c := range []struct{ name, git string }{
		{"at the root", ".git"}, {"nested", "a/b/.git"}, {"bare", "fixtures/x"}, {"of a submodule", ".git/modules/NEW"}, {"of a worktree", ".git/worktrees/w"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tempDir(t)
			write(t, root, ".git/HEAD", ".git/objects/", ".git/refs/", c.git+"/HEAD", c.git+"/objects/", c.git+"/refs/", c.git+"/hooks/pre-commit = evil",
				c.git+"/hooks/update.sample", c.git+"/"+config)
			m := scanned(t, Options{Roots: []string{root}})
			git := gitOf(t, m, c.git)
			done, err := m.PutAside(git, nil)
			if err != nil || !slices.Equal(done.Hooks, []string{"pre-commit"}) || !slices.Equal(done.Keys, []string{"core.fsmonitor", "alias.st"}) {
				t.Fatalf("put aside %+v, %v", done, err)
			}
			if _, err := os.Lstat(git.Path + "/hooks"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("hooks are there: %v", err)
			}
			text := read(t, git.Path+"/config")
			for _, k := range gitKeys(text) {
				if GitRuns(k.section, k.sub, k.key, k.value) {
					t.Errorf("%s is in force", k.name())
				}
			}
			if !strings.Contains(text, "bare = false") {
				t.Errorf("the rest is lost:\n%s", text)
			}
			if again, err := m.PutAside(git, nil); err != nil || !again.Empty() {
				t.Errorf("twice: %+v, %v", again, err)
			}
			waiting, err := m.Waiting()
			if err != nil || len(waiting) != 1 || waiting[0].Git != git.Path || !slices.Equal(waiting[0].Hooks, done.Hooks) || !slices.Equal(waiting[0].Keys, done.Keys) {
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
			if read(t, git.Path+"/hooks/pre-commit") != "evil" || read(t, git.Path+"/"+"config") != strings.TrimPrefix(config, "config = ") {
				t.Errorf("not as it was: %q", read(t, git.Path+"/config"))
			}
			if waiting, err := m.Waiting(); err != nil || len(waiting) != 0 {
				t.Errorf("still waiting: %+v, %v", waiting, err)
			}
		})
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	must(t, err)
	return string(b)
}

// TestPutAsideOddly meets what is no plain repository.
func TestPutAsideOddly(t *testing.T) {
	root, outside := tempDir(t), tempDir(t)
	write(t, outside, "git/HEAD", "git/objects/", "git/refs/", "git/hooks/pre-commit = evil", "hooks/pre-commit = evil")
	write(t, root, "link/.git/HEAD", "link/.git/objects/", "link/.git/refs/", "link/.git/hooks -> "+outside+"/hooks", "link/.git/config -> "+outside+"/config",
		"far/.git = gitdir: "+outside+"/git\n", "clean/.git/HEAD", "clean/.git/objects/", "clean/.git/refs/", "clean/.git/hooks/update.sample",
		"clean/.git/config = [core]\n\tbare = false\n", "busy/.git/HEAD", "busy/.git/objects/", "busy/.git/refs/", "busy/.git/config.lock",
		"busy/.git/config = [core]\n\tpager = evil\n")
	m := scanned(t, Options{Roots: []string{root}})
	if done, err := m.PutAside(gitOf(t, m, "link/.git"), nil); err != nil || len(done.Files) != 2 {
		t.Errorf("links: %+v, %v", done, err)
	}
	i := slices.IndexFunc(m.Git, func(g GitDir) bool { return strings.HasPrefix(g.Path, outside) })
	if i < 0 {
		t.Fatal("the pointer is not known")
	}
	if done, err := m.PutAside(m.Git[i], nil); err != nil || len(done.Files) != 1 {
		t.Errorf("a pointer: %+v, %v", done, err)
	}
	if _, err := os.Lstat(root + "/far/.git"); err == nil || read(t, outside+"/git/hooks/pre-commit") != "evil" {
		t.Error("the pointer leads outside, or what is outside was changed")
	}
	if done, err := m.PutAside(gitOf(t, m, "clean/.git"), nil); err != nil || !done.Empty() || read(t, root+"/clean/.git/hooks/update.sample") != "" {
		t.Errorf("nothing to put aside: %+v, %v", done, err)
	}
	if done, err := m.PutAside(gitOf(t, m, "busy/.git"), nil); err == nil || !done.Empty() {
		t.Errorf("git is writing: %+v, %v", done, err)
	}
	must(t, os.Remove(root+"/busy/.git/config.lock"))
	if done, err := m.PutAside(gitOf(t, m, "busy/.git"), nil); err != nil || len(done.Keys) != 1 {
		t.Errorf("git is done: %+v, %v", done, err)
	}
	if left, _ := filepath.Glob(root + "/*/.git/*.lock"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestKnownHooksStay: hooks that were there before, under another name of their repository, are the person's own.
func TestKnownHooksStay(t *testing.T) {
	root := tempDir(t)
	write(t, root, "a/.git/HEAD", "a/.git/objects/", "a/.git/refs/", "a/.git/hooks/pre-commit = mine", "a/.git/config = [core]\n\tpager = mine\n")
	before, err := Take(scanned(t, Options{Roots: []string{root}}))
	must(t, err)
	must(t, os.Rename(root+"/a", root+"/b"))
	m := scanned(t, Options{Roots: []string{root}})
	if done, err := m.PutAside(gitOf(t, m, "b/.git"), before.Knows); err != nil || !done.Empty() {
		t.Errorf("the person's own: %+v, %v", done, err)
	}
	write(t, root, "b/.git/hooks/post-merge = evil")
	if done, err := m.PutAside(gitOf(t, m, "b/.git"), before.Knows); err != nil || !slices.Equal(done.Hooks, []string{"post-merge"}) || len(done.Keys) != 0 {
		t.Errorf("a new one: %+v, %v", done, err)
	}
}
