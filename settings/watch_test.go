package settings

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolhost/agenttool"
)

// watched is a place that is being watched.
type watched struct {
	place
	w    *Watcher
	told chan *Settings
}

func watch(t *testing.T, p place, noNotify bool) watched {
	t.Helper()
	w, err := Open(p.Options)
	p.must(err)
	if noNotify {
		w.noNotify, w.pollTime = true, 20*time.Millisecond
	}
	ctx, cancel := context.WithCancel(t.Context())
	told, ended := make(chan *Settings, 100), make(chan struct{})
	go func() {
		defer close(ended)
		w.Watch(ctx, func(s *Settings) { told <- s })
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return watched{p, w, told}
}

// until waits for a snapshot that is as wanted, for a second and whatever a busy machine adds.
func (w watched) until(what string, is func(*Settings) bool) {
	w.t.Helper()
	started := time.Now()
	limit := time.After(time.Minute)
	for {
		select {
		case s := <-w.told:
			if is(s) {
				if s != w.w.Current() && !is(w.w.Current()) {
					w.t.Errorf("%s: Current is another one", what)
				}
				w.t.Logf("%s: after %v", what, time.Since(started).Round(time.Millisecond))
				return
			}
		case <-limit:
			w.t.Fatalf("%s: not told; now %+v", what, w.w.Current())
		}
	}
}

func mode(want string) func(*Settings) bool {
	return func(s *Settings) bool { return s.Mode.V == want }
}

func TestWatch(t *testing.T) {
	for name, noNotify := range map[string]bool{"told": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			w := watch(t, p, noNotify)
			p.write(p.User, `{"mode": "plan"}`) // two directories deep, neither of which was there
			w.until("appears", mode("plan"))
			p.write(p.User, `{"mode": "dont_ask"}`)
			w.until("changes", mode("dont_ask"))
			p.write(p.User+"~", `{"mode": "accept_edits"}`)
			p.must(os.Rename(p.User+"~", p.User))
			w.until("is replaced", mode("accept_edits"))
			p.must(os.Rename(p.User, p.User+".old"))
			w.until("is renamed", mode(""))
			p.write(p.Local, loosens)
			w.until(".toolhost appears", func(s *Settings) bool { return len(s.Untrusted) == 1 })
			p.must(os.RemoveAll(filepath.Dir(p.Local)))
			w.until(".toolhost vanishes", func(s *Settings) bool { return len(s.Untrusted) == 0 })
			p.write(p.Project, wanting)
			w.until(".toolhost appears again", func(s *Settings) bool { return len(s.Untrusted) > 0 })
			_, digest, err := Loosening(p.Options)
			p.must(err)
			p.must(Trust(p.Options, digest))
			w.until("is trusted", func(s *Settings) bool { return len(s.Untrusted) == 0 && len(s.Hooks) == 1 })
			_, err = Untrust(p.Options)
			p.must(err)
			w.until("is not trusted any more", func(s *Settings) bool { return len(s.Hooks) == 0 })
		})
	}
}

// TestWatchTellsOfReload has somebody else read the files first.
func TestWatchTellsOfReload(t *testing.T) {
	p := newPlace(t)
	w := watch(t, p, false)
	p.write(p.User, `{"mode": "plan"}`)
	if s := w.w.Reload(); s.Mode.V != "plan" {
		t.Errorf("Reload: %+v", s.Mode)
	}
	w.until("is told nevertheless", mode("plan"))
}

// TestWatchReplacedDirectory exchanges .toolhost as a whole.
func TestWatchReplacedDirectory(t *testing.T) {
	p := newPlace(t)
	p.write(p.Local, `{"mode": "dont_ask"}`)
	w := watch(t, p, false)
	other := filepath.Join(p.Workspace, "other")
	p.write(filepath.Join(other, "settings.local.json"), `{"mode": "plan"}`)
	p.must(os.Rename(filepath.Dir(p.Local), p.Workspace+"/gone"))
	p.must(os.Rename(other, filepath.Dir(p.Local)))
	w.until("is exchanged", mode("plan")) // stricter, and so it stays
	p.write(p.Local, `{"permissions": {"deny": ["Shell(d)"]}}`)
	w.until("changes behind it", func(s *Settings) bool { return len(s.Rules) == 1 })
}

