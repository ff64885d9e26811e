package host_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
)

// fake is a tool whose behaviour a test chooses. Its input names a path and what the fake is to do.
type fake struct {
	name      string
	lifecycle agenttool.Lifecycle
	reads     bool // it only reads
	run       func(ctx context.Context, in fakeInput, r agenttool.Reporter) (agenttool.Output, error)
	preflight func(ctx context.Context) error
}

type fakeInput struct {
	Path string `json:"path"`
	Say  string `json:"say,omitempty"`
}

const fakeSchema = `{"type":"object","properties":{"path":{"type":"string"},"say":{"type":"string"}},"required":["path"],"additionalProperties":false}`

func (f *fake) Describe() agenttool.Description {
	lifecycle := f.lifecycle
	if lifecycle == "" {
		lifecycle = agenttool.Available
	}
	id := agenttool.ToolID("test." + f.name)
	return agenttool.Description{
		Declaration: agenttool.Declaration{
			SchemaVersion: agenttool.SchemaVersion, ToolID: id, Namespace: "test", Name: f.name, Aliases: []string{strings.ToUpper(f.name)},
			Description: "A fake for tests of the pipeline.", Lifecycle: lifecycle, ToolKind: agenttool.KindCustom,
			InputContract: &agenttool.InputContract{ModelInputSchema: json.RawMessage(fakeSchema)},
		},
		Interface:  agenttool.Interface{CallRules: agenttool.CallRules{InterruptBehavior: "cancel"}, SchemaVersion: agenttool.SchemaVersion, InterfaceID: "test", ToolID: id, Schemas: agenttool.Schemas{ModelInputSchema: json.RawMessage(fakeSchema)}},
		Execution:  agenttool.ExecutionProfile{SchemaVersion: agenttool.SchemaVersion, ExecutionProfileID: "test", ExecutionKind: "embedded_runtime"},
		Permission: agenttool.PermissionProfile{SchemaVersion: agenttool.SchemaVersion, PermissionProfileID: "test", RiskLevel: "low"},
	}
}

func (f *fake) Bind(scope agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	c := &fakeCall{tool: f}
	if err := json.Unmarshal(input, &c.in); err != nil {
		return nil, err
	}
	if c.in.Path == "bad" {
		return nil, agenttool.Failure(agenttool.InvalidArguments, "bad_path", "bad is never a good path")
	}
	p := agenttool.Path{Spelling: c.in.Path, Absolute: scope.Dir + "/" + c.in.Path}
	c.facts = agenttool.Facts{
		Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Known(f.reads), OpenWorld: agenttool.No, PathsComplete: agenttool.Yes,
			ConcurrencySafe: agenttool.Yes, Destructive: agenttool.No},
	}
	if c.in.Path == "wild" { // it may touch more than it names
		c.facts.PathsComplete = agenttool.Unknown
	}
	if f.reads {
		c.facts.Reads = []agenttool.Path{p}
	} else {
		c.facts.Writes = []agenttool.Path{p}
	}
	return c, nil
}

type fakeCall struct {
	tool  *fake
	in    fakeInput
	facts agenttool.Facts
}

func (c *fakeCall) Input() any { return c.in }
func (c *fakeCall) Preflight(ctx context.Context) error {
	if c.tool.preflight == nil {
		return nil
	}
	return c.tool.preflight(ctx)
}
func (c *fakeCall) Facts() *agenttool.Facts { return &c.facts }
func (c *fakeCall) Run(ctx context.Context, r agenttool.Reporter) (agenttool.Output, error) {
	if c.tool.run == nil {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text("ran " + c.in.Path)}}, nil
	}
	return c.tool.run(ctx, c.in, r)
}

// fixture is a host with its log in a temporary directory.
type fixture struct {
	*host.Host
	t     *testing.T
	store *persist.Store
}

func newFixture(t *testing.T, tools []agenttool.Tool, change ...func(*host.Options)) *fixture {
	t.Helper()
	store := persist.New(persist.Options{Dir: t.TempDir()})
	o := host.Options{
		Tools: tools, Scope: agenttool.Scope{Dir: "/ws", Roots: []string{"/ws"}}, Store: store,
		Policy: permissions.Policy{Workspace: "/ws"}, Session: store.ID(),
		Locate: func(p *agenttool.Path) error {
			p.Resolved = p.Absolute
			if agenttool.Within("/ws", p.Resolved) && !strings.Contains(p.Resolved, "..") {
				p.Root = "/ws"
			}
			return nil
		},
	}
	for _, c := range change {
		c(&o)
	}
	h, err := host.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil && !errors.Is(err, persist.ErrPending) { // other tests may keep the disk busy
			t.Errorf("close: %v", err)
		}
	})
	return &fixture{h, t, store}
}

// call runs one call to its end.
func (f *fixture) call(r host.Request) host.Completion {
	f.t.Helper()
	return <-f.start(r)
}

func (f *fixture) start(r host.Request) <-chan host.Completion {
	f.t.Helper()
	done := make(chan host.Completion, 1)
	if err := f.Invoke(r, func(c host.Completion) { done <- c }); err != nil {
		f.t.Fatal(err)
	}
	return done
}

