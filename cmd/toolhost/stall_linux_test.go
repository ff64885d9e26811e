package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/sandbox/enter"
)

// TestStalls: a host whose stderr nobody reads, and whose sandbox somebody stopped, answers its calls and ends with its input. The long form,
// with more that stalls and every door, is testdata/faults/stall.
func TestStalls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	s := startServing(t, dir, t.TempDir(), []string{"sh", "-c", `exec 2>"$0"; exec "$@"`, fullPipe(t)}, "--allow", "Shell")
	if o := s.call(1, "shell", `{"command":"echo warm"}`).Result.Result; o.Status != "succeeded" {
		t.Fatalf("%+v", o)
	}
	stopped := 0
	for _, pid := range childrenOf(s.cmd.Process.Pid) {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.HasPrefix(string(line), enter.HolderName) {
			must(t, syscall.Kill(pid, syscall.SIGSTOP))
			stopped++
		}
	}
	for n, c := range []struct {
		tool, input string
		works       bool
	}{{"shell", `{"command":"echo ran"}`, true}, {"read", `{"path":"fifo"}`, false}, {"glob", `{"pattern":"*"}`, true}} {
		began := time.Now()
		if o := s.call(n+2, c.tool, c.input).Result.Result; (o.Status == "succeeded") != c.works {
			t.Errorf("%s, with %d holders stopped: %+v", c.tool, stopped, o)
		}
		within(t, c.tool, time.Since(began), 3*time.Second, patience)
	}
	began := time.Now()
	s.in.Close()
	if _, more := s.next(); more {
		t.Error("there is output that nobody asked for")
	}
	if err := s.cmd.Wait(); err != nil {
		t.Error(err)
	}
	within(t, "the end", time.Since(began), 10*time.Second, patience)
}

// fullPipe returns the name of a pipe that is full, and that nobody reads.
func fullPipe(t *testing.T) string {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	raw, err := w.SyscallConn()
	must(t, err)
	must(t, raw.Control(func(fd uintptr) {
		for _, n := range []int{4096, 1} {
			for err := error(nil); err == nil; {
				_, err = syscall.Write(int(fd), make([]byte, n))
			}
		}
	}))
	var name string
	must(t, raw.Control(func(fd uintptr) { name = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), fd) }))
	return name
}

// childrenOf returns the children of a process.
func childrenOf(pid int) (children []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}
