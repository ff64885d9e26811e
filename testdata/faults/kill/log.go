package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"toolhost/testdata/support/wiretest"
)

// rules are the settings of the hosts whose logs are read, with the rules in known lines.
const rules = `{
  "permissions": {
    "allow": [
      "Shell(sleep *)",
      "Shell(touch *)",
      "Write(out)"
    ],
    "deny": [
      "Shell(rm *)"
    ]
  }
}`

// recorded is a call of a host that is killed, and the text that its records must hold.
type recorded struct {
	tool    string
	input   map[string]any
	shown   []string // of the input
	decided string   // with the line of the rule; "" if a user is asked
}

// recordedCalls are calls of which the first runs, the second waits for it, the third asks, the fourth goes on as a job, and the last is denied.
func (s *scene) recordedCalls() []recorded {
	sleep := "sleep " + s.mark
	return []recorded{
		{"shell", map[string]any{"command": "touch out; " + sleep}, []string{"touch out; " + sleep}, "allowed by the rule user_settings:Shell(touch *) (FILE:5)"},
		{"write", map[string]any{"path": "out", "content": "first\nsecond\n"}, []string{"path        out", "| second"}, "allowed by the rule user_settings:Write(out) (FILE:6)"},
		{"write", map[string]any{"path": "other", "content": "third\n"}, []string{"path        other", "third"}, ""},
		{"shell", map[string]any{"command": sleep, "run_in_background": true}, []string{"command     " + sleep, "run_in_background true"}, "allowed in mode default"},
		{"shell", map[string]any{"command": "rm -r here"}, []string{"rm -r here"}, "denied by the rule user_settings:Shell(rm *) (FILE:9)"},
	}
}

// killRecorded kills hosts in the middle of such calls, removes their workspaces, and compares what the log says with what happened. In the
// end another host starts, and each call must have one end.
func (s *scene) killRecorded(kills int, wait time.Duration, totals map[string]int) error {
	settings := filepath.Join(s.home, "config", "toolhost", "settings.json")
	if err := os.WriteFile(settings, []byte(rules), 0o600); err != nil {
		return err
	}
	for range kills {
		if err := s.killOnce(settings, wait, totals); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(s.workspace, 0o700); err != nil {
		return err
	}
	next, err := s.startWith(wiretest.Options{})
	if err != nil {
		return fmt.Errorf("the next host: %w", err)
	}
	s.ended(totals)
	err = next.End(20 * time.Second)
	s.settle("next", wait, totals)
	return err
}

// killOnce starts a host, kills it at a random moment, and reads its log.
func (s *scene) killOnce(settings string, wait time.Duration, totals map[string]int) error {
	if err := os.MkdirAll(s.workspace, 0o700); err != nil {
		return err
	}
	asked, heard := make(chan struct{}), false
	h, err := s.startWith(wiretest.Options{Heard: func(m wiretest.Message) {
		if !heard && bytes.Contains(m.Params, []byte("tool.permission.requested")) {
			heard = true
			close(asked)
		}
	}})
	if err != nil {
		return fmt.Errorf("a host: %w", err)
	}
	for i, c := range s.recordedCalls() {
		h.Send("agenttool/invoke", map[string]any{"id": id(i), "tool": c.tool, "input": c.input})
	}
	time.Sleep(time.Duration(s.random.IntN(400)) * time.Millisecond)
	h.Kill()
	totals["victim host"]++
	seen := sight{ran: exists(s.workspace, "out")}
	select {
	case <-asked:
		seen.asked = true
	default:
	}
	s.settle("killed", wait, totals)
	s.endAll()
	if err := os.RemoveAll(s.workspace); err != nil {
		return err
	}
	return s.read(settings, seen, wait, totals)
}

// id is the id of a call.
func id(call int) string { return fmt.Sprint("call-", call) }

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// sight is what was seen of the calls from outside.
type sight struct{ ran, asked bool }

// entry is a line of a log.
type entry struct {
	Event struct {
		Type       string `json:"event_type"`
		Subject    string `json:"subject"`
		Invocation string `json:"invocation_id"`
		Data       struct {
			Progress struct {
				Task   string `json:"task_id"`
				Status string `json:"status"`
			} `json:"progress"`
			Phase string `json:"phase"`
		} `json:"data"`
	} `json:"event"`
}

// logOf returns the lines of a log.
func logOf(path string) (entries []entry, err error) {
	text, err := os.ReadFile(path)
	for line := range bytes.Lines(text) {
		var e entry
		if json.Unmarshal(line, &e) == nil { // the last line may be torn
			entries = append(entries, e)
		}
	}
	return entries, err
}

// deadLog is the log of a session whose host was killed.
type deadLog struct {
	*scene
	settings, session string
	entries           []entry
	totals            map[string]int
}

// read compares the log of the host that was killed last with its calls.
func (s *scene) read(settings string, seen sight, wait time.Duration, totals map[string]int) error {
	logs, err := filepath.Glob(filepath.Join(s.home, "state", "toolhost", "sessions", "*", "log.jsonl"))
	if err != nil {
		return err
	}
	logs = slices.DeleteFunc(logs, func(path string) bool { return s.logs[path] })
	d := deadLog{scene: s, settings: settings, totals: totals}
	for _, path := range logs {
		s.logs[path], d.session = true, filepath.Base(filepath.Dir(path))
		if d.entries, err = logOf(path); err != nil {
			return err
		}
	}
	for _, path := range logs {
		if !unlocked(path, wait, totals) {
			totals["killed: locks of logs"]++
		}
	}
	d.compare(seen)
	if len(logs) == 0 {
		return nil
	}
	return d.show()
}

// unlocked waits until no process has the lock of a log, which is the sign of life of its host: a child that was about to start a program
// holds it for a moment longer.
func unlocked(path string, wait time.Duration, totals map[string]int) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	for limit := time.Now().Add(wait); syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			return false
		}
		totals["moments in which a log was locked after its host's end"]++
	}
	return true
}