// events are the event types of a call in the log, in order. Each event is sound, and has an id of its own.
func (f *fixture) events(inv agenttool.InvocationID) []string {
	f.t.Helper()
	entries, _, err := f.store.Since(0, 10000)
	if err != nil {
		f.t.Fatal(err)
	}
	var types []string
	ids := map[agenttool.EventID]bool{}
	for _, entry := range entries {
		var e agenttool.Event
		if err := json.Unmarshal(entry.Event, &e); err != nil {
			f.t.Fatal(err)
		}
		if err := recordtest.Event(entry.Event); len(err) > 0 {
			f.t.Errorf("event %d: %v", entry.Seq, err)
		}
		if ids[e.EventID] {
			f.t.Errorf("two events have the id %s", e.EventID)
		}
		ids[e.EventID] = true
		if e.InvocationID == inv {
			types = append(types, string(e.EventType))
		}
	}
	return types
}

func input(path string) []byte { return []byte(`{"path":"` + path + `"}`) }

func allowing(rules ...string) func(*host.Options) {
	return func(o *host.Options) {
		for _, text := range rules {
			r, err := permissions.Parser{Names: host.Names(o.Tools)}.Parse(text, agenttool.Allow, agenttool.Origin{Source: agenttool.SourceCLI})
			if err != nil {
				panic(err)
			}
			o.Policy = o.Policy.With(r)
		}
	}
}

// TestEndsOfACall drives a call to each of its ends: state, result status, error class and the events on the way.
func TestEndsOfACall(t *testing.T) {
	conform.Held(t, "AT-016", "AT-061", "AT-062", "AT-063", "AT-064", "AT-093", "AT-095", "AT-099", "AT-106", "AT-107", "AT-109", "AT-110", "AT-111", "AT-113",
		"AT-117", "AT-119", "AT-123", "AT-139", "AT-250", "AT-252", "AT-253", "AT-258", "AT-282", "AT-310", "AT-311", "AT-312", "AT-313", "AT-314",
		"AT-316", "AT-319", "AT-322", "AT-325", "AT-358", "AT-372", "AT-374", "AT-392", "AT-397")
	wait := func(ctx context.Context, _ fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		<-ctx.Done()
		return agenttool.Output{}, ctx.Err()
	}
	tools := []agenttool.Tool{
		&fake{name: "look", reads: true}, &fake{name: "put"},
		&fake{name: "hang", reads: true, run: wait},
		&fake{name: "break", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
			return agenttool.Output{}, errors.New("it broke")
		}},
		&fake{name: "panic", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
			panic("inside")
		}},
		&fake{name: "off", lifecycle: agenttool.Disabled}, &fake{name: "later", lifecycle: agenttool.Deferred},
		&fake{name: "unset", lifecycle: agenttool.RequiresSetup}, &fake{name: "old", reads: true, lifecycle: agenttool.Deprecated},
	}
	for _, c := range []struct {
		name   string
		req    host.Request
		mode   permissions.Mode
		state  agenttool.InvocationStatus
		status agenttool.ResultStatus
		class  agenttool.ErrorClass
		code   string
		runs   bool
	}{
		{"succeeds", host.Request{Tool: "look", Input: input("a")}, "", "succeeded", "succeeded", "", "", true},
		{"by alias", host.Request{Tool: "LOOK", Input: input("a")}, "", "succeeded", "succeeded", "", "", true},
		{"deprecated runs", host.Request{Tool: "old", Input: input("a")}, "", "succeeded", "succeeded", "", "", true},
		{"unknown tool", host.Request{Tool: "nope", Input: input("a")}, "", "failed", "failed", agenttool.UnknownTool, "unknown_tool", false},
		{"disabled tool", host.Request{Tool: "off", Input: input("a")}, "", "blocked", "failed", agenttool.PolicyBlocked, "blocked_tool", false},
		{"deferred tool", host.Request{Tool: "later", Input: input("a")}, "", "blocked", "failed", agenttool.SchemaNotLoaded, "schema_not_loaded", false},
		{"tool without setup", host.Request{Tool: "unset", Input: input("a")}, "", "blocked", "failed", agenttool.SetupRequired, "setup_required", false},
		{"bad schema", host.Request{Tool: "look", Input: []byte(`{"pth":"a"}`)}, "", "schema_parse_failed", "failed", agenttool.SchemaValidationFailed, "", false},
		{"not an object", host.Request{Tool: "look", Input: []byte(`"a"`)}, "", "schema_parse_failed", "failed", agenttool.SchemaValidationFailed, "", false},
		{"bad value", host.Request{Tool: "look", Input: input("bad")}, "", "validation_failed", "failed", agenttool.InvalidArguments, "bad_path", false},
		{"denied by mode", host.Request{Tool: "put", Input: input("a")}, permissions.Plan, "denied", "denied", agenttool.PermissionDenied, "denied_by_mode", false},
		{"nobody to ask", host.Request{Tool: "put", Input: input("a")}, "", "denied", "rejected", agenttool.ApprovalRejected, "approval_unavailable", false},
		{"outside the workspace", host.Request{Tool: "look", Input: input("../b")}, "", "denied", "rejected", agenttool.ApprovalRejected, "approval_unavailable", false},
		{"fails", host.Request{Tool: "break", Input: input("a")}, "", "failed", "failed", agenttool.ExecutionFailed, "unexpected", true},
		{"panics", host.Request{Tool: "panic", Input: input("a")}, "", "failed", "failed", agenttool.ExecutionFailed, "panic", true},
		{"times out", host.Request{Tool: "hang", Input: input("a"), Timeout: time.Millisecond}, "", "timed_out", "timed_out", agenttool.Timeout, "deadline_exceeded", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the deadline passes when nothing else can happen
				f := newFixture(t, tools, func(o *host.Options) { o.Policy.Mode = c.mode })
				c.req.ID = "c1"
				got := f.call(c.req)
				if got.Invocation.Status != c.state || got.Result.Status != c.status {
					t.Errorf("state %s, result %s; want %s, %s", got.Invocation.Status, got.Result.Status, c.state, c.status)
				}
				checkError(t, got, c.class, c.code)
				checkRecords(t, got)
				events := f.events(got.Invocation.InvocationID)
				if n := len(events); n < 2 || events[n-1] != "tool.result.created" || events[n-2] != endEvent(c.state) {
					t.Errorf("events %v do not end with %s and the result", events, endEvent(c.state))
				}
				if slices.Contains(events, "tool.invocation.validation_failed") != (c.class == agenttool.InvalidArguments || c.class == agenttool.SchemaValidationFailed) {
					t.Errorf("events %v after an error of class %q", events, c.class)
				}
				if slices.Contains(events, "tool.invocation.started") != c.runs {
					t.Errorf("events %v; want it to run: %v", events, c.runs)
				}
				f.Host.Close()
			})
		})
	}
}

