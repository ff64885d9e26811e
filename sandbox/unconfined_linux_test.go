package sandbox

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// headless is the name under which this program is a process whose first thread has ended.
const headless = "headless"

func TestMain(m *testing.M) {
	if os.Args[0] == headless {
		runtime.LockOSThread()
		if len(os.Args) > 1 {
			_ = os.WriteFile(os.Args[1], nil, 0o600)
		}
		go func() {
			for {
				time.Sleep(time.Hour)
			}
		}()
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT, 0, 0, 0)
	}
	if err := flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0))); err != nil { // most tests wait for processes
		panic(err)
	}
	os.Exit(m.Run())
}

// newNone is a session without a sandbox. Whatever its commands start has the environment that marked looks for.
func newNone(t testing.TB) *bench {
	return newBench(t, func(o *Options) { *o = Options{Level: None} })
}

// mark is in the environment of the commands of a bench, and of nobody else.
func (b *bench) mark() string { return "HOME=" + b.home }

// marked are the living processes that have mark in their environment.
func marked(t testing.TB, mark string) []int {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/task/[0-9]*/environ") // the first thread may have ended
	if err != nil {
		t.Fatal(err)
	}
	var found []int
	for _, name := range names {
		environ, _ := os.ReadFile(name) // it may have ended
		if slices.Contains(strings.Split(string(environ), "\x00"), mark) {
			pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
			found = append(found, pid)
		}
	}
	return found
}

// ended waits until nobody is marked.
func ended(t testing.TB, mark string) {
	t.Helper()
	var left []int
	for limit := time.Now().Add(hang); time.Now().Before(limit); time.Sleep(5 * time.Millisecond) {
		if left = marked(t, mark); len(left) == 0 {
			return
		}
	}
	for _, pid := range left {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		t.Errorf("%d lives on: %q", pid, bytes.ReplaceAll(line, []byte{0}, []byte(" ")))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func over(t testing.TB, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(hang):
		t.Fatal(what, "never came")
	}
}

// A session without a sandbox makes no file and needs no workspace, and what needs a sandbox is refused in it.
func TestNoneIsNothing(t *testing.T) {
	dir := t.TempDir()
	s := newBench(t, func(o *Options) {
		*o = Options{Level: None, Dir: filepath.Join(dir, "scratch", "s"), Cache: filepath.Join(dir, "cache")}
	})
	if r := s.run(t, Unconfined, "pwd"); r.err != nil || r.out != s.ws {
		t.Errorf("%q, %v", r.out, r.err)
	}
	for _, access := range []Access{ReadOnly, Workspace} {
		r := s.run(t, access, "touch ran")
		if !errors.Is(r.err, agenttool.SetupRequired) || !strings.Contains(fmt.Sprint(r.err), "needs a sandbox, and this session has none") {
			t.Errorf("%s: %v", access, r.err)
		}
	}
	if s.Level() != None || s.Scratch() != "" || s.Shown() != nil {
		t.Errorf("level %q, scratch %q, shown %q", s.Level(), s.Scratch(), s.Shown())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("it made %v, %v", entries, err)
	}
	if r := s.run(t, Unconfined, "touch ran"); r.err == nil {
		t.Error("a command was started in a session that is closed")
	}
	if _, err := os.Stat(filepath.Join(s.ws, "ran")); err == nil {
		t.Error("it ran")
	}
}

// What is unconfined finds what any program of the person finds: the same rights, limits, namespaces and signals, and
// the environment that it was given.
func TestUnconfinedRunsAsThePerson(t *testing.T) {
	const line = `grep -E '^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp:|Sig(Blk|Ign|Cgt)|ShdPnd|Cpus_allowed:)' /proc/self/status
		readlink /proc/self/ns/*; cat /proc/self/limits /proc/self/oom_score_adj; umask; ulimit -a; readlink /proc/self/root; env`
	for _, level := range []Level{None, Landlock, Full} {
		t.Run(string(level), func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.Level = level })
			cmd := exec.Command("/bin/bash", "--norc", "-c", line)
			cmd.Dir, cmd.Env = b.ws, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home}
			want, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			r := b.run(t, Unconfined, line)
			if got := r.out + "\n"; r.err != nil || got != string(want) {
				t.Errorf("%v\n%s\nwant\n%s", r.err, got, want)
			}
			if r.exit != 0 || len(r.violations) != 0 {
				t.Errorf("exit %d, violations %v", r.exit, r.violations)
			}
		})
	}
}

