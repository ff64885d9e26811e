package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/permissions/protect"
)

// layeredBench is a bench whose home has a cache, which commands read below their own.
func layeredBench(t *testing.T, change func(*Options)) *bench {
	t.Helper()
	return newBench(t, func(o *Options) {
		t.Cleanup(func() { openAll(o.Cache) })
		plantIn(t, o.Home, ".npm/_cacache/index/a", ".npm/_cacache/index/b", ".npm/_cacache/tmp/c", ".npm/_cacache/keys/secret")
		o.UserCaches = []UserCache{{Name: "npm/_cacache", Dir: filepath.Join(o.Home, ".npm/_cacache")}, {Name: "pip", Dir: filepath.Join(o.Home, ".cache/pip")}}
		if change != nil {
			change(o)
		}
	})
}

// openAll lets an ordinary user remove the directories that an overlay has made for itself.
func openAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if e != nil && e.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
}

// users are the files of the person's cache with their content.
func (b *bench) users(t *testing.T) string {
	t.Helper()
	all := ""
	err := filepath.Walk(filepath.Join(b.home, ".npm"), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			text, _ := os.ReadFile(path)
			all += path + "=" + string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A command reads the person's cache and writes its workspace's, whatever it does there; the next session of the workspace has that as well.
func TestCachesHaveLayers(t *testing.T) {
	t.Parallel()
	b := layeredBench(t, nil)
	before := b.users(t)
	r := b.run(t, Workspace, `cd /tmp/.cache/npm/_cacache && cat index/a && echo poison > index/a && echo new >> index/b && rm tmp/c && mkdir tmp/d &&
		mv keys other; ln index/a index/hard; chmod 777 .; touch -d 2001-01-01 index/b; cat index/a; ls; ls ../../.work
		for f in "$HOME"/.npm/_cacache/index/*; do echo poison > "$f"; done 2>&1 | grep -c Read-only; find /dev/.places -mindepth 2 | wc -l`)
	if want := canary + " .npm/_cacache/index/a\npoison\nindex\nother\ntmp\n2\n0"; r.out != want || r.err != nil {
		t.Errorf("%q, %v; want %q", r.out, r.err, want)
	}
	r = b.run(t, ReadOnly, `cd /tmp/.cache/npm/_cacache && cat index/a; ls tmp; echo x > index/a; rm index/b; true > /tmp/.cache/x`)
	if !strings.HasPrefix(r.out, "poison\nd\n") || strings.Count(r.out, "Read-only file system") != 3 {
		t.Errorf("a call that only reads: %q, %v", r.out, r.err)
	}
	if got := b.users(t); got != before {
		t.Errorf("the person's cache has changed: %s", got)
	}
	b.Close()
	next, err := Open(b.o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { next.Close() })
	b.Session = next
	if r := b.run(t, Workspace, `cd /tmp/.cache/npm/_cacache; cat index/a; ls tmp; ls /tmp/.cache`); r.out != "poison\nd\nnpm" {
		t.Errorf("the next session: %q, %v", r.out, r.err)
	}
}

// Commands that only read have the directories that go wants of its build cache. Others make them, and a session without go has none.
func TestDirectoriesOfGoCache(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		cache  string
		access Access
		want   string
	}{
		{"reads", "/no-such-name-of-toolhost/go-build", ReadOnly, "256"}, {"writes", "/no-such-name-of-toolhost/go-build", Workspace, "0"}, {"no go", "", ReadOnly, "0"},
	} {
		b := newBench(t, func(o *Options) { o.Go.Cache = c.cache })
		if r := b.run(t, c.access, `find "$GOCACHE" -mindepth 1 -type d -name '[0-9a-f][0-9a-f]' 2>/dev/null | wc -l`); r.out != c.want {
			t.Errorf("%s: %q, %v, want %s", c.name, r.out, r.err, c.want)
		}
	}
}

// A cache is removed as any directory is, by every kind of program, and made again.
func TestLayersAreCleaned(t *testing.T) {
	t.Parallel()
	b := layeredBench(t, nil)
	before := b.users(t)
	r := b.run(t, Workspace, `cd /tmp/.cache/npm; rmdir _cacache 2>&1 | grep -o 'not empty'; rm -r _cacache && echo gone; ls -A _cacache; rmdir _cacache && mkdir -p _cacache && echo x > _cacache/x && cat _cacache/x`)
	if r.out != "not empty\ngone\nx" || r.err != nil {
		t.Errorf("%q, %v", r.out, r.err)
	}
	if got := b.users(t); got != before {
		t.Errorf("the person's cache has changed: %s", got)
	}
}

// Two sessions of a workspace at once: each keeps what it writes, and the second reads the first's.
func TestLayersOfTwoSessions(t *testing.T) {
	t.Parallel()
	first := layeredBench(t, nil)
	first.run(t, Workspace, `echo first > /tmp/.cache/npm/_cacache/index/a`)
	o := first.o
	o.Dir += "-2"
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	second := *first
	second.Session = s
	if r := second.run(t, Workspace, `cd /tmp/.cache/npm/_cacache/index; cat a; cut -c 1-6 b; echo second > a; echo new > new; cat a`); r.out != "first\nCANARY\nsecond" {
		t.Errorf("the second session: %q, %v", r.out, r.err)
	}
	if r := first.run(t, Workspace, `cd /tmp/.cache/npm/_cacache/index; cat a; ls`); r.out != "first\na\nb" {
		t.Errorf("the first session: %q, %v", r.out, r.err)
	}
}

// A link that an earlier session's command left in place of a cache leads nowhere: the person's cache is never the layer that is written.
func TestLayersFollowNoLinks(t *testing.T) {
	t.Parallel()
	b := layeredBench(t, func(o *Options) {
		if err := os.MkdirAll(filepath.Join(o.Cache, "npm"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, target := range map[string]string{"npm/_cacache": filepath.Join(o.Home, ".npm/_cacache"), ".work": filepath.Join(o.Home, ".npm")} {
			if err := os.Symlink(target, filepath.Join(o.Cache, name)); err != nil {
				t.Fatal(err)
			}
		}
	})
	before := b.users(t)
	b.run(t, Workspace, `cd /tmp/.cache/npm/_cacache && echo poison > index/a; rm -r *; echo poison > new`)
	if got := b.users(t); got != before {
		t.Errorf("the person's cache has changed: %s", got)
	}
	if _, err := os.Lstat(filepath.Join(b.home, ".npm", "npm-_cacache")); err == nil {
		t.Error("a directory was made beside the person's cache")
	}
}

// A secret in a cache is masked in both places.
func TestLayersMaskSecrets(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".npm/_cacache/keys/secret", ".npm/_cacache/keys", ".npm"} {
		b := layeredBench(t, func(o *Options) {
			o.Protected = protect.NewCache(protect.Options{Roots: o.Roots, Home: o.Home, ReadDeny: []string{filepath.Join(o.Home, name), filepath.Join(o.Home, name, "**")}}, 0)
		})
		for _, access := range []Access{ReadOnly, Workspace} {
			if r := b.run(t, access, `grep -rs keys/secret /tmp/.cache /dev/.places "$HOME/.npm"`); r.out != "" || r.err != nil {
				t.Errorf("%s, %s: %q, %v", name, access, r.out, r.err)
			}
		}
	}
}

// What the kernel cannot layer is the workspace's own alone.
func TestCachesWithoutLayers(t *testing.T) {
	t.Parallel()
	for _, level := range []Level{LandlockNotify, Landlock} {
		b := layeredBench(t, func(o *Options) { o.Level = level })
		if r := b.run(t, Workspace, `mkdir -p "$npm_config_cache/_cacache" && ls -A "$npm_config_cache/_cacache" && echo x > "$npm_config_cache/_cacache/x" && echo fine`); r.out != "fine" {
			t.Errorf("%s: %q, %v", level, r.out, r.err)
		}
	}
}

// TestToolsOwnDirectory: a directory that a tool reads and writes at a fixed place of the home is the workspace's own there, above the
// person's; and it is one where the person has none. go's notes on the checksum database are such.
func TestToolsOwnDirectory(t *testing.T) {
	t.Parallel()
	for _, persons := range []bool{true, false} {
		b := newBench(t, func(o *Options) {
			t.Cleanup(func() { openAll(o.Cache) })
			plantIn(t, o.Home, "go/pkg/mod/cache/lock")
			if persons {
				plantIn(t, o.Home, "go/pkg/sumdb/db/latest")
			}
			o.UserCaches = []UserCache{{Name: "go-sumdb", Dir: filepath.Join(o.Home, "go/pkg/sumdb"), Linked: true}}
		})
		r := b.run(t, Workspace, `cd ~/go/pkg && cat sumdb/db/latest 2>/dev/null; mkdir -p sumdb/db && echo newer > sumdb/db/latest && ls . && cat sumdb/db/latest`)
		want := "mod\nsumdb\nnewer"
		if persons {
			want = canary + " go/pkg/sumdb/db/latest\n" + want
		}
		if r.out != want || r.err != nil {
			t.Errorf("the person has one: %v: %q, %v; want %q", persons, r.out, r.err, want)
		}
		if r := b.run(t, ReadOnly, `cat ~/go/pkg/sumdb/db/latest; echo x > ~/go/pkg/sumdb/db/latest`); !strings.HasPrefix(r.out, "newer\n") || !strings.Contains(r.out, "Read-only") {
			t.Errorf("a call that only reads: %q, %v", r.out, r.err)
		}
		text, _ := os.ReadFile(filepath.Join(b.home, "go/pkg/sumdb/db/latest"))
		if got := strings.Contains(string(text), canary); got != persons {
			t.Errorf("the person's own is %q", text)
		}
	}
}

// TestLentAboveToolsOwn: a directory of the home that a call was allowed to make is made in the person's home, although a tool's own
// directory has a place below it.
func TestLentAboveToolsOwn(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(o *Options) {
		t.Cleanup(func() { openAll(o.Cache) })
		o.UserCaches = []UserCache{{Name: "go-sumdb", Dir: filepath.Join(o.Home, "go/pkg/sumdb"), Linked: true}}
	})
	program := filepath.Join(b.home, "go/bin/x")
	r := b.runProfile(t, Profile{Access: Workspace, Write: []string{filepath.Dir(program)}, Unseal: []string{filepath.Dir(program)}, Real: []string{filepath.Dir(program)}},
		`mkdir -p ~/go/bin && echo x > ~/go/bin/x && echo made`)
	if _, err := os.Stat(program); r.out != "made" || err != nil {
		t.Errorf("%q, %v, %v", r.out, r.err, err)
	}
}
