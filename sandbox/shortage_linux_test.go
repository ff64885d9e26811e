package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/sandbox/enter"
)

// shortOfFiles tells a test in a child process that it may use up its descriptors.
const shortOfFiles = "TOOLHOST_TEST_SHORT_OF_FILES"

// alone runs a test in a process of its own, whose descriptors are few. It reports whether this is that process.
func alone(t *testing.T) bool {
	t.Helper()
	if os.Getenv(shortOfFiles) == "" {
		c := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
		c.Env = append(os.Environ(), shortOfFiles+"=1")
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") && !strings.Contains(string(out), "--- SKIP") {
			t.Errorf("%v: %s", err, out)
		}
		return false
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 200, Max: 200}); err != nil {
		t.Fatal(err)
	}
	return true
}

// useUp opens files until there is room for only so many more.
func useUp(t *testing.T, free int) (restore func()) {
	t.Helper()
	var open []int
	for {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			break
		}
		open = append(open, fd)
	}
	for range min(free, len(open)) {
		unix.Close(open[len(open)-1])
		open = open[:len(open)-1]
	}
	return func() {
		for _, fd := range open {
			unix.Close(fd)
		}
	}
}

// A machine that was short of descriptors for a moment is not said to hold no sandbox: nothing of that is kept, and the next probe
// finds what there is.
func TestProbeShortOfDescriptors(t *testing.T) {
	if !alone(t) {
		return
	}
	whole := Probe(t.TempDir())
	if whole.Level != Full {
		t.Skip("this machine holds no sandbox: ", whole.Missing)
	}
	dir, short := t.TempDir(), 0
	for free := 0; free < 40; free += 3 {
		restore := useUp(t, free)
		found := ProbeOnce(dir)
		restore()
		if found.Level != Full {
			short++
			if !found.Momentary {
				t.Errorf("with %d descriptors: %s for good: %s", free, found.Level, found.Why())
			}
			if again := ProbeNow(dir); again.Level != Full {
				t.Fatalf("after %d descriptors: %s: %s", free, again.Level, again.Why())
			}
		} else {
			os.Remove(dir + "/" + levelFile)
		}
	}
	if short == 0 {
		t.Error("no probe was short of descriptors: this tests nothing")
	}
}

// A command that could not be started for want of descriptors says so, whatever it was at, and the next one starts.
func TestStartShortOfDescriptors(t *testing.T) {
	if !alone(t) {
		return
	}
	b := newBench(t, nil)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	ws, err := os.Open(b.ws)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	short := 0
	for free := range 60 {
		restore := useUp(t, free)
		p, err := b.Start(context.Background(), &Command{Path: "/bin/true", Args: []string{"true"}, Dir: b.ws, At: ws, Streams: [3]*os.File{null, null, null}, Profile: Profile{Access: Workspace}})
		if err == nil {
			<-p.Gone()
		}
		restore()
		if err != nil {
			short++
			if e := agenttool.AsError(err, agenttool.ExecutionFailed); e.Class != agenttool.DependencyUnavailable || e.Code != agenttool.ResourceExhausted || !errors.Is(e, unix.EMFILE) {
				t.Errorf("with %d descriptors: %s/%s: %s", free, e.Class, e.Code, e.Message)
			}
		}
	}
	if r := b.run(t, Workspace, "true"); r.err != nil || short == 0 {
		t.Errorf("%d were short; then: %v", short, r.err)
	}
}

