package sandbox

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// heldBy returns the number of the holder's process.
func heldBy(t *testing.T, b *bench) int {
	t.Helper()
	if err := b.Make(); err != nil {
		t.Fatal(err)
	}
	h, err := b.hold()
	if err != nil {
		t.Fatal(err)
	}
	return h.process.Pid
}

// TestStoppedHolderGoesOn: a holder that somebody stopped goes on for the next command, and what runs beside it is not lost.
func TestStoppedHolderGoesOn(t *testing.T) {
	b := newBench(t, nil)
	b.name = "j1"
	beside := b.start(t, Profile{Access: Workspace}, "touch p; exec sleep 77101")
	b.await(t, "p")
	pid := heldBy(t, b)
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	b.name = "j2"
	if r := b.run(t, Workspace, "echo ran"); r.out != "ran" || r.err != nil {
		t.Errorf("%q, %v", r.out, r.err)
	}
	if heldBy(t, b) != pid || beside.Ended() != nil {
		t.Error("the holder was replaced, and the other command ended with it")
	}
}

// TestDeadHolderIsReplaced: a command whose holder was killed runs in the sandbox of a new one, and names those that ended with the old one.
func TestDeadHolderIsReplaced(t *testing.T) {
	b := newBench(t, nil)
	b.name = "j1"
	beside := b.start(t, Profile{Access: Workspace}, "touch p; exec sleep 77102")
	b.await(t, "p")
	pid := heldBy(t, b)
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	b.name = "j2"
	next := b.start(t, Profile{Access: Workspace}, "touch ran")
	b.await(t, "ran")
	for name, p := range map[string]*Process{"the other": beside, "the next": next} {
		select {
		case <-p.Gone():
		case <-time.After(hang):
			t.Fatalf("%s lives", name)
		}
		if got, want := p.Ended().WithHolder, p == beside; got != want {
			t.Errorf("%s ended with its holder: %v", name, got)
		}
	}
	if heldBy(t, b) == pid {
		t.Error("the dead holder is still asked")
	}
}

// TestStoppedHelperIsKilled: a command whose helper somebody stopped is ended all the same.
func TestStoppedHelperIsKilled(t *testing.T) {
	for _, level := range []Level{Full, Landlock} {
		t.Run(string(level), func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.Level = level })
			p := b.start(t, Profile{Access: Workspace}, "touch p; exec sleep 77103")
			b.await(t, "p")
			if err := unix.Kill(p.PID(), unix.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			p.Kill()
			select {
			case <-p.Gone():
			case <-time.After(hang):
				t.Error("it lives")
			}
		})
	}
}

// TestPulse: a process that waits for something else hangs, and one that works does not, also after it was stopped.
func TestPulse(t *testing.T) {
	for _, tt := range []struct {
		line  string
		stops bool
		hangs bool
	}{{"read x", false, true}, {"while :; do :; done", false, false}, {"while :; do :; done", true, false}} {
		c := exec.Command("bash", "-c", "echo began; "+tt.line)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, _ := c.StdoutPipe()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = out.Read(make([]byte, 6))
		if tt.stops {
			_ = c.Process.Signal(unix.SIGSTOP)
		}
		p := pulse{pid: func() int { return c.Process.Pid }, proceed: func() { _ = c.Process.Signal(unix.SIGCONT) }}
		hangs := false
		for looks := 0; looks < 4 || tt.hangs && !hangs && looks < 200; looks++ {
			hangs = p.hangs()
			time.Sleep(silentFor)
			if hangs {
				break
			}
		}
		if hangs != tt.hangs {
			t.Errorf("%s: it hangs: %v", tt.line, hangs)
		}
		_ = c.Process.Kill()
		_ = in.Close()
		_ = c.Wait()
	}
}

// TestLateCommandDoesNotStart: a command whose call has ended meanwhile is not started.
func TestLateCommandDoesNotStart(t *testing.T) {
	b := newBench(t, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	late := errors.New("late")
	cancel(late)
	dir, err := os.Open(b.ws)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	_, err = b.Start(ctx, &Command{Path: "/bin/touch", Args: []string{"touch", "late"}, Dir: b.ws, At: dir, Streams: [3]*os.File{null, null, null}, Profile: Profile{Access: Workspace}})
	if !errors.Is(err, late) {
		t.Errorf("%v, want the cause of the end", err)
	}
	if _, err := os.Stat(b.ws + "/late"); err == nil {
		t.Error("it ran")
	}
}
