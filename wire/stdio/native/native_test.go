package native_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/testdata/support/conform"
	"toolhost/wire/stdio"
	"toolhost/wire/stdio/native"
)

// nap is a tool that reads or writes nothing, until its context ends when it is told to hang.
type nap struct{ name string }

func (n nap) Describe() agenttool.Description {
	id := agenttool.ToolID("test." + n.name)
	return agenttool.Description{
		Declaration: agenttool.Declaration{SchemaVersion: agenttool.SchemaVersion, ToolID: id, Namespace: "test", Name: n.name,
			Description: "Naps.", Lifecycle: agenttool.Available, ToolKind: agenttool.KindCustom},
		Interface: agenttool.Interface{CallRules: agenttool.CallRules{InterruptBehavior: "cancel"}, SchemaVersion: agenttool.SchemaVersion, InterfaceID: "i", ToolID: id,
			Schemas: agenttool.Schemas{ModelInputSchema: json.RawMessage(`{"type":"object","properties":{"hang":{"type":"boolean"}},"additionalProperties":false}`)}},
	}
}

func (n nap) Bind(_ agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	c := &napCall{facts: agenttool.Facts{Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Known(n.name == "look"), OpenWorld: agenttool.No, PathsComplete: agenttool.Yes, ConcurrencySafe: agenttool.Yes}}}
	return c, json.Unmarshal(input, &c.in)
}

type napCall struct {
	in struct {
		Hang bool `json:"hang"`
	}
	facts agenttool.Facts
}

func (c *napCall) Input() any              { return c.in }
func (c *napCall) Facts() *agenttool.Facts { return &c.facts }
func (c *napCall) Run(ctx context.Context, _ agenttool.Reporter) (agenttool.Output, error) {
	if c.in.Hang {
		<-ctx.Done()
		return agenttool.Output{}, context.Cause(ctx)
	}
	return agenttool.Output{}, nil
}

// client talks to a native family over pipes.
type client struct {
	t    testing.TB
	in   *io.PipeWriter
	out  *lockedBuffer
	done chan error
	stop func()
}

// lockedBuffer collects what the writer writes.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func newClient(t testing.TB) *client {
	t.Helper()
	return newPeer(t, nil)
}

