package shell

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"toolhost/agenttool"
	"toolhost/tools/keep"
)

// TestLossesThatAreCopied says which commands toolhost makes up for: those that destroy nothing but files of the workspace.
func TestLossesThatAreCopied(t *testing.T) {
	store := &keep.Store{Dir: t.TempDir(), Refuses: func(path string) bool { return filepath.Base(path) == ".env" }}
	b := newBench(t, Options{Session: Session{Keep: store}})
	outside := t.TempDir()
	git(t, b.dir, "init", "-q")
	for _, name := range []string{"kept.go", "sub/x", "other/y", "sub/z.pyc", ".vscode/settings.json", "env/.env", "tracked"} {
		write(t, filepath.Join(b.dir, name), name)
	}
	git(t, b.dir, "add", "tracked")
	if err := os.Symlink(outside, filepath.Join(b.dir, "out")); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]bool{
		"rm kept.go":                            true,
		"rm ~/kept.go":                          true, // the workspace of the test is the home
		"rm ~/kept.go; rm ~/../x":               false,
		"rm ~/kept.go; sh -c 'rm ~/other/y $x'": false,
		"rm -rf '~/kept.go'; rm ~/kept.go":      true,
		"rm -rf sub":                            true,
		"rm missing":                            true,
		"cd sub && rm x":                        true,
		"truncate -s 0 kept.go && rm kept.go":   true,
		"rm kept.go && go test ./...":           true,
		"rm -rf sub && make -C other clean":     true,
		"find . -name '*.pyc' -delete":          true,
		"go clean ./...":                        true,
		"rm -rf env":                            true,
		"rm -rf .vscode":                        true,
		"rm -rf .git":                           true,
		"rm -rf .":                              true,
		"rm out":                                false, // a link
		"rm " + outside + "/x":                  false,
		"rm *.go":                               true,
		"mv kept.go sub/ && rm -rf sub":         true,
		"git mv tracked sub/ && rm -rf sub":     true,
		"git -C . mv tracked sub; rm -rf sub":   true,
		"rsync -a --remove-source-files kept.go sub/; rm -rf sub": true,
		"tar --remove-files -cf sub/x.tar kept.go; rm -rf sub":    true,
		"zip -m sub/x.zip kept.go; rm -rf sub":                    true,
		"tar --rem -cf sub/x.tar kept.go; rm -rf sub":             true,
		"zip -rm sub/x.zip kept.go; rm -rf sub":                   true,
		"zip -r sub/x.zip kept.go; rm -rf sub":                    true,
		"gzip kept.go && rm kept.go.gz":                           true,
		"zstd --rm kept.go && rm kept.go.zst":                     true,
		"git worktree move w sub/w && rm -rf sub":                 true,
		"git stash pop && rm -rf sub":                             true,
		"cp -a out sub/l && rm -rf sub/l/x":                       true,
		"rm -rf sub/l/x && cat kept.go":                           true, // there is nothing, and nothing comes
		"mkdir -p sub/d && touch sub/d/x && rm sub/d/x":           true,
		"git add kept.go && rm -rf sub":                           true,
		"ln -s ../other sub/l && rm -rf sub/l/":                   true,
		"echo 'rm -rf other' | sh; rm kept.go":                    true,
		"rm kept.go; eval \"$x\"":                                 false,
		"rm \"$x\"":                                               true,
		"find . -delete":                                          true,
		"find . -name '*.pyc' -exec rm {} +":                      true,
		"find . -name 'H*' -delete":                               true,
		"find / -name '*.pyc' -delete":                            true,
		"go clean -cache":                                         false,
		"go clean ../x":                                           false,
		"cd sub && go clean ./../other/...":                       false,
		"find sub -name '?' -delete":                              true,
		"mkdir -p other/new && rm -rf other/new":                  true,
		"git push --force":                                        false,
		"git clean -fdx":                                          true,
		"git reset -q --hard":                                     true,
		"git -C sub reset --hard":                                 false,
		"GIT_DIR=x git reset --hard":                              false,
		"env GIT_WORK_TREE=/ git reset --hard":                    false,
		"git gc":                                                  false,
		"shred kept.go":                                           true,
		"dd if=/dev/zero of=kept.go count=1":                      true,
	} {
		if got := copies(t, b, command); got != want {
			t.Errorf("%s: copied %v, want %v", command, got, want)
		}
	}
	if left, _ := os.ReadDir(store.Dir); len(left) > 0 {
		t.Errorf("a decision copied %d files", len(left))
	}
	if err := os.Remove(filepath.Join(b.dir, "env/.env")); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"git reset --hard", "git checkout -- tracked", "git clean -fdx", "git restore . && git status", "git branch -D x", "git stash drop", "cd sub && git reset --hard"} {
		if !copies(t, b, command) {
			t.Errorf("%s: nothing is copied", command)
		}
	}
	for _, setting := range []string{"[gc]\n\tpruneExpire = now\n", "[gc \"refs/stash\"]\n\treflogExpire = now\n"} {
		write(t, filepath.Join(b.dir, ".gitconfig"), setting)
		for command, want := range map[string]bool{"git branch -D x && git gc": false, "git stash drop": false, "rm kept.go": true} {
			if got := copies(t, b, command); got != want {
				t.Errorf("%s: git forgets objects at once, and %s: copied %v, want %v", setting, command, got, want)
			}
		}
	}
	if err := os.Remove(filepath.Join(b.dir, ".gitconfig")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(b.dir, ".git/config"), "[gc]\n\tauto = 0\n")
	if !copies(t, b, "git reset --hard") {
		t.Error("gc.auto lets git forget nothing sooner")
	}
	write(t, filepath.Join(b.dir, ".git/config"), "[core]\n\tworktree = /\n")
	if !copies(t, b, "git reset --hard") {
		t.Error("files outside are read-only, and all others are kept")
	}
}