// endEvent is the event before the result of a call that ends in a state.
func endEvent(s agenttool.InvocationStatus) string {
	if s == agenttool.StatusSucceeded || s == agenttool.StatusTimedOut {
		return "tool.invocation." + string(s)
	}
	return "tool.invocation.failed"
}

func checkError(t *testing.T, got host.Completion, class agenttool.ErrorClass, code string) {
	t.Helper()
	e := got.Result.Error
	if (class == "") != (e == nil) || got.Result.IsError != (e != nil) {
		t.Fatalf("error %+v, is_error %v; want class %q", e, got.Result.IsError, class)
	}
	if e == nil {
		return
	}
	if !errors.Is(e, class) || code != "" && e.Code != code {
		t.Errorf("error %s/%s, want %s/%s", e.Class, e.Code, class, code)
	}
	if e.Message == "" || e.Recoverability == "" || len(got.Result.Content) == 0 {
		t.Errorf("error %+v with content %v says too little", e, got.Result.Content)
	}
}

// checkRecords validates the records of a completion and that every phase that ran is timed.
func checkRecords(t *testing.T, got host.Completion) {
	t.Helper()
	line, err := got.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range recordtest.Message(line) {
		t.Errorf("%v\n%s", err, line)
	}
	if refs := got.Result.PersistenceRefs; len(refs) != 1 || refs[0] != string(got.Persistence.DecisionID) || got.Persistence.ResultID != got.Result.ResultID || got.Persistence.Strategy == "" {
		t.Errorf("decisions about what is kept: %q, %+v", refs, got.Persistence)
	}
	if len(got.Invocation.Phases) < 4 || got.Invocation.EndedAt == "" || len(got.Invocation.StatusTransitions) == 0 {
		t.Errorf("phases %v, transitions %v, ended %q", got.Invocation.Phases, got.Invocation.StatusTransitions, got.Invocation.EndedAt)
	}
}

// TestPhasesInOrder is the golden trace of a call that succeeds: the standard's phases and events, in its order.
func TestPhasesInOrder(t *testing.T) {
	conform.Held(t, "AT-018", "AT-091", "AT-092", "AT-094", "AT-100", "AT-101", "AT-114", "AT-118", "AT-120", "AT-124", "AT-125", "AT-126", "AT-127", "AT-128",
		"AT-129", "AT-130", "AT-131", "AT-132", "AT-133", "AT-134", "AT-135", "AT-355", "AT-356", "AT-357", "AT-362", "AT-363", "AT-364", "AT-371", "AT-375",
		"X09", "X23")
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true}})
	got := f.call(host.Request{ID: "c1", Tool: "look", Input: input("a")})
	var phases []string
	for _, p := range got.Invocation.Phases {
		phases = append(phases, string(p.Phase))
	}
	want := "resolve_tool parse_schema validate_values prepare_observable_input pre_hooks permission schedule validate_values execute map_result post_hooks persist_result emit_terminal"
	if strings.Join(phases, " ") != want {
		t.Errorf("phases\n%s, want\n%s", strings.Join(phases, " "), want)
	}
	recorded := f.entries()
	var end struct {
		Invocation agenttool.Invocation `json:"invocation"`
	}
	if err := json.Unmarshal(recorded[len(recorded)-1].Data, &end); err != nil || len(end.Invocation.Phases) != len(phases) || end.Invocation.Phases[9].Phase != agenttool.PhaseMapResult {
		t.Errorf("the last event has the phases %v, %v", end.Invocation.Phases, err)
	}
	var states []string
	for _, s := range got.Invocation.StatusTransitions {
		states = append(states, string(s.Status))
	}
	if s := strings.Join(states, " "); s != "planned selected arguments_ready queued running succeeded" {
		t.Errorf("states %s", s)
	}
	wantEvents := "tool.invocation.planned tool.invocation.selected tool.invocation.arguments_ready tool.permission.decided tool.invocation.queued tool.invocation.started tool.invocation.succeeded tool.result.created"
	if e := strings.Join(f.events(got.Invocation.InvocationID), " "); e != wantEvents {
		t.Errorf("events\n%s, want\n%s", e, wantEvents)
	}
}

