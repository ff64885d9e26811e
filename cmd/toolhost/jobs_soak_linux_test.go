package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolhost/sandbox"
)

// soakTime is how long the soak lasts: TOOLHOST_SOAK, else 20 seconds with the race detector and 2 without, 4 in the long form.
func soakTime(t *testing.T) time.Duration {
	text := os.Getenv("TOOLHOST_SOAK")
	switch {
	case text == "" && underRace:
		return 20 * time.Second
	case text == "":
		return time.Duration(count(2, 4)) * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("TOOLHOST_SOAK: %v", err)
	}
	return d
}

// soakSeed is TOOLHOST_SEED, or a new one.
func soakSeed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("TOOLHOST_SEED"), 10, 64); err == nil {
		return n
	}
	return rand.Uint64()
}

// TestJobsSoak does at random what clients do, beside each other, and looks at what is left. testdata/jobs/soak.sh runs it for
// longer, with the race detector.
func TestJobsSoak(t *testing.T) {
	if testing.Short() && os.Getenv("TOOLHOST_SOAK") == "" {
		t.Skip("it takes a while")
	}
	t.Parallel()
	limit, seed := soakTime(t), soakSeed()
	t.Logf("%v, TOOLHOST_SEED=%d", limit, seed)
	r := jobTools(t)
	t.Run("all", func(t *testing.T) {
		for i, level := range r.levels(t, self) {
			for _, end := range []string{"end of input", "SIGKILL"} {
				ordinary := !long() && !underRace // each level then ends one way
				if level != sandbox.Full && level != sandbox.None || ordinary && (level == sandbox.Full) != (end == "SIGKILL") {
					continue
				}
				t.Run(string(level)+" "+end, func(t *testing.T) {
					t.Parallel()
					s := newSoak(t, r.jobArena(t, self, level))
					s.run(limit/2, seed+uint64(i)) // half of them run at once
					s.settle()
					s.checkRest()
					s.end(end)
				})
			}
		}
	})
}

// soak is one host under load.
type soak struct {
	t      *testing.T
	a      *escapeAttempt
	h      *jobHost
	mark   string // in every command
	files  int    // descriptors of the host when nothing ran
	memory int64
	tasks  int // processes of the host when nothing ran

	mu    sync.Mutex
	jobs  []string // started so far
	count map[string]int
	stuck atomic.Bool
}

// soakScripts are the commands. MARK is in each of them.
var soakScripts = []string{
	`echo MARK`,
	`sleep 0.0$((RANDOM % 100)); echo MARK; exit $((RANDOM % 3))`,
	`: MARK; seq $((RANDOM * 10))`,
	`: MARK; seq 20000 >&2; kill -9 $$`,
	`sleep MARK`,
	`sleep MARK & echo started`,
	`setsid nohup sleep MARK & (sleep MARK &); echo started`,
	`(trap '' TERM HUP; setsid sleep MARK) & echo deaf`,
	`: MARK; trap 'echo term; sleep 0.2' TERM; while :; do echo tick; sleep 0.05; done`,
	`: MARK; read -p Password: x; echo "got $x"`,
	`: MARK; while read -r line; do echo "<$line>"; done`,
	`bash --norc; : MARK`,
	`python3 -c 'while True: print(len(input())) # MARK'`,
	`perl -e 'while (<STDIN>) { print length, "\n" } # MARK'`,
	`: MARK; for i in $(seq 30); do (sleep 0.$i; echo $i) & done; wait`,
	`: MARK; printf '\xc3'; sleep 0.05; printf '\xa9'; head -c 100000 /dev/urandom`,
	`exec perl -e 'fork; fork; fork; sleep 1; # MARK'`,
	`: MARK; cd tree`,
	`: MARK; no-such-program`,
}

func newSoak(t *testing.T, a *escapeAttempt) *soak {
	t.Helper()
	s := &soak{t: t, a: a, h: a.jobHost("--drain", "2s"), mark: newMark(t), count: map[string]int{}}
	s.h.loose = true
	for _, script := range soakScripts { // what a first command of each kind costs
		for _, how := range []fields{nil, onTTY} {
			v := s.h.run(strings.ReplaceAll(script, "MARK", s.mark), how, fields{"timeout_ms": 100}).view()
			s.h.call("shell_kill", fields{"job": v.Job, "grace_ms": 50}) // settle ends what does not end at once
		}
	}
	s.h.call("edit", fields{"path": "file", "old_string": "pristine", "new_string": "0"})
	s.settle()
	time.Sleep(200 * time.Millisecond)
	s.files, s.memory = descriptors(t, s.h.Cmd.Process.Pid), residentBytes(t, s.h.Cmd.Process.Pid)
	s.tasks = len(tree(s.h.Cmd.Process.Pid))
	return s
}

