package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"toolhost/testdata/support/wiretest"
)

// patience is how long an answer, or the end of a session on a slow disk, may take.
const patience = time.Minute

// worker has toolhost change files and settings, and knows at which moment of the recording each change was reported.
type worker struct {
	program, root string
	now           func() int
	random        *rand.Rand
	changes       []change
	files         map[string][]int // the changes of a file, in order
	rules         []change         // of the settings: those of the command line, and answers that allow for ever
	projects      []change         // that were trusted
	outputs       []change         // of commands, which are stored
	trees         []*tree
	used          int // of trees
	stalled       int // sessions that ended before the disk had answered, and said so
}

// change is one write, edit, rule, project or output.
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

// prepare makes all that is on the disk before the recording begins. durability is that of the settings; "": the usual.
func (w *worker) prepare(durability string) {
	for _, dir := range []string{"ws", "run", "out", "config/toolhost"} {
		check(os.MkdirAll(filepath.Join(w.root, dir), 0o700))
	}
	for n := range projects {
		dir := filepath.Join(w.root, fmt.Sprintf("project%d", n), ".toolhost")
		check(os.MkdirAll(dir, 0o700))
		check(os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"permissions":{"allow":["Shell(make all)"]}}`), 0o600))
	}
	settings := map[string]any{"approvals": map[string]string{"in_band_scopes": "user", "wait": "always"}}
	if durability != "" {
		settings["files"] = map[string]string{"durability": durability}
	}
	text, err := json.Marshal(settings)
	check(err)
	check(os.WriteFile(filepath.Join(w.root, "config/toolhost/settings.json"), text, 0o600))
	w.growTrees()
}

const projects = 60

// run makes changes for a while, in several sessions.
func (w *worker) run(long time.Duration) {
	for end := time.Now().Add(long); time.Now().Before(end); {
		w.session(min(time.Until(end), long/4))
	}
}

func (w *worker) session(long time.Duration) {
	cmd := w.command(w.root, "serve", "--workspace", filepath.Join(w.root, "ws"), "--mode", "sandboxed", "--allow", "Shell")
	var said strings.Builder
	cmd.Stderr = io.MultiWriter(os.Stderr, &said)
	asked := make(chan string, 10)
	host, err := wiretest.Start(cmd, wiretest.Options{Heard: func(m wiretest.Message) {
		if text := string(m.Params); strings.Contains(text, "tool.permission.requested") {
			_, id, _ := strings.Cut(text, `"decision_id":"`)
			id, _, _ = strings.Cut(id, `"`)
			asked <- id

		}
	}})
	check(err)
	check(host.Request("agenttool/hello", map[string]any{"client": map[string]string{"name": "power", "version": "1"}, "approvals": true}, nil, patience))
	for end := time.Now().Add(long); time.Now().Before(end); {
		switch w.random.IntN(30) {
		case 0:
			w.rule()
		case 1:
			w.grant(host, asked)
		case 2:
			w.trust()
		case 3, 4:
			w.output(host)
		case 5, 6, 7, 8, 9, 10, 11, 12, 13:
			w.lose(host)
		default:
			w.change(host)
		}
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

// grant makes a call that asks, and allows it for ever.
func (w *worker) grant(host *wiretest.Process, asked <-chan string) {
	path := filepath.Join(w.root, fmt.Sprintf("out/grant%d", len(w.rules)))
	c := change{id: "Write(" + path + ")", began: w.now()}
	call := host.Send("agenttool/invoke", map[string]any{"id": path, "tool": "write", "input": map[string]any{"path": path, "content": "granted"}})
	select {
	case id := <-asked:
		answer := map[string]any{"decision_id": id, "behavior": "allow", "scope": "user", "accept_updates": []int{0}}
		check(host.Request("agenttool/decide", answer, nil, patience))
	case <-time.After(patience):
		check(fmt.Errorf("nobody is asked about %s", path))
	}
	c.reported = w.now()
	check(call.Result(nil, patience))
	w.rules = append(w.rules, c)
}

// trust trusts a project.
func (w *worker) trust() {
	if len(w.projects) == projects {
		return
	}
	dir := filepath.Join(w.root, fmt.Sprintf("project%d", len(w.projects)))
	c := change{id: fmt.Sprintf("%q", dir), began: w.now()}
	if out, err := w.command(w.root, "trust", dir, "--yes").Output(); err != nil {
		check(fmt.Errorf("trust: %v: %s", err, out))
	}
	c.reported = w.now()
	w.projects = append(w.projects, c)
}

// output has a command print more than fits in a result.
func (w *worker) output(host *wiretest.Process) {
	first := 100_000 * (1 + len(w.outputs))
	c := change{id: fmt.Sprintf("output%d", first), began: w.now()}
	var lines strings.Builder
	for n := range 12_000 {
		fmt.Fprintln(&lines, first+n)
	}
	c.content = lines.String()
	command := fmt.Sprintf("seq %d %d", first, first+11_999)
	m, err := host.Send("agenttool/invoke", map[string]any{"id": c.id, "tool": "shell", "input": map[string]any{"command": command}}).Message(patience)
	check(err)
	if !strings.Contains(string(m.Line), `"status":"succeeded"`) {
		check(fmt.Errorf("%s: %.1000s", command, m.Line))
	}
	c.reported = w.now()
	w.outputs = append(w.outputs, c)
}

// examine looks at a file system after a cut.
func (w *worker) examine(moment int, root string, sum *findings) {
	logs := w.logs(moment, root, sum)
	for name, indices := range w.files {
		w.file(moment, filepath.Join(root, "ws", name), indices, logs, sum)
	}
	w.listed(moment, filepath.Join(root, "config/toolhost/settings.json"), w.rules, `"(Shell\(make target|Write\([^"]*/out/grant)`, &sum.rules, sum)
	w.listed(moment, filepath.Join(root, "state/toolhost/trust.json"), w.projects, `"[^"]*/project\d+"`, &sum.trust, sum)
	w.examineOutputs(moment, root, sum)
	w.examineTrees(moment, root, sum)
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

// listed compares a file of ours with what was added to it, of which each is a match of the pattern there.
func (w *worker) listed(moment int, path string, added []change, pattern string, counts *states, sum *findings) {
	reported, have := 0, 0
	content, err := os.ReadFile(path)
	for _, c := range added {
		if c.reported <= moment {
			reported++
		}
		if strings.Contains(string(content), c.id) {
			have++
		}
	}
	if os.IsNotExist(err) && reported == 0 {
		return
	}
	whole := json.Valid(content) && len(regexp.MustCompile(pattern).FindAll(content, -1)) == have
	switch {
	case err == nil && whole && have >= reported:
		counts.there++
	case os.IsNotExist(err) || err == nil && whole:
		counts.older++
		sum.add("moment %d: %s has %d of %d that were reported", moment, path, have, reported)
	default:
		counts.damaged++
		sum.add("moment %d: %s, %v: %.200q", moment, path, err, content)
	}
}

// examineOutputs looks for the outputs of reported calls.
func (w *worker) examineOutputs(moment int, root string, sum *findings) {
	stored := map[string]bool{}
	paths, _ := filepath.Glob(filepath.Join(root, "state/toolhost/sessions/*/results/*"))
	for _, path := range paths {
		content, err := os.ReadFile(path)
		check(err)
		stored[string(content)] = true
	}
	for _, c := range w.outputs {
		switch {
		case c.reported > moment:
		case stored[c.content]:
			sum.outputs.there++
		default:
			sum.outputs.older++
		}
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
