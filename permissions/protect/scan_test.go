package protect

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// git runs git in the directory with no configuration but its own.
func git(t testing.TB, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	args = append([]string{"-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=a@b", "-C",
		dir}, args...)
	cmd := exec.Command("git", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// write makes files below root: "a/b" a file, "a/" a directory, "a -> b" a link, "a = text" a file with that text.
func write(t testing.TB, root string, names ...string) {
	t.Helper()
	for _, name := range names {
		name, target, isLink := strings.Cut(name, " -> ")
		name, text, _ := strings.Cut(name, " = ")
		file := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		switch {
		case isLink:
			must(t, os.Symlink(target, file))
		case strings.HasSuffix(name, "/"):
			must(t, os.MkdirAll(file, 0o755))
		default:
			must(t, os.WriteFile(file, []byte(text), 0o644))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tempDir is a temporary directory without links in its path.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	return dir
}

// fastDir is a temporary directory in memory where there is one, for trees of many files.
func fastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "protect-")
	if err != nil {
		return tempDir(t)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// scanned scans with limits that no small tree meets.
func scanned(t testing.TB, o Options) *Map {
	t.Helper()
	if o.GitConfigs == nil {
		o.GitConfigs = []string{}
	}
	if o.MaxTime == 0 {
		o.MaxTime = time.Minute
	}
	m, err := Scan(t.Context(), o)
	must(t, err)
	checkMap(t, m)
	return m
}

// checkMap holds what is true of every Map.
func checkMap(t testing.TB, m *Map) {
	t.Helper()
	for _, e := range m.Sealed {
		if e.Rule == "" || e.Kind == Absent {
			t.Errorf("sealed: %+v", e)
		}
		if rule, ok := m.Judge(e.Path); !ok || rule == "" {
			t.Errorf("%s is sealed, and Judge lets it be written", e.Path)
		}
		for dir := filepath.Dir(e.Path); !slices.Contains(m.Roots, dir); dir = filepath.Dir(dir) {
			if !slices.Contains(m.Pins, dir) {
				t.Errorf("%s is sealed, and %s is not pinned", e.Path, dir)
			}
			if _, ok := m.Pinned(dir); !ok {
				t.Errorf("%s is sealed, and %s may be renamed", e.Path, dir)
			}
		}
	}
	for _, e := range m.Secrets {
		if _, ok := m.Secret(e.Path, 0, 0); !ok {
			t.Errorf("%s is masked, and Secret lets it be read", e.Path)
		}
	}
	for _, e := range m.Missing {
		if _, err := os.Lstat(e.Path); err == nil {
			t.Errorf("%s exists, and is listed as missing", e.Path)
		}
		if _, ok := m.Judge(e.Path); !ok {
			t.Errorf("%s must not come into being, and Judge lets it", e.Path)
		}
	}
	if !slices.IsSorted(m.Pins) || !slices.IsSortedFunc(m.Sealed, byPath) || !slices.IsSortedFunc(m.Secrets, byPath) {
		t.Error("the map is not sorted")
	}
	if len(m.Pins)+len(m.Sealed)+len(m.Secrets) > maxMounts+len(m.Git) {
		t.Errorf("%d pins, %d sealed and %d masked are too many mounts", len(m.Pins), len(m.Sealed), len(m.Secrets))
	}
}

// spell lists entries as "rule path", relative to the root.
func spell(root string, entries []Entry) []string {
	var out []string
	for _, e := range entries {
		out = append(out, string(e.Rule)+" "+strings.TrimPrefix(e.Path, root+"/"))
	}
	slices.Sort(out)
	return out
}

func same(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n  %s\nwant:\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

func TestScanNames(t *testing.T) {
	root := tempDir(t)
	write(t, root, ".vscode/tasks.json", ".VSCODE2/x", "a/.Envrc", "a/b/.husky/pre-commit", ".github/workflows/x.yml",
		".config/git/config",
		".config/other/x", "a/.cargo/config.toml", "a/.cargo/x", "node_modules/p/.vscode/x", "node_modules/p/.git/config",
		"a/mcp.json", ".gitattributes")
	m := scanned(t, Options{Roots: []string{root}})
	same(t, "sealed", spell(root, m.Sealed), "editor-config .vscode", "shell-startup a/.Envrc", "vcs-hooks a/b/.husky",
		"vcs-config .config/git", "tool-config a/.cargo/config.toml", "vcs-config node_modules/p/.git/config")
	same(t, "missing", spell(root, m.Missing), "vcs-hooks node_modules/p/.git/hooks",
		"vcs-config node_modules/p/.git/commondir",
		"vcs-config node_modules/p/.git/config.worktree")
	if len(m.Partial) != 0 || !slices.Equal(m.Watch, []string{root, root + "/node_modules/p"}) {
		t.Errorf("partial %v, watch %v", m.Partial, m.Watch)
	}
	for _, c := range []struct {
		path string
		want bool
	}{
		{".bashrc", true}, {"a/.bashrc", true}, {"a/.BASHRC/", true}, {"a/b/../.envrc", true},
		{".config/fish/config.fish", true},
		{".config/x", false}, {".config", false}, {".vscode/new", true}, {"node_modules/p/.vscode/x", false},
		{".github/x", false},
		{"node_modules/p/.git/hooks/x", true}, {"node_modules/p/.git/index", false}, {"node_modules/p/.git/HOOKS/x", true},
		{"new/.vscode/tasks.json", false}, {"new/.git/hooks/x", false}, {"x/y", false}, {"a/.cargo/config", true},
		{"a/.cargo/registry", false}, {"../.bashrc", false}, {"", false},
	} {
		if _, got := m.Judge(root + "/" + c.path); got != c.want {
			t.Errorf("Judge(%s) = %v", c.path, got)
		}
	}
}

// TestScanRepositories: git directories of all sorts, made by git itself.
func TestScanRepositories(t *testing.T) {
	root, outside := tempDir(t), tempDir(t)
	git(t, root, "init", "-q", "main")
	main := root + "/main"
	git(t, main, "commit", "-q", "--allow-empty", "-m", "x")
	git(t, main, "worktree", "add", "-q", "../tree")
	git(t, root, "init", "-q", "--bare", "bare")
	write(t, root, "store/")
	git(t, root, "init", "-q", "--separate-git-dir", root+"/store/of.it", "separate")
	git(t, root, "init", "-q", "--separate-git-dir", outside+"/out", "pointing")
	git(t, main, "submodule", "add", "-q", root+"/main", "deep/sub")
	git(t, main, "config", "extensions.worktreeConfig", "true")
	git(t, root+"/tree", "config", "--worktree", "a.b", "c")

	m := scanned(t, Options{Roots: []string{root}})
	var dirs []string
	for _, g := range m.Git {
		dirs = append(dirs, strings.TrimPrefix(g.Path, root+"/")+" of "+strings.TrimPrefix(g.Top, root+"/"))
	}
	same(t, "git directories", dirs, "main/.git of main", "main/.git/worktrees/tree of tree", "bare of ",
		"store/of.it of separate",
		outside+"/out of pointing", "main/.git/modules/deep/sub of main/deep/sub")
	same(t, "sealed", spell(root, m.Sealed),
		"vcs-hooks main/.git/hooks", "vcs-config main/.git/config", "vcs-config tree/.git", "vcs-config main/deep/sub/.git",
		"vcs-config main/.git/worktrees/tree/commondir", "vcs-config main/.git/worktrees/tree/config.worktree",
		"vcs-hooks bare/hooks", "vcs-config bare/config", "vcs-hooks store/of.it/hooks", "vcs-config store/of.it/config",
		"vcs-config separate/.git", "vcs-config pointing/.git",
		"vcs-hooks main/.git/modules/deep/sub/hooks", "vcs-config main/.git/modules/deep/sub/config")
	for _, pinned := range []string{"main/.git", "main/.git/worktrees/tree", "main/.git/modules/deep", "main/deep",
		"bare", "store"} {
		if !slices.Contains(m.Pins, root+"/"+pinned) {
			t.Errorf("%s is not pinned", pinned)
		}
	}
	for _, c := range []struct {
		path string
		want bool
	}{
		{"main/.git/hooks/pre-commit", true}, {"main/.git/config", true}, {"main/.git/config.lock", false},
		{"main/.git/commondir", true},
		{"main/.git/index.lock", false}, {"main/.git/objects/ab/cd", false}, {"main/.git/worktrees/tree/commondir", true},
		{"main/.git/worktrees/new/commondir", false}, {"main/.git/worktrees/tree/HEAD", false}, {"bare/hooks/update", true},
		{"main/.git/modules/deep/sub/hooks/x", true}, {"store/of.it/config.worktree", true}, {"tree/.git", true},
		{"new/.git", false},
	} {
		if _, got := m.Judge(root + "/" + c.path); got != c.want {
			t.Errorf("Judge(%s) = %v", c.path, got)
		}
	}

	git(t, root, "init", "-q", "made/later")
	newer := scanned(t, Options{Roots: []string{root}})
	repositories, entries := newer.Since(m)
	if len(repositories) != 1 || repositories[0].Path != root+"/made/later/.git" {
		t.Errorf("repositories made since: %v", repositories)
	}
	same(t, "entries made since", spell(root, entries), "vcs-hooks made/later/.git/hooks",
		"vcs-config made/later/.git/config")
}

// TestHooksPath: what configuration names is configuration and hooks as well, wherever it says so.
func TestHooksPath(t *testing.T) {
	root, home := tempDir(t), tempDir(t)
	write(t, home, ".gitconfig = [core]\nhooksPath = .myhooks\n[include]\npath = "+root+"/shared.cfg\n")
	write(t, root, "shared.cfg = [include]\npath = more/missing.cfg\n", "more/", ".myhooks/", "sub/.myhooks/",
		"real/hooks/x", "link -> real",
		"inc.cfg = [CORE]\nHooksPath = ../link/hooks\n")
	git(t, root, "init", "-q", "sub")
	git(t, root, "init", "-q", ".")
	git(t, root, "config", "include.path", "../inc.cfg")
	git(t, root+"/sub", "config", "core.hooksPath", root)
	m := scanned(t, Options{Roots: []string{root}, GitConfigs: []string{home + "/.gitconfig"}})
	same(t, "sealed", spell(root, m.Sealed), "vcs-hooks .git/hooks", "vcs-config .git/config", "vcs-hooks sub/.git/hooks",
		"vcs-config sub/.git/config", "vcs-hooks .myhooks", "vcs-hooks sub/.myhooks", "vcs-config shared.cfg",
		"vcs-config inc.cfg",
		"vcs-hooks link", "vcs-hooks real/hooks")
	for name, want := range map[string]bool{"pre-commit": true, "post-checkout": true, "pre-commit.txt": false, "main.go": false} {
		if _, got := m.Judge(root + "/" + name); got != want { // the top is a directory of hooks, and of all else
			t.Errorf("%s at the top: held %v", name, got)
		}
	}
	if rule, ok := m.Judge(root + "/more/missing.cfg"); !ok || rule != VCSConfig {
		t.Errorf("an included file that does not exist yet: %s, %v", rule, ok)
	}
	if len(m.Partial) != 0 {
		t.Errorf("partial: %v", m.Partial)
	}
}

// TestLinks: links are sealed under both names, lead nowhere outside, and never end the scan.
func TestLinks(t *testing.T) {
	root, outside := tempDir(t), tempDir(t)
	write(t, outside, "dir/x", "file")
	write(t, root, "a/.git/config", "a/.git/hooks -> ../../shared", "shared/x", ".vscode -> "+outside+"/dir",
		".idea -> ./.idea", "b/.git -> ../store",
		"store/HEAD", "store/config", ".husky -> .", "c/.git = gitdir: ../linked/x", "linked -> store",
		".envrc -> gone/file", "up -> ..")
	m := scanned(t, Options{Roots: []string{root}})
	same(t, "sealed", spell(root, m.Sealed), "vcs-config a/.git/config", "vcs-hooks a/.git/hooks", "vcs-hooks shared",
		"editor-config .vscode",
		"editor-config .idea", "vcs-config b/.git", "vcs-config linked", "vcs-config store/config",
		"vcs-hooks .husky", "vcs-config c/.git", "shell-startup .envrc")
	if _, ok := m.Judge(root + "/gone/file"); !ok {
		t.Error("the missing target of a sealed link may come into being")
	}
	if len(m.Partial) != 1 || !strings.Contains(m.Partial[0].Reason, "all the work") {
		t.Errorf("a link to the root: %v", m.Partial)
	}
}

func TestNestedRoots(t *testing.T) {
	root := tempDir(t)
	write(t, root, "a/b/.vscode/x", "c/.vscode/x")
	m := scanned(t, Options{Roots: []string{root + "/a/b", root + "/a", root + "/c/", root + "/a"}})
	if want := []string{root + "/a", root + "/c"}; !slices.Equal(m.Roots, want) {
		t.Errorf("roots %v, want %v", m.Roots, want)
	}
	same(t, "sealed", spell(root, m.Sealed), "editor-config a/b/.vscode", "editor-config c/.vscode")
	if !slices.Equal(m.Pins, []string{root + "/a/b"}) {
		t.Errorf("pins %v", m.Pins)
	}
}

// TestRootInsideSealed: who makes the editor's own directory a root wants to work in it.
func TestRootInsideSealed(t *testing.T) {
	root := tempDir(t)
	write(t, root, ".config/nvim/init.lua", ".config/nvim/.envrc", ".config/fish/x")
	m := scanned(t, Options{Roots: []string{root, root + "/.config/nvim"}})
	same(t, "sealed", spell(root, m.Sealed), "shell-startup .config/fish", "shell-startup .config/nvim/.envrc")
	if _, ok := m.Judge(root + "/.config/nvim/init.lua"); ok {
		t.Error("the root cannot be written")
	}
}

// TestBadInput: what cannot be a root or a pattern is an error that names it.
func TestBadInput(t *testing.T) {
	root := tempDir(t)
	write(t, root, "file", "dir/", "link -> dir")
	for _, c := range []struct {
		name, want string
		options    Options
	}{
		{"missing", "/nope", Options{Roots: []string{root, root + "x/nope"}}},
		{"relative", "absolute", Options{Roots: []string{"a"}}},
		{"a file", "file", Options{Roots: []string{root + "/file"}}},
		{"a link", "link", Options{Roots: []string{root + "/link"}}},
		{"a pattern", "[a", Options{Roots: []string{root}, ReadDeny: []string{"[a"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if m, err := Scan(t.Context(), c.options); err == nil || m != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, %v; want an error with %q", m, err, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Scan(ctx, Options{Roots: []string{root}}); err == nil {
		t.Error("a scan whose caller is gone gives a map")
	}
}

func TestGranted(t *testing.T) {
	root := tempDir(t)
	write(t, root, ".git/config", ".git/hooks/x", ".vscode/x", ".env")
	m := scanned(t, Options{Roots: []string{root}, ReadDeny: usualDeny()})
	g := m.Granted([]string{root + "/.git/config"}, []string{root + "/.env"})
	same(t, "sealed", spell(root, g.Sealed), "vcs-hooks .git/hooks", "editor-config .vscode")
	if _, ok := g.Judge(root + "/.git/config"); ok || len(g.Secrets) != 0 {
		t.Error("what was granted is not")
	}
	if _, ok := g.Secret(root+"/.env", 0, 0); ok {
		t.Error("a granted secret is refused")
	}
	if _, ok := g.Judge(root + "/.git/hooks/x"); !ok {
		t.Error("more was granted than asked")
	}
	if _, ok := m.Judge(root + "/.git/config"); !ok || len(m.Sealed) != 3 {
		t.Error("the grant changed the map that it was made from")
	}
	if g := m.Granted([]string{root + "/.git"}, nil); len(g.Sealed) != 1 || len(g.Missing) != 0 || len(g.Pins) != 0 {
		t.Errorf("all of .git granted: %v, %v, %v", g.Sealed, g.Missing, g.Pins)
	}
}