// run lets workers loose on the host.
func (s *soak) run(limit time.Duration, seed uint64) {
	var workers sync.WaitGroup
	end := time.Now().Add(limit)
	for worker := range 6 {
		workers.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(worker)))
			for time.Now().Before(end) && !s.stuck.Load() {
				s.step(random)
			}
		})
	}
	workers.Wait()
	s.t.Logf("%d jobs; %v", len(s.jobs), s.count)
}

// step does one thing.
func (s *soak) step(random *rand.Rand) {
	some := func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.jobs) == 0 || random.IntN(50) == 0 {
			return "j0"
		}
		recent := s.jobs[max(0, len(s.jobs)-10):]
		return recent[random.IntN(len(recent))]
	}
	switch n := random.IntN(100); {
	case n < 30:
		s.start(random)
	case n < 50:
		s.make("shell_output", pick(random,
			fields{"job": some()}, fields{"job": some(), "cursor": 0}, fields{"job": some(), "tail": 5}, fields{"job": some(), "grep": "[0-9]7"},
			fields{"job": some(), "wait_ms": random.IntN(300)}, fields{"job": some(), "until": "exit", "wait_ms": random.IntN(500)},
			fields{"job": some(), "until": "quiet:50", "wait_ms": 300}, fields{"job": some(), "until": "match:(tick|7)", "wait_ms": 300},
		))
	case n < 65:
		s.make("shell_input", pick(random,
			fields{"job": some(), "text": "a line\n", "wait_ms": 50}, fields{"job": some(), "keys": []string{"ctrl-c"}, "wait_ms": 50},
			fields{"job": some(), "keys": []string{"enter"}, "wait_ms": 0}, fields{"job": some(), "eof": true, "wait_ms": 50},
			fields{"job": some(), "text": strings.Repeat("much\n", 20_000), "wait_ms": 50}, fields{"job": some(), "columns": 40, "rows": 10, "wait_ms": 0},
		))
	case n < 90:
		s.make("shell_kill", pick(random,
			fields{"job": some()}, fields{"job": some(), "grace_ms": 0}, fields{"job": some(), "grace_ms": 100}, fields{"job": some(), "signal": "INT", "grace_ms": 50},
		))
	case n < 93:
		if err := s.h.Request("agenttool/status", fields{}, &struct{}{}, patience); err != nil {
			s.stuck.Store(true)
			s.t.Error(err)
		}
	case n < 96:
		s.make("read", fields{"path": "tree/file"})
	default:
		s.make("edit", fields{"path": "file", "old_string": "0", "new_string": "0 "})
	}
}

func pick(random *rand.Rand, inputs ...fields) fields { return inputs[random.IntN(len(inputs))] }

// start starts a command in any way, and cancels some of them.
func (s *soak) start(random *rand.Rand) {
	input := fields{"command": strings.ReplaceAll(soakScripts[random.IntN(len(soakScripts))], "MARK", s.mark), "timeout_ms": 1 + random.IntN(600)}
	if random.IntN(3) == 0 {
		input["run_in_background"] = true
	}
	if random.IntN(2) == 0 {
		input["tty"] = true
	}
	deadline := fields{}
	if random.IntN(5) == 0 {
		deadline["timeout_ms"] = 1 + random.IntN(300)
	}
	call := s.h.start("shell", input, deadline)
	if random.IntN(4) == 0 {
		time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
		_ = s.h.Request("agenttool/cancel", fields{"id": call.id}, &struct{}{}, patience)
	}
	s.answered("shell", input, call)
}

// make makes a call.
func (s *soak) make(tool string, input fields) {
	s.answered(tool, input, s.h.start(tool, input))
}