// What a command runs in is said as it is, and nobody guesses what a wall kept from it where there is none.
func TestUnconfinedHasNoWalls(t *testing.T) {
	b := newBench(t, nil)
	p := b.start(t, Profile{Access: Unconfined}, "exit 3")
	over(t, "its end", p.Gone())
	if c := p.Confinement(); c.Profile != Unconfined || c.Level != None || c.Partial != nil {
		t.Errorf("confinement %+v", c)
	}
	if h, likely := p.Explain(Failure{Stderr: "touch: cannot touch '/usr/x': Read-only file system\nunshare: unshare failed: Operation not permitted"}); h != nil || likely != nil {
		t.Errorf("hints %v, %v", h, likely)
	}
	if e := p.Ended(); e.Status.ExitStatus() != 3 || !e.Alone || p.PID() != 0 {
		t.Errorf("ended %+v, process %d", e, p.PID())
	}
}

// The program cannot be started: that is the command's failure, and nothing is left.
func TestUnconfinedCannotStart(t *testing.T) {
	b := newNone(t)
	dir, err := os.Open(b.ws)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	defer null.Close()
	c := Command{Path: "/no-such-name-of-toolhost", Args: []string{"x"}, Dir: b.ws, At: dir, Streams: [3]*os.File{null, null, null},
		Profile: Profile{Access: Unconfined}}
	if _, err := b.Start(context.Background(), &c); !errors.Is(err, agenttool.ExecutionFailed) || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that is missing: %v", err)
	}
	c.Path, c.Dir = "/bin/true", b.home
	if _, err := b.Start(context.Background(), &c); !errors.Is(err, agenttool.SetupRequired) || !strings.Contains(err.Error(), "directory "+b.home) {
		t.Errorf("another directory: %v", err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Close()
	}()
	over(t, "the session's end", done)
}

// escapes are trees that are hard to find or to hit. Each makes the file up when it is there, and ends when alive is gone.
var escapes = []struct{ name, needs, line string }{
	{"ignores what can be ignored", "", `trap '' TERM INT HUP; touch up; while :; do sleep 1; done`},
	{"setsid and nohup", "setsid", `setsid nohup sleep 1000 & sleep 0.05; touch up; wait`},
	{"double fork", "setsid", `(setsid bash -c '(sleep 1000 & touch up) &') & wait`},
	{"a daemon that has closed everything", "perl", `perl -MPOSIX -e 'exit if fork; POSIX::setsid(); exit if fork; chdir "/";
		my $up = "'"$PWD"'/up"; open(F, ">", $up); close F; POSIX::close($_) for 0..255; sleep 1000'`},
	{"stopped", "setsid", `setsid sleep 1000 & sleep 0.05; kill -STOP $!; touch up; kill -STOP $$`},
	{"its first thread has ended", "setsid", `export EXE; setsid bash -c 'exec -a headless "$EXE" "$PWD/up"' & sleep 1000`},
	{"a long chain", "", `f() { if [ $1 -gt 0 ]; then f $(($1-1)); else touch up; sleep 1000; fi & wait; }; f 60`},
	{"many that fork on", "", `for i in 1 2 3 4 5 6 7 8; do (while [ -e alive ]; do sleep 0.01 & (:); done) & done; sleep 0.1; touch up; wait`},
	{"runs from process to process", "", `f() { [ -e alive ] && f & }; f; touch up`},
	{"and from session to session", "perl", `touch up; perl -MPOSIX -e 'while (-e "alive") { exit if fork; POSIX::setsid(); }'`},
	{"a tracer", "strace", `strace -f -o /dev/null bash -c 'touch up; sleep 1000; :'`},
	{"a reaper of its own", "perl", `perl -e 'syscall(` + strconv.Itoa(unix.SYS_PRCTL) + `, 36, 1, 0, 0, 0); if (!fork) { if (!fork) { sleep 1000 } exit } open(F, ">", "up"); sleep 1000'`},
}

