package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unicode"
)

func TestReadSelf(t *testing.T) {
	p, ok := Read(os.Getpid())
	group, _ := syscall.Getpgid(0)
	if !ok || p.PID != os.Getpid() || p.Parent != os.Getppid() || p.Group != group || p.Born == 0 || p.Dead || p.Stopped {
		t.Errorf("got %+v, %v", p, ok)
	}
	if !strings.HasPrefix(filepath.Base(os.Args[0]), p.Name) || p.threads < 2 {
		t.Errorf("got %+v", p)
	}
}

func TestReadNobody(t *testing.T) {
	for _, pid := range []int{0, -1, 1 << 30} {
		if p, ok := Read(pid); ok || p != (Process{}) {
			t.Errorf("%d: %+v, %v", pid, p, ok)
		}
	}
}

func TestSameIsAnIdentity(t *testing.T) {
	p := Process{PID: 7, Born: 9, Name: "a"}
	for _, c := range []struct {
		name string
		p, q Process
		want bool
	}{
		{"itself later", p, Process{PID: 7, Born: 9, Name: "b", Dead: true}, true},
		{"number reused", p, Process{PID: 7, Born: 10, Name: "a"}, false},
		{"another", p, Process{PID: 8, Born: 9}, false},
		{"nobody", Process{}, Process{}, false},
	} {
		if c.p.Same(c.q) != c.want {
			t.Errorf("%s: not %v", c.name, c.want)
		}
	}
}

func TestStates(t *testing.T) {
	cmd := exec.Command("sleep", "300")
	j := start(t, false, cmd)
	is := func(what string, f func(Process) bool) {
		t.Helper()
		if !eventually(hang, func() bool { p, ok := Read(j.pid); return ok && f(p) }) {
			p, _ := Read(j.pid)
			t.Errorf("is not %s: %+v", what, p)
		}
	}
	is("asleep", func(p Process) bool {
		return p.sleeping && p.Name == "sleep" && p.Session == j.pid && p.Foreground == -1
	})
	p, _ := Read(j.pid)
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Error(err)
	}
	is("stopped", func(p Process) bool { return p.Stopped && !p.Dead })
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	is("dead", func(p Process) bool { return p.Dead && !p.Stopped })
}

