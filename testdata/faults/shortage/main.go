// Shortage runs jobs that use up processes, memory and descriptors where a host may have few of them: go run ./testdata/faults/shortage
// [-jobs 30] [-only NAME] [-short].
//
// With -sweep whole sessions run with few descriptors or little address space instead: a start, a read, a command, a write, and a command of which a
// user is asked, for each limit of 12 to 200 descriptors and of 700 to 1,500 MiB. Each call must be answered, or the start say why it cannot be.
//
// Each scene is a host of its own, of root or of an ordinary user, below a limit of the user's processes (ulimit -u) or in a control group that
// bounds processes or memory. Each of its jobs forks, starts threads, allocates or opens files until it is refused. After each job the host must
// answer a read, and a command must run within half a minute. A host that ends, a call that is not answered in time, and a shortage that is not
// called one (resource_exhausted) are failures. Nothing harms the machine where a wall fails: the kernel bounds each scene, and jobs are bounded in number,
// size and time. Only root can run it. It makes no account: users are numbers that nobody has.
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	var r run
	flag.IntVar(&r.jobs, "jobs", 30, "jobs of each scene")
	flag.BoolVar(&r.short, "short", false, "a scene of each kind of bound, and 3 jobs")
	flag.StringVar(&r.program, "toolhost", "", "program; the default is built from this module")
	flag.BoolVar(&r.loud, "v", false, "print each answer")
	sweep := flag.Bool("sweep", false, "whole sessions with few descriptors or little address space")
	only := flag.String("only", "", "scenes whose name contains this")
	flag.Parse()
	if r.short {
		r.jobs = 3
	}
	if os.Getuid() != 0 {
		fmt.Println("skipped: only root can bound other users and make control groups")
		return
	}
	dir, err := os.MkdirTemp("", "shortage-")
	check(err)
	defer os.RemoveAll(dir)
	check(os.Chmod(dir, 0o755))
	if r.program == "" {
		r.program = filepath.Join(dir, "toolhost")
		build := exec.Command("go", "build", "-o", r.program, "./cmd/toolhost")
		build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
		check(build.Run())
	}
	r.dir = dir
	if *sweep {
		r.sweep(*only)
		return
	}
	fmt.Printf("%-28s %5s %6s %6s %7s %6s %6s %7s\n", "scene", "jobs", "deaths", "ended", "short", "wrong", "late", "slowest")
	for i, s := range scenes(r.short) {
		if strings.Contains(s.String(), *only) {
			r.one(s, i)
		}
	}
	fmt.Printf("%d jobs, %d deaths, %d wrong or late\n", r.all, r.deaths, r.wrong)
	if r.deaths+r.wrong > 0 {
		os.RemoveAll(dir)
		os.Exit(1)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "shortage:", err)
		os.Exit(1)
	}
}

// run is one run of this program.
type run struct {
	program, dir       string
	jobs               int
	short, loud        bool
	all, deaths, wrong int
}

// Bounds of an answer: what a job may take, what an answer may take beyond it, and how long a command may find no room afterwards.
const (
	jobTime  = 4 * time.Second
	patience = 20 * time.Second
	recovery = 30 * time.Second
)

// one runs the jobs of one scene and prints a line about it.
func (r *run) one(s *scene, number int) {
	if err := s.bounded(); err != nil {
		fmt.Printf("%-28s skipped: %v\n", s, err)
		return
	}
	defer s.remove()
	var h *host
	start := func() bool {
		var err error
		h, err = s.start(r, filepath.Join(r.dir, fmt.Sprint(number)))
		if err != nil {
			r.deaths++
			fmt.Printf("%-28s WRONG: the host does not start: %v\n", s, err)
		}
		return err == nil
	}
	if !start() {
		return
	}
	defer func() { h.close() }()
	var c count
	c.wrong = map[string]int{}
	if a := h.until("true"); !a.ran() {
		c.wrong["at first: "+a.says()]++
	}
	for i := range r.jobs {
		j := jobs[i%len(jobs)]
		c.jobs++
		a := h.shell(j.line, jobTime)
		c.add(a)
		if r.loud {
			fmt.Printf("  %s: %v: %s\n", j.name, a.took.Round(time.Millisecond), a.says())
		}
		if read := h.call("read", map[string]any{"path": "small"}); read.err != nil || !read.ran() && !read.isShort() {
			c.wrong["a read: "+read.says()]++
		}
		after := h.until("echo after")
		if r.loud {
			fmt.Printf("    then: %v, %d tries: %s\n", after.took.Round(time.Millisecond), after.tries, after.says())
		}
		for _, why := range after.others {
			c.wrong[why]++
		}
		if after.err == nil && !after.ran() {
			c.wrong["no command runs afterwards: "+after.says()]++
		}
		c.slowest = max(c.slowest, after.took)
		if h.Over() {
			c.deaths++
			c.wrong["the host ended: "+h.lastWords()]++
			h.close()
			if !start() {
				break
			}
		}
	}
	fmt.Printf("%-28s %5d %6d %6d %7d %6d %6d %7s\n", s, c.jobs, c.deaths, c.ended, c.short, len(c.wrong), c.late, c.slowest.Round(100*time.Millisecond))
	for _, why := range slices.Sorted(maps.Keys(c.wrong)) {
		fmt.Printf("    %d × %s\n", c.wrong[why], why)
		r.wrong += c.wrong[why]
	}
	r.all, r.deaths, r.wrong = r.all+c.jobs, r.deaths+c.deaths, r.wrong+c.late
}

// count is what the answers of a scene were.
type count struct {
	jobs, deaths, ended, short, late int
	wrong                            map[string]int // by what was wrong
	slowest                          time.Duration  // until a command ran again
}

func (c *count) add(a answer) {
	switch {
	case a.err != nil:
		c.late++
		c.wrong["a job: "+a.err.Error()]++
		return
	case a.isShort():
		c.short++
	case strings.Contains(a.text, `"wall":"bound"`):
		c.ended++
	case strings.Contains(a.text, "ended by signal SIGKILL") || strings.Contains(a.text, "exited with status 137"):
		c.wrong["a job was ended, and nobody says why: "+a.says()]++
	case strings.Contains(a.text, "setup_required"):
		c.wrong["a job: "+a.says()]++
	}
	if a.took > jobTime+patience/2 {
		c.late++
	}
}
