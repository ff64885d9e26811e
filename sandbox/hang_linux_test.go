package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

// TestCanceledStartLeavesNothing: whenever a call ends while its command starts, nothing of the command goes on, also what it has put into a
// session of its own.
func TestCanceledStartLeavesNothing(t *testing.T) {
	for i, c := range []struct {
		level  Level
		access Access
	}{{Full, Workspace}, {LandlockNotify, Workspace}, {Full, Unconfined}} {
		t.Run(fmt.Sprint(c.level, " ", c.access), func(t *testing.T) {
			b := newBench(t, func(o *Options) { o.Level = c.level })
			b.run(t, Workspace, "true") // starts what stays for the session
			dir, err := os.Open(b.ws)
			must(t, err)
			defer dir.Close()
			null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
			must(t, err)
			defer null.Close()
			mark := fmt.Sprintf("77%d.%d1", os.Getpid(), i)
			left := func() (pids []int) {
				names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
				for _, name := range names {
					if line, _ := os.ReadFile(name); bytes.Contains(line, []byte(mark)) {
						pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
						pids = append(pids, pid)
					}
				}
				return pids
			}
			line := "setsid sleep " + mark + " & setsid sleep " + mark + " & wait"
			canceled := 0
			for i := range 100 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%25)*500*time.Microsecond)
				p, err := b.Start(ctx, &Command{Path: "/bin/bash", Args: []string{"bash", "--norc", "-c", line}, Dir: b.ws, At: dir,
					Env: []string{"PATH=" + os.Getenv("PATH")}, Streams: [3]*os.File{null, null, null}, Profile: Profile{Access: c.access}})
				cancel()
				if err == nil {
					p.Kill()
					over(t, "its end", p.Gone())
				} else {
					canceled++
				}
			}
			for limit := time.Now().Add(hang); len(left()) > 0; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(limit) {
					t.Errorf("%d starts were canceled, and %v go on", canceled, left())
					for _, pid := range left() {
						_ = unix.Kill(pid, unix.SIGKILL) // ours: no other has such a line
					}
					break
				}
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
