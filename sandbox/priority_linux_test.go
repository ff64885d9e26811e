package sandbox

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestPriority: a command that a call waits for has the priority of the host. One in the background is nicer, with what it starts, and where
// the kernel groups processes by session that group is, soon after the command started.
func TestPriority(t *testing.T) {
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 for a niceness of 0
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range []Level{Full, LandlockNotify, Landlock, None} {
		for _, background := range []bool{false, true} {
			t.Run(fmt.Sprint(level, " background ", background), func(t *testing.T) {
				t.Parallel()
				access, want := Workspace, strconv.Itoa(20-own)
				if background {
					want = strconv.Itoa(min(20-own+5, 19))
				}
				if level == None {
					access = Unconfined
				}
				b := newBench(t, func(o *Options) { o.Level = level })
				b.background = background
				if r := b.run(t, access, "bash -c nice"); r.out != want {
					t.Errorf("niceness %q, want %s; %v", r.out, want, r.err)
				}
				if _, err := os.Stat("/proc/self/autogroup"); err != nil {
					t.Skip("the kernel does not group processes by session")
				}
				ofGroup := "0" // a session begins so
				if background {
					ofGroup = want
				}
				r := b.run(t, access, `for ((i = 0; i < 3000; i++)); do read -r group < /proc/self/autogroup
					[[ $group == *" nice `+ofGroup+`" ]] && break; sleep 0.02; done; echo "$group"`)
				if !strings.HasSuffix(r.out, " nice "+ofGroup) {
					t.Errorf("the session's group is %q, want niceness %s; %v", r.out, ofGroup, r.err)
				}
			})
		}
	}
}

// TestHelperLetsNoCommandIntoItsProc: the helper keeps a writable /proc by which it sets priorities. A command that walks through the
// descriptors of all processes, as they stand below /proc, finds no way to write there.
func TestHelperLetsNoCommandIntoItsProc(t *testing.T) {
	const walk = `exec 9</proc; for f in /proc/[0-9]*/fd/*; do { exec 8>>"$f/self/autogroup"; } 2>/dev/null && echo "$f"; done; true`
	for _, c := range []struct {
		level  Level
		access Access
		opens  bool
	}{{Full, Workspace, false}, {Full, ReadOnly, false}, {None, Unconfined, true}} {
		t.Run(string(c.level)+" "+string(c.access), func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat("/proc/self/autogroup"); err != nil {
				t.Skip("the kernel does not group processes by session")
			}
			b := newBench(t, func(o *Options) { o.Level = c.level })
			if r := b.run(t, c.access, walk); (r.out != "") != c.opens || r.err != nil {
				t.Errorf("opened by %q, want any: %v; %v", r.out, c.opens, r.err)
			}
		})
	}
}
