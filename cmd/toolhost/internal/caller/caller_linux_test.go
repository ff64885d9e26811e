package caller

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTerminal compares the name of a terminal with that of its file, for a process on a new pseudo-terminal, and for one on none.
func TestTerminal(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	defer master.Close()
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("pts", strconv.Itoa(number))
	slave, err := os.OpenFile("/dev/"+name, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("its other end cannot be opened here: ", err)
	}
	defer slave.Close()
	for want, terminal := range map[string]*os.File{name: slave, "": nil} {
		cmd := exec.Command("sleep", "60")
		cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
		if terminal != nil {
			cmd.Stdin, cmd.SysProcAttr.Setctty = terminal, true
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if got := Terminal(cmd.Process.Pid); got != want {
			t.Errorf("terminal %q, want %q", got, want)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
