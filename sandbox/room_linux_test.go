package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestProcessRoom: the group that leaves least counts, in both versions; what cannot be read bounds nothing.
func TestProcessRoom(t *testing.T) {
	unified, pids := t.TempDir(), t.TempDir()
	put := func(root, name, text string) {
		path := filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
	}
	put(unified, "a/pids.max", "100")
	put(unified, "a/pids.current", "40")
	put(unified, "a/b/pids.max", "max")
	put(unified, "a/b/pids.current", "30")
	put(pids, "c/pids.max", "64")
	put(pids, "c/pids.current", "70")
	for groups, want := range map[string]int{
		"0::/a/b\n":             60,
		"0::/a\n":               60,
		"0::/\n":                unlimited,
		"8:pids:/c\n0::/a/b\n":  0,
		"8:pids:/none\n0::/x\n": unlimited,
		"4:memory:/c\n":         unlimited,
		"":                      unlimited,
	} {
		if got := roomIn(groups, unified, pids); got != want {
			t.Errorf("%q: %d, want %d", groups, got, want)
		}
	}
}

// TestGroupMemory: the least limit on memory counts, in both versions of control groups, and the lowest group that counts killed processes is asked.
func TestGroupMemory(t *testing.T) {
	unified, memory := t.TempDir(), t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(unified, "a/memory.max"):             "1000",
		filepath.Join(unified, "a/memory.events"):          "low 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 0",
		filepath.Join(unified, "a/b/memory.max"):           "max",
		filepath.Join(unified, "a/b/memory.events"):        "low 0\nmax 1\noom 1\noom_kill 1",
		filepath.Join(memory, "c/memory.limit_in_bytes"):   "2000",
		filepath.Join(memory, "c/memory.oom_control"):      "oom_kill_disable 0\nunder_oom 0\noom_kill 5",
		filepath.Join(memory, "c/d/memory.limit_in_bytes"): "9223372036854771712",
	} {
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must(t, os.WriteFile(file, []byte(text+"\n"), 0o600))
	}
	for groups, want := range map[string]struct {
		least, kills int64
	}{
		"0::/a/b\n":              {1000, 1},
		"0::/a\n":                {1000, 3},
		"4:memory:/c/d\n0::/x\n": {2000, 5},
		"4:cpu,memory:/c\n":      {2000, 5},
		"8:pids:/c\n0::/none\n":  {5000, -1},
		"9:name=systemd:/a/b\n":  {5000, -1},
		"4:memory:/c\n0::/a/b\n": {1000, 5},
	} {
		if got := memoryIn(groups, unified, memory, 5000); got != want.least {
			t.Errorf("%q: %d bytes, want %d", groups, got, want.least)
		}
		file := killsFile(groups, unified, memory)
		if got := countOf(file, killsName); want.kills >= 0 && got != want.kills || want.kills < 0 && file != "/proc/vmstat" {
			t.Errorf("%q: %d killed by %s, want %d", groups, got, file, want.kills)
		}
	}
}

// TestCommandRoom: commands never get all that a group leaves, and always get something.
func TestCommandRoom(t *testing.T) {
	if got := commandRoom(unlimited, 31); got != 0 {
		t.Errorf("without a group: %d", got)
	}
	for room := range 300 {
		if got := commandRoom(room, 31); got < 1 || room > 4 && (got >= room || room-got < room/4 || room > 40 && room-got < 31) {
			t.Errorf("of %d they get %d", room, got)
		}
	}
}

// TestPidsGroup: a group of version 1 is made within our own, with its bound; where none can, nothing is left behind.
func TestPidsGroup(t *testing.T) {
	own := t.TempDir()
	if g := pidsGroup(10, own); g.dir != "" {
		t.Errorf("made %s where nothing is counted", g.dir)
	}
	must(t, os.WriteFile(filepath.Join(own, "pids.current"), []byte("1\n"), 0o600))
	g := pidsGroup(10, own)
	g.bound(8)
	for name, want := range map[string]string{"pids.max": "8"} {
		if got, _ := os.ReadFile(filepath.Join(g.dir, name)); string(got) != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestWaitsTakeNoThreads: commands that open pipes which nobody reads, and connect to sockets which nobody accepts from, cost the host neither a
// thread nor a descriptor each.
func TestWaitsTakeNoThreads(t *testing.T) {
	needs(t, "python3")
	b := newBench(t, nil)
	b.run(t, Workspace, "touch warm")
	ours := func() (threads, files int) {
		status, _ := os.ReadFile("/proc/self/status")
		_, rest, _ := strings.Cut(string(status), "\nThreads:\t")
		line, _, _ := strings.Cut(rest, "\n")
		threads, _ = strconv.Atoi(line)
		open, _ := os.ReadDir("/proc/self/fd")
		return threads, len(open)
	}
	threads, files := ours()
	const jobs, each = 5, 120
	for i := range jobs {
		p := b.start(t, Profile{Access: Workspace}, fmt.Sprintf(`exec python3 -c '
import os, socket, threading
os.mkfifo("p%[1]d"); s = socket.socket(socket.AF_UNIX); s.bind("s%[1]d"); s.listen(0)
def attempt():
    try: os.open("p%[1]d", os.O_WRONLY)
    except OSError: pass
    try: socket.socket(socket.AF_UNIX).connect("s%[1]d")
    except OSError: pass
for i in range(%[2]d):
    threading.Thread(target=attempt).start()
    if i %% 2: threading.Thread(target=lambda: socket.socket(socket.AF_UNIX).connect("s%[1]d")).start()
open("up%[1]d", "w")'`, i, each))
		defer p.Kill()
		b.await(t, fmt.Sprint("up", i))
	}
	time.Sleep(200 * time.Millisecond)
	moreThreads, moreFiles := ours()
	t.Logf("%d calls that wait: %d more threads, %d more files", jobs*each, moreThreads-threads, moreFiles-files)
	if moreThreads-threads > 120 || moreFiles-files > 700 {
		t.Errorf("%d threads more, %d files more", moreThreads-threads, moreFiles-files)
	}
	b.write(t, "read", "")
	if r := b.run(t, Workspace, "mkfifo q; (echo through > q &) ; cat q; touch made"); r.err != nil {
		t.Errorf("then nothing runs: %+v", r)
	}
}

// TestThreadsAreProvidedOnce: a command starts the threads that are missing, and the next commands start none again.
func TestThreadsAreProvidedOnce(t *testing.T) {
	var r processReserve
	begun := func() int {
		sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
		metrics.Read(sample)
		return int(sample[0].Value.Uint64())
	}
	r.provide(1)
	before := begun()
	for range 10 {
		if got := r.provide(1); got < threadsOfHost {
			t.Errorf("%d threads", got)
		}
		r.provide(0)
	}
	if n := begun() - before; n > spareThreads {
		t.Errorf("20 commands started %d goroutines", n)
	}
	if room, _ := roomHere(); room >= unlimited && countThreads() < spareThreads {
		t.Errorf("%d threads, and at least %d are wanted", countThreads(), spareThreads)
	}
}

// TestTasksOfUser: the processes of a user are counted with their threads. Others of the user's come and go meanwhile.
func TestTasksOfUser(t *testing.T) {
	startThreads(countThreads() + 20)
	if threads, tasks := countThreads(), tasksOf(os.Getuid()); threads < 20 || tasks < threads {
		t.Errorf("%d tasks of the user, and %d threads of this process alone", tasks, threads)
	}
	if n := tasksOf(1<<31 - 7); n != 0 {
		t.Errorf("%d tasks of nobody", n)
	}
}