// TestModelInputBytes: the model's input is kept byte for byte, the observable one is a copy, and
// equal inputs are references.
func TestModelInputBytes(t *testing.T) {
	conform.Held(t, "AT-084", "AT-085", "AT-115")
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true}})
	raw := "{ \"path\" :\t\"a<b\" }"
	got := f.call(host.Request{ID: "c1", Tool: "look", Input: []byte(raw)})
	line, _ := got.MarshalJSON()
	if !strings.Contains(string(line), `"model_input":`+raw) {
		t.Errorf("the bytes of the model's input are not in %s", line)
	}
	if string(got.Invocation.ObservableInput) != `{"path":"a<b"}` {
		t.Errorf("observable_input %s", got.Invocation.ObservableInput)
	}
	var ready struct{ Mutation agenttool.InputMutation }
	if data := f.logged("tool.invocation.arguments_ready"); len(data) != 1 || json.Unmarshal([]byte(data[0]), &ready) != nil ||
		ready.Mutation.FromInputRef != "#/model_input" || ready.Mutation.ToInputRef != "#/observable_input" || ready.Mutation.SourceType != "runtime" {
		t.Errorf("mutation %+v", ready.Mutation)
	}
	if got.Invocation.PermissionInputRef != "#/observable_input" || got.Invocation.CallInputRef != "#/permission_input" {
		t.Errorf("refs %q %q", got.Invocation.PermissionInputRef, got.Invocation.CallInputRef)
	}
}

// TestLargeInputIsStoredOnce: inputs above 4 KiB are in the record by reference only.
func TestLargeInputIsStoredOnce(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "put"}}, allowing("put"))
	got := f.call(host.Request{ID: "c1", Tool: "put", Input: []byte(`{"path":"a","say":"` + strings.Repeat("x", 5000) + `"}`)})
	line, _ := got.MarshalJSON()
	if len(line) > 5000 || got.Invocation.ModelInputRef == "" || got.Invocation.ObservableInputRef == "" {
		t.Fatalf("%d bytes, refs %q %q", len(line), got.Invocation.ModelInputRef, got.Invocation.ObservableInputRef)
	}
	page, err := f.ReadResult(got.Invocation.ModelInputRef, 0, 10_000)
	if err != nil || !strings.Contains(page.Text+page.Data, "xxxx") {
		t.Errorf("page %+v, %v", page, err)
	}
}

// TestLargeResult: preview and reference, the payload read again by page.
func TestLargeResult(t *testing.T) {
	conform.Held(t, "AT-272", "AT-279", "AT-281", "AT-291", "AT-298", "AT-299", "AT-369", "AT-401", "AT-430", "AT-493")
	long := strings.Repeat("a line of output\n", 10_000)
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text(long)}}, nil
	}}})
	got := f.call(host.Request{ID: "c1", Tool: "look", Input: input("a")})
	checkRecords(t, got)
	if refs := got.Result.ResourceRefs; len(refs) != 1 || refs[0].URI == "" || refs[0].Relation != "full_output" || !strings.HasPrefix(refs[0].Digest, "sha256:") {
		t.Errorf("resource_refs %+v", refs)
	}
	kept := got.Persistence
	if kept.Strategy != agenttool.PreviewAndPersist || kept.PersistedRef == nil || kept.OriginalSizeBytes != int64(len(long)) {
		t.Fatalf("persistence %+v", kept)
	}
	preview, ref := 0, agenttool.Content{}
	for _, b := range got.Result.Content {
		preview += len(b.Text)
		if b.Type == "persisted_output_ref" {
			ref = b
		}
	}
	if ref.URI != kept.PersistedRef.URI || ref.Name != "full_output" {
		t.Errorf("content %+v does not refer to the whole output", got.Result.Content)
	}
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(long))); kept.PersistedRef.Digest != sum || kept.PreviewSizeBytes != int64(preview) || kept.Threshold["max_inline_chars"] != persist.InlineChars {
		t.Errorf("persistence %+v; want the digest %s and a preview of %d bytes", kept, sum, preview)
	}
	if events := f.events(got.Invocation.InvocationID); !slices.Contains(events, "tool.result.persisted") {
		t.Errorf("events %v", events)
	}
	var text strings.Builder
	for offset := int64(0); ; {
		page, err := f.ReadResult(got.Persistence.PersistedRef.URI, offset, 50_000)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(page.Text)
		if offset = page.NextOffset; offset == 0 {
			break
		}
	}
	if refs := got.Result.PersistenceRefs; len(refs) != 1 || refs[0] != string(kept.DecisionID) || kept.ResultID != got.Result.ResultID {
		t.Errorf("result and persistence are not two records that name each other: %v, %s", refs, kept.ResultID)
	}
	if text.String() != long {
		t.Errorf("pages hold %d bytes, want %d", text.Len(), len(long))
	}
}

// TestEmptySuccess differs from missing output.
func TestEmptySuccess(t *testing.T) {
	conform.Held(t, "AT-296", "AT-402")
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{}, nil
	}}})
	if got := f.call(host.Request{ID: "c1", Tool: "look", Input: input("a")}); len(got.Result.Content) != 1 || got.Result.Content[0].Text == "" {
		t.Errorf("content %v", got.Result.Content)
	}
}

