package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/permissions/protect"
	"toolhost/sandbox/notify"
)

// answers are what a user says about the paths that a command asks for, and what was asked.
type answers struct {
	say  func(v Violation) bool
	wait func(ctx context.Context) // before it is said; may be nil

	mu    sync.Mutex
	asked []Violation
}

func (a *answers) ask(ctx context.Context, v Violation) bool {
	a.mu.Lock()
	a.asked = append(a.asked, v)
	a.mu.Unlock()
	if a.wait != nil {
		a.wait(ctx)
	}
	return a.say(v)
}

// mayAsk says that each path is asked about once.
func (a *answers) mayAsk(v Violation) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !slices.ContainsFunc(a.asked, func(asked Violation) bool { return asked.Path == v.Path })
}

// paths are those that were asked for, without their directory.
func (a *answers) paths(dir string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []string
	for _, v := range a.asked {
		all = append(all, strings.TrimPrefix(v.Path, dir+"/"))
	}
	return all
}

// TestWallOpens: a call that meets the wall at a path waits, and goes on when a user opens that name, and no other.
func TestWallOpens(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line string
		asked      string // paths from the attempt's directory
		made, kept string // existing and missing or unchanged afterwards
	}{
		{"a file of a home", "echo x > ~/new; cat ~/new; echo y > ~/no", "home/new home/no", "home/new", "home/no"},
		{"a file that is there", "echo x >> ~/old; cat ~/old", "home/old", "home/old", "home/kept"},
		{"a directory of a home, and below it", "mkdir ~/notes && cd ~/notes && mkdir a && echo x > a/b && mv a c && rm -r c && touch d; mkdir ~/notes/../no", "home/notes home/no", "home/notes/d", "home/no"},
		{"mkdir -p", "mkdir -p ~/new/a/b", "home/new", "home/new/a/b", "home/new2"},
		{"a file beside", "echo x > $out/new; cat $out/new", "out/new", "out/new", "out/kept"},
		{"a file that is there beside", "echo x > $out/old", "out/old", "out/old", "out/kept"},
		{"a directory beside, and below it", "mkdir $out/new && echo x > $out/new/a && mkdir $out/new/b && mv $out/new/a $out/new/b/c", "out/new", "out/new/b/c", "out/kept"},
		{"a file replaced", "echo x > $out/new && mv $out/new $out/old && test ! -e $out/new", "out/new out/old", "out/old", "out/new"},
		{"a file taken away", "echo x > $out/new && rm $out/new $out/old; rm $out/no", "out/new out/old out/no", "", "out/old out/new"},
		{"again and again", "for i in 1 2 3; do echo $i >> $out/new; echo $i >> $out/no; done", "out/new out/no", "out/new", "out/no"},
		{"a link that leads out", "ln -s $out/new link; echo x > link; ln -s $out/no link2; echo x > link2", "out/new out/no", "out/new", "out/no"},
		{"what is not asked about", "mkdir ~/.config ~/.cache /usr/new /etc/new $out/__pycache__ $out/.x; perl -e 'open(F, q(+<), shift)' $out/old; touch /proc/new /sys/new; ln -s x $out/new", "", "", "home/.config out/__pycache__"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, nil)
			dir := filepath.Dir(b.ws)
			for _, name := range []string{"home/old", "home/kept", "out/old", "out/kept"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte("old\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			b.user = &answers{say: func(v Violation) bool { return filepath.Base(v.Path) != "no" }}
			r := b.run(t, Workspace, "out="+b.out+"\n"+c.line)
			if got := strings.Join(b.user.paths(dir), " "); got != c.asked {
				t.Errorf("asked about %q and not %q: %v", got, c.asked, r)
			}
			for _, path := range strings.Fields(c.made) {
				if text, err := os.ReadFile(filepath.Join(dir, path)); err != nil && !isDir(filepath.Join(dir, path)) || string(text) == "old\n" {
					t.Errorf("%s: %v, %q: %v", path, err, text, r)
				}
			}
			for _, path := range strings.Fields(c.kept) {
				if text, err := os.ReadFile(filepath.Join(dir, path)); err == nil && string(text) != "old\n" {
					t.Errorf("%s has %q", path, text)
				}
			}
			if left := b.run(t, ReadOnly, "ls -A "+b.home); strings.TrimSpace(left.out) != "" {
				t.Errorf("the next command sees %q", left.out)
			}
		})
	}
}

