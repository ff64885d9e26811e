// Memory floods hosts and prints what memory they take: go run ./testdata/faults/memory [-short] [-only NAME] [-idle 60s] [-group 64].
//
// Each flood has a host of its own; then all of them come one after the other to one host. Printed are the largest resident and anonymous
// memory meanwhile, and both after the host was idle, with its helpers. A host above 64 MB then is a failure. After that the same hosts run
// in a memory control group of 64 MiB, jobs and page cache included: a host that the kernel kills there, or that does not answer afterwards,
// is a failure. Only root can make such a group.
package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bound is what a host may have when it was idle for a minute, in bytes.
const bound = 64_000_000

func main() {
	var r run
	flag.BoolVar(&r.short, "short", false, "an eighth of each flood")
	flag.DurationVar(&r.idle, "idle", 60*time.Second, "how long a host is idle before its memory is read again")
	flag.Int64Var(&r.limit, "group", 64, "MiB that the control group may have; 0: no group")
	flag.StringVar(&r.program, "toolhost", "", "program; the default is built from this module")
	only := flag.String("only", "", "floods whose name contains this")
	both := flag.Bool("free", true, "run without a control group, too")
	flag.Parse()
	dir, err := os.MkdirTemp("", "memory-")
	check(err)
	defer os.RemoveAll(dir)
	if r.program == "" {
		r.program = filepath.Join(dir, "toolhost")
		build := exec.Command("go", "build", "-o", r.program, "./cmd/toolhost")
		build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
		check(build.Run())
	}
	r.workspace = filepath.Join(dir, "ws")
	check(workspace(r.workspace, r.short))
	var chosen []flood
	for _, f := range floods {
		if strings.Contains(f.name, *only) {
			chosen = append(chosen, f)
		}
	}
	if len(chosen) > 1 {
		chosen = append(chosen, flood{"all of them", func(c *client) {
			for _, f := range floods {
				c.run(f)
			}
		}})
	}
	if *both {
		r.all(chosen, "")
	}
	if r.limit > 0 {
		r.all(chosen, fmt.Sprintf(" in a control group of %d MiB", r.limit))
	}
	if r.wrong > 0 {
		fmt.Printf("%d WRONG\n", r.wrong)
		os.RemoveAll(dir)
		os.Exit(1)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

// run is one run of this program.
type run struct {
	program, workspace string
	short              bool
	idle               time.Duration
	limit              int64 // MiB of the control group
	wrong              int
}

func (r *run) all(floods []flood, where string) {
	fmt.Printf("MB%s, after %s of idleness\n", where, r.idle)
	fmt.Printf("%-26s %7s %7s %8s %8s %8s %8s %8s", "flood", "calls", "failed", "most", "anon", "idle", "anon", "helpers")
	if where != "" {
		fmt.Printf(" %8s %6s", "group", "killed")
	}
	fmt.Println()
	for _, f := range floods {
		var g *group
		if where != "" {
			var err error
			if g, err = newGroup(r.limit << 20); err != nil {
				fmt.Printf("skipped: no memory control group can be made here: %v\n", err)
				return
			}
		}
		r.one(f, g)
		if g != nil {
			g.remove()
		}
	}
	fmt.Println()
}

// one floods one host and prints a line about it.
func (r *run) one(f flood, g *group) {
	dir := ""
	if g != nil {
		dir = g.dir
	}
	h, err := start(r.program, r.workspace, dir)
	if err != nil {
		r.fail("%s: the host does not start: %v", f.name, err)
		return
	}
	pid := h.Cmd.Process.Pid
	c := &client{host: h, short: r.short, random: rand.New(rand.NewPCG(1, 2)), failed: map[string]int{}}
	peak := anonymousPeak(pid)
	c.run(f)
	anonymous, most := peak(), usageOf(pid).most
	time.Sleep(r.idle)
	idle, below := usageOf(pid), helpers(pid)
	answer, err := h.request("agenttool/invoke", call("after", "read", map[string]any{"path": "small"}))
	failed := 0
	for _, n := range c.failed {
		failed += n
	}
	fmt.Printf("%-26s %7d %7d %8s %8s %8s %8s %8s", f.name, c.calls, failed, mb(most), mb(anonymous), mb(idle.resident), mb(idle.anonymous), mb(below))
	if g != nil {
		fmt.Printf(" %8s %6d", mb(g.most()), g.kills())
	}
	fmt.Println()
	for _, why := range slices.Sorted(maps.Keys(c.failed)) {
		fmt.Printf("    %d × %s\n", c.failed[why], why)
	}
	if err != nil || !answer.succeeded() {
		r.fail("%s: the host does not answer afterwards: %v %s", f.name, err, answer.says())
	}
	if err := h.End(20 * time.Second); err != nil {
		r.fail("%s: the host ended with %v", f.name, err)
	}
	if idle.resident+below > bound {
		r.fail("%s: %s MB are left", f.name, mb(idle.resident+below))
	}
	if g != nil && g.kills() != 0 {
		r.fail("%s: the kernel killed %d processes", f.name, g.kills())
	}
}

func (r *run) fail(format string, args ...any) {
	r.wrong++
	fmt.Printf("  WRONG: "+format+"\n", args...)
}

func mb(bytes int64) string { return fmt.Sprintf("%.1f", float64(bytes)/1e6) }