// TestCancel: a running and a waiting call end with their abort reason.
func TestCancel(t *testing.T) {
	conform.Held(t, "AT-202", "AT-257", "AT-331", "AT-373")
	started := make(chan struct{}, 1)
	f := newFixture(t, []agenttool.Tool{&fake{name: "put", run: func(ctx context.Context, _ fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		started <- struct{}{}
		<-ctx.Done()
		return agenttool.Output{}, context.Cause(ctx)
	}}}, allowing("put"))
	running := f.start(host.Request{ID: "run", Tool: "put", Input: input("a")})
	<-started
	waiting := f.start(host.Request{ID: "wait", Tool: "put", Input: input("a")})
	for _, id := range []string{"wait", "run"} {
		if ack := f.Cancel(id, "changed my mind"); !ack.Acknowledged {
			t.Errorf("cancel %s: %+v", id, ack)
		}
	}
	for _, done := range []<-chan host.Completion{running, waiting} {
		got := <-done
		if got.Result.Status != agenttool.ResultCanceled || got.Result.AbortReason != "user interruption" || !strings.Contains(got.Result.Error.Message, "changed my mind") {
			t.Errorf("result %+v", got.Result)
		}
		events := f.events(got.Invocation.InvocationID)
		if !slices.Contains(events, "tool.x.cancel_requested") || !slices.Contains(events, "tool.invocation.canceled") {
			t.Errorf("events %v: want the request to cancel, and its end", events)
		}
	}
	if ack := f.Cancel("gone", ""); ack.Acknowledged || ack.Status != "unknown" {
		t.Errorf("cancel of nothing: %+v", ack)
	}
}

// TestBatchOrder: ten reads overlap in time and are answered in call order; two writes of one file do not overlap and
// keep their order, two writes of two files may overlap.
func TestBatchOrder(t *testing.T) {
	conform.Held(t, "AT-207", "AT-399")
	var mu sync.Mutex
	var order []string
	inside, most := map[string]int{}, map[string]int{}
	enter := func(ctx context.Context, in fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		mu.Lock()
		order = append(order, in.Path+in.Say)
		for _, k := range []string{"all", in.Path} {
			inside[k]++
			most[k] = max(most[k], inside[k])
		}
		mu.Unlock()
		time.Sleep(time.Second)
		mu.Lock()
		for _, k := range []string{"all", in.Path} {
			inside[k]--
		}
		mu.Unlock()
		return agenttool.Output{}, nil
	}
	for _, c := range []struct {
		name  string
		reads bool
		calls []string // path, then what distinguishes the call
		all   int
		one   int
	}{
		{"ten reads of one file", true, strings.Fields("f0 f1 f2 f3 f4 f5 f6 f7 f8 f9"), 10, 10},
		{"two writes of one file", false, strings.Fields("f0 f1"), 1, 1},
		{"two writes of two files", false, strings.Fields("f0 g1"), 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				order, inside, most = nil, map[string]int{}, map[string]int{}
				f := newFixture(t, []agenttool.Tool{&fake{name: "do", reads: c.reads, run: enter}}, allowing("do"))
				var calls []host.Request
				for _, p := range c.calls {
					calls = append(calls, host.Request{ID: p, Tool: "do", Input: []byte(fmt.Sprintf(`{"path":%q,"say":%q}`, p[:1], p[1:]))})
				}
				done := make(chan []host.Completion, 1)
				if err := f.Batch(host.BatchRequest{ID: "b", Calls: calls}, func(got []host.Completion) { done <- got }); err != nil {
					t.Fatal(err)
				}
				for i, got := range <-done {
					if got.Invocation.NativeCallID != c.calls[i] || got.Result.Status != agenttool.ResultSucceeded {
						t.Errorf("result %d is %s: %s", i, got.Invocation.NativeCallID, got.Result.Status)
					}
				}
				if most["all"] != c.all || most["f"] != c.one {
					t.Errorf("at most %d at once, %d on f; want %d, %d", most["all"], most["f"], c.all, c.one)
				}
				if c.one == 1 && c.all == 1 && !slices.Equal(order, c.calls) {
					t.Errorf("ran in order %v, want %v", order, c.calls)
				}
				f.Host.Close()
			})
		})
	}
}

// TestSiblings: what happens to the other calls of a batch when one fails.
func TestSiblings(t *testing.T) {
	conform.Held(t, "AT-108", "AT-204", "AT-205", "AT-206", "AT-329", "AT-336", "AT-400")
	run := func(ctx context.Context, in fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
		if in.Say == "fail" {
			return agenttool.Output{}, errors.New("failed on request")
		}
		select {
		case <-time.After(time.Minute):
			return agenttool.Output{}, nil
		case <-ctx.Done():
			return agenttool.Output{}, context.Cause(ctx)
		}
	}
	for _, c := range []struct {
		policy string
		want   string // states of: the one that fails, a sibling, a dependent
	}{
		{"", "failed succeeded canceled"}, {"cancel_dependent", "failed succeeded canceled"},
		{"ignore", "failed succeeded succeeded"}, {"cancel_siblings", "failed canceled canceled"},
	} {
		t.Run("policy "+c.policy, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, []agenttool.Tool{&fake{name: "do", reads: true, run: run}})
				done := make(chan []host.Completion, 1)
				err := f.Batch(host.BatchRequest{ID: "b", Policy: &agenttool.SchedulerPolicy{SiblingFailurePolicy: c.policy}, Calls: []host.Request{
					{ID: "1", Tool: "do", Input: []byte(`{"path":"a","say":"fail"}`)},
					{ID: "2", Tool: "do", Input: input("b")},
					{ID: "3", Tool: "do", Input: input("c"), After: []string{"1"}},
				}}, func(got []host.Completion) { done <- got })
				if err != nil {
					t.Fatal(err)
				}
				var states []string
				for _, got := range <-done {
					states = append(states, string(got.Invocation.Status))
					checkRecords(t, got)
					if got.Invocation.Status == "canceled" && got.Result.AbortReason != "sibling error" {
						t.Errorf("abort reason %q", got.Result.AbortReason)
					}
				}
				if s := strings.Join(states, " "); s != c.want {
					t.Errorf("states %s, want %s", s, c.want)
				}
				f.Host.Close()
			})
		})
	}
}

