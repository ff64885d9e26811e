package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// levels are those at which a command can be started, with a profile that writes.
var levels = []struct {
	level  Level
	access Access
}{{None, Unconfined}, {Full, Unconfined}, {Landlock, Workspace}, {LandlockNotify, Workspace}, {Full, Workspace}, {Full, ReadOnly}}

func eachLevel(t *testing.T, change func(*Options), test func(t *testing.T, b *bench, access Access)) {
	for _, at := range levels {
		t.Run(fmt.Sprint(at.level, " ", at.access), func(t *testing.T) {
			b := newBench(t, func(o *Options) {
				o.Level = at.level
				if change != nil {
					change(o)
				}
			})
			test(t, b, at.access)
		})
	}
}

// terminal is a terminal as who watches it has it.
type terminal struct {
	*os.File
	seen []byte
}

// openTerminal returns a new one and its other end, for the command.
func openTerminal(t testing.TB) (*terminal, *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("there are no terminals: ", err)
	}
	t.Cleanup(func() { master.Close() })
	var number int
	raw, err := master.SyscallConn() // Fd would make it block, and reading it is to have an end
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
			err = errors.Join(err, unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0),
				unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}))
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &terminal{File: master}, slave
}

// expect reads until something is seen, and forgets it with what came before.
func (m *terminal) expect(t testing.TB, what string) {
	t.Helper()
	_ = m.SetReadDeadline(time.Now().Add(hang))
	buffer := make([]byte, 4096)
	for ended := false; ; {
		if _, after, found := bytes.Cut(m.seen, []byte(what)); found {
			m.seen = after
			return
		}
		n, err := m.Read(buffer)
		m.seen = append(m.seen, buffer[:n]...)
		if errors.Is(err, unix.EIO) && !ended {
			ended = true // the kernel looks for bytes first: what came before the end may be behind it
			continue
		}
		if err != nil {
			t.Fatalf("no %q in %q: %v", what, m.seen, err)
		}
	}
}

func (m *terminal) typeIn(t testing.TB, keys string) {
	t.Helper()
	if _, err := io.WriteString(m, keys); err != nil {
		t.Fatal(err)
	}
}

// onTerminal starts a program on a new terminal.
func (b *bench) onTerminal(t testing.TB, access Access, argv ...string) (*terminal, *Process) {
	t.Helper()
	master, slave := openTerminal(t)
	defer slave.Close()
	dir, err := os.Open(b.ws)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	p, err := b.Start(context.Background(), &Command{Path: "/bin/bash", Args: argv, Dir: b.ws, At: dir, Terminal: true,
		Env:     []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "PS1=> ", "TERM=dumb", "HISTFILE="},
		Streams: [3]*os.File{slave, slave, slave}, Profile: Profile{Access: access}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return master, p
}

// A terminal is the command's own: its size, its name, /dev/tty, and the signals that it sends.
func TestTerminalIsTheCommands(t *testing.T) {
	const line = `stty size; echo to the terminal >/dev/tty; [ -t 0 ] && tty >/dev/null && echo named; ls /proc/self/fd | wc -w
		echo on "$(tty)" > "$(tty)"
		trap 'stty size' WINCH; trap 'sleep 0.1; echo interrupted; exit 3' INT; echo ready; while :; do sleep 0.01; done`
	if signal.Ignored(os.Interrupt) { // a script started these tests beside itself: bash traps nothing that it finds ignored
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, os.Interrupt)
		defer signal.Ignore(os.Interrupt)
		defer signal.Stop(caught)
	}
	eachLevel(t, nil, func(t *testing.T, b *bench, access Access) {
		m, p := b.onTerminal(t, access, "bash", "--norc", "-c", line)
		for _, what := range []string{"24 80\r\n", "to the terminal\r\n", "named\r\n", "4\r\n", "on /dev/", "ready\r\n"} {
			m.expect(t, what)
		}
		raw, err := m.SyscallConn()
		if err == nil {
			err = raw.Control(func(fd uintptr) {
				err = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: 132})
			})
		}
		if err != nil {
			t.Fatal(err)
		}
		m.expect(t, "50 132\r\n")
		m.typeIn(t, "\x03")
		m.expect(t, "interrupted\r\n")
		over(t, "its end", p.Gone())
		if e := p.Ended(); e.Status.ExitStatus() != 3 {
			t.Errorf("ended %+v", e)
		}
	})
}

// A shell has job control on it.
func TestTerminalHasJobControl(t *testing.T) {
	eachLevel(t, nil, func(t *testing.T, b *bench, access Access) {
		m, p := b.onTerminal(t, access, "bash", "--norc", "--noediting", "-i")
		m.expect(t, "> ")
		m.typeIn(t, "sleep 1000\n")
		m.expect(t, "sleep 1000\r\n")
		for limit := time.Now().Add(hang); !sleeping(t, b.mark()) && time.Now().Before(limit); {
			time.Sleep(time.Millisecond) // until it is in front
		}
		m.typeIn(t, "\x1a")
		m.expect(t, "Stopped")
		m.typeIn(t, "bg; jobs; kill %1; fg; echo $((40+2))\n")
		m.expect(t, "Running")
		m.expect(t, "42\r\n")
		m.typeIn(t, "\x04")
		over(t, "its end", p.Gone())
		if strings.Contains(string(m.seen), "no job control") {
			t.Errorf("%q", m.seen)
		}
	})
}

// sleeping reports whether somebody of a bench is sleep by now.
func sleeping(t *testing.T, mark string) bool {
	for _, pid := range marked(t, mark) {
		if name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); string(name) == "sleep\n" {
			return true
		}
	}
	return false
}

