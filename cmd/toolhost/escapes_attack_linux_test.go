package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/cut"
	"toolhost/sandbox"
)

// attackSeconds is how long attackers try. testdata/escapes/attack.sh has half an hour.
func attackSeconds() int {
	if n, err := strconv.Atoi(os.Getenv("TOOLHOST_ESCAPES_ATTACK")); err == nil {
		return n
	}
	return count(2, 10)
}

// guarded are the names that the attackers of testdata/escapes/attack.c are after, and what else must stay as it is.
var guarded = strings.Fields(`.envrc .mcp.json .vscode .husky .toolhost/settings.local.json .git/commondir .git/config.worktree
	.git/hooks .git/hooks/pre-commit .git/hooks/post-merge .git/config .git tree/.envrc tree/.vscode vendor/sub/.git/hooks
	vendor/sub/.git/hooks/evil vendor/sub/.git/config .git/worktrees/wt/commondir wt/.git loose/.envrc loose/in/.mcp.json
	.config/git .cargo/config.toml .local/bin .claude .claude/settings.json .toolhost`)

// TestAttack has threads rewrite the arguments of calls, and move what these name, in every way that is known to us, and
// looks from outside whether a protected name is made, changed or removed at any moment.
func TestAttack(t *testing.T) {
	t.Parallel()
	if testing.Short() || underRace {
		t.Skip("the attackers are programs, with no race detector in them")
	}
	r := newRig(t)
	attacker := compiledAttacker(t, r)
	for _, who := range accounts(t) {
		t.Run(who.name+" alone", func(t *testing.T) {
			t.Parallel()
			a := besieged(r.attempt(t, who, sandbox.Full))
			w := watchNames(a)
			a.said(a.alone(attacker + " 1 1 $DIR/wt/file"))
			if len(w.stop()) == 0 {
				t.Error("the attackers reach nothing even without a sandbox, and so show nothing")
			}
		})
		for _, level := range watched {
			t.Run(who.name+" "+string(level), func(t *testing.T) {
				t.Parallel()
				attack(besieged(r.attempt(t, who, level)), attacker)
			})
		}
	}
}

// TestAttackAsked has the attackers try while a user is asked, who opens one protected name to them, and says no to every other. They must not
// reach another name by that one, and leave it no second name.
func TestAttackAsked(t *testing.T) {
	t.Parallel()
	if testing.Short() || underRace {
		t.Skip("the attackers are programs, with no race detector in them")
	}
	r := newRig(t)
	attacker := compiledAttacker(t, r)
	for _, who := range accounts(t) {
		t.Run(who.name, func(t *testing.T) {
			t.Parallel()
			a := besieged(r.approvalsArena(t, who, sandbox.Full))
			opened := a.path("ws/.envrc")
			a.write("ws/attack.sh", fmt.Sprintf("echo x > .envrc && echo OPENED; %s %d %d %s\n", attacker, attackSeconds(), time.Now().UnixNano()%1000, a.path("wt/file")))
			h := a.serving(true, "--allow", "Shell(bash attack.sh)").confinedBy()
			w := watchNames(a)
			said := h.answered(h.shell("bash attack.sh"), func(p prompted) bool { return slices.Equal(p.Grants, []string{"write:" + opened}) })
			found := slices.DeleteFunc(w.stop(), func(what string) bool {
				return strings.HasPrefix(what, ".envrc:") || strings.HasPrefix(what, opened+" ")
			})
			if len(found) > 0 || !strings.Contains(said, "OPENED") || !strings.Contains(said, " done\n") {
				t.Errorf("%s\n%s", strings.Join(found[:min(len(found), 20)], "\n"), cut.Characters(said, 2000))
			}
			var st unix.Stat_t
			if err := unix.Lstat(opened, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 {
				t.Errorf("the name that was opened has %d names", st.Nlink)
			}
		})
	}
}

// compiledAttacker is the program of testdata/escapes/attack.c.
func compiledAttacker(t *testing.T, r *escapeTools) string {
	t.Helper()
	attacker := filepath.Join(filepath.Dir(r.probe), "attack")
	out, err := exec.Command("gcc", "-O1", "-static", "-pthread", "-o", attacker, "../../testdata/escapes/attack.c").CombinedOutput()
	if err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return attacker
}

// attack runs the attackers in one attempt.
func attack(a *escapeAttempt, attacker string) {
	a.t.Helper()
	w := watchNames(a)
	script := fmt.Sprintf("exec %s %d %d $DIR/wt/file", attacker, attackSeconds(), time.Now().UnixNano()%1000)
	if a.level == sandbox.Full {
		script += " masked"
	}
	said, code := a.said(a.boxed(sandbox.Workspace, script, "--quiet"))
	if found := w.stop(); len(found) > 0 {
		a.t.Errorf("%s", strings.Join(found[:min(len(found), 20)], "\n"))
	}
	if code != 0 || !strings.Contains(said, " done\n") || strings.Contains(said, "ESCAPED") {
		a.t.Errorf("the attackers ended with %d:\n%s", code, cut.Characters(said, 2000))
	}
	a.t.Logf("watched %d times\n%s", w.looks, strings.TrimSpace(said))
}

// besieged is an attempt with what the attackers want.
func besieged(a *escapeAttempt) *escapeAttempt {
	repository(a)
	a.mkdir(a.path("ws/.toolhost"))
	for _, name := range strings.Fields("ws/plain/ ws/loose/in/ wt/file") {
		a.write(name, "pristine\n")
	}
	return a
}

// watching looks at names from outside: at each again and again, and at what the kernel tells of the directories that stay in
// their place.
type watching struct {
	a      *escapeAttempt
	locked *os.File // a file outside that must stay free to lock
	before map[string]entry
	events *os.File
	dirs   map[int32]string
	quit   chan struct{}
	done   sync.WaitGroup
	looks  int

	mu    sync.Mutex
	found []string
}

func watchNames(a *escapeAttempt) *watching {
	a.t.Helper()
	w := &watching{a: a, before: map[string]entry{}, dirs: map[int32]string{}, quit: make(chan struct{})}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		a.t.Fatal(err)
	}
	w.events = os.NewFile(uintptr(fd), "inotify")
	if w.locked, err = os.OpenFile(a.path("wt/file"), os.O_RDWR, 0); err != nil {
		a.t.Fatal(err)
	}
	const changes = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_MODIFY | unix.IN_ATTRIB
	for _, dir := range strings.Fields(". .git .git/hooks .toolhost vendor/sub/.git vendor/sub/.git/hooks .git/worktrees/wt wt") {
		wd, err := unix.InotifyAddWatch(fd, filepath.Join(a.ws, dir), changes)
		if err != nil {
			a.t.Fatal(err)
		}
		w.dirs[int32(wd)] = dir
	}
	for _, name := range w.names() {
		w.before[name] = w.entry(name)
	}
	w.done.Go(w.look) // both end by stop
	w.done.Go(w.listen)
	return w
}