// escape starts one of them and waits until it is there.
func (b *bench) escape(t *testing.T, access Access, line string) *Process {
	t.Helper()
	b.write(t, "alive", "")
	t.Cleanup(func() { os.Remove(filepath.Join(b.ws, "alive")) })
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := b.start(t, Profile{Access: access}, "EXE="+exe+"; "+line)
	b.await(t, "up")
	return p
}

func eachEscape(t *testing.T, test func(t *testing.T, line string)) {
	for _, e := range escapes {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			if e.needs != "" {
				if _, err := exec.LookPath(e.needs); err != nil {
					t.Skip(e.needs, "is not installed")
				}
			}
			if exe, err := os.Executable(); strings.Contains(e.line, headless) && (err != nil || unix.Access(exe, unix.X_OK) != nil) {
				t.Skip("this program is not to be reached by this user")
			}
			test(t, e.line)
		})
	}
}

// Nothing outlives Kill, nor the session, whatever it does to get away.
func TestNothingOutlivesItsCommand(t *testing.T) {
	for _, way := range []struct {
		name   string
		level  Level
		access Access
		end    func(*Process, *bench)
	}{
		{"killed", None, Unconfined, func(p *Process, _ *bench) { p.Kill() }},
		{"killed in a sandbox", LandlockNotify, Workspace, func(p *Process, _ *bench) { p.Kill() }},
		{"closed", None, Unconfined, func(_ *Process, b *bench) { b.Close() }},
	} {
		t.Run(way.name, func(t *testing.T) {
			t.Parallel()
			eachEscape(t, func(t *testing.T, line string) {
				if way.access != Unconfined && (strings.Contains(line, "strace") || strings.Contains(line, headless)) {
					t.Skip("a sandbox keeps it from that")
				}
				b := newBench(t, func(o *Options) { o.Level = way.level })
				p := b.escape(t, way.access, line)
				way.end(p, b)
				over(t, "its end", p.Gone())
				ended(t, b.mark())
			})
		})
	}
}

// Who has used up all processes ends like anybody else: the helper starts none for it.
func TestNothingOutlivesItsLimit(t *testing.T) {
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("perl is not installed")
	}
	for level, access := range map[Level]Access{None: Unconfined, LandlockNotify: Workspace} {
		t.Run(string(level), func(t *testing.T) {
			b := newBench(t, func(o *Options) {
				o.Level, o.Limits = level, []Limit{{unix.RLIMIT_NPROC, 100, 100}}
			})
			p := b.escape(t, access, `perl -e 'for (1..200) { my $p = fork; last unless defined $p; if (!$p) { sleep 1000; exit } } open(F, ">", "up"); sleep 1000'`)
			p.Signal(syscall.SIGUSR2)
			p.Kill()
			over(t, "its end", p.Gone())
			ended(t, b.mark())
		})
	}
}

// A host that is killed leaves nothing behind.
func TestNothingOutlivesTheHost(t *testing.T) {
	if dir := os.Getenv("SANDBOX_TEST_HOST"); dir != "" {
		s, err := Open(Options{Level: None})
		if err != nil {
			t.Fatal(err)
		}
		b := &bench{Session: s, ws: dir, home: os.Getenv("SANDBOX_TEST_HOME")}
		b.escape(t, Unconfined, os.Getenv("SANDBOX_TEST_LINE"))
		select {}
	}
	eachEscape(t, func(t *testing.T, line string) {
		b := newNone(t)
		b.write(t, "alive", "")
		host, err := os.StartProcess("/proc/self/exe", []string{"host", "-test.run=^TestNothingOutlivesTheHost$"}, &os.ProcAttr{
			Files: []*os.File{nil, nil, os.Stderr},
			Env:   append(os.Environ(), "SANDBOX_TEST_HOST="+b.ws, "SANDBOX_TEST_HOME="+b.home, "SANDBOX_TEST_LINE="+line),
		})
		if err != nil {
			t.Fatal(err)
		}
		b.await(t, "up")
		_ = host.Kill()
		_, _ = host.Wait()
		ended(t, b.mark())
	})
}

