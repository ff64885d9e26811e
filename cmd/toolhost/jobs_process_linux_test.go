package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool/cut"
)

// marks make the processes of a test known: no other on the machine sleeps for that long.
var marks atomic.Int64

// newMark returns a duration for sleep. What still has it in its command line at the end of the test is ended.
func newMark(t testing.TB) string {
	mark := fmt.Sprintf("98761.%d%04d", os.Getpid(), marks.Add(1))
	t.Cleanup(func() {
		for _, p := range marked(mark) {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
	})
	return mark
}

// processes are the numbers of all processes of the machine.
func processes() (pids []int) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// lineOf is the command line of a process, nil if there is none.
func lineOf(pid int) []byte {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return b
}

// marked are the processes that have text in their command line.
func marked(text string) []int {
	return slices.DeleteFunc(processes(), func(pid int) bool { return !bytes.Contains(lineOf(pid), []byte(text)) })
}

// comesAbout waits until something is so, no longer than limit. It looks less and less often: to look may take the whole table of processes.
func comesAbout(limit time.Duration, so func() bool) bool {
	begun := time.Now()
	for pause := 5 * time.Millisecond; !so(); pause = min(pause*3/2, 100*time.Millisecond) {
		if time.Since(begun) > limit {
			return false
		}
		time.Sleep(pause)
	}
	return true
}

// gone checks that nothing with a mark lives, at the latest soon.
func gone(t testing.TB, what, mark string) {
	t.Helper()
	begun := time.Now()
	if !comesAbout(patience, func() bool { return len(marked(mark)) == 0 }) {
		var left []string
		for _, pid := range marked(mark) {
			left = append(left, fmt.Sprintf("%d %s", pid, bytes.ReplaceAll(lineOf(pid), []byte{0}, []byte{' '})))
			_ = syscall.Kill(pid, syscall.SIGKILL) // ours: no other has such a line
		}
		t.Errorf("%s: still there after %v: %s", what, patience, cut.Characters(strings.Join(left, "; "), 600))
		return
	}
	if took := time.Since(begun); took > time.Second {
		within(t, what+" is gone", took, 5*time.Second, patience)
	}
}

// sleeping reports whether something sleeps for as long as a mark says.
func sleeping(mark string) bool { return findProcess("sleep\x00"+mark+"\x00") != 0 }

// process is a process with its start, which no later one of that number has.
type process struct {
	pid   int
	start string
}

// tableEntry is what the table of processes says of one: state, parent, …; the start is the 22nd of all.
func tableEntry(pid int) []string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := bytes.LastIndexByte(stat, ')')
	if err != nil || i < 0 {
		return nil
	}
	return strings.Fields(string(stat[i+1:]))
}

// parentOf returns a process that has not ended, and its parent.
func parentOf(pid int) (parent int, p process, ok bool) {
	words := tableEntry(pid)
	if len(words) < 20 || words[0] == "Z" {
		return 0, p, false
	}
	parent, _ = strconv.Atoi(words[1])
	return parent, process{pid, words[19]}, true
}

// zombies is how many children of a process have ended, and it has not asked how.
func zombies(parent int) (n int) {
	for _, pid := range processes() {
		if words := tableEntry(pid); len(words) > 1 && words[0] == "Z" && words[1] == strconv.Itoa(parent) {
			n++
		}
	}
	return n
}

// tree is a process and all below it.
func tree(root int) []process {
	parents, known := map[int]int{}, map[int]process{}
	for _, pid := range processes() {
		if parent, p, ok := parentOf(pid); ok {
			parents[pid], known[pid] = parent, p
		}
	}
	var found []process
	for pid, p := range known {
		for at := pid; at > 1; at = parents[at] {
			if at == root {
				found = append(found, p)
				break
			}
		}
	}
	return found
}

// alive are those that still live.
func alive(all []process) []process {
	return slices.DeleteFunc(slices.Clone(all), func(p process) bool {
		_, now, ok := parentOf(p.pid)
		return !ok || now != p
	})
}

// checkEnded checks that processes end soon, and ends them if not.
func checkEnded(t testing.TB, what string, all []process) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		left := alive(all)
		if len(left) == 0 {
			return
		}
		if time.Since(begun) < patience {
			continue
		}
		for _, p := range left {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
			t.Errorf("%s: process %d is still there: %q", what, p.pid, line)
			_ = syscall.Kill(p.pid, syscall.SIGKILL) // a child of the test's own host
		}
		return
	}
}

// descriptors is how many descriptors a process has.
func descriptors(t testing.TB, pid int) int {
	t.Helper()
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// residentBytes is how much memory a process has.
func residentBytes(t testing.TB, pid int) int64 {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	var size, resident int64
	if err == nil {
		_, err = fmt.Sscan(string(data), &size, &resident)
	}
	if err != nil {
		t.Fatal(err)
	}
	return resident * int64(os.Getpagesize())
}

// within checks a time against its budget where times are compared, and against the most that it may be on a busy machine.
func within(t testing.TB, what string, took, budget, most time.Duration) {
	t.Helper()
	t.Logf("%s: %v (budget %v)", what, took.Round(10*time.Microsecond), budget)
	if took > most || took > budget && timed() {
		t.Errorf("%s took %v, the budget is %v", what, took, budget)
	}
}

// timed reports whether times are compared with their budgets: on a busy machine they say nothing.
func timed() bool { return os.Getenv("TOOLHOST_TIMED") != "" }

// needs skips a test whose program is missing from where commands look for it.
func needs(t testing.TB, programs ...string) {
	t.Helper()
	if missing := lacking(strings.Join(programs, " "), "/usr/local/bin:/usr/bin:/bin"); missing != "" {
		t.Skipf("%s is not installed", missing)
	}
}