// newPeer is newClient for a person, nil for a client.
func newPeer(t testing.TB, person *native.Person) *client {
	t.Helper()
	store := persist.New(persist.Options{Dir: t.TempDir()})
	h, err := host.New(host.Options{
		Tools: []agenttool.Tool{nap{"look"}, nap{"put"}}, Scope: agenttool.Scope{Dir: "/", Roots: []string{"/"}}, Store: store,
		Locate: func(*agenttool.Path) error { return nil }, Policy: permissions.Policy{Workspace: "/"}, Session: store.ID(),
	})
	if err != nil {
		t.Fatal(err)
	}
	in, feed := io.Pipe()
	c := &client{t: t, in: feed, out: &lockedBuffer{}, done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	c.stop = cancel
	w := stdio.NewWriter(c.out)
	f := native.New(native.Options{Host: h, Writer: w, Session: store.ID(), Version: "test", Stop: cancel, Sandbox: map[string]any{"level": "none"}, Person: person})
	go func() {
		_ = stdio.Serve(ctx, in, w, f)
		short, cancel := context.WithCancel(context.Background())
		cancel()
		f.Drain(short)
		_ = h.Close() // its error is that of the log, which other tests look at
		c.done <- w.Close()
	}()
	return c
}

// send sends lines, one message each.
func (c *client) send(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(c.in, line+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
}

// end closes the input and returns the messages that came, by id; events and errors without an id are under "".
func (c *client) end() map[string][]json.RawMessage {
	c.t.Helper()
	c.in.Close()
	if err := <-c.done; err != nil {
		c.t.Fatal(err)
	}
	got := map[string][]json.RawMessage{}
	for _, line := range strings.Split(strings.TrimSuffix(c.out.String(), "\n"), "\n") {
		var m struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Version != "2.0" {
			c.t.Errorf("no message: %s", line)
		}
		got[string(m.ID)] = append(got[string(m.ID)], json.RawMessage(line))
	}
	return got
}

// TestEveryRequestIsAnsweredOnce: whatever comes, in whatever order, with cancellations, prompts, batches and the end
// of the input in the middle, each id is answered exactly once.
func TestEveryRequestIsAnsweredOnce(t *testing.T) {
	conform.Held(t, "AT-015", "AT-426")
	const n = 3000
	random := rand.New(rand.NewPCG(1, 2))
	c := newClient(t)
	c.send(`{"jsonrpc":"2.0","id":"hello","method":"agenttool/hello","params":{"events":"all","approvals":true}}`)
	for i := range n {
		call := fmt.Sprintf("c%d", i)
		earlier := fmt.Sprintf("c%d", random.IntN(i+1))
		body := [...]string{
			`"agenttool/invoke","params":{"id":"` + call + `","tool":"look","input":{}}`,
			`"agenttool/invoke","params":{"id":"` + call + `","tool":"look","input":{"hang":true},"timeout_ms":50}`,
			`"agenttool/invoke","params":{"id":"` + call + `","tool":"put","input":{},"batch":"b"}`,
			`"agenttool/invoke","params":{"id":"` + call + `","tool":"nope","input":{"x":1}}`,
			`"agenttool/invoke","params":{"id":"` + call + `","tool":"look","input":{"x":1},"after":["` + earlier + `"]}`,
			`"agenttool/invoke","params":{"id":"` + earlier + `","tool":"look","input":null}`,
			`"agenttool/batch","params":{"id":"b` + call + `","calls":[{"id":"` + call + `x","tool":"look"},{"id":"` + call + `y","tool":"put","after":["` + call + `x"]}]}`,
			`"agenttool/cancel","params":{"id":"` + earlier + `"}`,
			`"agenttool/decide","params":{"decision_id":"perm_x","behavior":"allow"}`,
			`"agenttool/status"`, `"agenttool/surface","params":{}`, `"agenttool/replay","params":{"since_seq":` + fmt.Sprint(i*5) + `}`,
			`"agenttool/read_result","params":{"ref":"x"}`, `"agenttool/mode","params":{"mode":"dont_ask"}`, `"agenttool/mode","params":{"mode":"default"}`,
			`"agenttool/invoke","params":[1]`, `"agenttool/nope"`, `"other"`,
		}[random.IntN(18)]
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s}`, i, body))
	}
	got := c.end()
	for i := range n {
		if answers := got[fmt.Sprint(i)]; len(answers) != 1 {
			t.Errorf("request %d was answered %d times: %s", i, len(answers), answers)
		}
	}
	if len(got["null"]) != 0 || len(got) != n+2 { // and hello, and events
		t.Errorf("%d ids, %d answers without one", len(got), len(got["null"]))
	}
	checkEvents(t, got[""])
}

// checkEvents: events come in order of seq, none twice, and none of a call after its result.
func checkEvents(t *testing.T, lines []json.RawMessage) {
	t.Helper()
	last, ended := int64(0), map[agenttool.InvocationID]bool{}
	for _, line := range lines {
		var m struct {
			Params struct {
				Seq   int64           `json:"seq"`
				Event agenttool.Event `json:"event"`
			} `json:"params"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		e := m.Params.Event
		if m.Params.Seq <= last {
			t.Errorf("seq %d comes after %d", m.Params.Seq, last)
		}
		if last = m.Params.Seq; e.InvocationID != "" && ended[e.InvocationID] {
			t.Errorf("%s of %s comes after its result", e.EventType, e.InvocationID)
		}
		ended[e.InvocationID] = e.EventType == agenttool.EventResultCreated && e.InvocationID != ""
	}
	if len(ended) < 1000 {
		t.Errorf("only %d calls were heard of", len(ended))
	}
}

// TestDuplicateRequestID: an id that is not answered yet cannot be used again; afterwards it can.
func TestDuplicateRequestID(t *testing.T) {
	c := newClient(t)
	hang := `{"jsonrpc":"2.0","id":1,"method":"agenttool/invoke","params":{"id":"c%d","tool":"look","input":{"hang":true}}}`
	c.send(fmt.Sprintf(hang, 1), fmt.Sprintf(hang, 2))
	got := c.end()
	if len(got["1"]) != 1 || !strings.Contains(string(got["1"][0]), "runtime shutdown") || len(got["null"]) != 1 || !strings.Contains(string(got["null"][0]), "-32600") {
		t.Errorf("%s", got)
	}
}

// TestNotifications are carried out and not answered.
func TestNotifications(t *testing.T) {
	c := newClient(t)
	c.send(`{"jsonrpc":"2.0","method":"agenttool/invoke","params":{"id":"c1","tool":"look","input":{}}}`,
		`{"jsonrpc":"2.0","method":"agenttool/nope"}`, `{"jsonrpc":"2.0","id":1,"method":"agenttool/status"}`)
	if got := c.end(); len(got) != 1 || len(got["1"]) != 1 {
		t.Errorf("%s", got)
	}
}

// flood is a job tool whose calls tell more than a client reads, and whose jobs end then.
type flood struct{ nap }

func (f flood) Bind(s agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	c, err := f.nap.Bind(s, input)
	return floodCall{c}, err
}

type floodCall struct{ agenttool.Call }

func (floodCall) Run(_ context.Context, r agenttool.Reporter) (agenttool.Output, error) {
	r.Progress(agenttool.Progress{Message: strings.Repeat("x", 2<<20)})
	over := make(chan struct{})
	close(over)
	return agenttool.Output{Job: endedJob{over, string(r.Invocation())}, Yielded: true}, nil
}

// endedJob is a job that is over.
type endedJob struct {
	over chan struct{}
	id   string
}

func (j endedJob) ID() string            { return j.id }
func (j endedJob) Done() <-chan struct{} { return j.over }
func (j endedJob) Final() agenttool.Progress {
	return agenttool.Progress{Status: "completed", TaskID: j.id}
}
func (j endedJob) Status() agenttool.JobStatus { return agenttool.JobStatus{ID: j.id} }

// noJobs lets a host wait until the ends of its jobs are told.
type noJobs struct{}

func (noJobs) List() []agenttool.JobStatus { return nil }
func (noJobs) Close()                      {}

// stalled is an output that nobody reads until it is released.
type stalled struct {
	lockedBuffer
	released chan struct{}
}

func (s *stalled) Write(p []byte) (int, error) {
	<-s.released
	return s.lockedBuffer.Write(p)
}

// TestEndsOfJobsReachSlowClients: a client that reads nothing for a while loses progress, and hears of the end of every job once.
func TestEndsOfJobsReachSlowClients(t *testing.T) {
	const jobs = 20
	store := persist.New(persist.Options{Ephemeral: true})
	h, err := host.New(host.Options{
		Tools: []agenttool.Tool{flood{nap{"look"}}}, Scope: agenttool.Scope{Dir: "/", Roots: []string{"/"}}, Store: store,
		Locate: func(*agenttool.Path) error { return nil }, Policy: permissions.Policy{Workspace: "/"}, Session: store.ID(), Jobs: noJobs{},
	})
	if err != nil {
		t.Fatal(err)
	}
	out := &stalled{released: make(chan struct{})}
	w := stdio.NewWriter(out)
	f := native.New(native.Options{Host: h, Writer: w, Session: store.ID(), Version: "test", Stop: func() {}, Sandbox: map[string]any{}})
	receive := func(id, method, params string) {
		f.Receive(stdio.Message{ID: json.RawMessage(id), Method: method, Params: json.RawMessage(params)})
	}
	receive("0", "agenttool/hello", `{"events":"progress"}`)
	for i := range jobs {
		receive(fmt.Sprint(i+1), "agenttool/invoke", fmt.Sprintf(`{"id":"c%d","tool":"look","input":{}}`, i))
	}
	f.Drain(t.Context())
	if err := h.Close(); err != nil && !errors.Is(err, persist.ErrPending) { // other tests may keep the disk busy
		t.Fatal(err)
	}
	close(out.released)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ends := map[string]int{}
	told := 0
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		var m struct {
			Params struct {
				Event struct {
					Data struct {
						Progress struct {
							Status string `json:"status"`
							Task   string `json:"task_id"`
						} `json:"progress"`
					} `json:"data"`
				} `json:"event"`
			} `json:"params"`
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		switch p := m.Params.Event.Data.Progress; p.Status {
		case "completed":
			ends[p.Task]++
		case "running":
			told++
		}
	}
	if told == jobs {
		t.Error("all progress was told: the client was not slow")
	}
	if len(ends) != jobs {
		t.Errorf("the client heard of the end of %d jobs out of %d", len(ends), jobs)
	}
	for job, times := range ends {
		if times != 1 {
			t.Errorf("the end of %s was told %d times", job, times)
		}
	}
}

// TestModeOfAPerson: a person who may answer prompts makes the mode stricter at once, looser with the session's code, and never bypass.
func TestModeOfAPerson(t *testing.T) {
	for _, c := range []struct {
		name, hello string
		want        map[string]string // a part of each answer
	}{
		{"may answer", `{"approvals":true}`, map[string]string{"2": `"mode":"plan"`, "3": "shows a code", "4": "shows a code", "5": `"mode":"default"`, "6": "bypass is chosen at the start only"}},
		{"may not", `{"approvals":true,"code":"x"}`, map[string]string{"2": "no word is taken", "3": "no word is taken", "4": "no word is taken", "5": "no word is taken", "6": "no word is taken"}},
		{"did not say so", `{}`, map[string]string{"2": "no word is taken", "3": "no word is taken", "4": "no word is taken", "5": "no word is taken", "6": "no word is taken"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newPeer(t, &native.Person{
				Vet: func(code string) native.PeerVerdict { return native.PeerVerdict{May: code == "", Why: "a stranger"} },
				Loosens: func(code string, m agenttool.Mode) error {
					if code == "AB" {
						return nil
					}
					return errors.New("the session shows a code")
				},
			})
			k.send(`{"jsonrpc":"2.0","id":1,"method":"agenttool/hello","params":`+c.hello+`}`,
				`{"jsonrpc":"2.0","id":2,"method":"agenttool/mode","params":{"mode":"plan"}}`,
				`{"jsonrpc":"2.0","id":3,"method":"agenttool/mode","params":{"mode":"default"}}`,
				`{"jsonrpc":"2.0","id":4,"method":"agenttool/mode","params":{"mode":"default","code":"XY"}}`,
				`{"jsonrpc":"2.0","id":5,"method":"agenttool/mode","params":{"mode":"default","code":"AB"}}`,
				`{"jsonrpc":"2.0","id":6,"method":"agenttool/mode","params":{"mode":"bypass","code":"AB"}}`)
			got := k.end()
			for id, want := range c.want {
				if len(got[id]) != 1 || !strings.Contains(string(got[id][0]), want) {
					t.Errorf("%s: %s, want %s", id, got[id], want)
				}
			}
		})
	}
}
