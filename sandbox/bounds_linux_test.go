package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// boundsOf are the rules of the bounds that ended a command.
func boundsOf(p *Process) (rules []string) {
	for _, v := range p.Violations() {
		if v.Wall == Bound {
			rules = append(rules, v.Rule)
		}
	}
	return rules
}

// boundedRun starts a command that uses too much and goes on until it is ended. It waits until it is gone, or until the kernel
// has refused it a process. Meanwhile, the host reads a file again and again.
func boundedRun(t *testing.T, b *bench, line string) (p *Process, refused bool, slowest time.Duration) {
	t.Helper()
	b.write(t, "read", "x")
	p = b.start(t, Profile{Access: Workspace}, line)
	for limit := time.Now().Add(hang); ; {
		begun := time.Now()
		if _, err := os.ReadFile(filepath.Join(b.ws, "read")); err != nil {
			t.Fatal(err)
		}
		slowest = max(slowest, time.Since(begun))
		if said, _ := os.ReadFile(filepath.Join(b.ws, "err")); strings.Contains(string(said), "fork") {
			p.Kill()
			p.await(patience)
			return p, true, slowest
		}
		select {
		case <-p.Gone():
			return p, false, slowest
		case <-time.After(time.Millisecond):
		}
		if time.Now().After(limit) {
			p.Kill()
			t.Fatal("it goes on")
		}
	}
}

// TestBounds: a command that uses more of the machine than it may is ended or refused more, and the host goes on. Each attempt
// is small, so that it harms nothing where the wall fails.
func TestBounds(t *testing.T) {
	const fewProcesses, littleMemory, littleScratch = 340, 64 << 20, 16 << 20
	for _, level := range []Level{Full, LandlockNotify, Landlock} {
		for _, tt := range []struct {
			name, line string
			want       string // the bound that ends it; the kernel may refuse processes before
			bounds     Bounds
		}{
			{"processes", `for i in $(seq 600); do sleep 600 & done 2>err; sleep 600`, "processes",
				Bounds{Processes: fewProcesses}},
			{"memory of one", `PATH=/usr/bin:/bin; python3 -c 'x = bytearray(512 << 20); import time; time.sleep(600)'`, "memory", Bounds{Memory: littleMemory}},
			{"memory of many", `PATH=/usr/bin:/bin; for i in 1 2 3 4; do python3 -c 'x = bytearray(40 << 20); import time; time.sleep(600)' & done; wait`, "memory",
				Bounds{Memory: 2 * littleMemory}},
			{"scratch", `for i in $(seq 64); do head -c 1M /dev/zero > "$TMPDIR/$i" || exit; done; sleep 600`, "scratch", Bounds{Scratch: littleScratch}},
			{"many small files", `for i in $(seq 4000); do : > "$TMPDIR/$i" || exit; done; sleep 600`, "scratch", Bounds{Scratch: 1 << 20}},
		} {
			t.Run(fmt.Sprint(level, " ", tt.name), func(t *testing.T) {
				t.Parallel()
				b := newBench(t, func(o *Options) { o.Level, o.Bounds = level, tt.bounds })
				p, refused, slowest := boundedRun(t, b, tt.line)
				t.Logf("the slowest read took %v", slowest)
				if got := boundsOf(p); !slices.Contains(got, tt.want) && !(refused && tt.want == "processes") {
					t.Errorf("ended by %q, want %q", got, tt.want)
				}
			})
		}
	}
}

// TestRunaway: a command that stays at what the session may have is ended, with the reason, and the next one runs. It is bounded in number, and in time.
func TestRunaway(t *testing.T) {
	needs(t, "perl")
	for _, level := range []Level{Full, LandlockNotify} {
		b := newBench(t, func(o *Options) { o.Level, o.Bounds = level, Bounds{Processes: 120} })
		p := b.start(t, Profile{Access: Workspace}, `PATH=/usr/bin:/bin; exec perl -e '$SIG{CHLD} = "IGNORE"; for (1 .. 3000) {
			my $p = fork; if (!defined $p) { select undef, undef, undef, .01 } elsif (!$p) { sleep 60; exit } } sleep 60'`)
		select {
		case <-p.Gone():
		case <-time.After(hang):
			p.Kill()
			t.Fatalf("%s: it goes on", level)
		}
		if got := boundsOf(p); !slices.Equal(got, []string{"processes"}) {
			t.Errorf("%s: ended by %q", level, got)
		}
		if r := b.run(t, Workspace, "echo after"); r.out != "after" {
			t.Errorf("%s: then %+v", level, r)
		}
	}
}