// TestWallOpensProtected: a call on a protected name waits, and goes on when a user opens that name. It gets no other name, is no other name of
// a file, and leads to no secret.
func TestWallOpensProtected(t *testing.T) {
	t.Parallel()
	const hook, config = ".git/hooks/post-commit", ".git/config"
	for _, c := range []struct {
		name, line string
		asked      string // paths in the workspace
		want       string // of the output, its last line
		files      string // of the workspace afterwards, as path=content; none: path=
	}{
		{"a hook", "echo x > .git/hooks/post-commit; echo y > .git/hooks/no; cat .git/hooks/post-commit", hook + " .git/hooks/no", "x", hook + "=x .git/hooks/no="},
		{"a mode", "echo x > .git/hooks/post-commit && chmod 755 .git/hooks/post-commit && test -x .git/hooks/post-commit && echo so", hook, "so", hook + "=x"},
		{"one that is there", "echo x >> .git/config && tail -1 .git/config", config, "x", ""},
		{"one that is renamed to", "echo new > .git/config.lock && mv .git/config.lock .git/config; cat .git/config", config, "new", config + "=new .git/config.lock="},
		{"git's own way", "git config user.name z && git config user.name", config, "z", ".git/config.lock="},
		{"from elsewhere", "echo new > made && mv made .git/config; cat .git/config", config, "new", config + "=new made="},
		{"one that goes", "rm -f .git/hooks/there; ls .git/hooks", ".git/hooks/there", "", ".git/hooks/there="},
		{"a directory, and in it", "mkdir .vscode && echo x > .vscode/tasks.json; cat .vscode/tasks.json", ".vscode .vscode/tasks.json", "x", ".vscode/tasks.json=x"},
		{"a directory with all in it", "mkdir d && echo x > d/tasks.json; mv d .vscode 2>/dev/null || echo held", ".vscode", "held", ".vscode/tasks.json= d/tasks.json=x"},
		{"an empty directory", "mkdir d; mv d .vscode; echo x > .vscode/tasks.json; cat .vscode/tasks.json", ".vscode .vscode/tasks.json", "x", ".vscode/tasks.json=x"},
		{"no", "echo x > .git/hooks/no; mv free .git/hooks/no 2>/dev/null || echo held", ".git/hooks/no", "held", ".git/hooks/no= free=free"},
		{"a copy of a file of two names", "ln free other && mv other .git/hooks/post-commit; echo mine > free; cat .git/hooks/post-commit", hook, "free", hook + "=free other="},
		{"one file of two names", "echo f > .git/f && ln .git/f .git/l && mv -f .git/l .git/config 2>/dev/null || echo held", config, "held", config + "=old .git/f=f"},
		{"a link in its place", "ln -s /tmp .git/hooks/post-commit || ln free .git/hooks/post-commit || echo held", "", "held", hook + "="},
		{"a secret in its place", "echo x > .git/hooks/post-commit; mv -f .env .git/hooks/post-commit 2>/dev/null || mv -f .env .git/config 2>/dev/null; cat .git/hooks/post-commit .git/config | grep SECRET; echo end",
			hook + " " + config, "end", ".env=SECRET"},
		{"a secret beside it", "echo x > .envrc && mv -f .env .envrc 2>/dev/null; mv -f .envrc .env 2>/dev/null; cat .envrc; cat .env 2>/dev/null", ".envrc", "x", ".env=SECRET"},
		{"its directory", "mv .git/hooks .git/h 2>/dev/null; rm -rf .git/hooks 2>/dev/null; mv .git g 2>/dev/null || echo held", ".git/hooks/there", "held", config + "=old"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			needs(t, "git")
			b := newBench(t, func(o *Options) {
				o.Protected = protect.NewCache(protect.Options{Roots: o.Roots, Home: o.Home, ReadDeny: protect.DefaultReadDeny(), MaxTime: hang}, 0)
			})
			for name, text := range map[string]string{config: "old\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "", ".git/refs/x": "", ".git/hooks/there": "", ".env": "SECRET\n", "free": "free\n"} {
				if name == config && strings.HasPrefix(c.name, "git's") {
					text = "[core]\n\tbare = false\n"
				}
				b.write(t, name, text)
			}
			b.user = &answers{say: func(v Violation) bool {
				return filepath.Base(v.Path) != "no" && filepath.Base(v.Path) != "there" || c.name == "one that goes"
			}}
			r := b.run(t, Workspace, c.line)
			if got := strings.Join(b.user.paths(b.ws), " "); got != c.asked {
				t.Errorf("asked about %q and not %q: %v", got, c.asked, r)
			}
			lines := strings.Split(strings.TrimSpace(r.out), "\n")
			if got := lines[len(lines)-1]; got != c.want {
				t.Errorf("it says %q and not %q: %v", got, c.want, r)
			}
			for _, file := range strings.Fields(c.files) {
				name, want, _ := strings.Cut(file, "=")
				if text, err := os.ReadFile(filepath.Join(b.ws, name)); strings.TrimSpace(string(text)) != want || (err != nil) != (want == "") && want != "" {
					t.Errorf("%s has %q, %v", name, text, err)
				}
			}
			for _, v := range r.violations {
				if v.Wall == Changed {
					t.Errorf("what a user allowed is reported: %v", v)
				}
			}
			b.user = nil
			if left := b.run(t, Workspace, "echo x > .git/hooks/post-commit || echo held"); !strings.Contains(left.out, "held") {
				t.Errorf("the next command writes it: %q", left.out)
			}
		})
	}
}

