package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/sandbox"
	"toolhost/testdata/support/recordtest"
	"toolhost/testdata/support/wiretest"
)

// patience is how long anything may take that has no limit of its own. It is generous: what is slow is logged.
const patience = time.Minute

// jobTools makes arenas in which commands of any level run: the place of the escapes without their probe.
func jobTools(t *testing.T) *escapeTools {
	t.Helper()
	r := &escapeTools{base: attemptDir(t)}
	t.Cleanup(func() { removeForced(r.base) })
	r.toolhost = filepath.Join(r.base, "bin", "toolhost")
	must(t, os.MkdirAll(filepath.Dir(r.toolhost), 0o755))
	linkSelf(t, r.toolhost)
	return r
}

// probedDesk is a desk with the probe, which makes machines that hold less than this one.
func probedDesk(t *testing.T) *escapeTools {
	t.Helper()
	r := jobTools(t)
	if err := r.addProbe(); err != nil {
		t.Logf("the levels below full are not tried: %v", err)
	}
	return r
}

// jobArena is an attempt with a state and a runtime directory of its own.
func (r *escapeTools) jobArena(t testing.TB, who account, level sandbox.Level) *escapeAttempt {
	t.Helper()
	a := r.attempt(t, who, level)
	a.stateAt(a.path("state"))
	if who.id == nil && level == sandbox.Full {
		keepLevel(t, a.state)
	} else if level != sandbox.None {
		a.keepLevel()
	}
	if err := os.Chmod(a.run, 0o700); err != nil {
		t.Fatal(err)
	}
	return a
}

// levelsFound are the levels that tests can have, by account and by whether there is a probe: the answer is the same for all of them.
var levelsFound sync.Map

// levels are those that a test can have: without the probe there is no making a machine that holds less than it does.
func (r *escapeTools) levels(t testing.TB, who account) []sandbox.Level {
	find := sync.OnceValue(func() []sandbox.Level { return r.findLevels(t, who) })
	found, _ := levelsFound.LoadOrStore([2]any{who.name, r.probe != ""}, find)
	return slices.Clone(found.(func() []sandbox.Level)())
}

func (r *escapeTools) findLevels(t testing.TB, who account) []sandbox.Level {
	all := []sandbox.Level{sandbox.Full, sandbox.None}
	if r.probe != "" && !underRace {
		all = append(all, sandbox.LandlockNotify, sandbox.Landlock)
	}
	return slices.DeleteFunc(all, func(l sandbox.Level) bool {
		if l == sandbox.None {
			return false
		}
		a := r.attempt(t, who, l)
		a.stateAt(a.path("state")) // where nothing is kept of the level
		said, code := a.said(a.confined("sandbox", "--workspace", a.ws, "--level", string(l), "--", "/bin/true"))
		if code != 0 {
			t.Logf("%s cannot be had here: %s", l, said)
		}
		return code != 0
	})
}

// fields is the input of a call, or params.
type fields map[string]any

// jobView is the structured content of the four tools: each fills what it has.
type jobView struct {
	Job         string
	State       string
	ExitCode    *int `json:"exit_code"`
	Signal      string
	TimedOut    bool `json:"timed_out"`
	Cwd         string
	Stdout      string
	Stderr      string
	StdoutBytes int64     `json:"stdout_bytes"`
	StdoutCut   bool      `json:"stdout_truncated"`
	StderrCut   bool      `json:"stderr_truncated"`
	StillHeldBy []jobProc `json:"still_held_by"`
	Running     []string
	WaitsFor    *jobProc `json:"waits_for"`
	Ports       []jobPort
	Sandbox     struct{ Profile, Level string }

	Cursor     int64
	NextCursor int64 `json:"next_cursor"`
	Bytes      int64
	Lines      int64
	Text       string
	More       bool
	Missing    *struct {
		From, To int64
		Reason   string
	}
	Matched json.RawMessage
	Killed  []string

	// of agenttool/status
	InvocationID string `json:"invocation_id"`
	Command      string
	PID          int
	AgeMS        int64  `json:"age_ms"`
	LastLine     string `json:"last_line"`
}

type jobProc struct {
	PID     int
	Command string
	On      string
}

type jobPort struct {
	Address string
	Port    int
	PID     int
	Command string
}