// names are those that are watched, as paths.
func (w *watching) names() []string {
	names := []string{filepath.Join(w.a.dir, "wt/file"), filepath.Join(w.a.out, "file")}
	for _, name := range guarded {
		names = append(names, filepath.Join(w.a.ws, name))
	}
	return names
}

// entry is what a name is, without what the host itself changes by looking.
func (w *watching) entry(name string) entry {
	info, err := os.Lstat(name)
	if err != nil {
		return entry{}
	}
	e := entryOf(name, info)
	if info.IsDir() {
		e.Links = 0
	}
	return e
}

// look compares all names with what they were.
func (w *watching) look() {
	for {
		select {
		case <-w.quit:
			return
		default:
		}
		w.looks++
		for name, before := range w.before {
			if now := w.entry(name); now != before {
				w.tell(fmt.Sprintf("%s was %+v and is %+v", name, before, now))
			}
		}
		if err := unix.Flock(int(w.locked.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			w.tell("a file outside is locked: " + err.Error())
		} else if err := unix.FcntlFlock(w.locked.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
			w.tell("a file outside is locked by fcntl: " + err.Error())
		}
		_ = unix.Flock(int(w.locked.Fd()), unix.LOCK_UN)
		_ = unix.FcntlFlock(w.locked.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK})
		time.Sleep(200 * time.Microsecond) // the attackers need the processor too
	}
}

// listen reads what the kernel tells of directories.
func (w *watching) listen() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := w.events.Read(buffer)
		if err != nil {
			return
		}
		for at := 0; at+unix.SizeofInotifyEvent <= n; {
			wd := int32(binary.NativeEndian.Uint32(buffer[at:]))
			mask := binary.NativeEndian.Uint32(buffer[at+4:])
			size := int(binary.NativeEndian.Uint32(buffer[at+12:]))
			name := string(bytes.TrimRight(buffer[at+unix.SizeofInotifyEvent:at+unix.SizeofInotifyEvent+size], "\x00"))
			at += unix.SizeofInotifyEvent + size
			full := filepath.Join(w.dirs[wd], name)
			directory := mask&unix.IN_ISDIR != 0 && mask&(unix.IN_MODIFY|unix.IN_ATTRIB) != 0 // of something in it
			if mask&unix.IN_Q_OVERFLOW == 0 && name != "" && !directory && slices.Contains(guarded, full) {
				w.tell(fmt.Sprintf("%s: event %#x", full, mask))
			}
		}
	}
}

func (w *watching) tell(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.found) < 100 && !slices.Contains(w.found, what) {
		w.found = append(w.found, what)
	}
}

// stop ends it and returns what was seen.
func (w *watching) stop() []string {
	close(w.quit)
	time.Sleep(time.Millisecond)
	w.events.Close()
	w.done.Wait()
	w.locked.Close()
	return w.found
}
