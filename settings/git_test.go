package settings

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// git runs git in the workspace, without the person's configuration.
func (p place) git(args ...string) {
	p.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		p.t.Skip("git is not installed")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = p.Workspace
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b", "GIT_ALLOW_PROTOCOL=file")
	if out, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

const loosens = `{"permissions": {"allow": ["Shell(x)"]}}`

// repository makes a repository with a few files in it, and the person's own local settings, which are not.
func repository(t testing.TB, init ...string) place {
	t.Helper()
	p := newPlace(t)
	p.git(append([]string{"init", "-q"}, init...)...)
	for _, name := range []string{".toolhosted", ".toolhost/settings.local.json.sample", ".toolhost/a", "z", "ü"} {
		p.write(filepath.Join(p.Workspace, name), name)
	}
	p.git("add", ".")
	p.write(p.Local, loosens)
	return p
}

// check compares whether the local file counts as the project's.
func (p place) check(want bool, why string) {
	p.t.Helper()
	s := p.load()
	l := s.Layers[2]
	if l.Supplied != want || !strings.Contains(l.Why, why) || l.Trusted == want {
		p.t.Errorf("supplied %v, trusted %v, because %q; want %v, %q", l.Supplied, l.Trusted, l.Why, want, why)
	}
	if counts := len(texts(s, agenttool.Allow)) == 1; counts == want {
		p.t.Errorf("its rule counts: %v", counts)
	}
}

func TestTrackedLocalFile(t *testing.T) {
	local := ".toolhost/settings.local.json"
	for _, c := range []struct {
		name  string
		init  []string
		steps func(p place)
		want  bool
		why   string
	}{
		{"not added", nil, func(place) {}, false, ""},
		{"added", nil, func(p place) { p.git("add", "-f", local) }, true, "git tracks it"},
		{"added and taken out", nil, func(p place) { p.git("add", "-f", local); p.git("rm", "-q", "--cached", local) }, false, ""},
		{"intent to add, version 3", nil, func(p place) { p.git("add", "-N", local) }, true, "git tracks it"},
		{"another one intended", nil, func(p place) { p.write(p.Workspace+"/new", ""); p.git("add", "-N", "new") }, false, ""},
		{"version 4", nil, func(p place) { p.git("update-index", "--index-version", "4") }, true, "its index has version 4"},
		{"SHA-256", []string{"--object-format=sha256"}, func(place) {}, false, ""},
		{"SHA-256, added", []string{"--object-format=sha256"}, func(p place) { p.git("add", "-f", local) }, true, "git tracks it"},
		{"split index", nil, func(p place) { p.git("update-index", "--split-index") }, true, "git may track it: its index"},
		{"no index", nil, func(p place) { p.must(os.Remove(p.Workspace + "/.git/index")) }, false, ""},
		{"garbage", nil, func(p place) { p.write(p.Workspace+"/.git/index", strings.Repeat("x", 100)) }, true, "malformed"},
		{"cut off", nil, func(p place) { p.must(os.Truncate(p.Workspace+"/.git/index", 200)) }, true, "malformed"},
		{"empty", nil, func(p place) { p.must(os.Truncate(p.Workspace+"/.git/index", 0)) }, true, "malformed"},
		{"index is a directory", nil, func(p place) { p.must(os.Remove(p.Workspace + "/.git/index")); p.mkdir(p.Workspace + "/.git/index") }, true, "cannot be read"},
		{"git is at work", nil, func(p place) { p.write(p.Workspace+"/.git/index.lock", "") }, true, "git is writing its index"},
		{".git leads nowhere", nil, func(p place) {
			p.must(os.RemoveAll(p.Workspace + "/.git"))
			p.must(os.Symlink("nowhere", p.Workspace+"/.git"))
		}, true, "leads nowhere"},
		{".git of text", nil, func(p place) { p.must(os.RemoveAll(p.Workspace + "/.git")); p.write(p.Workspace+"/.git", "x") }, true, "cannot be followed"},
		{".git to nothing", nil, func(p place) {
			p.must(os.RemoveAll(p.Workspace + "/.git"))
			p.write(p.Workspace+"/.git", "gitdir: gone\n")
		}, true, "leads to no git directory"},
		{"other case", nil, func(p place) {
			p.write(p.Workspace+"/.ToolHost/Settings.Local.json", loosens)
			p.git("add", "-f", ".ToolHost/Settings.Local.json")
		}, true, "git tracks it"},
		{"with an invisible character", nil, func(p place) {
			p.write(p.Workspace+"/.tool\u200bhost/settings.local.json", loosens)
			p.git("add", "-f", ".")
			p.git("rm", "-q", "--cached", local)
		}, true, "git tracks it"},
		{"a link above it", nil, func(p place) {
			p.git("update-index", "--add", "--cacheinfo", "120000,e69de29bb2d1d6434b8b29ae775ad8c2e48c5391,.TOOLHOST")
		}, true, "git tracks it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := repository(t, c.init...)
			c.steps(p)
			p.check(c.want, c.why)
		})
	}
}

