package rap

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/prompt"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/tools/workspace"
)

// fake is a tool whose behaviour a test chooses.
type fake struct {
	name  string
	kind  agenttool.Lifecycle
	reads bool
	jobs  bool // it acts on jobs, and nobody is asked for it
	input string
	run   func(ctx context.Context, input json.RawMessage) (agenttool.Output, error)
}

const pathSchema = `{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`

func (f *fake) Describe() agenttool.Description {
	id := agenttool.ToolID("test." + f.name)
	if f.input == "" {
		f.input = pathSchema
	}
	if f.kind == "" {
		f.kind = agenttool.Available
	}
	in := agenttool.Interface{
		CallRules:     agenttool.CallRules{InterruptBehavior: "cancel"},
		SchemaVersion: agenttool.SchemaVersion, InterfaceID: "i", ToolID: id, Schemas: agenttool.Schemas{ModelInputSchema: json.RawMessage(f.input)},
		StaticFacts: agenttool.StaticFacts{IsReadOnly: f.reads, IsDestructive: "who.knows"},
	}
	return agenttool.Description{
		Declaration: agenttool.Declaration{
			SchemaVersion: agenttool.SchemaVersion, ToolID: id, Namespace: "test", Name: f.name, Aliases: []string{f.name + "_alias"},
			Description: "A fake.", Lifecycle: f.kind, ToolKind: agenttool.KindCustom,
		},
		Interface: in,
	}
}

