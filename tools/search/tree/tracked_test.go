package tree

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolhost/tools/search/ignore"
)

// A file that git tracks is listed even if a rule names it, in every kind of repository.
func TestTrackedFiles(t *testing.T) {
	needGit(t)
	for _, test := range []struct {
		name  string
		files map[string]string
		steps string // shell commands in the repository
		root  string // below the repository
		want  string
	}{
		{"a file", map[string]string{".gitignore": "*.log\n", "a.log": "", "b.log": "", "c": ""}, "git add -f a.log", "", ".gitignore a.log c"},
		{"in an ignored directory", map[string]string{".gitignore": "build/\n", "build/t.txt": "", "build/u.txt": "", "build/d/v": ""},
			"git add -f build/t.txt", "", ".gitignore build/t.txt"},
		{"deep in an ignored directory", map[string]string{".gitignore": "build/\n", "build/a/b/t": "", "build/a/u": "", "build/c/v": ""},
			"git add -f build/a/b/t", "", ".gitignore build/a/b/t"},
		{"a directory that ignores itself", map[string]string{"venv/.gitignore": "*\n", "venv/a": "", "venv/b": "", "c": ""},
			"git add -f venv/a", "", "c venv/a"},
		{"a name that a later name extends", map[string]string{".gitignore": "x*\n", "x": "", "x-y/z": "", "x.d": ""}, "git add -f x-y/z", "", ".gitignore x-y/z"},
		{"no longer tracked", map[string]string{".gitignore": "build/\n", "build/t": ""}, "git add -f build/t; git rm -q --cached build/t", "", ".gitignore"},
		{"tracked and deleted", map[string]string{".gitignore": "build/\n", "build/t": "", "build/u": ""}, "git add -f build; rm build/t", "", ".gitignore build/u"},
		{"seen from a directory in it", map[string]string{".gitignore": "*.log\n", "d/a.log": "", "d/b.log": "", "d/c": ""}, "git add -f d/a.log", "d", "a.log c"},
		{"index of version 4", map[string]string{".gitignore": "*.log\n", "d/a.log": "", "d/aa.log": "", "d/b.log": ""},
			"git add -f d/a.log d/aa.log; git update-index --index-version 4", "", ".gitignore d/a.log d/aa.log"},
		{"a split index", map[string]string{".gitignore": "*.log\n", "a.log": "", "b.log": "", "c.log": ""},
			"git add -f a.log; git update-index --split-index; git add -f b.log", "", ".gitignore a.log b.log"},
		{"a conflict", map[string]string{".gitignore": "*.log\n", "a.log": "1", "b.log": ""},
			"git add -f a.log; git commit -qm 1; git checkout -qb o; echo 2 >a.log; git commit -qam 2; git checkout -q -; echo 3 >a.log; git commit -qam 3; git merge -q o >&2 || true",
			"", ".gitignore a.log"},
		{"SHA-256", map[string]string{".gitignore": "*.log\n", "a.log": "", "b.log": ""},
			"rm -r .git; git init -q --object-format=sha256; git add -f a.log", "", ".gitignore a.log"},
		{"a worktree", map[string]string{".gitignore": "*.log\nw/\n", "a.log": "", "b.log": ""},
			"git add -f a.log .gitignore; git commit -qm 1; git worktree add -q ../w; touch ../w/c.log; git rm -q --cached a.log", "../w", ".gitignore a.log"},
		{"a submodule that a rule names", map[string]string{".gitignore": "*.log\nsub/\n", "sub/a.log": "", "sub/b.log": "", "sub/c": ""},
			"(cd sub; git init -q; echo '*.log' >.git/info/exclude; git add -f a.log; git commit -qm 1); git add -f sub", "", ".gitignore sub/a.log sub/c"},
		{"a repository in it", map[string]string{".gitignore": "*.log\n", "n/a.log": "", "n/b.log": "", "n/c": "", "d.log": ""},
			"git add -f d.log; cd n; git init -q; echo '*.log' >.git/info/exclude; git add -f a.log", "", ".gitignore d.log n/a.log n/c"},
		{".ignore is for searches only", map[string]string{".gitignore": "*.log\n", ".ignore": "a.log\nd/\n", "a.log": "", "b.log": "", "d/c.log": ""},
			"git add -f a.log b.log d/c.log", "", ".gitignore .ignore b.log"},
		{".ignore within an ignored directory", map[string]string{".gitignore": "build/\n", ".ignore": "*.map\n", "build/a.map": "", "build/b": ""},
			"git add -f build", "", ".gitignore .ignore build/b"},
		{"a link", map[string]string{".gitignore": "l*\n", "c": ""}, "ln -s c l1; ln -s c l2; git add -f l1", "", ".gitignore c l1"},
		{"an index that is not understood", map[string]string{".gitignore": "*.log\n", "a.log": "", "c": ""}, "git add -f a.log; echo DIRC >.git/index", "", ".gitignore c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			home, top := plant(t, nil), plant(t, nil)
			dir := filepath.Join(top, "r")
			for name, text := range test.files {
				write(t, filepath.Join(dir, name), text, false)
			}
			git(t, home, dir, "init", "-q")
			script(t, home, dir, test.steps)
			root := filepath.Join(dir, test.root)
			l := refreshed(t, openBelow(t, root, root, Options{Hidden: true}))
			if got := strings.Join(paths(l), " "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// What git begins and ceases to track shows in the next list, by each kind of refresh.
func TestTrackedChanges(t *testing.T) {
	needGit(t)
	for _, only := range []bool{false, true} {
		home := plant(t, nil)
		dir := plant(t, map[string]string{".gitignore": "build/\n*.log\n", "build/a/t": "", "build/a/u": "", "build/v": "", "x.log": "", "s/y.log": "", "s/z": ""})
		git(t, home, dir, "init", "-q")
		whole, part := open(t, dir, Options{}), openBelow(t, filepath.Join(dir, "s"), dir, Options{})
		check := func(tree *Tree, step, want string) {
			t.Helper()
			refresh := tree.Refresh
			if only {
				refresh = func(ctx context.Context) (*List, error) { return tree.RefreshOnly(ctx, nil) }
			}
			l, err := refresh(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(paths(l), " "); got != want {
				t.Errorf("after %q, only events: %v: got %q, want %q", step, only, got, want)
			}
		}
		refreshed(t, whole)
		refreshed(t, part)
		for _, step := range []struct{ do, whole, part string }{
			{"true", "s/z", "z"},
			{"git add -f x.log", "s/z x.log", "z"},
			{"git add -f build/a/t", "build/a/t s/z x.log", "z"},
			{"git add -f s/y.log", "build/a/t s/y.log s/z x.log", "y.log z"},
			{"git add -f build", "build/a/t build/a/u build/v s/y.log s/z x.log", "y.log z"},
			{"git rm -q --cached build/a/t build/v", "build/a/u s/y.log s/z x.log", "y.log z"},
			{"git rm -q --cached build/a/u s/y.log", "s/z x.log", "z"},
			{"git add s/z; git commit -qm 1", "s/z x.log", "z"},
			{"rm .git/index", "s/z", "z"},
			{"git reset -q", "s/z x.log", "z"},
		} {
			script(t, home, dir, step.do)
			check(whole, step.do, step.whole)
			check(part, step.do, step.part)
			check(whole, step.do+", again", step.whole)
		}
		script(t, home, dir, "echo 'nothing' >.gitignore")
		l := refreshed(t, whole)
		if got, want := strings.Join(paths(l), " "), "build/a/t build/a/u build/v s/y.log s/z x.log"; got != want {
			t.Errorf("without rules: got %q, want %q", got, want)
		}
	}
}

// Random repositories with files that were added by force list what git lists, at first and after each change.
func TestTrackedAgainstGit(t *testing.T) {
	needGit(t)
	count := 30
	if testing.Short() {
		count = 8
	}
	for i := range count {
		r := rand.New(rand.NewPCG(30, uint64(i)))
		home, dir := plant(t, nil), plant(t, nil)
		git(t, home, dir, "init", "-q")
		grow(t, r, home, dir)
		tree := openBelow(t, dir, dir, Options{Hidden: true, Git: ignore.Environment{Home: home, ConfigHome: filepath.Join(home, ".config")}})
		for change := range 8 {
			var names []string
			for _, name := range strings.Split(git(t, home, dir, "ls-files", "-co", "-z"), "\x00") {
				if name != "" && r.IntN(4) == 0 {
					names = append(names, name)
				}
			}
			if len(names) > 0 {
				how := pick(r, "add -f", "add -f", "rm -q --cached --ignore-unmatch -f")
				git(t, home, dir, slices.Concat(strings.Fields(how), []string{"--"}, names)...)
			}
			if r.IntN(6) == 0 {
				write(t, filepath.Join(dir, pick(r, "", "a", "build"), ".gitignore"), patterns(r), false)
			}
			want := strings.Split(strings.TrimSuffix(git(t, home, dir, "ls-files", "-co", "--exclude-standard", "-z"), "\x00"), "\x00")
			slices.Sort(want)
			want = slices.DeleteFunc(slices.Compact(want), func(s string) bool { return s == "" })
			if got := paths(refreshed(t, tree)); !slices.Equal(got, want) {
				t.Fatalf("tree %d, change %d: got\n%q\nwant\n%q", i, change, got, want)
			}
			if got := paths(refreshed(t, openBelow(t, dir, dir, tree.options))); !slices.Equal(got, want) {
				t.Fatalf("tree %d, change %d, listed for the first time: got\n%q\nwant\n%q", i, change, got, want)
			}
		}
	}
}

// Who names a directory that a rule ignores wants to see what is in it.
func TestIgnoredRoot(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		root  string
		want  string
	}{
		{"its name", map[string]string{".gitignore": "build/\n", "build/a": ""}, "build", "a"},
		{"the name of one above", map[string]string{".gitignore": "node_modules\ndist\n*.log\n", "node_modules/p/dist/a": "", "node_modules/p/b.log": ""},
			"node_modules/p", "b.log dist/a"},
		{"all that is beside it", map[string]string{"venv/.gitignore": "*\n", "venv/lib/a": "", "venv/lib/d/b": ""}, "venv/lib", "a d/b"},
		{"all that is in it", map[string]string{"venv/.gitignore": "# made by a tool\n*\n", "venv/lib/a": "", "venv/b": ""}, "venv", "b lib/a"},
		{"all in it but itself", map[string]string{"out/.gitignore": "*\n!.gitignore\n", "out/a": ""}, "out", "a"},
		{".ignore", map[string]string{".ignore": "vendor\n", "vendor/a": ""}, "vendor", "a"},
		{"its own rules count", map[string]string{".gitignore": "build/\n", "build/.gitignore": "*.o\n", "build/a": "", "build/a.o": ""}, "build", "a"},
		{"rules above that do not name it count", map[string]string{".gitignore": "*.log\n", "d/a": "", "d/a.log": ""}, "d", "a"},
		{"a list of what counts", map[string]string{"d/.gitignore": "*\n!*/\n!*.go\n", "d/a.go": "", "d/b.o": "", "d/e/c.go": ""}, "d", "a.go e/c.go"},
		{"in such a list", map[string]string{".gitignore": "*\n!*/\n!*.go\n", "d/a.go": "", "d/b.o": ""}, "d", "a.go"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, repository := range []bool{false, true} {
				dir := plant(t, test.files)
				if repository {
					write(t, filepath.Join(dir, ".git"), "", true)
				}
				l := refreshed(t, openBelow(t, filepath.Join(dir, test.root), dir, Options{}))
				if got := strings.Join(paths(l), " "); got != test.want {
					t.Errorf("in a repository: %v: got %q, want %q", repository, got, test.want)
				}
			}
		})
	}
}

// A directory that ignores all that it holds but tracks some of it, as people keep their dotfiles, lists what is tracked.
func TestTrackedInIgnoredRoot(t *testing.T) {
	needGit(t)
	home := plant(t, nil)
	dir := plant(t, map[string]string{".gitignore": "*\n", "a": "", "b": "", "cache/c": ""})
	git(t, home, dir, "init", "-q")
	tree := open(t, dir, Options{})
	for _, step := range []struct{ do, want string }{
		{"true", "a b cache/c"},
		{"git add -f a", "a"},
		{"git rm -q --cached a", "a b cache/c"},
		{"git add -f .gitignore", "a b cache/c"},
	} {
		script(t, home, dir, step.do)
		if got := strings.Join(paths(refreshed(t, tree)), " "); got != step.want {
			t.Errorf("after %s: got %q, want %q", step.do, got, step.want)
		}
	}
}

// A search of a directory that is ignored may not use the list of a directory above it.
func TestAloneInIgnored(t *testing.T) {
	needGit(t)
	home := plant(t, nil)
	dir := plant(t, map[string]string{".gitignore": "build/\n", "build/a/t": "", "build/u": "", "venv/.gitignore": "*\n", "venv/x": "", "s/y": ""})
	git(t, home, dir, "init", "-q")
	script(t, home, dir, "git add -f build/a/t")
	tree := open(t, dir, Options{})
	l := refreshed(t, tree)
	for path, want := range map[string]bool{"build/": true, "build/a/": true, "venv/": true, "s/": false} {
		part, ok := l.Below(path)
		if !ok || tree.HasOtherRules(part.Dirs[0]) != want {
			t.Errorf("%s: listed %v, other rules %v", path, ok, ok && tree.HasOtherRules(part.Dirs[0]))
		}
	}
}

// A denied index tells nothing.
func TestDeniedIndex(t *testing.T) {
	needGit(t)
	home := plant(t, nil)
	dir := plant(t, map[string]string{".gitignore": "*.log\n", "a.log": "", "b": ""})
	git(t, home, dir, "init", "-q")
	script(t, home, dir, "git add -f a.log")
	deny := false
	tree := open(t, dir, Options{Denied: func(path string, _, _ uint64) bool { return deny && filepath.Base(path) == "index" }})
	for _, deny = range []bool{false, true, false} {
		tree.Reread()
		if got, want := strings.Join(paths(refreshed(t, tree)), " "), map[bool]string{false: "a.log b", true: "b"}[deny]; got != want {
			t.Errorf("denied %v: got %q, want %q", deny, got, want)
		}
	}
}

// Without a name that a rule ignores, the index is not read.
func TestIndexIsReadWhenNeeded(t *testing.T) {
	needGit(t)
	home := plant(t, nil)
	dir := plant(t, map[string]string{".gitignore": "*.log\n", "b": ""})
	git(t, home, dir, "init", "-q")
	script(t, home, dir, "git add .")
	tree := open(t, dir, Options{})
	refreshed(t, tree)
	if index := tree.root.sources.index; index == nil || index.loaded {
		t.Errorf("the index is %+v", index)
	}
	write(t, filepath.Join(dir, "a.log"), "", false)
	refreshed(t, tree)
	if index := tree.root.sources.index; !index.loaded {
		t.Error("the index was not read")
	}
}

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed:", err)
	}
}

// script runs shell commands in dir, with git's configuration in home and nothing else.
func script(t *testing.T, home, dir, commands string) {
	t.Helper()
	cmd := gitCommand(home, dir)
	cmd.Path, cmd.Args, cmd.Err = "/bin/sh", []string{"sh", "-ec", commands}, nil
	cmd.Env = append(cmd.Env, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost",
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", 1), "GIT_CONFIG_KEY_0=advice.addEmbeddedRepo", "GIT_CONFIG_VALUE_0=false")
	cmd.Stderr = nil
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", commands, err, out, err.(*exec.ExitError).Stderr)
	}
}
