package sandbox

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestCommandsAreNicer: where commands and the host want the same processor, the host has it first. This holds for what a command
// starts, too, and where the kernel groups processes by session also for that group, soon after the command started.
func TestCommandsAreNicer(t *testing.T) {
	own, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 for a niceness of 0
	if err != nil {
		t.Fatal(err)
	}
	want := strconv.Itoa(min(20-own+5, 19))
	for _, level := range []Level{Full, LandlockNotify, Landlock, None} {
		t.Run(string(level), func(t *testing.T) {
			t.Parallel()
			access := Workspace
			if level == None {
				access = Unconfined
			}
			b := newBench(t, func(o *Options) { o.Level = level })
			if r := b.run(t, access, "bash -c nice"); r.out != want {
				t.Errorf("niceness %q, want %s; %v", r.out, want, r.err)
			}
			if _, err := os.Stat("/proc/self/autogroup"); err != nil {
				t.Skip("the kernel does not group processes by session")
			}
			r := b.run(t, access, `for ((i = 0; i < 3000; i++)); do read -r group < /proc/self/autogroup
				[[ $group == *" nice `+want+`" ]] && break; sleep 0.02; done; echo "$group"`)
			if !strings.HasSuffix(r.out, " nice "+want) {
				t.Errorf("the session's group is %q, want niceness %s; %v", r.out, want, r.err)
			}
		})
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