// A signal reaches every process, in whatever session, and ends none that minds it.
func TestSignalReachesAll(t *testing.T) {
	b := newNone(t)
	p := b.start(t, Profile{Access: Unconfined}, `trap 'touch told; exit 7' USR1
		setsid bash -c 'trap "touch far; exit" USR1; touch far-up; while :; do sleep 0.01; done' & touch up; while :; do sleep 0.01; done`)
	b.await(t, "up")
	b.await(t, "far-up")
	p.Signal(syscall.SIGUSR1)
	b.await(t, "told")
	b.await(t, "far")
	over(t, "its end", p.Gone())
	if e := p.Ended(); e.Status.ExitStatus() != 7 {
		t.Errorf("ended %+v", e)
	}
}

// What a command may do to its helper: a signal that can be ignored is, one that stops it holds up nothing for ever, and
// with one that kills it the command ends, too.
func TestSignalledHelper(t *testing.T) {
	for _, tt := range []struct{ name, line, made string }{
		{"asked to end", `kill -TERM $PPID; kill -HUP $PPID; kill -INT $PPID; kill -QUIT $PPID; kill -ABRT $PPID; sleep 0.05; touch up; sleep 1000`, "up"},
		{"stopped", `kill -STOP $PPID; touch up; sleep 1000`, "up"},
		{"killed", `touch up; kill -KILL $PPID; sleep 1000`, "up"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newNone(t)
			p := b.start(t, Profile{Access: Unconfined}, tt.line)
			b.await(t, tt.made)
			if tt.name == "killed" {
				over(t, "its end", p.Gone())
			} else if p.PID() == 0 || p.Ended() != nil {
				t.Errorf("process %d, ended %+v", p.PID(), p.Ended())
			}
			p.Signal(syscall.SIGUSR2)
			p.Kill()
			over(t, "its end", p.Gone())
			over(t, "its exit", p.Exited())
			if e := p.Ended(); !e.Status.Signaled() {
				t.Errorf("ended %+v", e)
			}
			if tt.name == "killed" { // sleep is somebody else's now, and who looks for it has other means
				for none := 0; none < 5; none++ { // it has no mark while it becomes another program
					for _, pid := range marked(t, b.mark()) {
						_ = syscall.Kill(pid, syscall.SIGKILL)
						none = 0
					}
					time.Sleep(20 * time.Millisecond)
				}
			}
			ended(t, b.mark())
		})
	}
}

// The command's output ends when nobody has it any more, whoever lives on, and so does what it lingers on.
func TestHelperHoldsNothing(t *testing.T) {
	b := newNone(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	defer null.Close()
	p, err := b.begin(t, Profile{Access: Unconfined}, `exec >/dev/null 2>&1; sleep 1000`, [3]*os.File{null, w, w})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	_ = r.SetReadDeadline(time.Now().Add(hang))
	if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, os.ErrClosed) && err.Error() != "EOF" {
		t.Errorf("read %d, %v", n, err)
	}
	p.Kill()
	over(t, "its end", p.Gone())
}

// A hundred at once end as they should, and leave no descriptor and no process.
func TestManyUnconfined(t *testing.T) {
	b := newNone(t)
	b.run(t, Unconfined, "true")
	before := descriptors(t)
	results := make(chan error)
	for i := range 100 {
		go func() {
			r := b.run(t, Unconfined, fmt.Sprintf("exit %d", i))
			if r.err == nil && r.exit != i {
				r.err = fmt.Errorf("%d exits with %d", i, r.exit)
			}
			results <- r.err
		}()
	}
	for range 100 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	for limit := time.Now().Add(hang); descriptors(t) > before && time.Now().Before(limit); {
		time.Sleep(10 * time.Millisecond) // the last helpers exit
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
