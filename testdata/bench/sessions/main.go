// Sessions measures how long the commands that read past sessions take where there are many of them.
//
//	go run ./testdata/bench/sessions [-n N] [-rounds N] PROGRAM
//
// It makes N sessions, each with a call of shell in its log and every tenth with a stored output, and prints the median and
// the slowest of the rounds of each command, in ms, with the start of the program, and the median of the processor time.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"toolhost/agenttool"
	"toolhost/persist"
)

func main() {
	n := flag.Int("n", 10_000, "sessions")
	rounds := flag.Int("rounds", 20, "runs of each command")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "sessions: give the program")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *n, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "sessions:", err)
		os.Exit(1)
	}
}

func run(program string, n, rounds int) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	state, err := os.MkdirTemp("/var/tmp", "toolhost-sessions-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	workspace := filepath.Join(state, "ws")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		return err
	}
	id, err := fill(filepath.Join(state, "toolhost", "sessions"), n)
	if err != nil {
		return err
	}
	rules := []byte(`{"permissions":{"allow":["Shell(make *)"]}}`) // whose uses grants counts
	if err := os.WriteFile(filepath.Join(state, "toolhost", "settings.json"), rules, 0o600); err != nil {
		return err
	}
	fmt.Printf("%d sessions\n", n)
	for _, args := range [][]string{
		{"version"},
		{"log", "list", "--limit", "20"},
		{"log", "list"},
		{"log", "show", string(id)},
		{"log", "show", string(id[:len(id)-1])},
		{"log", "show"},
		{"grants"},
		{"check", "--explain-rule", "Shell(make *)"},
		{"log", "prune", "--dry-run"},
	} {
		if err := measure(program, workspace, state, rounds, args); err != nil {
			return err
		}
	}
	return nil
}

// measure runs a command several times.
func measure(program, dir, state string, rounds int, args []string) error {
	var took, used []time.Duration
	for range rounds {
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "XDG_CONFIG_HOME="+state, "HOME="+state)
		var said bytes.Buffer
		cmd.Stderr = &said
		start := time.Now()
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%v: %w: %s", args, err, said.Bytes())
		}
		took = append(took, time.Since(start))
		used = append(used, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	slices.Sort(took)
	slices.Sort(used)
	fmt.Printf("%-50s median %8.1f  slowest %8.1f  processor %8.1f\n", fmt.Sprint(args), ms(took[len(took)/2]), ms(took[len(took)-1]), ms(used[len(used)/2]))
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// fill makes n sessions of the last 29 days in dir, and returns the id of one in the midst.
func fill(dir string, n int) (some agenttool.SessionID, err error) {
	var ids agenttool.IDs
	begin := time.Now().Add(-29 * 24 * time.Hour)
	for i := range n {
		when := begin.Add(time.Duration(i) * 29 * 24 * time.Hour / time.Duration(n))
		id := agenttool.SessionID(ids.New("ses_", when))
		if err := makeSession(dir, id, i, when); err != nil {
			return "", err
		}
		if i == n/2 {
			some = id
		}
	}
	return some, nil
}

// makeSession makes one session that ended at a time.
func makeSession(dir string, id agenttool.SessionID, i int, when time.Time) error {
	s := persist.New(persist.Options{Dir: dir, ID: id, Now: func() time.Time { return when }, Meta: []byte(`{"workspace":"/home/me/project"}`)})
	invocation := fmt.Sprintf("inv_%d", i)
	rest := bytes.Repeat([]byte(`{"status":"running","at":"2026-01-01T00:00:00.000Z"},`), 60)
	for _, event := range []string{
		`{"event_type":"tool.invocation.selected","time":"` + agenttool.Timestamp(when) + `","invocation_id":"` + invocation + `","tool_id":"toolhost.shell","data":{"name":"shell"}}`,
		`{"event_type":"tool.permission.decided","invocation_id":"` + invocation + `","data":{"decision":{"behavior":"allow","rule_refs":["user:Shell(make *)"]}}}`,
		fmt.Sprintf(`{"event_type":"tool.result.created","invocation_id":"%s","data":{"invocation":{"invocation_id":"%s","tool_id":"toolhost.shell","status":"succeeded","created_at":"%s","model_input":{"command":"make target%d"},"status_transitions":[%s{}]},"result":{"status":"succeeded"}}}`,
			invocation, invocation, agenttool.Timestamp(when), i, rest),
	} {
		if _, err := s.Append([]byte(event)); err != nil {
			return err
		}
	}
	if i%10 == 0 {
		p, err := s.Payload(agenttool.InvocationID(invocation), "stdout", "text/plain", "full_output")
		if err != nil {
			return err
		}
		if _, err := p.Write(make([]byte, 40_000)); err != nil {
			return err
		}
		if _, err := p.Close(); err != nil {
			return err
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	return os.Chtimes(filepath.Join(s.Path(), "log.jsonl"), when, when)
}