func (f *fake) Bind(scope agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	var in struct {
		Path string `json:"path"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	c := &fakeCall{tool: f, input: input, facts: agenttool.Facts{
		Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Known(f.reads), OpenWorld: agenttool.No, PathsComplete: agenttool.Yes, ConcurrencySafe: agenttool.Yes, Destructive: agenttool.No},
	}}
	p := agenttool.Path{Spelling: in.Path, Absolute: scope.Dir + "/" + in.Path}
	switch {
	case f.jobs:
		c.facts.OwnJobs = agenttool.Yes
	case f.reads:
		c.facts.Reads = []agenttool.Path{p}
	default:
		c.facts.Writes = []agenttool.Path{p}
	}
	return c, nil
}

type fakeCall struct {
	tool  *fake
	input json.RawMessage
	facts agenttool.Facts
}

func (c *fakeCall) Input() any {
	var v any
	_ = json.Unmarshal(c.input, &v)
	return v
}
func (c *fakeCall) Facts() *agenttool.Facts         { return &c.facts }
func (c *fakeCall) Preflight(context.Context) error { return nil }
func (c *fakeCall) Run(ctx context.Context, _ agenttool.Reporter) (agenttool.Output, error) {
	if c.tool.run == nil {
		return said("ran " + c.tool.name), nil
	}
	return c.tool.run(ctx, c.input)
}

func said(text string) agenttool.Output {
	return agenttool.Output{Content: []agenttool.Content{agenttool.Text(text)}}
}

// fakeJob is a job that a test ends.
type fakeJob struct {
	id   string
	done chan struct{}
	once sync.Once
}

func newFakeJob(id string) *fakeJob            { return &fakeJob{id: id, done: make(chan struct{})} }
func (j *fakeJob) ID() string                  { return j.id }
func (j *fakeJob) Done() <-chan struct{}       { return j.done }
func (j *fakeJob) end()                        { j.once.Do(func() { close(j.done) }) }
func (j *fakeJob) List() []agenttool.JobStatus { return []agenttool.JobStatus{j.Status()} }
func (j *fakeJob) Close()                      { j.end() }
func (j *fakeJob) Status() agenttool.JobStatus {
	return agenttool.JobStatus{ID: j.id, State: "running", Lines: 3, Bytes: 30, LastLine: "line \x1b[31m3"}
}
func (j *fakeJob) Final() agenttool.Progress {
	return agenttool.Progress{Status: "failed", TaskID: j.id, Extra: agenttool.Extra{"exit_code": json.RawMessage("7")}}
}

// runtime is the other end: it takes callbacks, and answers them as a test says.
type runtime struct {
	t   testing.TB
	web *httptest.Server

	mu      sync.Mutex
	all     []callback
	changed chan struct{}
	answer  func(n int, w http.ResponseWriter, r *http.Request) // n counts from 1; nil: 200
	n       int
}

// callback is one POST that was taken, with its fields.
type callback struct {
	path   string
	header http.Header
	fields map[string]any
}

func (c callback) text(name string) string { s, _ := c.fields[name].(string); return s }

func newRuntime(t testing.TB) *runtime {
	rt := &runtime{t: t, changed: make(chan struct{}, 1)}
	rt.web = httptest.NewServer(rt)
	t.Cleanup(rt.web.Close)
	return rt
}

func (rt *runtime) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := callback{path: r.URL.RequestURI(), header: r.Header}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the server was closed while it sent this
	}
	if err := json.Unmarshal(body, &c.fields); err != nil || r.Method != http.MethodPost {
		rt.t.Errorf("a callback is no object: %v %s", err, body)
	}
	rt.mu.Lock()
	rt.n++
	n, answer := rt.n, rt.answer
	rt.mu.Unlock()
	if answer != nil {
		rec := &recorder{ResponseWriter: w, status: 200}
		answer(n, rec, r)
		if rec.status != 200 {
			return
		}
	}
	rt.mu.Lock()
	rt.all = append(rt.all, c)
	rt.mu.Unlock()
	select {
	case rt.changed <- struct{}{}:
	default:
	}
}

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int)      { r.status = status; r.ResponseWriter.WriteHeader(status) }
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// await returns the first callback that is as wanted.
func (rt *runtime) await(what string, ok func(callback) bool) callback {
	rt.t.Helper()
	limit := time.After(ample)
	for {
		rt.mu.Lock()
		for _, c := range rt.all {
			if ok(c) {
				rt.mu.Unlock()
				return c
			}
		}
		rt.mu.Unlock()
		select {
		case <-rt.changed:
		case <-limit:
			rt.t.Fatalf("no callback: %s; there were %d", what, len(rt.taken()))
		}
	}
}

func (rt *runtime) taken() []callback {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	return append([]callback{}, rt.all...)
}

// of waits for a message of a type about a call.
func (rt *runtime) of(kind, id string) callback {
	rt.t.Helper()
	return rt.await(kind+" of "+id, func(c callback) bool {
		return c.text("type") == kind && (c.text("id") == id || c.text("tool_call_id") == id)
	})
}

// count is how many messages of a type there were about a call.
func (rt *runtime) count(kind, id string) (n int) {
	for _, c := range rt.taken() {
		if c.text("type") == kind && (c.text("id") == id || c.text("tool_call_id") == id) {
			n++
		}
	}
	return n
}

// fixture is a server with its host behind a listener, and a runtime.
type fixture struct {
	*Server
	t       testing.TB
	host    *host.Host
	store   *persist.Store
	web     *httptest.Server
	runtime *runtime

	mu   sync.Mutex
	logs []string
}

// ample is how long is waited for what comes at once where little else runs: that it comes is the point, not when.
const ample = time.Minute

// quick tries again soon. It gives nothing up that a busy machine may still do.
func quick() pace {
	return pace{attempt: ample, first: 5 * time.Millisecond, most: 20 * time.Millisecond, total: 2 * ample, closing: ample}
}

// set is what a fixture is made of. The zero value serves look, write and hang.
type set struct {
	tools   []agenttool.Tool
	allow   []string
	jobs    host.Jobs
	options Options
	pace    pace
	asks    prompt.Approvals
	real    *workspace.Workspace // nil: a workspace /ws that is not there
}

func hang(ctx context.Context, _ json.RawMessage) (agenttool.Output, error) {
	<-ctx.Done()
	return agenttool.Output{}, context.Cause(ctx)
}

func newFixture(t testing.TB, o set) *fixture {
	t.Helper()
	if o.tools == nil {
		o.tools = []agenttool.Tool{&fake{name: "look", reads: true}, &fake{name: "write"}, &fake{name: "hang", reads: true, run: hang}}
	}
	store := persist.New(persist.Options{Dir: t.TempDir()})
	ho := host.Options{
		Tools: o.tools, Scope: agenttool.Scope{Dir: "/ws", Roots: []string{"/ws"}}, Store: store, Jobs: o.jobs,
		Policy: permissions.Policy{Workspace: "/ws"}, Session: store.ID(), Approvals: o.asks,
		Locate: func(p *agenttool.Path) error { p.Resolved, p.Root = p.Absolute, "/ws"; return nil },
	}
	if o.real != nil {
		ho.Scope, ho.Locate = agenttool.Scope{Dir: o.real.Roots()[0], Roots: o.real.Roots()}, o.real.Locate
		ho.Policy.Workspace = o.real.Roots()[0]
	}
	for _, text := range o.allow {
		r, err := permissions.Parser{Names: host.Names(o.tools)}.Parse(text, agenttool.Allow, agenttool.Origin{Source: agenttool.SourceCLI})
		if err != nil {
			t.Fatal(err)
		}
		ho.Policy = ho.Policy.With(r)
	}
	h, err := host.New(ho)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, host: h, store: store, runtime: newRuntime(t)}
	o.options.Host, o.options.Log, o.options.Sealer = h, f.log, testSealer
	if o.options.Base == "" {
		o.options.Base = "/rap"
	}
	if o.pace == (pace{}) {
		o.pace = quick()
	}
	if f.Server, err = newServer(o.options, o.pace); err != nil {
		t.Fatal(err)
	}
	f.web = httptest.NewServer(f.Handler())
	t.Cleanup(func() {
		f.web.Close()
		f.Close()
		h.Close()
	})
	return f
}

func (f *fixture) log(line string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.logs = append(f.logs, line)
}

func (f *fixture) logged() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.logs, "\n")
}

// fields are those of an invocation.
type fields map[string]any

// invocation is one of a tool, with arguments that fit the fakes.
func (f *fixture) invocation(id, tool string, change ...fields) fields {
	in := fields{
		"operation": tool, "arguments": fields{"path": "a"}, "id": id, "callback_url": f.runtime.web.URL + "/cb?secret=s3cret", "group_id": "g",
	}
	for _, c := range change {
		for k, v := range c {
			if in[k] = v; v == nil {
				delete(in, k)
			}
		}
	}
	return in
}

// post sends a body, an object or as it is, and returns the status and what came back.
func (f *fixture) send(path string, body any) (int, string) {
	f.t.Helper()
	url := path
	if strings.HasPrefix(path, "/") {
		url = f.web.URL + "/rap" + path
	}
	b, ok := body.([]byte)
	if !ok {
		b, _ = json.Marshal(body)
	}
	res, err := http.Post(url, "application/json", bytes.NewReader(b))
	if err != nil {
		f.t.Fatal(err)
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(text)
}

// invoke sends an invocation that is to be accepted.
func (f *fixture) invoke(id, tool string, change ...fields) {
	f.t.Helper()
	if status, text := f.send("/invoke", f.invocation(id, tool, change...)); status != 200 || text != "" {
		f.t.Fatalf("invoke answered %d %q", status, text)
	}
}

// result waits for the result of a call.
func (f *fixture) result(id string) callback {
	f.t.Helper()
	return f.runtime.of("tool_result", id)
}

// idle waits until nothing is owed.
func (f *fixture) idle() {
	f.t.Helper()
	f.until("nothing is owed", func() bool {
		f.Server.mu.Lock()
		defer f.Server.mu.Unlock()
		f.room.mu.Lock()
		defer f.room.mu.Unlock()
		f.questions.mu.Lock()
		defer f.questions.mu.Unlock()
		return len(f.calls) == 0 && f.room.held == 0 && len(f.questions.open) == 0
	})
}

func (f *fixture) until(what string, ok func() bool) {
	f.t.Helper()
	for limit := time.Now().Add(ample); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(limit) {
			f.t.Fatalf("never: %s", what)
		}
	}
}

// started is the status of the only call of a tool, as the host sees it.
func (f *fixture) running(tool agenttool.ToolID) bool {
	for _, c := range f.host.Status().Calls {
		if c.ToolID == tool && c.Status == agenttool.StatusRunning {
			return true
		}
	}
	return false
}

// journal is all that was recorded, as text.
func (f *fixture) journal() string {
	f.t.Helper()
	entries, _, err := f.store.Since(0, 10000)
	if err != nil {
		f.t.Fatal(err)
	}
	var all strings.Builder
	for _, e := range entries {
		all.Write(e.Event)
	}
	return all.String()
}

// owed is how many bytes of messages wait.
func (f *fixture) owed() int64 {
	f.outbox.mu.Lock()
	defer f.outbox.mu.Unlock()
	return f.outbox.all.bytes
}