// TestLossesInMade: files that a command removes from a directory that the session made are copied, and so are the directory and its repositories.
func TestLossesInMade(t *testing.T) {
	outside := t.TempDir()
	made := filepath.Join(outside, "made")
	b := newBench(t, Options{Session: Session{Keep: &keep.Store{Dir: t.TempDir()}, Made: func() []string { return []string{made} }}})
	for _, name := range []string{"made/x", "made/.git/HEAD", "made/sub/.git/HEAD", "made/plain/x", "made2/x", "x"} {
		write(t, filepath.Join(outside, name), name)
	}
	if err := os.Symlink(outside, filepath.Join(made, "out")); err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]bool{
		"made": true, "made/": true, "made/x": true, "made/plain": true, "made/missing": true,
		"made/sub": true, "made/.git": true,
		"made/out": false, "made/out/x": false, "made/../x": false, "made2": false, "x": false, "": false,
	} {
		if got := copies(t, b, "rm -rf "+outside+"/"+names); got != want {
			t.Errorf("%s: copied %v, want %v", names, got, want)
		}
	}
}

// TestLossesOfMovesToScratch: a file that moves to the session's own /tmp ends with the session. It is kept before.
func TestLossesOfMovesToScratch(t *testing.T) {
	b := newBench(t, Options{Session: Session{Keep: &keep.Store{Dir: t.TempDir(), Refuses: func(path string) bool { return filepath.Base(path) == ".env" }}}})
	if err := b.w.Show("/tmp", t.TempDir(), nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kept.go", "sub/x", ".env"} {
		write(t, filepath.Join(b.dir, name), name)
	}
	for command, want := range map[string]struct{ destroys, copied bool }{
		"mv kept.go /tmp/x":              {true, true},
		"mv kept.go sub /tmp":            {true, true},
		"mv -t /tmp kept.go":             {true, true},
		"mv kept.go /tmp/x && rm /tmp/x": {true, true},
		"mv kept.go /tmp/x && ls":        {true, true},
		"mv .env /tmp/x":                 {true, false}, // a secret
		"mv /tmp/x kept.go":              {false, false},
		"mv -f /tmp/x kept.go":           {false, false},
		"mv -ft /tmp kept.go":            {true, true},
		"mv /tmp/x /tmp/y":               {false, false},
		"mv kept.go sub/":                {false, false},
		"cp kept.go /tmp/x":              {false, false},
	} {
		f := located(t, b, command).Facts()
		if got := f.Destructive == agenttool.Yes && destroys(f.Parts[0]); got != want.destroys || f.Parts[0].Copied != want.copied {
			t.Errorf("%s: destroys %v, copied %v; want %+v", command, got, f.Parts[0].Copied, want)
		}
	}
}

// TestLooseScratch: removing in the session's own /tmp may lose files of the user that the line brings there.
func TestLooseScratch(t *testing.T) {
	b := newBench(t, Options{})
	if err := b.w.Show("/tmp", t.TempDir(), nil); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]bool{
		"tar --remove-files -cf /tmp/x kept.go; rm /tmp/x":              true,
		"rsync -a --remove-source-files kept.go /tmp/s/; rm -r /tmp/s":  true,
		"git worktree move w /tmp/w && rm -rf /tmp/w":                   true,
		"cp -a l /tmp/l && rm -rf /tmp/l/x":                             true,
		"tar -cf /tmp/x kept.go; rm /tmp/x":                             false,
		"mv /tmp/x /tmp/y; rm /tmp/y":                                   false,
		"mkdir -p /tmp/d && touch /tmp/d/x && rm /tmp/d/x && rm /tmp/x": false,
	} {
		f := located(t, b, command).Facts()
		last := len(f.Parts)
		for _, w := range f.Writes {
			if w.By == last && w.Loose != want {
				t.Errorf("%s: %+v, want loose: %v", command, w, want)
			}
		}
	}
}