// A command that runs while no descriptor is left is told so by its own calls, and when it fails, what it could not do is known.
func TestCallsShortOfDescriptors(t *testing.T) {
	if !alone(t) {
		return
	}
	b := newBench(t, nil)
	var stdin, out [2]*os.File
	for _, pipe := range []*[2]*os.File{&stdin, &out} {
		var err error
		if pipe[0], pipe[1], err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
		defer pipe[0].Close()
		defer pipe[1].Close()
	}
	ws, err := os.Open(b.ws)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	line := "echo begun; read x; mkdir made"
	p, err := b.Start(context.Background(), &Command{Path: "/bin/sh", Args: []string{"sh", "-c", line}, Dir: b.ws, At: ws,
		Streams: [3]*os.File{stdin[0], out[1], out[1]}, Profile: Profile{Access: Workspace}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out[0].Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	restore := useUp(t, 0)
	fmt.Fprintln(stdin[1])
	select {
	case <-p.Gone():
	case <-time.After(time.Minute):
		t.Error("the command does not end")
		p.Kill()
	}
	restore()
	<-p.Gone()
	if e := p.Ended(); b.Level() != Landlock && !errors.Is(e.Unserved, unix.EMFILE) {
		t.Errorf("%+v", e)
	}
}

// TestListener: where the filter's listener cannot be taken the command does not run, it takes no more than the one descriptor, and a command
// whose calls nobody serves any more ends. A test is in the helper's place.
func TestListener(t *testing.T) {
	if !alone(t) {
		return
	}
	b := newBench(t, nil)
	if err := b.Make(); err != nil {
		t.Fatal(err)
	}
	run := func(free int) (p *Process) {
		ours, theirs, err := socketPair()
		if err != nil {
			t.Fatal(err)
		}
		defer theirs.Close()
		p = newProcess(&Command{})
		p.helper.control, p.session = ours, b.Session
		var pipe [2]int
		if err := unix.Pipe(pipe[:]); err != nil {
			t.Fatal(err)
		}
		if _, err := unix.Write(pipe[1], []byte("it is no listener")); err != nil {
			t.Fatal(err)
		}
		if err := unix.Sendmsg(int(theirs.Fd()), []byte{enter.SaysListener}, unix.UnixRights(pipe[0]), nil, 0); err != nil {
			t.Fatal(err)
		}
		restore := useUp(t, free)
		for _, said := range []byte{enter.SaysStarting, enter.SaysStarted} {
			if _, err := unix.Write(int(theirs.Fd()), []byte{said}); err != nil {
				t.Fatal(err)
			}
		}
		done := make(chan struct{})
		go func() { // the helper ends when its socket is closed
			defer close(done)
			_, _ = unix.Read(int(theirs.Fd()), make([]byte, 1))
			_ = unix.Shutdown(int(theirs.Fd()), unix.SHUT_RDWR)
		}()
		go p.listen()
		select {
		case <-p.Gone():
			<-done
		case <-time.After(time.Minute):
			t.Fatalf("with %d descriptors: the command waits for ever", free)
		}
		restore()
		unix.Close(pipe[0])
		unix.Close(pipe[1])
		return p
	}
	if err := <-run(0).started; !errors.Is(err, unix.EMFILE) || !agenttool.IsShortage(err) {
		t.Errorf("no listener: %v", err)
	}
	p := run(1)
	if err := <-p.started; err != nil {
		t.Errorf("with a descriptor: %v", err)
	}
	if e := p.Ended(); e.Unserved == nil || !e.Status.Signaled() {
		t.Errorf("no longer served: %+v", e)
	}
}

// TestHolderShortOfDescriptors: a holder, or a helper, that has no room for the descriptors that it gets says so, and the next command starts. No
// helper begins with some of them.
func TestHolderShortOfDescriptors(t *testing.T) {
	b := newBench(t, nil)
	if b.Level() != Full {
		t.Skip("level ", b.Level(), " has no holder")
	}
	if r := b.run(t, Workspace, "true"); r.err != nil {
		t.Fatal(r.err)
	}
	h, err := b.hold()
	if err != nil {
		t.Fatal(err)
	}
	var limit unix.Rlimit
	if err := unix.Prlimit(h.process.Pid, unix.RLIMIT_NOFILE, nil, &limit); err != nil {
		t.Fatal(err)
	}
	short, begun := 0, 0
	for most := uint64(3); most < 30; most++ {
		if err := unix.Prlimit(h.process.Pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: limit.Max}, nil); err != nil {
			t.Fatal(err)
		}
		err := b.run(t, Workspace, "true").err
		switch {
		case err == nil:
			begun++
		case agenttool.AsError(err, agenttool.ExecutionFailed).Code == agenttool.ResourceExhausted && errors.Is(err, unix.EMFILE):
			short++
		default:
			t.Errorf("with a limit of %d: %v", most, err)
		}
	}
	if err := unix.Prlimit(h.process.Pid, unix.RLIMIT_NOFILE, &limit, nil); err != nil {
		t.Fatal(err)
	}
	if r := b.run(t, Workspace, "true"); r.err != nil || short == 0 || begun == 0 {
		t.Errorf("%d were short, %d began; then: %v", short, begun, r.err)
	}
}

// TestBusyDisk: a disk that did not answer in time says nothing about the machine: what failed can be tried again.
func TestBusyDisk(t *testing.T) {
	err := unavailable(fmt.Errorf("/x: %w", errStalled))
	if e := agenttool.AsError(err, agenttool.SetupRequired); e.Class != agenttool.DependencyUnavailable || !strings.Contains(e.Message, "does not answer") {
		t.Errorf("%+v", e)
	}
	if !isShortage(err) {
		t.Error("a probe would keep it as what the machine holds")
	}
}