// answered waits for an answer, which comes, and is one that a client can do something with.
func (s *soak) answered(tool string, input fields, call *pendingCall) {
	r, err := call.wait()
	if err != nil {
		s.stuck.Store(true)
		s.t.Errorf("%s %v: %v", tool, input, err)
		return
	}
	succeeded := r.Result.Status == "succeeded" || r.Result.Status == "partial_succeeded"
	if e := r.Result.Error; strings.Contains(e.Message, "internal error") || e.Class == "" && !succeeded {
		s.t.Errorf("%s %v: %s: %+v", tool, input, r.Result.Status, e)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[tool+" "+r.Result.Status]++
	if job := r.view().Job; tool == "shell" && job != "" {
		s.jobs = append(s.jobs, job)
	}
}

// settle ends what runs.
func (s *soak) settle() {
	s.t.Helper()
	for begun := time.Now(); ; {
		left := s.h.jobs()
		if len(left) == 0 {
			break
		}
		if time.Since(begun) > patience {
			s.t.Fatalf("jobs do not end: %+v", left)
		}
		for _, j := range left {
			if r := s.h.call("shell_kill", fields{"job": j.Job, "grace_ms": 100}); r.Result.Status != "succeeded" {
				s.t.Errorf("shell_kill %s: %s", j.Job, r.says())
			}
		}
	}
	gone(s.t, "all were killed", s.mark)
}

// checkRest finds what jobs have left in the host.
func (s *soak) checkRest() {
	s.t.Helper()
	pid := s.h.Cmd.Process.Pid
	for begun := time.Now(); descriptors(s.t, pid) > s.files; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > patience {
			s.t.Errorf("the host has %d descriptors, %d before:\n%s", descriptors(s.t, pid), s.files, namesOfFiles(pid))
			break
		}
	}
	for begun := time.Now(); len(tree(pid)) > s.tasks; time.Sleep(50 * time.Millisecond) {
		if time.Since(begun) > patience {
			s.t.Errorf("the host has %d processes, %d before: %v", len(tree(pid)), s.tasks, tree(pid))
			break
		}
	}
	for begun := time.Now(); zombies(pid) > 0; time.Sleep(50 * time.Millisecond) { // each is one for a moment
		if time.Since(begun) > patience {
			s.t.Errorf("%d children of the host are zombies", zombies(pid))
			break
		}
	}
	grown := residentBytes(s.t, pid) - s.memory
	s.t.Logf("%d descriptors before, %d now; the host grew by %.1f MiB", s.files, descriptors(s.t, pid), float64(grown)/(1<<20))
	if grown > 48<<20 && !underRace {
		s.t.Errorf("the host grew by %d bytes", grown)
	}
	announced := map[string]int{}
	s.h.mu.Lock()
	for _, e := range s.h.events {
		if job, ok := e.Data.Progress["task_id"].(string); ok && e.exit(job) {
			announced[job]++
		}
	}
	s.h.mu.Unlock()
	for job, n := range announced {
		if n > 1 {
			s.t.Errorf("the exit of %s was announced %d times", job, n)
		}
	}
}

func namesOfFiles(pid int) string {
	var names []string
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, path := range all {
		if name, err := os.Readlink(path); err == nil {
			names = append(names, filepath.Base(path)+" "+name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, "\n")
}

// end ends the host and finds what is left of it.
func (s *soak) end(how string) {
	s.t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for range 12 { // something runs
		s.start(random)
	}
	all := tree(s.h.Cmd.Process.Pid)
	if how == "SIGKILL" {
		s.h.murder()
	} else {
		s.h.close()
	}
	checkEnded(s.t, how, all)
	gone(s.t, how, s.mark)
	if found := socketsOf(s.a); len(found) > 0 && how != "SIGKILL" {
		s.t.Errorf("%s left %q", how, found)
	}
	if how != "SIGKILL" {
		if left, _ := filepath.Glob(filepath.Join(s.a.state, "toolhost", "scratch", "*")); len(left) > 0 {
			s.t.Errorf("%s left %q", how, left)
		}
	}
	_ = filepath.WalkDir(s.a.ws, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(s.a.ws, path)
		if err == nil && !d.IsDir() && !slices.Contains([]string{"file", "tree/file", ".env", "tree/.env.local", "nohup.out", "tree/nohup.out"}, name) {
			s.t.Errorf("%s left %s in the workspace", how, name)
		}
		return nil
	})
	if said, code := s.a.said(s.a.command(s.a.toolhost, "log", "verify", s.h.session)); code != 0 {
		s.t.Errorf("log verify: %s", said)
	}
}
