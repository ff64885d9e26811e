package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"toolhost/wire/wiretest"
)

// patience is how long an answer, or the end of a session on a slow disk, may take.
const patience = 5 * time.Minute

// worker has toolhost change files and settings, and knows at which moment of the recording each change was reported.
type worker struct {
	program, root string
	now           func() int
	random        *rand.Rand
	changes       []change
	files         map[string][]int // the changes of a file, in order
	rules         []change
	stalled       int // sessions that ended before the disk had answered, and said so
}

// change is one write, edit or rule.
type change struct {
	id, content     string
	began, reported int // moments of the recording
}

func newWorker(program, root string, now func() int, random *rand.Rand) *worker {
	return &worker{program: program, root: root, now: now, random: random, files: map[string][]int{}}
}

// command is toolhost with its state, its settings and its workspace below root.
func (w *worker) command(root string, args ...string) *exec.Cmd {
	cmd := exec.Command(w.program, args...)
	cmd.Env = append(wiretest.Home(root), "PATH="+os.Getenv("PATH"))
	cmd.Dir = root // in a repository, rules would be added to that project
	cmd.Stderr = os.Stderr
	return cmd
}

// run makes changes for a while, in several sessions.
func (w *worker) run(long time.Duration) {
	for _, dir := range []string{"ws", "run"} {
		check(os.MkdirAll(filepath.Join(w.root, dir), 0o700))
	}
	for end := time.Now().Add(long); time.Now().Before(end); {
		w.session(min(time.Until(end), long/4))
	}
}

func (w *worker) session(long time.Duration) {
	cmd := w.command(w.root, "serve", "--workspace", filepath.Join(w.root, "ws"), "--mode", "accept_edits")
	var said strings.Builder
	cmd.Stderr = io.MultiWriter(os.Stderr, &said)
	host, err := wiretest.Start(cmd, wiretest.Options{})
	check(err)
	for end := time.Now().Add(long); time.Now().Before(end); {
		if w.random.IntN(12) == 0 {
			w.rule()
		}
		w.change(host)
	}
	if err := host.End(patience); err != nil && strings.Contains(said.String(), "the disk of the session log does not answer") {
		w.stalled++ // on a busy machine the recorded disk is slow: the session does not wait for it for ever
	} else {
		check(err)
	}
}

// change makes one change of a file and waits until it is reported.
func (w *worker) change(host *wiretest.Process) {
	name := fmt.Sprintf("f%d", w.random.IntN(12))
	n := len(w.changes)
	c := change{id: fmt.Sprintf("change-%d-", n)}
	c.content = fmt.Sprintf("%s %s\n", c.id, strings.Repeat(fmt.Sprint(n, " "), w.random.IntN(4000)))
	tool, input := "write", map[string]any{"path": name, "content": c.content}
	if before := w.files[name]; len(before) > 0 && w.random.IntN(2) == 0 {
		old := w.changes[before[len(before)-1]].content
		c.content = c.id + old[strings.Index(old, " "):]
		tool, input = "edit", map[string]any{"path": name, "old_string": old[:strings.Index(old, " ")], "new_string": c.id}
	}
	c.began = w.now()
	m, err := host.Send("agenttool/invoke", map[string]any{"id": c.id, "tool": tool, "input": input}).Message(patience)
	check(err)
	answer := string(m.Line)
	if !strings.Contains(answer, `"status":"succeeded"`) {
		if strings.Contains(answer, `"not_read"`) || strings.Contains(answer, "read it first") || strings.Contains(answer, "stale") {
			return // a file of an earlier session
		}
		check(fmt.Errorf("%s %s: %.500s", tool, name, answer))
	}
	c.reported = w.now()
	w.files[name] = append(w.files[name], n)
	w.changes = append(w.changes, c)
}

// rule adds a rule to the settings.
func (w *worker) rule() {
	c := change{id: fmt.Sprintf("Shell(make target%d)", len(w.rules)), began: w.now()}
	out, err := w.command(w.root, "settings", "add-rule", "allow", c.id).Output()
	if err != nil {
		check(fmt.Errorf("add-rule: %v: %s", err, out))
	}
	c.reported = w.now()
	w.rules = append(w.rules, c)
}

// examine looks at a file system after a cut.
func (w *worker) examine(moment int, root string, sum *findings) {
	logs := w.logs(moment, root, sum)
	for name, indices := range w.files {
		w.file(moment, filepath.Join(root, "ws", name), indices, logs, sum)
	}
	w.settings(moment, filepath.Join(root, "config/toolhost/settings.json"), sum)
	if old, _ := filepath.Glob(filepath.Join(root, "ws", "f*")); len(old) > len(w.files) {
		sum.add("moment %d: unknown files: %q", moment, old)
	}
}

// file compares one file with what it may hold.
func (w *worker) file(moment int, path string, indices []int, logs string, sum *findings) {
	last, there := -1, -1 // the last change that was reported, and the one that the file shows
	content, err := os.ReadFile(path)
	for i, n := range indices {
		c := w.changes[n]
		if c.reported <= moment {
			last = i
		}
		if err == nil && c.began <= moment && string(content) == c.content {
			there = i
		}
	}
	switch {
	case err == nil && there < 0:
		sum.damaged++
		sum.add("moment %d: %s holds %d bytes that no change left: %.60q", moment, path, len(content), content)
	case err != nil && !os.IsNotExist(err):
		sum.damaged++
		sum.add("moment %d: %v", moment, err)
	case there >= last && last >= 0:
		sum.there++
	case last >= 0:
		sum.older++
	}
	if there < 0 {
		return
	}
	if strings.Contains(logs, w.changes[indices[there]].id) {
		sum.logged++
	} else {
		sum.unlogged++
		sum.add("moment %d: %s shows %s, which no log has", moment, path, w.changes[indices[there]].id)
	}
}

// settings compares the file of settings with the rules that were added.
func (w *worker) settings(moment int, path string, sum *findings) {
	reported := 0
	for _, c := range w.rules {
		if c.reported <= moment {
			reported++
		}
	}
	content, err := os.ReadFile(path)
	if os.IsNotExist(err) && reported == 0 {
		return
	}
	have := 0
	for have < len(w.rules) && strings.Contains(string(content), w.rules[have].id) {
		have++
	}
	whole := json.Valid(content) && strings.Count(string(content), "make target") == have
	switch {
	case err == nil && whole && have >= reported:
		sum.rulesThere++
	case os.IsNotExist(err) || err == nil && whole:
		sum.rulesOlder++
	default:
		sum.rulesDamaged++
		sum.add("moment %d: the settings, %v: %.200q", moment, err, content)
	}
}

// logs returns the text of all logs, after verify has looked at them.
func (w *worker) logs(moment int, root string, sum *findings) string {
	paths, err := filepath.Glob(filepath.Join(root, "state/toolhost/sessions/*/log.jsonl"))
	check(err)
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			sum.add("moment %d: %v", moment, err)
			continue
		}
		all.Write(text)
		verify := w.command(root, "log", "verify", filepath.Dir(path))
		verify.Stderr = nil
		out, err := verify.CombinedOutput()
		switch said := string(out); {
		case err == nil:
			sum.ok++
		case strings.Contains(said, "machine stopped before they were on the disk"):
			sum.incomplete++
		default:
			sum.changed++
			sum.add("moment %d: verify: %s", moment, said)
		}
	}
	return all.String()
}