func TestLocalFileBelowTheTop(t *testing.T) {
	p := repository(t)
	top := p.Workspace
	p.Workspace = filepath.Join(top, "sub")
	p.Local, p.Project = filepath.Join(p.Workspace, projectDir, "settings.local.json"), filepath.Join(p.Workspace, projectDir, "settings.json")
	p.write(p.Local, loosens)
	p.check(false, "")
	p.git("add", "-f", ".")
	p.check(true, "git tracks it")
}

func TestLocalFileInAWorktree(t *testing.T) {
	p := repository(t)
	p.git("commit", "-qm", "x")
	p.git("worktree", "add", "-q", "../tree")
	p.Workspace = filepath.Join(filepath.Dir(p.Workspace), "tree")
	p.Local, p.Project = filepath.Join(p.Workspace, projectDir, "settings.local.json"), filepath.Join(p.Workspace, projectDir, "settings.json")
	p.write(p.Local, loosens)
	p.check(false, "")
	p.git("add", "-f", ".")
	p.check(true, "git tracks it")
}

// TestSubmoduleBringsLocalFile has .toolhost be a repository of its own.
func TestSubmoduleBringsLocalFile(t *testing.T) {
	other := repository(t)
	other.write(other.Workspace+"/settings.local.json", loosens)
	other.git("add", "-f", ".")
	other.git("commit", "-qm", "x")
	p := newPlace(t)
	p.git("init", "-q")
	p.git("submodule", "--quiet", "add", other.Workspace, ".toolhost")
	p.check(true, "git tracks it")
}

// TestLongNamesInTheIndex has names longer than the index gives their length.
func TestLongNamesInTheIndex(t *testing.T) {
	name := strings.Repeat("a", 5000)
	index := fakeIndex(20, "a/b", name, ".toolhost/settings.local.json")
	for _, c := range []struct {
		path string
		want bool
	}{{".toolhost/settings.local.json", true}, {name, true}, {name[1:], false}, {"a/b/c", true}, {"a/bc", false}} {
		if got, err := inIndex(index, 20, c.path); got != c.want || err != nil {
			t.Errorf("%.40s: %v, %v", c.path, got, err)
		}
	}
	if _, err := inIndex(index, 32, "x"); err == nil {
		t.Error("ids of the wrong size were not noticed")
	}
}

// fakeIndex writes an index of version 2.
func fakeIndex(idSize int, names ...string) []byte {
	index := append([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00"), byte(len(names)))
	for _, name := range names {
		entry := make([]byte, entryStat+idSize+2)
		length := min(len(name), nameBits)
		entry[len(entry)-2], entry[len(entry)-1] = byte(length>>8), byte(length)
		entry = append(entry, name...)
		index = append(index, append(entry, make([]byte, 8-len(entry)%8)...)...)
	}
	return append(index, make([]byte, idSize)...)
}

// TestGitAtWork keeps the person's own file theirs while git is at work on something else, and not when git brings a
// new one.
func TestGitAtWork(t *testing.T) {
	p := repository(t)
	w, err := Open(p.Options)
	p.must(err)
	lock := p.Workspace + "/.git/index.lock"
	p.write(lock, "")
	if s := w.Reload(); len(texts(s, agenttool.Allow)) != 1 {
		t.Errorf("git commit made the person's rules vanish: %+v", s.Layers[2])
	}
	p.write(p.Local, `{"permissions": {"allow": ["Shell"]}}`)
	if s := w.Reload(); len(texts(s, agenttool.Allow)) != 0 {
		t.Errorf("a file that git may be writing was believed: %+v", s.Layers[2])
	}
	p.must(os.Remove(lock))
	if s := w.Reload(); len(texts(s, agenttool.Allow)) != 1 {
		t.Errorf("git is done, and the rules are not back: %+v", s.Layers[2])
	}
}

func TestExtensions(t *testing.T) {
	for _, c := range []struct {
		name, extensions, want string
	}{
		{"none", "", ""},
		{"optional", "TREE\x00\x00\x00\x02ab", ""},
		{"needed", "TREE\x00\x00\x00\x00link\x00\x00\x00\x00", `the extension "link"`},
		{"too long", "TREE\x00\x00\x00\x03ab", "malformed"},
		{"too short", "TREE", "malformed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			index := fakeIndex(20, "a")
			index = append(index[:len(index)-20], c.extensions+strings.Repeat("h", 20)...)
			_, err := inIndex(index, 20, "b")
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func FuzzIndex(f *testing.F) {
	f.Add(fakeIndex(20, "a", "b/c"))
	f.Add(fakeIndex(32, ".toolhost"))
	f.Fuzz(func(t *testing.T, index []byte) {
		for _, size := range []int{20, 32} {
			_, _ = inIndex(index, size, ".toolhost/settings.local.json")
		}
	})
}
