package output

import (
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal opens both ends of a new terminal.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	raw, err := master.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var n int
	err = raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = slave.Close() })
	return master, slave
}

// A terminal ends with EIO, and is drained as a pipe is.
func TestPumpOfATerminal(t *testing.T) {
	master, slave := terminal(t)
	l := said(Options{})
	p := Pump(l, Stdout, master)
	write(t, slave, "name? ")
	if !Drain(-time.Second, p) || l.Stats().LastLine != "name?" {
		t.Errorf("%+v", l.Stats())
	}
	write(t, slave, "bye\n")
	if err := slave.Close(); err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if got := l.Read(Request{}).Text; got != "name? bye\n" || p.Open() {
		t.Errorf("read %q", got)
	}
}