// TestMemoryCountsOnce: memory that forked processes share counts once.
func TestMemoryCountsOnce(t *testing.T) {
	needs(t, "python3")
	b := newBench(t, func(o *Options) { o.Bounds = Bounds{Memory: 160 << 20} })
	r := b.run(t, Workspace, `PATH=/usr/bin:/bin; python3 -c '
import os, time
held = bytearray(b"x") * (64 << 20)
for i in range(6):
    if os.fork() == 0: time.sleep(1.5); os._exit(0)
for i in range(6): os.wait()
print("well")'`)
	if r.out != "well" {
		t.Errorf("%+v", r)
	}
}

// TestOutOfMemoryScore: when memory is short, commands end before the host does.
func TestOutOfMemoryScore(t *testing.T) {
	for _, level := range []Level{Full, LandlockNotify} {
		b := newBench(t, func(o *Options) { o.Level = level })
		if r := b.run(t, Workspace, "cat /proc/self/oom_score_adj"); r.out != "900" {
			t.Errorf("%s: %q, %v", level, r.out, r.err)
		}
	}
	if own, _ := os.ReadFile("/proc/self/oom_score_adj"); strings.TrimSpace(string(own)) == "900" {
		t.Error("the host's own score is that of its commands")
	}
}

// TestLease: no command makes the person's programs wait for a file.
func TestLease(t *testing.T) {
	for _, level := range []Level{Full, LandlockNotify, Landlock} {
		b := newBench(t, func(o *Options) { o.Level = level })
		r := b.run(t, Workspace, `echo x > f; PATH=/usr/bin:/bin; python3 -c '
import fcntl
try: fcntl.fcntl(open("f"), 1024, 1); print("taken")
except OSError as e: print(e.errno)'`)
		if r.out != fmt.Sprint(int(unix.EPERM)) {
			t.Errorf("%s: %q", level, r.out)
		}
	}
}

// TestControlGroup: where a group can be made, it bounds the session; where none can, nothing is left behind.
func TestControlGroup(t *testing.T) {
	root := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(root, "slice/own"), 0o755))
	bounds := Bounds{Processes: 100, Memory: 1 << 20}
	if g := group(bounds, root, "/slice/own"); g.dir != "" {
		t.Errorf("made %s where there are no groups", g.dir)
	}
	control := filepath.Join(root, "slice/cgroup.subtree_control")
	for given, want := range map[string]map[string]string{
		"memory pids": {"memory.max": "1048576", "pids.max": "100"}, "pids": {"pids.max": "100"}, "cpu": nil,
	} {
		must(t, os.WriteFile(control, []byte(given+"\n"), 0o644))
		g := group(bounds, root, "/slice/own")
		dir, handle := g.dir, g.open
		if (handle != nil) != (want != nil) {
			t.Errorf("%s: made %q", given, dir)
		}
		for name, value := range want {
			if got, _ := os.ReadFile(filepath.Join(dir, name)); string(got) != value {
				t.Errorf("%s: %s is %q", given, name, got)
			}
		}
		if handle != nil {
			handle.Close()
			must(t, os.RemoveAll(dir))
		}
	}
	if left, _ := filepath.Glob(filepath.Join(root, "slice/toolhost-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestAbandonedGroups: a new control group removes those beside it whose host was killed, and no others.
func TestAbandonedGroups(t *testing.T) {
	root := t.TempDir()
	slice := filepath.Join(root, "slice")
	must(t, os.MkdirAll(filepath.Join(slice, "own"), 0o755))
	must(t, os.WriteFile(filepath.Join(slice, "cgroup.subtree_control"), []byte("pids\n"), 0o644))
	live := group(Bounds{Processes: 100}, root, "/slice/own")
	must(t, os.Remove(filepath.Join(live.dir, "pids.max"))) // the kernel's files are not in the way of a group's removal
	for _, name := range []string{"toolhost-1dead", "mine"} {
		must(t, os.Mkdir(filepath.Join(slice, name), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(slice, "toolhost-file"), nil, 0o644))
	other := group(Bounds{Processes: 100}, root, "/slice/own")
	for path, want := range map[string]bool{live.dir: true, other.dir: true, slice + "/toolhost-1dead": false, slice + "/mine": true, slice + "/toolhost-file": true} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", path, err == nil, want)
		}
	}
	live.remove()
	if _, err := os.Lstat(live.dir); err == nil {
		t.Error("a group outlives its session")
	}
	must(t, os.Remove(filepath.Join(other.dir, "pids.max")))
	other.remove()
}
