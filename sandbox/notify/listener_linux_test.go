package notify

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func continues(Attempt) Verdict { return Allow }

func TestAttemptSaysWho(t *testing.T) {
	programs := make(chan string, 1)
	s := start(t, shared, func(a Attempt) Verdict {
		programs <- a.Program()
		return Allow
	})
	defer s.end()
	if errno, attempts := s.do("mkdir sub/x"); errno != 0 || len(attempts) != 1 ||
		!strings.HasPrefix(attempts[0].Call, "mkdir") || attempts[0].PID < 1 {
		t.Errorf("got %v, %+v", errno, attempts)
	}
	self, _ := os.ReadFile("/proc/self/comm") // the child is this binary
	if want := strings.TrimSpace(string(self)); <-programs != want {
		t.Errorf("the program is not %q", want)
	}
	if got := (Attempt{PID: -1}).Program(); got != "" {
		t.Errorf("program of nobody is %q", got)
	}
}

func TestVerdictIsTheError(t *testing.T) {
	var verdict atomic.Uint32
	s := start(t, shared, func(Attempt) Verdict { return Verdict(verdict.Load()) })
	defer s.end()
	for _, errno := range []unix.Errno{unix.EROFS, 0, unix.EPERM, 4094} {
		verdict.Store(uint32(errno))
		if got, _ := s.do("write file"); got != errno {
			t.Errorf("got %d, want %d", got, errno)
		}
	}
}

// The filter outlives its listener, and then fails closed.
func TestCloseWhileTasksLive(t *testing.T) {
	s := start(t, shared, continues)
	defer s.end()
	if got, _ := s.do("write file"); got != 0 {
		t.Fatalf("got %v before", got)
	}
	if err := s.listener.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if got, attempts := s.do("write file"); got != unix.ENOSYS || attempts != nil {
		t.Errorf("got %v, %v after; want ENOSYS and no attempt", got, attempts)
	}
	if got, _ := s.do("read file"); got != 0 {
		t.Errorf("reading: %v", got)
	}
}

// Close waits for the judge. Whether its verdict still counts is open, but the call does not go through.
func TestCloseWhileJudging(t *testing.T) {
	judging, closing := make(chan struct{}), make(chan struct{})
	s := start(t, shared, func(Attempt) Verdict {
		close(judging)
		<-closing
		return Verdict(unix.EDOM)
	})
	defer s.end()
	s.send("write file")
	<-judging
	closed := make(chan error)
	go func() { closed <- s.listener.Close() }()
	select {
	case <-s.listener.done:
		t.Error("ended while the judge was at it")
	default:
	}
	close(closing)
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
	if got := s.result(); got != unix.EDOM && got != unix.ENOSYS {
		t.Errorf("got %v, want EDOM or ENOSYS", got)
	}
}

func TestCallerDiesBeforeTheVerdict(t *testing.T) {
	var s *supervised
	ready := make(chan struct{})
	s = start(t, shared, func(Attempt) Verdict {
		<-ready
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait() // gone, not only told to go
		return Verdict(unix.EPERM)
	})
	close(ready)
	s.send("write file")
	<-s.listener.done
	if err := s.listener.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	unix.Close(s.socket)
}

// Callers that die at any moment, between being read and being judged too, end the listener without an error, and
// leave neither goroutine nor descriptor.
func TestNothingIsLeft(t *testing.T) {
	start(t, shared, continues).end() // opens what the runtime keeps
	goroutines, fds := runtime.NumGoroutine(), openFDs(t)
	var all sync.WaitGroup
	for range 12 {
		enough := make(chan struct{})
		var seen int
		s := start(t, shared, func(Attempt) Verdict {
			if seen++; seen == 20 {
				close(enough)
			}
			return Allow
		})
		s.send("spin 1000000 file")
		all.Go(func() {
			<-enough
			_ = s.cmd.Process.Kill()
			<-s.listener.done
			if err := s.listener.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			_ = s.cmd.Wait()
			unix.Close(s.socket)
		})
	}
	all.Wait()
	nothingMore(t, goroutines, fds)
}

// nothingMore waits until there are no more goroutines and descriptors than there were: a goroutine that told its end may
// have its last instructions to go.
func nothingMore(t *testing.T, goroutines, fds int) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines || openFDs(t) > fds; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%d goroutines and %d descriptors, %d and %d before", runtime.NumGoroutine(), openFDs(t), goroutines, fds)
		}
	}
}

func openFDs(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// A process may change the name while it is read: what is judged is then one of its texts, or a mixture, and no more.
func TestNameChangesMeanwhile(t *testing.T) {
	var s *supervised
	s = start(t, shared, guard(func() string { return s.dir }))
	defer s.end()
	errno, attempts := s.do("race .git/hooks/pre-commit sub/deep/an-other-name")
	if errno != 0 || len(attempts) == 0 {
		t.Errorf("got %v, %d attempts", errno, len(attempts))
	}
	if _, err := os.Lstat(s.dir + "/.git/hooks/pre-commit"); err == nil {
		t.Error("the name was made")
	}
}

func TestServeRefuses(t *testing.T) {
	if _, err := Serve(-1, Judges{Name: continues}); !errors.Is(err, unix.EBADF) {
		t.Errorf("got %v, want EBADF", err)
	}
	// Something that is no listener is found out by the first receive.
	var fds [2]int
	must(t, unix.Pipe2(fds[:], unix.O_CLOEXEC))
	defer unix.Close(fds[1])
	l, err := Serve(fds[0], Judges{Name: continues})
	must(t, err)
	if _, err := unix.Write(fds[1], []byte("x")); err != nil {
		t.Fatal(err)
	}
	<-l.done
	if err := l.Close(); !errors.Is(err, unix.ENOTTY) {
		t.Errorf("got %v, want ENOTTY", err)
	}
}

func BenchmarkOpenClose(b *testing.B) {
	for _, bench := range []struct{ name, mode, path string }{
		{"native", native, "file"},
		{"name", shared, "file"},
		{"relative", shared, "sub/deep/file"},
		{"absolute", shared, "$/sub/deep/file"},
		{"link", shared, "sub/link"},
		{"namespaces", separate, "$/sub/deep/file"},
	} {
		b.Run(bench.name, func(b *testing.B) {
			s := start(b, bench.mode, continues)
			defer s.end()
			s.do("open sub/deep/file")
			s.do("symlink deep/file sub/link")
			b.ResetTimer()
			if errno, _ := s.do(fmt.Sprintf("spin %d %s", b.N, bench.path)); errno != 0 {
				b.Fatal(errno)
			}
			b.StopTimer()
		})
	}
}