// jobReply is the answer to a call.
type jobReply struct {
	Invocation struct {
		InvocationID    string `json:"invocation_id"`
		Status          string
		ObservableInput json.RawMessage `json:"observable_input"`
		Scheduler       *struct {
			QueueState string `json:"queue_state"`
		}
	}
	Result struct {
		Status            string
		IsError           bool `json:"is_error"`
		Content           []struct{ Text string }
		StructuredContent jobView   `json:"structured_content"`
		ContextModifiers  []jobMove `json:"context_modifiers"`
		Error             struct {
			Class          string `json:"error_class"`
			Code           string `json:"error_code"`
			Recoverability string
			RetryAfter     int64 `json:"retry_after"`
			Message        string
		}
	}
	took time.Duration
}

// jobMove says where a command left the session.
type jobMove struct {
	Type, From, To, Reason string
	Applied                bool
}

// moved is where the command moved the session, "" if it did not.
func (r *jobReply) moved() string {
	for _, m := range r.Result.ContextModifiers {
		if m.Applied {
			return m.To
		}
	}
	return ""
}

// view is the structured content.
func (r *jobReply) view() *jobView { return &r.Result.StructuredContent }

// says is everything that a model reads.
func (r *jobReply) says() string {
	var b strings.Builder
	for _, c := range r.Result.Content {
		b.WriteString(c.Text + "\n")
	}
	return b.String() + r.Result.Error.Message
}

// jobEvent is one event. Its progress is kept as it came.
type jobEvent struct {
	Type         string `json:"event_type"`
	InvocationID string `json:"invocation_id"`
	Data         struct {
		Progress map[string]any
		Decision struct {
			ID     string `json:"decision_id"`
			Reason struct{ Detail string }
		}
	}
}

// exit reports whether it announces the end of a job.
func (e jobEvent) exit(job string) bool {
	return e.Type == "tool.invocation.progress" && e.Data.Progress["task_id"] == job && agenttool.ProgressEnds(fmt.Sprint(e.Data.Progress["status"]))
}

// jobHost is a toolhost process with a client that answers what is asked.
type jobHost struct {
	*wiretest.Process
	*jobHeard
	t       testing.TB
	a       *escapeAttempt
	session string
	said    *lockedText // stderr
	loose   bool        // its messages are not compared with their schemas
}

// jobHeard is a message to a client, and its answer.
type jobHeard struct {
	mu      sync.Mutex
	answer  string // to prompts: allow or deny
	grants  []string
	prompts map[string]int // by invocation
	events  []jobEvent
	news    chan struct{} // closed at the next event
}

type lockedText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// serveCommand is toolhost serve as the attempt's account, on a machine that holds the attempt's level.
func (a *escapeAttempt) serveCommand(flags ...string) *exec.Cmd {
	argv := append([]string{a.toolhost, "serve", "--workspace", a.ws, "--sandbox", string(a.level)}, flags...)
	if lack := lacks[a.level]; lack != "" {
		argv = append([]string{a.probe, "without", lack}, argv...)
	}
	argv = append(slices.Clone(a.under), argv...)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = a.ws, a.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.who.id, Setsid: true}
	return cmd
}

// jobHost starts a host whose client allows what is asked.
func (a *escapeAttempt) jobHost(flags ...string) *jobHost {
	a.t.Helper()
	h := &jobHost{
		t: a.t, a: a, said: &lockedText{}, jobHeard: &jobHeard{answer: "allow", prompts: map[string]int{}, news: make(chan struct{})},
	}
	cmd := a.serveCommand(flags...)
	cmd.Stderr = h.said
	started := make(chan struct{}) // h has its process then
	var err error
	h.Process, err = wiretest.Start(cmd, wiretest.Options{Malformed: malformed(a.t, "the client"), Heard: func(m wiretest.Message) {
		<-started
		h.heard(m)
	}})
	close(started)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { h.close(); h.checkSaid() })
	var hello struct {
		Session string `json:"session_id"`
		Sandbox struct{ Level string }
	}
	h.request("agenttool/hello", fields{"client": fields{"name": "jobs", "version": "1"}, "events": "all", "approvals": true}, &hello)
	if h.session = hello.Session; hello.Sandbox.Level != string(a.level) {
		a.t.Fatalf("the host holds level %s, the test is for %s", hello.Sandbox.Level, a.level)
	}
	return h
}

// on is the host for a subtest.
func (h *jobHost) on(t testing.TB) *jobHost {
	b := *h
	b.t, b.a = t, h.a.on(t)
	return &b
}