// TestRefusedRequests: what is wrong with a request is said before anything is recorded.
func TestRefusedRequests(t *testing.T) {
	block := make(chan struct{})
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		<-block
		return agenttool.Output{}, nil
	}}})
	live := f.start(host.Request{ID: "live", Tool: "look", Input: input("a")})
	never := func(host.Completion) { t.Error("a refused call was answered") }
	for _, c := range []struct {
		name string
		req  host.Request
	}{
		{"no id", host.Request{Tool: "look", Input: input("a")}}, {"live id", host.Request{ID: "live", Tool: "look", Input: input("a")}},
		{"unknown dependency", host.Request{ID: "x", Tool: "look", Input: input("a"), After: []string{"never"}}},
		{"itself", host.Request{ID: "x", Tool: "look", Input: input("a"), After: []string{"x"}}},
		{"no JSON", host.Request{ID: "x", Tool: "look", Input: []byte(`{"path":"a"}},"status":{`)}},
	} {
		if err := f.Invoke(c.req, never); !host.IsRefused(err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	cyclic := []host.Request{{ID: "a", Tool: "look", Input: input("a"), After: []string{"b"}}, {ID: "b", Tool: "look", Input: input("a"), After: []string{"a"}}}
	for name, b := range map[string]host.BatchRequest{
		"cyclic": {ID: "b", Calls: cyclic}, "empty": {ID: "b"}, "no id": {Calls: cyclic[:1]},
		"twice":            {ID: "b", Calls: []host.Request{{ID: "a", Tool: "look", Input: input("a")}, {ID: "a", Tool: "look", Input: input("a")}}},
		"unknown policy":   {ID: "b", Calls: []host.Request{{ID: "a", Tool: "look", Input: input("a")}}, Policy: &agenttool.SchedulerPolicy{OrderingPolicy: "random"}},
		"contradictory":    {ID: "b", Calls: []host.Request{{ID: "a", Tool: "look", Input: input("a")}}, Policy: &agenttool.SchedulerPolicy{OrderingPolicy: "allow_unordered", YieldPolicy: "all_ordered"}},
		"streams in order": {ID: "b", Calls: []host.Request{{ID: "a", Tool: "look", Input: input("a")}}, Policy: &agenttool.SchedulerPolicy{OrderingPolicy: "preserve_terminal_order", YieldPolicy: "unordered_streaming"}},
		"locks":            {ID: "b", Calls: []host.Request{{ID: "a", Tool: "look", Input: input("a")}}, Policy: &agenttool.SchedulerPolicy{ResourceLocks: []json.RawMessage{[]byte(`{}`)}}},
	} {
		if err := f.Batch(b, func([]host.Completion) { t.Error("a refused batch was answered") }); !host.IsRefused(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	close(block)
	<-live
}

// TestDrain: at the end of input a call that waits is cancelled unless it is read-only, a running one goes on.
func TestDrain(t *testing.T) {
	release, started := make(chan struct{}), make(chan struct{}, 1)
	f := newFixture(t, []agenttool.Tool{
		&fake{name: "put", run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
			started <- struct{}{}
			<-release
			return agenttool.Output{}, nil
		}},
		&fake{name: "look", reads: true},
	}, allowing("put"))
	running := f.start(host.Request{ID: "running", Tool: "put", Input: input("a")})
	<-started
	waiting := f.start(host.Request{ID: "waiting", Tool: "put", Input: input("a")})
	reading := f.start(host.Request{ID: "reading", Tool: "look", Input: input("a")})
	for f.status("waiting") != agenttool.StatusQueued || f.status("reading") != agenttool.StatusQueued {
		time.Sleep(time.Millisecond)
	}
	drained := make(chan struct{})
	go func() {
		f.Drain(context.Background())
		close(drained)
	}()
	if got := <-waiting; got.Result.AbortReason != "runtime shutdown" {
		t.Errorf("waiting call: %+v", got.Result)
	}
	close(release)
	for name, done := range map[string]<-chan host.Completion{"running": running, "reading": reading} {
		if got := <-done; got.Result.Status != agenttool.ResultSucceeded {
			t.Errorf("%s call: %+v", name, got.Result)
		}
	}
	<-drained
	if err := f.Invoke(host.Request{ID: "late", Tool: "look", Input: input("a")}, nil); !host.IsRefused(err) {
		t.Errorf("a call after the end: %v", err)
	}
}

func (f *fixture) status(id string) agenttool.InvocationStatus {
	for _, c := range f.Status().Calls {
		if c.ID == id {
			return c.Status
		}
	}
	return ""
}

// TestDeferredTool: found by search, by name and by words, loaded, then called.
func TestDeferredTool(t *testing.T) {
	conform.Held(t, "AT-212", "AT-214", "AT-217", "AT-220", "AT-221", "AT-222", "AT-223", "AT-225", "AT-390", "AT-391", "AT-425")
	f := newFixture(t, []agenttool.Tool{&fake{name: "later", reads: true, lifecycle: agenttool.Deferred}, &fake{name: "look", reads: true}})
	for _, d := range f.Surface().Declarations {
		if d.Name == "later" && d.InputContract != nil {
			t.Error("the surface holds the schema of a deferred tool")
		}
	}
	if early := f.call(host.Request{ID: "early", Tool: "later", Input: input("a")}); early.Result.Error.Class != agenttool.SchemaNotLoaded || !strings.Contains(early.Result.Content[0].Text, `agenttool/load with names ["later"]`) {
		t.Errorf("before it is loaded: %+v", early.Result)
	}
	found := f.Search("select:later,nothing", 0)
	if found.QueryType != "select" || len(found.Matches) != 1 || found.Matches[0].LoadingState != "discoverable" || found.NextAction != "load_schema_then_call" || !slices.Equal(found.MissingNames, []string{"nothing"}) || found.TotalDeferredTools != 1 {
		t.Errorf("select: %+v", found)
	}
	if found = f.Search("later pipeline", 0); len(found.Matches) != 2 || found.Matches[0].Name != "later" || found.Matches[0].Reason == "" {
		t.Errorf("words: %+v", found)
	}
	if found = f.Search("zebra", 0); found.QueryType != "keyword" || found.Matches == nil || len(found.Matches) != 0 || found.NextAction != "refine_query" {
		t.Errorf("nothing: %+v", found)
	}
	if loaded, missing := f.Load([]string{"later", "nothing"}); len(loaded) != 1 || len(missing) != 1 {
		t.Errorf("load: %v %v", loaded, missing)
	}
	if found = f.Search("select:later", 0); found.Matches[0].LoadingState != "loaded" || found.NextAction != "call" || found.TotalDeferredTools != 0 {
		t.Errorf("after it is loaded: %+v", found)
	}
	if got := f.call(host.Request{ID: "c", Tool: "later", Input: input("a")}); got.Result.Status != agenttool.ResultSucceeded {
		t.Errorf("call: %+v", got.Result)
	}
}

// TestMode: a client can tighten and loosen again, never beyond what the host was started with.
func TestMode(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true}})
	for _, c := range []struct {
		mode permissions.Mode
		ok   bool
	}{{permissions.Plan, true}, {permissions.AcceptEdits, false}, {permissions.Default, true}} {
		if err := f.SetMode(c.mode, host.ByClient); (err == nil) != c.ok {
			t.Errorf("mode %s: %v", c.mode, err)
		}
	}
	if f.Mode() != permissions.Default {
		t.Errorf("mode %s", f.Mode())
	}
}

