package hook

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestHookDiesWithHost: a hook does not outlive a host that was killed.
func TestHookDiesWithHost(t *testing.T) {
	if os.Getenv("HOOK_TEST_HOST") != "" {
		r, h := script(t, PreToolUse, `echo $$ >"$PIPE"; exec sleep 100`)
		h.Env = map[string]string{"PIPE": os.Getenv("HOOK_TEST_HOST")}
		_ = runOne(t.Context(), r, h, `{}`)
		return
	}
	dir := t.TempDir()
	pipe := dir + "/pid"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	host := exec.Command(os.Args[0], "-test.run=^TestHookDiesWithHost$")
	host.Env = append(os.Environ(), "HOOK_TEST_HOST="+pipe, "TMPDIR="+dir) // it is killed: this test removes its files
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR, 0) // for writing as well: it does not wait for a hook that never comes
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_ = f.SetReadDeadline(time.Now().Add(hang))
	line, err := bufio.NewReader(f).ReadString('\n')
	pid, convErr := strconv.Atoi(strings.TrimSpace(line))
	if err := errors.Join(err, convErr, host.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	for limit := time.Now().Add(hang); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") { // gone, or not yet reaped by whoever took it over
			return
		}
	}
	t.Errorf("hook %d is still there", pid)
}

// TestHookOutlivesThreads: threads of the host that end take no hook with them, although the kernel ends a process with
// the thread that started it.
func TestHookOutlivesThreads(t *testing.T) {
	r, h := script(t, PreToolUse, `sleep 0.3; echo '{"message":"alive"}'`)
	hooks := make([]*Hook, maxParallel)
	for i := range hooks {
		hooks[i] = h
	}
	ended := make(chan []Run)
	go func() {
		runs := r.Prepare(hooks, "inv_1", "test.tool")
		r.Run(t.Context(), runs, []byte(`{}`))
		ended <- runs
	}()
	var threads sync.WaitGroup
	for range 100 {
		threads.Go(func() {
			runtime.LockOSThread() // and it ends with its goroutine
			time.Sleep(time.Millisecond)
		})
		time.Sleep(2 * time.Millisecond)
	}
	threads.Wait()
	for _, run := range <-ended {
		if run.Err != nil || run.Answer.Message != "alive" {
			t.Errorf("answer %+v, failure %v", run.Answer, run.Err)
		}
	}
}