// has reports whether the log has a record of the kind of a call.
func (d *deadLog) has(call int, kind string) bool {
	return slices.ContainsFunc(d.entries, func(e entry) bool { return e.Event.Subject == id(call) && e.Event.Type == "tool."+kind })
}

// compare counts what happened and is not in the log.
func (d *deadLog) compare(seen sight) {
	for lack, wrong := range map[string]bool{
		"a command ran, and no record says that it started": seen.ran && !d.has(0, "invocation.started"),
		"a user was asked, and no record says so":           seen.asked && !d.has(2, "permission.requested"),
	} {
		if wrong {
			d.totals["log: "+lack]++
		}
	}
}

// show counts what log show does not say.
func (d *deadLog) show() error {
	line, err := d.toolhost("log", "show", d.session)
	if err != nil {
		return fmt.Errorf("%w: %s", err, line)
	}
	for i, c := range d.recordedCalls() {
		if !d.has(i, "invocation.planned") {
			d.totals["state not in the log yet"]++
			continue
		}
		over := d.has(i, "result.created")
		want := append(slices.Clone(c.shown), "actor       kill/1")
		if !over {
			want = append(want, "the host died")
		}
		if c.decided != "" && d.has(i, "permission.decided") {
			want = append(want, strings.ReplaceAll(c.decided, "FILE", d.settings))
		}
		if d.has(i, "permission.requested") {
			want = append(want, "asked       it writes other")
		}
		page, err := d.toolhost("log", "show", d.session, "--call", id(i))
		if err != nil {
			return fmt.Errorf("%w: %s", err, page)
		}
		for _, text := range want {
			if !strings.Contains(page, text) {
				d.totals["log: show --call does not say "+varying.ReplaceAllString(strings.ReplaceAll(text, d.dir, ""), "*")]++
			}
		}
		if died := regexp.MustCompile(id(i) + ` .*the host died`); !over && !died.MatchString(line) {
			d.totals["log: show does not say that the host died"]++
		}
		d.totals[d.state(i)]++
	}
	return nil
}

// state names how far a call had come.
func (d *deadLog) state(call int) string {
	switch {
	case d.has(call, "invocation.yielded"):
		return "state goes on as a job"
	case d.has(call, "result.created"):
		return "state ended"
	case d.has(call, "invocation.started"):
		return "state running"
	case d.has(call, "invocation.queued"):
		return "state queued"
	case d.has(call, "permission.requested"):
		return "state asking"
	}
	return "state being judged"
}

// ended waits until another host has written the ends of all calls, and counts calls and jobs that have none or two.
func (s *scene) ended(totals map[string]int) {
	for limit := time.Now().Add(patience); s.open() > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			totals["log: sessions that the next host did not end"] += s.open()
			break
		}
	}
	for path := range s.logs {
		entries, _ := logOf(path)
		countEnds(entries, totals)
	}
	if out, err := s.toolhost(append([]string{"log", "verify"}, s.sessions()...)...); err != nil {
		totals["log: log verify: "+varying.ReplaceAllString(out, "*")]++
	}
}

// open is the number of sessions that have records and no end.
func (s *scene) open() (n int) {
	for path := range s.logs {
		if entries, _ := logOf(path); len(entries) > 0 && entries[len(entries)-1].Event.Type != "tool.x.session.closed" {
			n++
		}
	}
	return n
}

// countEnds counts the calls and jobs of a log that have not one beginning and one end.
func countEnds(entries []entry, totals map[string]int) {
	begun, ends := map[string]int{}, map[string]int{}
	for _, e := range entries {
		call, p := e.Event.Invocation, e.Event.Data.Progress
		switch job := "job of " + call; {
		case e.Event.Type == "tool.invocation.planned":
			begun[call]++
		case e.Event.Type == "tool.result.created":
			ends[call]++
		case e.Event.Type == "tool.invocation.yielded":
			begun[job]++
		case begun[job] > 0 && p.Task != "" && slices.Contains([]string{"completed", "failed", "canceled"}, p.Status):
			ends[job]++
		}
	}
	for call := range ends {
		begun[call] += 0
	}
	for call, n := range begun {
		if n != 1 || ends[call] != 1 {
			totals[fmt.Sprintf("log: calls or jobs with %d beginnings and %d ends", n, ends[call])]++
		}
	}
}

// sessions are the ids of the sessions whose hosts were killed.
func (s *scene) sessions() (ids []string) {
	for path := range s.logs {
		ids = append(ids, filepath.Base(filepath.Dir(path)))
	}
	return ids
}

// toolhost runs a command with the home of the scene.
func (s *scene) toolhost(args ...string) (string, error) {
	cmd := exec.Command(s.program, args...)
	cmd.Env, cmd.Dir = append(os.Environ(), wiretest.Home(s.home)...), s.dir
	out, err := cmd.CombinedOutput()
	if e := (*exec.ExitError)(nil); errors.As(err, &e) {
		err = fmt.Errorf("%s: %w", strings.Join(args, " "), e)
	}
	return string(out), err
}
