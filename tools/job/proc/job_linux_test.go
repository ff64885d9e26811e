package proc

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// job is a command that a test started, with an input that stays open until the test ends.
type job struct {
	pid    int
	input  Input
	feed   *os.File // what is written here is what the command reads
	output *tail
}

// tail keeps what a command says, for the message of a test that fails.
type tail struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// all are the processes of the job.
func (j job) all() []Process {
	top, ok := Read(j.pid)
	if !ok {
		return Below(j.pid)
	}
	return append([]Process{top}, Below(j.pid)...)
}

// waits looks at the job once.
func (j job) waits() bool {
	_, ok := Waiting(j.all(), j.input)
	return ok
}

// start runs a command in a session of its own, with a pipe or a terminal for input. The test ends what is left of it.
func start(t testing.TB, tty bool, cmd *exec.Cmd) job {
	t.Helper()
	return startWith(t, tty, cmd, func(*syscall.SysProcAttr) {})
}

// startWith is start with further attributes.
func startWith(t testing.TB, tty bool, cmd *exec.Cmd, more func(*syscall.SysProcAttr)) job {
	t.Helper()
	j := job{output: &tail{}}
	var far *os.File
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if tty {
		j.feed, far = terminal(t)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = far, far, far
		cmd.SysProcAttr.Setctty = true
		go func() { _, _ = j.feed.WriteTo(j.output) }() // until the terminal is closed
	} else {
		var err error
		if far, j.feed, err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = far, j.output, j.output
		cmd.WaitDelay = time.Second
	}
	more(cmd.SysProcAttr)
	var err error
	if j.input, err = InputOf(far); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("cannot be started here: %v", err)
	}
	far.Close()
	j.pid = cmd.Process.Pid
	t.Cleanup(func() {
		for _, p := range j.all() {
			_ = p.Signal(syscall.SIGKILL)
		}
		j.feed.Close()
		_ = cmd.Wait()
	})
	return j
}

// terminal opens a pair of pseudo-terminals.
func terminal(t testing.TB) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	return master, slave
}

// hang is how long is waited for what comes at once where little else runs: that it comes is the point, not when.
const hang = time.Minute

// eventually polls until is holds, for a bounded time.
func eventually(limit time.Duration, is func() bool) bool {
	for over := time.Now().Add(limit); time.Now().Before(over); time.Sleep(5 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return is()
}

// need skips a test when a program is missing.
func need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}
