package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"toolhost/cmd/toolhost/testdata/sessiontest"
)

// desk is a terminal with a call on it.
type desk struct {
	t    *testing.T
	tty  *os.File
	cmd  *exec.Cmd
	mu   sync.Mutex
	said strings.Builder
}

// startCall runs toolhost call on a terminal of its own. Text that is typed before it starts is passed as early.
func startCall(t *testing.T, place sessiontest.Place, input, early string) *desk {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer slave.Close()
	if _, err := master.WriteString(early); err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, tty: master, cmd: exec.Command(toolhostProgram(t), "call", "shell", input, "--workspace", filepath.Join(string(place), "ws"))}
	d.cmd.Env = append(os.Environ(), place.Environ()...)
	d.cmd.Stdin, d.cmd.Stdout, d.cmd.Stderr = slave, slave, slave
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() { // ends with the terminal
		defer close(read)
		_, _ = io.Copy(d, master)
	}()
	t.Cleanup(func() {
		_ = d.cmd.Process.Kill()
		_ = master.Close()
		<-read
	})
	return d
}

// Write takes what the call prints.
func (d *desk) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said.Write(b)
}

func (d *desk) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said.String()
}

// until waits until the text is there.
func (d *desk) until(text string) {
	d.t.Helper()
	for begun := time.Now(); !strings.Contains(d.text(), text); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > patience {
			d.t.Fatalf("%q is not said:\n%s", text, d.text())
		}
	}
}

// types types a line, once more as often as it came too quickly.
func (d *desk) types(line string) {
	for quick := 0; ; quick++ {
		if _, err := d.tty.WriteString(line + "\n"); err != nil {
			d.t.Fatal(err)
		}
		for begun := time.Now(); time.Since(begun) < time.Second && strings.Count(d.text(), "too quick") <= quick; time.Sleep(5 * time.Millisecond) {
			if strings.Contains(d.text(), "has ended") {
				return
			}
		}
		if strings.Count(d.text(), "too quick") <= quick {
			return
		}
		time.Sleep(350 * time.Millisecond)
	}
}

// TestCallAsksOnItsTerminal: a call that asks is asked about on the terminal that it stands on; text that was typed before is no answer.
func TestCallAsksOnItsTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, early, answer, says string
		code                      int
		made                      bool
	}{
		{"yes", "", "y", "you allowed it once", exitOK, true},
		{"no, with a reason", "", "n not today", "said no: not today", exitNotAllowed, false},
		{"typed ahead", "y\ny\n", "n", "you denied it", exitNotAllowed, false},
		{"the end of input", "", "\x04", "nobody answered at the terminal", exitCanceled, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			place := realPlace(t)
			d := startCall(t, place, `{"command":"touch made"}`, c.early)
			d.until("answers: y, ")
			if text := d.text(); !strings.Contains(text, "prompt 1: shell asks: writes made") || strings.Contains(text, "nobody can be asked") {
				t.Errorf("it says\n%s", text)
			}
			d.types(c.answer)
			err := d.cmd.Wait()
			if code := d.cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("exit code %d, want %d: %v\n%s", code, c.code, err, d.text())
			}
			d.until(c.says)
			if _, err := os.Stat(filepath.Join(string(place), "ws", "made")); (err == nil) != c.made {
				t.Errorf("the file is there: %v", err == nil)
			}
		})
	}
}