// A process whose first thread has ended is a zombie by its row, and runs.
func TestFirstThreadEnds(t *testing.T) {
	need(t, "python3")
	script := "import ctypes, threading, time\n" +
		"threading.Thread(target=lambda: time.sleep(300)).start()\nctypes.CDLL(None).syscall(%d, 0)"
	j := start(t, false, exec.Command("sh", "-c", "python3 -c '"+fmt.Sprintf(script, syscall.SYS_EXIT)+"'; true"))
	var p Process
	if !eventually(hang, func() bool {
		all := Below(j.pid)
		if len(all) != 1 {
			return false
		}
		p = all[0]
		b, _ := os.ReadFile(processDir(p.PID) + "/stat")
		return strings.Contains(string(b), ") Z ")
	}) {
		t.Fatalf("no such process: %+v %s", p, j.output)
	}
	if p.Dead {
		t.Errorf("is taken for dead: %+v", p)
	}
	if err := p.Signal(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if !eventually(hang, func() bool { return len(Below(j.pid)) == 0 }) {
		t.Errorf("is not taken for dead: %+v", Below(j.pid))
	}
}

func TestSignalReachesNobodyElse(t *testing.T) {
	j := start(t, false, exec.Command("sleep", "300"))
	p, _ := Read(j.pid)
	for name, wrong := range map[string]Process{
		"number reused": {PID: p.PID, Born: p.Born + 1},
		"nobody":        {},
		"a group":       {PID: -p.PID, Born: p.Born},
		"gone":          {PID: 1 << 30, Born: 1},
	} {
		if err := wrong.Signal(syscall.SIGKILL); !errors.Is(err, os.ErrProcessDone) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if now, ok := Read(j.pid); !ok || now.Dead {
		t.Error("was killed")
	}
}

func TestBelow(t *testing.T) {
	const script = `sleep 300 & (sleep 301 & exec sleep 302) & sh -c "sleep 303; true" & setsid sh -c "sleep 304; true" & wait`
	j := start(t, false, exec.Command("sh", "-c", script))
	names := func() (names []string) {
		for _, p := range Below(j.pid) {
			names = append(names, CommandLine(p.PID))
		}
		slices.Sort(names)
		return names
	}
	want := []string{"sh -c sleep 303; true", "sh -c sleep 304; true",
		"sleep 300", "sleep 301", "sleep 302", "sleep 303", "sleep 304"}
	if !eventually(hang, func() bool { return slices.Equal(names(), want) }) {
		t.Errorf("got %q", names())
	}
	walked, sifted := Below(j.pid), living(sift(j.pid))
	order := func(p, q Process) int { return p.PID - q.PID }
	slices.SortFunc(walked, order)
	slices.SortFunc(sifted, order)
	if !slices.EqualFunc(walked, sifted, unmoved) {
		t.Errorf("walked %+v\nsifted %+v", walked, sifted)
	}
}

// Who is somebody's child through another thread than the first is found too.
func TestBelowThreads(t *testing.T) {
	cmd := exec.Command("sleep", "300")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if !slices.ContainsFunc(Below(os.Getpid()), func(p Process) bool { return p.PID == cmd.Process.Pid }) {
		t.Errorf("%d is not in %+v", cmd.Process.Pid, Below(os.Getpid()))
	}
}

// More processes than are walked are sifted.
func TestBelowMany(t *testing.T) {
	const many = maxWalked + 20
	j := start(t, false, exec.Command("sh", "-c", fmt.Sprintf("for i in $(seq %d); do sleep 300 & done; wait", many)))
	if !eventually(hang, func() bool { return len(Below(j.pid)) == many }) {
		t.Errorf("got %d", len(Below(j.pid)))
	}
}

// A job whose processes are replaced all the time is not taken for gone. It ends with its input.
func TestBelowMoving(t *testing.T) {
	need(t, "python3")
	const script = `
import ctypes, os, select, signal, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0:
    while not select.select([0], [], [], 0.003)[0]:
        if os.fork() > 0: os._exit(0)
    os._exit(0)
print('ready', flush=True)
time.sleep(300)
`
	j := start(t, false, exec.Command("python3", "-c", script))
	if !eventually(hang, func() bool { return strings.Contains(j.output.String(), "ready") }) {
		t.Fatalf("does not start: %s", j.output)
	}
	looks, empty := 0, 0
	for ; looks < 200; looks++ { // so many that a few that come too late on a busy machine are no more than a few
		if len(Below(j.pid)) == 0 {
			empty++
		}
	}
	if empty > looks/20 {
		t.Errorf("%d of %d looks saw nobody", empty, looks)
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct{ name, argument, want string }{
		{"plain", "x", "sh -c read x x"},
		{"control characters", "\n1\x1b[2J\t", "sh -c read x  1 [2J"},
		{"turned text", "\u202egpj\u2028x", "sh -c read x  gpj x"},
		{"not UTF-8", "\xff\xfe", "sh -c read x \uFFFD"},
		{"long", strings.Repeat("é", 300), "sh -c read x " + strings.Repeat("é", 199-len("sh -c read x ")) + "…"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := start(t, false, exec.Command("sh", "-c", "read x", c.argument))
			if !eventually(hang, func() bool { return CommandLine(j.pid) == c.want }) { // it has none while it is made
				t.Errorf("got %q, want %q", CommandLine(j.pid), c.want)
			}
		})
	}
	if got := CommandLine(1 << 30); got != "" {
		t.Errorf("nobody's is %q", got)
	}
	if got := CommandLine(2); os.Getuid() == 0 && got == "" {
		t.Error("who has no arguments has no name")
	}
}

func FuzzStat(f *testing.F) {
	self, _ := os.ReadFile("/proc/self/stat")
	f.Add(string(self), "sh", 5)
	f.Add("", "a) S 1 1 1 (b", 1)
	f.Add("1 (", ") Z 0 0\n9 (x", 99)
	f.Fuzz(func(t *testing.T, row, name string, pid int) {
		if p, ok := parseStat([]byte(row)); ok {
			if p.PID <= 0 || strings.ContainsFunc(p.Name, unicode.IsControl) {
				t.Errorf("%q is %+v", row, p)
			}
		} else if p != (Process{}) {
			t.Errorf("%q is %+v though it is none", row, p)
		}
		made := fmt.Sprintf("%d (%s) T 2 3 4 34816 6 4194304 8 9 10 11 12 13 14 15 16 17 1 19 20 21 22\n", pid, name)
		p, ok := parseStat([]byte(made))
		want := Process{PID: pid, Parent: 2, Group: 3, Session: 4, Foreground: 6, CPU: 25, Born: 20, Stopped: true,
			terminal: 34816, threads: 1, Name: oneLine(name)}
		if ok != (pid > 0) || ok && p != want {
			t.Errorf("%q is %+v, %v", made, p, ok)
		}
	})
}