// What goes on in the background when the command has ended keeps the terminal, which ends with the last that has it.
func TestTerminalOutlivesTheCommand(t *testing.T) {
	eachLevel(t, nil, func(t *testing.T, b *bench, access Access) {
		m, p := b.onTerminal(t, access, "bash", "--norc", "-c", `(until [ -e go ]; do sleep 0.01; done; echo later; read x; echo "read $x") <&0 & echo now`)
		m.expect(t, "now\r\n")
		over(t, "its exit", p.Exited())
		if p.Ended().Alone {
			t.Error("nobody is left")
		}
		b.write(t, "go", "")
		m.expect(t, "later\r\n")
		m.typeIn(t, "this\n")
		m.expect(t, "read this\r\n")
		over(t, "its end", p.Gone())
		if _, err := m.Read(make([]byte, 1)); !errors.Is(err, unix.EIO) {
			t.Errorf("the terminal has not ended: %v", err)
		}
	})
}

// Nobody types into a terminal from within the sandbox, and what is no terminal becomes none.
func TestTerminalIsHeld(t *testing.T) {
	b := newBench(t, nil)
	m, p := b.onTerminal(t, Workspace, "bash", "--norc", "-c",
		`perl -e '$x = "x"; print defined(ioctl(STDIN, 0x5412, $x)) ? "typed" : "held: $!", "\n"'; echo done`)
	m.expect(t, "held: Inappropriate ioctl for device")
	m.expect(t, "done")
	over(t, "its end", p.Gone())

	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	defer null.Close()
	dir, err := os.Open(b.ws)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	_, err = b.Start(context.Background(), &Command{Path: "/bin/bash", Args: []string{"bash", "-c", "touch ran"}, Dir: b.ws, At: dir, Terminal: true,
		Streams: [3]*os.File{null, null, null}, Profile: Profile{Access: Unconfined}})
	if !errors.Is(err, unix.ENOTTY) {
		t.Errorf("no terminal: %v", err)
	}
}

// A note is descriptor 3, at every level, and nothing else is open in the command, whatever the host was started with.
func TestNoteIsAllThatIsPassed(t *testing.T) {
	leak, err := unix.Open("/dev/null", unix.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(leak)
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	defer null.Close()
	eachLevel(t, nil, func(t *testing.T, b *bench, access Access) {
		if r := b.run(t, access, `echo /proc/self/fd/*; { echo x >&3; } 2>/dev/null || echo none`); r.out != "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\nnone" {
			t.Errorf("without a note: %q, %v", r.out, r.err) // 3 is the directory
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		dir, err := os.Open(b.ws)
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		c := Command{Path: "/bin/bash", Args: []string{"bash", "--norc", "-c", `echo /proc/self/fd/* >&3; exec 3>&-; sleep 1000`},
			Dir: b.ws, At: dir, Streams: [3]*os.File{null, null, null}, Note: w, Profile: Profile{Access: access}}
		p, err := b.Start(context.Background(), &c)
		w.Close()
		if err != nil {
			t.Fatal(err)
		}
		_ = r.SetReadDeadline(time.Now().Add(hang))
		got, err := io.ReadAll(r) // to its end: the helper has none of it
		if want := "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3 /proc/self/fd/4\n"; err != nil || string(got) != want {
			t.Errorf("%q, %v", got, err)
		}
		p.Kill()
		over(t, "its end", p.Gone())
		if access == Unconfined {
			return
		}
		c.Note = dir
		if _, err := b.Start(context.Background(), &c); !errors.Is(err, agenttool.SetupRequired) || !errors.Is(err, unix.ENODEV) {
			t.Errorf("a note that is a directory: %v", err)
		}
	})
}

// Limits are added to those of a sandbox, or replace them; what is unconfined has no others, and its helper none of them.
func TestLimitsAreTheCommands(t *testing.T) {
	limits := []Limit{{unix.RLIMIT_NOFILE, 100, 200}, {unix.RLIMIT_FSIZE, 1 << 20, unix.RLIM_INFINITY}, {unix.RLIMIT_AS, 1 << 30, 1 << 30}}
	var inherited unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &inherited); err != nil {
		t.Fatal(err)
	}
	eachLevel(t, func(o *Options) { o.Limits = limits }, func(t *testing.T, b *bench, access Access) {
		processes := strconv.Itoa(maxProcesses)
		switch {
		case b.level == Full && access != Unconfined:
			processes = strconv.Itoa(leastProcesses + processesPerCore*runtime.NumCPU() + ofHolder + ofHelper)
		case access == Unconfined:
			processes = strconv.FormatUint(inherited.Max, 10)
		}
		want := fmt.Sprintf("100 200 1024 unlimited 1048576 %s", processes)
		if r := b.run(t, access, `echo $(ulimit -Sn) $(ulimit -Hn) $(ulimit -Sf) $(ulimit -Hf) $(ulimit -Sv) $(ulimit -Hu)`); r.out != want {
			t.Errorf("%q, %v; want %q", r.out, r.err, want)
		}
		if access != Unconfined {
			return
		}
		p := b.start(t, Profile{Access: access}, "touch up; sleep 1000")
		b.await(t, "up")
		if got, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", p.PID())); err != nil || !strings.Contains(string(got), "Max address space         unlimited") {
			t.Errorf("the helper: %s, %v", got, err)
		}
		p.Kill()
		over(t, "its end", p.Gone())
	})
	b := newBench(t, func(o *Options) { *o = Options{Level: None, Limits: []Limit{{99, 1, 1}}} })
	if r := b.run(t, Unconfined, "touch ran"); !errors.Is(r.err, agenttool.SetupRequired) || !errors.Is(r.err, unix.EINVAL) {
		t.Errorf("a limit that there is not: %v", r.err)
	}
}
