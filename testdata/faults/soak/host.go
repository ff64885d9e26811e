package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolhost/testdata/support/wiretest"
)

// patience is how long an answer may take.
const patience = 3 * time.Minute

// host is a running toolhost with a home and a workspace of its own.
type host struct {
	name      string
	dir       string // holds home and workspace
	workspace string
	cmd       *exec.Cmd
	end       func() error
	held      []holding
}

// place makes the home and the workspace of a host, and the command that starts it.
func (h *host) place(dir, program string, flags ...string) error {
	h.dir, h.workspace = dir, filepath.Join(dir, "workspace")
	for _, made := range []string{filepath.Join(h.workspace, "src"), filepath.Join(dir, "run")} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return err
		}
	}
	for i := range 200 {
		text := strings.Repeat(fmt.Sprintf("line of file %d, which a search may find\n", i), 40)
		if err := os.WriteFile(filepath.Join(h.workspace, "src", fmt.Sprintf("f%d.txt", i)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	h.cmd = exec.Command(program, append([]string{"serve", "--mode", "sandboxed", "--workspace", h.workspace, "--allow", "Write", "--ask", "Shell(touch *)", "--drain", "2s"}, flags...)...)
	h.cmd.Env, h.cmd.Stderr = append(os.Environ(), wiretest.Home(dir)...), os.Stderr
	return nil
}

// holding is what a host holds at one moment.
type holding struct {
	resident, anonymous, log   int64 // bytes
	files, threads, below, own int   // descriptors, threads, processes below it, files and directories of its state but for results
}

func (n holding) String() string {
	return fmt.Sprintf("%8.1f %8.1f %8d %8d %8d %8d %8.1f", float64(n.resident)/1e6, float64(n.anonymous)/1e6, n.files, n.threads, n.below, n.own, float64(n.log)/1e6)
}

func (h *host) holds() (now holding) {
	proc := filepath.Join("/proc", strconv.Itoa(h.cmd.Process.Pid))
	status, _ := os.ReadFile(filepath.Join(proc, "status"))
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			now.resident = n << 10
		case "RssAnon":
			now.anonymous = n << 10
		case "Threads":
			now.threads = int(n)
		}
	}
	files, _ := os.ReadDir(filepath.Join(proc, "fd"))
	now.files, now.below = len(files), below(h.cmd.Process.Pid)
	_ = filepath.WalkDir(filepath.Join(h.dir, "state"), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // it has just been removed
		case d.Name() == "results" || d.Name() == "jobs" || d.Name() == "copies": // they are kept on purpose
			return fs.SkipDir
		case d.Name() == "log.jsonl":
			if info, err := d.Info(); err == nil {
				now.log = info.Size()
			}
		}
		now.own++
		return nil
	})
	return now
}

// below is the number of processes below one.
func below(pid int) (n int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(text)) {
			if id, err := strconv.Atoi(child); err == nil {
				n += 1 + below(id)
			}
		}
	}
	return n
}

// grown says what the host holds more of in the last third than in the first: the middle values of each are compared.
func (h *host) grown() (what []string) {
	third := len(h.held) / 3
	if third == 0 {
		return nil
	}
	middle := func(held []holding, of func(holding) int64) int64 {
		var values []int64
		for _, n := range held {
			values = append(values, of(n))
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	for _, v := range []struct {
		name  string
		slack int64
		of    func(holding) int64
	}{
		{"bytes of resident memory", 8_000_000, func(n holding) int64 { return n.resident }},
		{"bytes of anonymous memory", 8_000_000, func(n holding) int64 { return n.anonymous }},
		{"descriptors", 8, func(n holding) int64 { return int64(n.files) }},
		{"threads", 8, func(n holding) int64 { return int64(n.threads) }},
		{"processes below it", 8, func(n holding) int64 { return int64(n.below) }},
		{"files of its state", 8, func(n holding) int64 { return int64(n.own) }},
	} {
		first, last := middle(h.held[:third], v.of), middle(h.held[len(h.held)-third:], v.of)
		if last > first+max(first/4, v.slack) {
			what = append(what, fmt.Sprintf("%d %s, and %d at first", last, v.name, first))
		}
	}
	return what
}