// inTurn tries the rows of a table in a few sessions beside each other, one row after the other in each: a session for each row would take
// longer than most rows do.
func inTurn[R any](t *testing.T, a *escapeAttempt, rows []R, name func(R) string, test func(*testing.T, *jobHost, R)) {
	t.Helper()
	const sessions = 3
	for n := range min(sessions, len(rows)) {
		t.Run(fmt.Sprint("session ", n), func(t *testing.T) {
			t.Parallel()
			h := a.on(t).jobHost()
			for i := n; i < len(rows); i += sessions {
				t.Run(name(rows[i]), func(t *testing.T) { test(t, h.on(t), rows[i]) })
			}
		})
	}
}

// malformed fails a test at a line that is no message.
func malformed(t testing.TB, who string) func([]byte, error) {
	return func(line []byte, err error) {
		t.Errorf("%s gets a line that is no message: %v: %s", who, err, cut.Characters(string(line), 300))
	}
}

// heard checks a message, and keeps an event.
func (h *jobHost) heard(m wiretest.Message) {
	if !h.loose {
		h.check(m.Line)
	}
	if m.Method == "" {
		return
	}
	var params struct{ Event jobEvent }
	if err := json.Unmarshal(m.Params, &params); err != nil {
		h.t.Errorf("%v: %s", err, cut.Characters(string(m.Line), 300))
		return
	}
	h.told(params.Event)
}

// check compares a message with its schemas.
func (h *jobHost) check(line []byte) {
	for _, err := range recordtest.Message(line) {
		h.t.Errorf("%v\n%s", err, cut.Characters(string(line), 2000))
	}
	if err := checkStructured(line); err != nil {
		h.t.Errorf("%v\n%s", err, cut.Characters(string(line), 2000))
	}
}

// told keeps an event, and answers it if it asks.
func (h *jobHost) told(e jobEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
	close(h.news)
	h.news = make(chan struct{})
	if e.Type != "tool.permission.requested" {
		return
	}
	h.prompts[e.InvocationID]++
	answer := fields{"decision_id": e.Data.Decision.ID, "behavior": h.answer}
	if len(h.grants) > 0 {
		answer["grants"] = h.grants
	}
	go h.Send("agenttool/decide", answer) // a host that does not read holds up no event
}

// answers says what the client answers from now on.
func (h *jobHost) answers(behavior string, grants ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer, h.grants = behavior, grants
}

// asked is how often a call asked.
func (h *jobHost) asked(r *jobReply) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.prompts[r.Invocation.InvocationID]
}

// request sends a request and waits for its result. An error ends the test.
func (h *jobHost) request(method string, params, result any) {
	h.t.Helper()
	if err := h.Request(method, params, result, patience); err != nil {
		h.t.Fatalf("%v\n%s", err, h.said)
	}
}

// try makes a call.
func (h *jobHost) try(tool string, input fields) (*jobReply, error) {
	return h.start(tool, input).wait()
}

// call makes a call that is answered.
func (h *jobHost) call(tool string, input fields) *jobReply {
	h.t.Helper()
	r, err := h.try(tool, input)
	if err != nil {
		h.t.Fatalf("%s %v: %v\n%s", tool, input, err, h.said)
	}
	return r
}

// pendingCall is a call that may not be answered yet.
type pendingCall struct {
	id    string
	begun time.Time
	h     *jobHost
	sent  wiretest.Pending
}

// start begins a call. more are further params of the invocation.
func (h *jobHost) start(tool string, input fields, more ...fields) *pendingCall {
	p := &pendingCall{id: fmt.Sprint("call-", h.ID()), begun: time.Now(), h: h}
	params := fields{"id": p.id, "tool": tool, "input": input}
	for _, m := range more {
		for name, value := range m {
			params[name] = value
		}
	}
	p.sent = h.Send("agenttool/invoke", params)
	return p
}

func (p *pendingCall) wait() (*jobReply, error) {
	r := &jobReply{}
	err := p.sent.Result(r, patience)
	r.took = time.Since(p.begun)
	return r, err
}

// result is wait where an error ends the test.
func (p *pendingCall) result() *jobReply {
	p.h.t.Helper()
	r, err := p.wait()
	if err != nil {
		p.h.t.Fatalf("%v\n%s", err, p.h.said)
	}
	return r
}

// run runs a command and returns what came of it.
func (h *jobHost) run(command string, more ...fields) *jobReply {
	h.t.Helper()
	return h.call("shell", shellInput(command, more...))
}

