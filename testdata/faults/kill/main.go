// Command kill ends hosts by SIGKILL while they work, their holders, or both, and counts leftovers: files in the workspace that no call
// made, processes, mounts and control groups. Then the next host starts, makes two calls and ends, and the same is counted again, with
// unfinished files in the home. A host whose holder alone was killed works on and ends with its input.
//
// With -logs other hosts are killed as well, while a call runs, one waits for it, one asks and one is a job. Their workspaces are removed. Then
// log show must say of each call its input, the client, the decision with its rule and line, and that the host died; and when
// another host has started, each call and job has one end, and log verify is content.
//
//	go run ./testdata/faults/kill -kills 500
//	go run ./testdata/faults/kill -kills 0 -logs 1000
//
// It builds toolhost from the directory in which it runs, or takes the program of -program. It exits with 1 when anything is left.
package main

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

func main() {
	kills := flag.Int("kills", 500, "how many hosts are killed")
	logs := flag.Int("logs", 0, "how many more hosts are killed whose logs are read")
	perScene := flag.Int("per-scene", 10, "how many of them have the same home and workspace, one after the other")
	program := flag.String("program", "", "the toolhost to try; empty: one that is built here")
	workspaces := flag.String("workspaces", "", "a directory for the workspaces, such as one on another file system than the home; empty: beside the home")
	level := flag.String("sandbox", "", "the level of the sandbox; empty: the usual")
	wait := flag.Duration("wait", 3*time.Second, "how long processes may outlive their host")
	flag.Parse()
	left, err := run(counts{*kills, *logs, *perScene}, *wait, setup{*program, *workspaces, *level})
	if err != nil {
		fmt.Fprintln(os.Stderr, "kill:", err)
		os.Exit(2)
	}
	if left > 0 {
		os.Exit(1)
	}
}

// setup is what all scenes have in common.
type setup struct{ program, workspaces, level string }

// counts say how many hosts are killed: for what they leave, for their logs, and of one scene.
type counts struct{ kills, logs, perScene int }

// run kills hosts, prints what they left by kind, and returns how much that is.
func run(n counts, wait time.Duration, with setup) (left int, err error) {
	dir, err := os.MkdirTemp("", "kill-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if with.program == "" {
		with.program = filepath.Join(dir, "toolhost")
		if out, err := exec.Command("go", "build", "-o", with.program, "./cmd/toolhost").CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%w: %s", err, out)
		}
	}
	totals, begun, before := map[string]int{}, time.Now(), groups()
	for done := 0; done < n.kills+n.logs; {
		s, err := newScene(filepath.Join(dir, fmt.Sprint("scene", done)), done, with)
		if err != nil {
			return 0, err
		}
		do, end := s.kills, n.kills
		if done >= n.kills {
			do, end = s.killRecorded, n.kills+n.logs
		}
		size := min(n.perScene, end-done)
		if err := do(size, wait, totals); err != nil {
			return 0, err
		}
		done += size
		s.endAll()
		if err := errors.Join(os.RemoveAll(s.dir), os.RemoveAll(s.workspace)); err != nil {
			return 0, err
		}
	}
	if n := groups() - before; n > 0 {
		totals["next: control groups"] = n
	}
	fmt.Printf("%d SIGKILLs in %d s\n", n.kills+n.logs, int(time.Since(begun).Seconds()))
	for _, v := range victims {
		fmt.Printf("%5d  kills of %s\n", totals["victim "+v], v)
		delete(totals, "victim "+v)
	}
	for _, part := range []string{"workspace", "killed", "state", "next", "log", "lost"} {
		sum := 0
		for kind, n := range totals {
			if len(kind) > len(part) && kind[:len(part)+1] == part+":" {
				sum += n
			}
		}
		fmt.Printf("%5d  %s\n", sum, map[string]string{"workspace": "files in the workspace that no call made", "killed": "processes and mounts after the kill",
			"state": "leftovers in the home after the next host", "next": "processes, mounts and control groups after the next host", "log": "records that are missing or wrong",
			"lost": "files that commands removed or replaced, and that undo did not put back"}[part])
		left += sum
	}
	for _, kind := range slices.Sorted(maps.Keys(totals)) {
		fmt.Printf("%12d  %s\n", totals[kind], kind)
	}
	return left, nil
}

// victims are what is killed, each a third of the time.
var victims = []string{"host", "holder", "holder and host"}

// kills is kill several times.
func (s *scene) kills(n int, wait time.Duration, totals map[string]int) error {
	for range n {
		if err := s.kill(wait, totals); err != nil {
			return err
		}
	}
	return nil
}

// kill starts a host, kills it while it works, and has another one start, make a call and end.
func (s *scene) kill(wait time.Duration, totals map[string]int) error {
	h, err := s.start()
	if err != nil {
		return fmt.Errorf("a host: %w", err)
	}
	worked := make(chan struct{})
	go func() { s.work(h); close(worked) }()
	time.Sleep(time.Duration(20+s.random.IntN(2000)) * time.Millisecond)
	victim := victims[s.random.IntN(len(victims))]
	if victim != "host" && !h.killHolder() {
		victim = "host" // there is no holder yet, or none on this machine
	}
	totals["victim "+victim]++
	if victim == "holder" {
		time.Sleep(time.Duration(s.random.IntN(300)) * time.Millisecond)
		if err := h.End(20 * time.Second); err != nil {
			return fmt.Errorf("a host without its holder: %w", err)
		}
	} else {
		h.Kill()
	}
	<-worked
	s.settle("killed", wait, totals)
	next, err := s.start()
	if err != nil {
		return fmt.Errorf("the next host: %w", err)
	}
	if err := next.call("shell", map[string]any{"command": "true"}).Result(nil, patience); err != nil {
		return fmt.Errorf("a call of the next host: %w", err)
	}
	if err := next.call("write", map[string]any{"path": "f0", "content": "the end\n"}).Result(nil, patience); err != nil {
		return fmt.Errorf("a write of the next host: %w", err)
	}
	if err := next.End(20 * time.Second); err != nil {
		return err
	}
	s.settle("next", wait, totals)
	s.inWorkspace(totals)
	s.inState(totals)
	s.putBack(totals)
	s.clear()
	return nil
}

// clear removes what has been counted, so that it is counted once.
func (s *scene) clear() {
	s.endAll()
	entries, _ := os.ReadDir(s.workspace)
	for _, e := range entries {
		if !made.MatchString(e.Name()) {
			_ = os.Remove(filepath.Join(s.workspace, e.Name()))
		}
	}
}

// endAll ends the processes of the scene.
func (s *scene) endAll() {
	for pid := range s.processes() {
		if n, err := strconv.Atoi(pid); err == nil {
			if p, err := os.FindProcess(n); err == nil {
				_ = p.Kill()
			}
		}
	}
}
