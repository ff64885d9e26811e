package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// How a process that does not answer is told from one whose machine is busy.
const (
	silentFor = 500 * time.Millisecond // without an answer until it is looked at, and between two looks
	atRest    = time.Second            // that it may not run
	onDisk    = 2 * time.Second        // likewise where a disk or a file system may hold it up
)

// pulse watches a process that we started and that owes us an answer. It hangs if no thread of it ran between two looks, although it
// could have. A process that somebody stopped goes on when that is noticed; one that is stopped again, or stays so, hangs.
type pulse struct {
	pid     func() int // 0: it has ended
	proceed func()     // sends SIGCONT

	stopped bool   // at the last look
	ran     string // what the threads of the process had run at the last look
	looked  time.Time
	since   time.Time
}

// hangs looks at the process, and reports whether it hangs. A process of which nothing can be known does not.
func (p *pulse) hangs() bool {
	now := time.Now()
	pid := p.pid()
	seen := lookAt(pid)
	if seen.onDisk {
		for _, child := range childrenOf(pid) {
			of := lookAt(child)
			seen.ran += of.ran
			seen.runnable = seen.runnable || of.runnable
		}
	}
	starved := now.Sub(p.looked) > 2*silentFor // we are, and the process may wait for us
	p.looked = now
	stays := p.stopped && seen.stopped && !starved
	if p.stopped = seen.stopped; seen.stopped {
		p.proceed()
	}
	if stays {
		return true
	}
	if seen.ran == "" || seen.ran != p.ran || seen.runnable || starved {
		p.ran, p.since = seen.ran, now
		return false
	}
	if seen.onDisk {
		return now.Sub(p.since) >= onDisk
	}
	return now.Sub(p.since) >= atRest
}

// threads is what is known of the threads of a process. ran is empty if nothing is.
type threads struct {
	ran      string // changes when one of them runs
	runnable bool   // one could run: the processor is busy
	stopped  bool
	onDisk   bool // one waits inside the kernel: for a disk, or for a child to start its program
}

func lookAt(pid int) (t threads) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	names, err := os.ReadDir(dir)
	if err != nil {
		return threads{}
	}
	for _, name := range names {
		ran, err := os.ReadFile(filepath.Join(dir, name.Name(), "schedstat"))
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join(dir, name.Name(), "stat"))
		t.ran += name.Name() + " " + string(ran)
		at := bytes.LastIndexByte(stat, ')') // a name may hold all that stands behind it
		if at < 0 || at+2 >= len(stat) {
			continue
		}
		switch stat[at+2] {
		case 'R':
			t.runnable = true
		case 'T', 't':
			t.stopped = true
		case 'D':
			t.onDisk = true
		}
	}
	return t
}

// childrenOf returns the children of a process, as far as the kernel tells.
func childrenOf(pid int) (children []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, word := range bytes.Fields(text) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}
