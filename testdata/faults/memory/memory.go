package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// usage is the memory of a process in bytes.
type usage struct{ resident, most, anonymous int64 }

// usageOf reads the memory of a process.
func usageOf(pid int) (u usage) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			u.resident = n << 10
		case "VmHWM":
			u.most = n << 10
		case "RssAnon":
			u.anonymous = n << 10
		}
	}
	return u
}

// anonymousPeak samples the anonymous memory of a process until stop is called, which returns the largest.
func anonymousPeak(pid int) (stop func() int64) {
	var most atomic.Int64
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			most.Store(max(most.Load(), usageOf(pid).anonymous))
			select {
			case <-end:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() int64 {
		close(end)
		<-ended
		return most.Load()
	}
}

// helpers is the memory of the processes below pid, shared pages in proportion.
func helpers(pid int) (sum int64) {
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range children {
		text, _ := os.ReadFile(name)
		for _, field := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(field)
			sum += proportional(child) + helpers(child)
		}
	}
	return sum
}

func proportional(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

// group is a memory control group, of version 1 or 2.
type group struct {
	dir string
	v2  bool
}

// newGroup makes a control group that may use limit bytes.
func newGroup(limit int64) (*group, error) {
	g := &group{v2: true}
	parent := "/sys/fs/cgroup"
	if _, err := os.Stat(parent + "/memory/cgroup.procs"); err == nil {
		parent, g.v2 = parent+"/memory", false
	} else if err := os.WriteFile(parent+"/cgroup.subtree_control", []byte("+memory"), 0o600); err != nil {
		return nil, err
	}
	var err error
	if g.dir, err = os.MkdirTemp(parent, "flood-"); err != nil {
		return nil, err
	}
	bound := "memory.limit_in_bytes"
	if g.v2 {
		bound = "memory.max"
		_ = os.WriteFile(filepath.Join(g.dir, "memory.swap.max"), []byte("0"), 0o600) // no file where there is no swap
	}
	if err := os.WriteFile(filepath.Join(g.dir, bound), []byte(strconv.FormatInt(limit, 10)), 0o600); err != nil {
		g.remove()
		return nil, err
	}
	return g, nil
}

// most is the largest number of bytes that the group had, page cache included, and kills how many of its processes the kernel killed.
func (g *group) most() (bytes int64) {
	name := "memory.max_usage_in_bytes"
	if g.v2 {
		name = "memory.peak"
	}
	text, _ := os.ReadFile(filepath.Join(g.dir, name))
	bytes, _ = strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	return bytes
}

func (g *group) kills() int {
	name := "memory.oom_control"
	if g.v2 {
		name = "memory.events"
	}
	text, _ := os.ReadFile(filepath.Join(g.dir, name))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(rest))
			return n
		}
	}
	return -1
}

// remove waits until the group is empty, for ten seconds at most.
func (g *group) remove() {
	for end := time.Now().Add(10 * time.Second); unix.Rmdir(g.dir) == unix.EBUSY && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
}