func shellInput(command string, more ...fields) fields {
	input := fields{"command": command}
	for _, m := range more {
		for name, value := range m {
			input[name] = value
		}
	}
	return input
}

// ran runs a command that must succeed.
func (h *jobHost) ran(command string, more ...fields) *jobView {
	h.t.Helper()
	r := h.run(command, more...)
	if r.Result.Status != "succeeded" {
		h.t.Fatalf("%s: %s: %s", command, r.Result.Status, r.says())
	}
	return r.view()
}

// background starts a job in the background and returns its id.
func (h *jobHost) background(command string, more ...fields) *jobView {
	h.t.Helper()
	r := h.run(command, append(more, fields{"run_in_background": true})...)
	if r.Result.Status != "partial_succeeded" || r.view().Job == "" {
		h.t.Fatalf("%s in the background: %s, job %q: %s", command, r.Result.Status, r.view().Job, r.says())
	}
	return r.view()
}

// output reads a job's output.
func (h *jobHost) output(job string, more ...fields) *jobView {
	h.t.Helper()
	input := fields{"job": job}
	for _, m := range more {
		for name, value := range m {
			input[name] = value
		}
	}
	r := h.call("shell_output", input)
	if r.Result.Status != "succeeded" {
		h.t.Fatalf("shell_output %v: %s: %s", input, r.Result.Status, r.says())
	}
	return r.view()
}

// kill ends a job.
func (h *jobHost) kill(job string, more ...fields) *jobView {
	h.t.Helper()
	input := fields{"job": job}
	for _, m := range more {
		for name, value := range m {
			input[name] = value
		}
	}
	r := h.call("shell_kill", input)
	if r.Result.Status != "succeeded" || r.view().State != "ended" {
		h.t.Errorf("shell_kill %v: %s, state %q: %s", input, r.Result.Status, r.view().State, r.says())
	}
	return r.view()
}

// jobs are those that status lists.
func (h *jobHost) jobs() []jobView {
	h.t.Helper()
	var status struct{ Jobs []jobView }
	h.request("agenttool/status", fields{}, &status)
	return status.Jobs
}

// job is one of those, or nil.
func (h *jobHost) job(id string) *jobView {
	h.t.Helper()
	for _, j := range h.jobs() {
		if j.Job == id {
			return &j
		}
	}
	return nil
}

// until waits until something is so, or ends the test.
func (h *jobHost) until(what string, so func() bool) time.Duration {
	h.t.Helper()
	begun := time.Now()
	if !comesAbout(patience, so) {
		h.t.Fatalf("it did not come about: %s", what)
	}
	return time.Since(begun)
}

// counted is how many of the events so far are so.
func (h *jobHost) counted(so func(jobEvent) bool) (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		if so(e) {
			n++
		}
	}
	return n
}

// event waits for an event.
func (h *jobHost) event(what string, so func(jobEvent) bool) jobEvent {
	h.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for seen := 0; ; {
		ended := h.Over()
		h.mu.Lock()
		fresh, news := h.events[seen:], h.news
		seen = len(h.events)
		h.mu.Unlock()
		if i := slices.IndexFunc(fresh, so); i >= 0 {
			return fresh[i]
		}
		if ended {
			h.t.Fatalf("the host ended before the event: %s", what)
		}
		select {
		case <-news:
		case <-h.Ended():
		case <-limit.C:
			h.t.Fatalf("no event: %s", what)
		}
	}
}

// close ends the host as a client does, and waits.
func (h *jobHost) close() { endHost(h.t, h.Process, h.said) }

// endHost ends a host as a client does, and waits.
func endHost(t testing.TB, p *wiretest.Process, said *lockedText) {
	if err := p.End(patience); errors.Is(err, wiretest.ErrLate) { // how it exits is not asked
		t.Errorf("%v\n%s", err, said)
	}
}

// murder ends the host by SIGKILL.
func (h *jobHost) murder() {
	_ = h.Cmd.Process.Kill()
	_ = h.Cmd.Wait()
	select {
	case <-h.Ended():
	case <-time.After(patience): // somebody holds its stdout
		h.t.Errorf("the output of the host is still held %v after its SIGKILL", patience)
	}
}

// checkSaid finds what no host may say.
func (h *jobHost) checkSaid() {
	for _, word := range []string{"DATA RACE", "panic", "internal error", "bug in toolhost"} {
		if said := h.said.String(); strings.Contains(said, word) {
			h.t.Errorf("the host said:\n%s", cut.Characters(said, 8000))
			return
		}
	}
}