// TestWatchLinkedFile changes the file that the person's own settings lead to.
func TestWatchLinkedFile(t *testing.T) {
	p := newPlace(t)
	target := filepath.Join(p.Home, "dotfiles", "settings.json")
	p.write(target, `{"mode": "plan"}`)
	p.mkdir(filepath.Dir(p.User))
	p.must(os.Symlink(target, p.User))
	w := watch(t, p, false)
	p.write(target, `{"mode": "dont_ask"}`)
	w.until("changes behind the link", mode("dont_ask"))
}

// TestBrokenFileKeepsWhatItSaid holds a reload to the last file that was whole.
func TestBrokenFileKeepsWhatItSaid(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(p place)
		want   string
	}{
		{"cut off", func(p place) { p.must(os.Truncate(p.User, 30)) }, "not JSON"},
		{"emptied", func(p place) { p.must(os.Truncate(p.User, 0)) }, "is empty"},
		{"misspelt", func(p place) { p.write(p.User, `{"mod": "plan"}`) }, "did you mean"},
		{"bad rule", func(p place) { p.write(p.User, `{"permissions": {"deny": ["bad"]}}`) }, "it is bad"},
		{"opened to all", func(p place) { p.must(os.Chmod(p.User, 0o666)) }, "others can write it"},
		{"a directory", func(p place) { p.must(os.Remove(p.User)); p.mkdir(p.User) }, "not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.write(p.User, `{"mode": "dont_ask", "permissions": {"deny": ["Shell(d)"], "ask": ["Shell(a)"], "allow": ["Shell(x)"]}}`)
			p.write(p.Local, loosens)
			p.trust()
			w, err := Open(p.Options)
			p.must(err)
			c.damage(p)
			for range 2 {
				p.write(p.Managed, `{"max_parallel": 3}`)
				s := w.Reload()
				same(t, "deny", texts(s, agenttool.Deny), "Shell(d)")
				same(t, "allow", texts(s, agenttool.Allow), "Shell(x)", "Shell(x)")
				if s.Mode.V != "dont_ask" || s.MaxParallel.V != 3 || len(s.Problems) != 1 || s.Problems[0].File != p.User || !strings.Contains(s.Problems[0].Message, c.want) {
					t.Errorf("%+v, %v", s.Mode, s.Problems)
				}
			}
			p.must(os.RemoveAll(p.User))
			p.write(p.User, `{"mode": "plan"}`)
			if s := w.Reload(); s.Mode.V != "plan" || len(s.Problems) != 0 || len(texts(s, agenttool.Deny)) != 0 {
				t.Errorf("mended, and still %+v", s)
			}
		})
	}
}

// TestBrokenProjectFileStaysTrusted breaks a file that was trusted, and mends it.
func TestBrokenProjectFileStaysTrusted(t *testing.T) {
	p := newPlace(t)
	p.write(p.Project, wanting)
	_, digest, err := Loosening(p.Options)
	p.must(err)
	p.must(Trust(p.Options, digest))
	w, err := Open(p.Options)
	p.must(err)
	p.write(p.Project, "{")
	if s := w.Reload(); len(s.Hooks) != 1 || len(s.Problems) != 1 {
		t.Errorf("%+v", s)
	}
	p.write(p.Project, strings.Replace(wanting, "evil", "eviler", 1))
	if s := w.Reload(); len(s.Hooks) != 0 || len(s.Untrusted) == 0 {
		t.Errorf("another hook came in behind a broken file: %+v", s.Hooks)
	}
}

func TestReloadWithoutChange(t *testing.T) {
	p := newPlace(t)
	p.write(p.User, loosens)
	w, err := Open(p.Options)
	p.must(err)
	first := w.Current()
	p.write(p.User, loosens)
	if w.Reload() != first {
		t.Error("the same files made another snapshot")
	}
	p.write(p.User, "// hello\n"+loosens)
	if s := w.Reload(); s == first || s.Rules[0].Origin.Line != 2 {
		t.Error("a rule that moved is where it was")
	}
}

func TestOpenRefusesBrokenFiles(t *testing.T) {
	p := newPlace(t)
	p.write(p.User, "{")
	if w, err := Open(p.Options); w != nil || len(Problems(err)) != 1 {
		t.Errorf("%v, %v", w, err)
	}
}