// TestStuckTool: a tool that does not return when its call ends costs its locks, not its caller, and not the end of
// the host.
func TestStuckTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := newFixture(t, []agenttool.Tool{
			&fake{name: "put", run: func(_ context.Context, in fakeInput, r agenttool.Reporter) (agenttool.Output, error) {
				if in.Say == "stuck" {
					<-release
					r.Progress(agenttool.Progress{Message: "too late"})
				}
				return agenttool.Output{}, nil
			}},
		}, allowing("put"))
		got := f.call(host.Request{ID: "stuck", Tool: "put", Input: []byte(`{"path":"a","say":"stuck"}`), Timeout: time.Second})
		if got.Result.Status != agenttool.ResultTimedOut {
			t.Errorf("result %+v", got.Result)
		}
		checkRecords(t, got)
		behind := f.start(host.Request{ID: "behind", Tool: "put", Input: input("a")})
		if got := f.call(host.Request{ID: "beside", Tool: "put", Input: input("b")}); got.Result.Status != agenttool.ResultSucceeded {
			t.Errorf("beside: %+v", got.Result)
		}
		synctest.Wait()
		if f.status("behind") != agenttool.StatusQueued {
			t.Errorf("the call behind a stuck one is %s", f.status("behind"))
		}
		close(release)
		if got := <-behind; got.Result.Status != agenttool.ResultSucceeded {
			t.Errorf("behind: %+v", got.Result)
		}
		if events := f.events(got.Invocation.InvocationID); events[len(events)-1] != "tool.result.created" {
			t.Errorf("events after the result: %v", events)
		}
		f.Host.Close()
	})
}

// bounded is a tool whose calls say that they have ten seconds to begin.
type bounded struct{ agenttool.Tool }

func (b bounded) Bind(scope agenttool.Scope, raw json.RawMessage) (agenttool.Call, error) {
	c, err := b.Tool.Bind(scope, raw)
	return beginning{c}, err
}

type beginning struct{ agenttool.Call }

func (beginning) OwnTime() time.Duration { return 10 * time.Second }

