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

	"toolhost/tools/job"
	"toolhost/tools/job/proc"
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

// No descriptor, goroutine or zombie is left behind.
func TestNothingLeaks(t *testing.T) {
	b := newBenchOf(t, Options{}, job.Options{Drain: time.Millisecond})
	run := func() {
		b.run(t, cmd("echo hi"))
		b.run(t, cmd("exit 3"))
		b.run(t, map[string]any{"command": "true", "cwd": "nowhere"})
		for _, in := range []map[string]any{
			{"command": "sleep 60", "timeout_ms": 1}, cmd("sleep 60 & :"), {"command": "cat", "tty": true, "timeout_ms": 1}, cmd("read x"),
		} {
			if _, _, err := b.use(t, killTool, map[string]any{"job": b.run(t, in).structuredOutput.Job}); err != nil {
				t.Error(err)
			}
		}
	}
	run() // what is made once
	fds, routines := openFiles(t), runtime.NumGoroutine()
	for range 10 {
		run()
	}
	for deadline := time.Now().Add(time.Minute); openFiles(t) > fds || runtime.NumGoroutine() > routines; { // the last may be on its last statement
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors and %d goroutines, %d and %d before", openFiles(t), runtime.NumGoroutine(), fds, routines)
		}
		time.Sleep(time.Millisecond)
	}
	for deadline := time.Now().Add(time.Minute); len(proc.Below(os.Getpid())) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("processes are left: %v", proc.Below(os.Getpid()))
		}
		time.Sleep(time.Millisecond) // nobody waits for the helper of a command that has ended
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
		&os.ProcAttr{Env: append(os.Environ(), "SHELL_TEST_HOST="+dir, "TMPDIR="+dir)}) // it is killed: this test removes its files
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{dir: dir}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
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