// TestLossesOfWorktrees: a linked work tree of the repository is copied before git removes it, wherever it is, and no other directory.
func TestLossesOfWorktrees(t *testing.T) {
	options := Options{Session: Session{Keep: &keep.Store{Dir: t.TempDir(), Refuses: func(path string) bool { return filepath.Base(path) == ".env" }}}}
	b := newBench(t, options)
	outside := t.TempDir()
	for _, dir := range []string{b.dir, filepath.Join(outside, "other")} {
		write(t, filepath.Join(dir, "tracked"), "tracked")
		git(t, dir, "init", "-q")
		git(t, dir, "add", ".")
		git(t, dir, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "one")
		git(t, dir, "worktree", "add", "-q", filepath.Join(outside, "of-"+filepath.Base(dir)))
	}
	mine, theirs := filepath.Join(outside, "of-"+filepath.Base(b.dir)), filepath.Join(outside, "of-other")
	write(t, filepath.Join(mine, "ignored"), "ignored")
	write(t, filepath.Join(outside, "claims/.git"), "gitdir: "+filepath.Join(b.dir, ".git/worktrees", filepath.Base(mine)))
	if err := os.Symlink(mine, filepath.Join(outside, "link")); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]bool{
		"git worktree remove " + mine:                         true,
		"git worktree remove --force " + mine:                 true,
		"git worktree remove " + mine + " && git branch -D x": true,
		"git worktree remove " + theirs:                       false,
		"git worktree remove " + outside + "/claims":          false,
		"git worktree remove " + outside + "/link":            false,
		"git worktree remove " + mine + " " + theirs:          false,
	} {
		if got := copies(t, b, command); got != want {
			t.Errorf("%s: copied %v, want %v", command, got, want)
		}
	}
	for command, want := range map[string]bool{"git worktree prune": true, "git worktree prune -v": true, "git worktree prune --expire=now": false,
		"git remote prune origin": true, "git remote remove origin": false, "git worktree repair": false} {
		if got := copies(t, b, command); got != want {
			t.Errorf("%s: copied %v, want %v", command, got, want)
		}
	}
	write(t, filepath.Join(b.dir, "sub/x"), "x")
	for _, dir := range []string{mine, filepath.Join(b.dir, "sub")} { // their repository is not in the workspace
		for _, command := range []string{"git reset -q --hard", "git stash drop"} {
			if !copies(t, newBenchIn(t, dir, options), command) {
				t.Errorf("%s in %s: nothing is copied", command, dir)
			}
		}
	}
}

// copies reports whether all that a command destroys would be kept.
func copies(t *testing.T, b *bench, command string) bool {
	t.Helper()
	c := located(t, b, command)
	f := c.Facts()
	some := false
	for _, part := range f.Parts {
		if part.Destructive == agenttool.Yes && !part.Copied {
			return false
		}
		some = some || part.Copied
	}
	return some
}

// located binds a command and completes its facts, as the host does.
func located(t *testing.T, b *bench, command string) agenttool.Call {
	t.Helper()
	c := b.bind(t, map[string]any{"command": command})
	f := c.Facts()
	for _, paths := range [][]agenttool.Path{f.Reads, f.Writes} {
		for i := range paths {
			if err := b.w.Locate(&paths[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
	c.(agenttool.Refiner).Refine(t.Context())
	return c
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLossesAboveTheWorkspace: where the workspace is a part of a work tree, git's files above it are the repository's own.
func TestLossesAboveTheWorkspace(t *testing.T) {
	top := t.TempDir()
	git(t, top, "init", "-q")
	write(t, filepath.Join(top, "service/x"), "x")
	git(t, top, "add", ".")
	git(t, top, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "one")
	b := newBenchIn(t, filepath.Join(top, "service"), Options{Session: Session{Keep: &keep.Store{Dir: t.TempDir()}}})
	for command, want := range map[string]bool{
		"git checkout -q -b work && git switch -q - && git branch -D work": true, "git reset -q --hard": true, "rm " + top + "/other": false,
	} {
		if got := copies(t, b, command); got != want {
			t.Errorf("%s: copied %v, want %v", command, got, want)
		}
	}
}