// TestFileSystemThatNeverAnswers: a call on files that its caller gave no deadline is answered within a minute and two seconds of its own time, and
// so is one that waits for its locks. A call that waits for another that works is not hurried.
func TestFileSystemThatNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		files := described{&fake{name: "put", run: func(_ context.Context, in fakeInput, _ agenttool.Reporter) (agenttool.Output, error) {
			if in.Say == "stuck" {
				<-release
			}
			return agenttool.Output{}, nil
		}}, func(d *agenttool.Description) { d.Declaration.ToolKind = agenttool.KindFileOperation }}
		long := &fake{name: "long", run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
			time.Sleep(10 * time.Minute)
			return agenttool.Output{}, nil
		}}
		run := bounded{&fake{name: "run", run: func(_ context.Context, in fakeInput, r agenttool.Reporter) (agenttool.Output, error) {
			if in.Say == "stuck" {
				<-release
				return agenttool.Output{}, nil
			}
			over := r.(agenttool.Beginner).Begun()
			time.Sleep(5 * time.Minute)
			over()
			time.Sleep(30 * time.Second) // it has a minute again
			return agenttool.Output{}, nil
		}}}
		f := newFixture(t, []agenttool.Tool{files, long, run}, allowing("put"), allowing("long"), allowing("run"))
		runs := f.start(host.Request{ID: "runs", Tool: "run", Input: input("c")})
		began := time.Now()
		working := f.start(host.Request{ID: "working", Tool: "long", Input: input("b")})
		patient := f.start(host.Request{ID: "patient", Tool: "put", Input: input("b")})
		if got := f.call(host.Request{ID: "stuck", Tool: "put", Input: []byte(`{"path":"a","say":"stuck"}`)}); got.Result.Status != agenttool.ResultTimedOut {
			t.Errorf("stuck: %+v", got.Result)
		}
		within := func(what string, most time.Duration) {
			if took := time.Since(began); took > most {
				t.Errorf("%s was answered after %s", what, took)
			}
			began = time.Now()
		}
		within("the call that is stuck", time.Minute+2*time.Second)
		if got := f.call(host.Request{ID: "behind", Tool: "put", Input: input("a")}); got.Result.Status != agenttool.ResultTimedOut {
			t.Errorf("behind: %+v", got.Result)
		}
		within("the call behind it", time.Minute+2*time.Second)
		if got := f.call(host.Request{ID: "begins", Tool: "run", Input: []byte(`{"path":"d","say":"stuck"}`)}); got.Result.Status != agenttool.ResultTimedOut {
			t.Errorf("begins: %+v", got.Result)
		}
		within("a call that does not begin", 12*time.Second)
		if got := <-runs; got.Result.Status != agenttool.ResultSucceeded {
			t.Errorf("runs: %+v", got.Result)
		}
		if first, second := <-working, <-patient; first.Result.Status != agenttool.ResultSucceeded || second.Result.Status != agenttool.ResultSucceeded {
			t.Errorf("%+v, and behind it %+v", first.Result, second.Result)
		}
		close(release)
		f.Host.Close()
	})
}

// TestLargeBatch: a batch of far more calls than are worked on at once ends, in order, and so do as many single calls
// that name one batch.
func TestLargeBatch(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true}, &fake{name: "put"}}, allowing("put"))
	const n = 1000
	var calls []host.Request
	for i := range n {
		calls = append(calls, host.Request{ID: fmt.Sprint(i), Tool: []string{"look", "put"}[i%2], Input: input("a")})
	}
	done := make(chan []host.Completion, 1)
	if err := f.Batch(host.BatchRequest{ID: "b", Calls: calls}, func(got []host.Completion) { done <- got }); err != nil {
		t.Fatal(err)
	}
	for i, got := range <-done {
		if got.Invocation.NativeCallID != fmt.Sprint(i) || got.Result.Status != agenttool.ResultSucceeded {
			t.Fatalf("call %d: %s %s", i, got.Invocation.NativeCallID, got.Result.Status)
		}
	}
	handed := make(chan string, n)
	for _, r := range calls {
		r.Batch = "b"
		if err := f.Invoke(r, func(c host.Completion) { handed <- c.Invocation.NativeCallID }); err != nil {
			t.Fatal(err)
		}
	}
	for i := range n {
		if id := <-handed; id != fmt.Sprint(i) {
			t.Fatalf("result %d is of call %s", i, id)
		}
	}
}

// TestBusy: what is in flight is bounded, in number and in bytes.
func TestBusy(t *testing.T) {
	block := make(chan struct{})
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		<-block
		return agenttool.Output{}, nil
	}}})
	large := []byte(`{"path":"a","say":"` + strings.Repeat("x", 12<<20) + `"}`)
	var err error
	n := 0
	for ; err == nil && n < 100; n++ {
		err = f.Invoke(host.Request{ID: fmt.Sprint(n), Tool: "look", Input: large}, func(host.Completion) {})
	}
	if !errors.Is(err, host.ErrBusy) || n > 8 {
		t.Errorf("after %d calls of 12 MiB: %v", n, err)
	}
	close(block)
}

// TestStuckPreflight: what hangs before Run is answered for, too, and the host can end.
func TestStuckPreflight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true, preflight: func(context.Context) error { <-release; return nil }}})
		got := f.call(host.Request{ID: "c", Tool: "look", Input: input("a"), Timeout: time.Second})
		if got.Result.Status != agenttool.ResultTimedOut {
			t.Errorf("result %+v", got.Result)
		}
		f.Host.Close()
		close(release)
		synctest.Wait()
		if n := len(f.Status().Calls); n != 0 {
			t.Errorf("%d calls are left", n)
		}
	})
}

// TestCancelInEveryPhase races cancellations with calls at every point of their way; each ends in one result.
func TestCancelInEveryPhase(t *testing.T) {
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true}, &fake{name: "put"}}, allowing("put"))
	for i := range 300 {
		done := f.start(host.Request{ID: "c", Tool: []string{"look", "put"}[i%2], Input: input("a")})
		for range i % 7 {
			f.Status()
		}
		f.Cancel("c", "")
		if got := <-done; got.Result.Status != agenttool.ResultSucceeded && got.Result.Status != agenttool.ResultCanceled {
			t.Fatalf("result %+v", got.Result)
		}
	}
}
