package shell

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The pipes that a command gets block, as programs expect, and nothing else of the host's is open in it.
func TestDescriptorsOfACommand(t *testing.T) {
	inherited, err := syscall.Dup(0) // open across exec, as what a careless client leaves open
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	b := newBench(t, Options{})
	r := b.run(t, cmd("ls /proc/self/fd"))
	r2 := b.run(t, cmd("cat /proc/self/fdinfo/1 >&2"))
	if !strings.Contains(r2.Stderr, "flags:\t01\n") {
		t.Errorf("stdout of a command has %q, want flags 01", r2.Stderr)
	}
	fds := strings.Fields(r.Stdout)
	if !slices.Equal(fds, []string{"0", "1", "2", "3"}) {
		t.Errorf("open in ls: %q, want 0 1 2 and its own 3", fds) // ls has the directory open
	}
}

// A process that left the session and holds the output does not hang the call; it is named.
func TestHolderIsNamed(t *testing.T) {
	b := newBench(t, Options{Drain: 20 * time.Millisecond})
	r := b.run(t, cmd(`setsid sleep 60 & echo $! > pid
		until grep -q sleep /proc/$!/comm; do sleep 0.01; done; echo hi`))
	pid := b.readPID(t, "pid")
	defer syscall.Kill(pid, syscall.SIGKILL)
	if r.Stdout != "hi\n" || r.err != nil {
		t.Fatalf("%q, %v", r.Stdout, r.err)
	}
	if want := (holder{PID: pid, Command: "sleep 60"}); len(r.StillHeldBy) != 1 || r.StillHeldBy[0] != want {
		t.Errorf("still held by %v, want %v", r.StillHeldBy, want)
	}
	if !strings.Contains(r.says(), "1 process outlived the command and still held its output") {
		t.Errorf("says %q", r.says())
	}
}

// No descriptor, goroutine or zombie is left behind.
func TestNothingLeaks(t *testing.T) {
	b := newBench(t, Options{Drain: time.Millisecond})
	run := func() {
		b.run(t, cmd("echo hi"))
		b.run(t, map[string]any{"command": "sleep 60", "timeout_ms": 1})
		b.run(t, cmd("exit 3"))
		b.run(t, cmd("sleep 60 & :"))
		b.run(t, map[string]any{"command": "true", "cwd": "nowhere"})
	}
	run() // what is made once
	fds, routines := openFiles(t), runtime.NumGoroutine()
	for range 10 {
		run()
	}
	if now := openFiles(t); now > fds {
		t.Errorf("%d descriptors, %d before", now, fds)
	}
	for i := 0; runtime.NumGoroutine() > routines; i++ { // the last may be on its last statement
		if i == 1000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), routines)
		}
		time.Sleep(time.Millisecond)
	}
	for _, task := range table() {
		if task.parent == os.Getpid() && task.dead {
			t.Errorf("zombie %d %s", task.pid, task.name)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// A command dies with its host, also when that is killed: the host here is this test binary.
func TestCommandDiesWithTheHost(t *testing.T) {
	if dir := os.Getenv("SHELL_TEST_HOST"); dir != "" {
		b := newBench(t, Options{})
		b.run(t, cmd("echo $$ > "+dir+"/pid.new; mv "+dir+"/pid.new "+dir+"/pid; exec sleep 60"))
		return
	}
	dir := t.TempDir()
	host, err := os.StartProcess("/proc/self/exe", []string{"host", "-test.run=^TestCommandDiesWithTheHost$"},
		&os.ProcAttr{Env: append(os.Environ(), "SHELL_TEST_HOST="+dir)})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: dir}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "pid")); err == nil {
			break
		}
	}
	if err := host.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := host.Wait(); err != nil {
		t.Fatal(err)
	}
	gone(t, b.readPID(t, "pid"))
}

// BenchmarkTable is the search of the whole process table, which commands of less than brief are spared.
func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		table()
	}
	b.ReportMetric(float64(len(table())), "processes")
}