var manyCalls = 1000

// TestManyPauses: a thousand calls wait at once, and each gets its own answer.
func TestManyPauses(t *testing.T) {
	t.Parallel()
	needs(t, "python3")
	calls, every := manyCalls, 5
	b := newBench(t, func(o *Options) { o.Bounds.Processes = 4 * calls }) // it stays far from what ends a command
	all := make(chan struct{})
	b.user = &answers{}
	b.user.say = func(v Violation) bool {
		b.user.mu.Lock()
		if len(b.user.asked) == calls {
			close(all)
		}
		b.user.mu.Unlock()
		<-all
		return strings.HasSuffix(v.Path, "yes")
	}
	b.write(t, "many.py", fmt.Sprintf(`
import threading
def make(i):
    try: open("%s/%%d.%%s" %% (i, "no" if i %% %d else "yes"), "w"); said.append("made")
    except OSError: said.append("refused")
said, threads = [], [threading.Thread(target=make, args=(i,)) for i in range(%d)]
for t in threads: t.start()
for t in threads: t.join()
print("\n".join(said))`, b.out, every, calls))
	r := b.run(t, Workspace, "python3 many.py")
	made, _ := filepath.Glob(b.out + "/*.yes")
	refused, _ := filepath.Glob(b.out + "/*.no")
	if len(made) != calls/every || len(refused) != 0 || strings.Count(r.out, "made") != calls/every || strings.Count(r.out, "refused") != calls-calls/every {
		t.Errorf("%d were made, %d although they were refused; of %d asked: %.200s %v", len(made), len(refused), len(b.user.asked), r.out, r.violations)
	}
}

// TestPausesEnd: a command that is ended while a call waits leaves nothing, and its question is over.
func TestPausesEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t, nil)
	asked, over := make(chan struct{}), make(chan struct{})
	b.user = &answers{wait: func(ctx context.Context) {
		close(asked)
		<-ctx.Done()
		close(over)
	}, say: func(Violation) bool { return true }}
	p := b.start(t, Profile{Access: Workspace}, "echo x > "+b.out+"/new")
	for _, step := range []<-chan struct{}{asked, nil, over} {
		if step == nil {
			p.Kill()
			step = p.Gone()
		}
		select {
		case <-step:
		case <-time.After(hang):
			t.Fatal("it waits")
		}
	}
	if _, err := os.Lstat(b.out + "/new"); err == nil {
		t.Error("an answer after the end of the command counted")
	}
}

// BenchmarkNothingOpened is what a judged call pays for names that a user may open, where none is.
func BenchmarkNothingOpened(b *testing.B) {
	o := &opening{}
	for b.Loop() {
		if _, ok := o.onCall(notify.Attempt{Call: "openat"}, notify.Target{Path: "/w/file"}); ok || o.within("/w/file") {
			b.Fatal("something is open")
		}
	}
}

// BenchmarkChanges is what an open for writing pays for the list of changed files.
func BenchmarkChanges(b *testing.B) {
	h := &hostChanges{in: []string{"/w"}, opening: &opening{}}
	for b.Loop() {
		h.note(notify.Change{Kind: notify.Written, Path: "/w/dir/file"})
	}
}
