package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/cmd/toolhost/internal/server"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/wire/stdio"
	"toolhost/wire/stdio/native"
)

// TestFrontLoad: many calls at once, 300 in the long form, with results of 100 KB. Each is answered once and every line is a message.
func TestFrontLoad(t *testing.T) {
	t.Parallel()
	c := openLines(t)
	c.noise(160)
	c.greets(false)
	calls := count(150, 300)
	if underRace { // which is ten times as slow
		calls = 100
	}
	sending := make(chan struct{})
	go func() { // the host may stop reading while it has much to write
		defer close(sending)
		for i := range calls {
			if i%3 == 0 {
				c.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"path":"picture.png"},%s}}`, i, modern)
			} else {
				c.call(i, "read", `{"path":"picture.png"}`)
			}
		}
	}()
	for i := range calls {
		m := c.answer(fmt.Sprint(i))
		if m.Error != nil && m.Error.Code == -32000 { // busy, since the client reads too slowly
			continue
		}
		r := m.result(t)
		if len(r.Content) == 0 || r.IsError || len(m.text) < 100_000 {
			t.Fatalf("call %d: %d bytes: %s", i, len(m.text), cut.Characters(m.text, 300))
		}
	}
	<-sending
	_ = c.in.Close()
	if code := c.exits(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	<-c.Ended()
	if n := c.count(func(m spokenLine) bool { return m.Error == nil }); n < calls/2 {
		t.Errorf("only %d calls worked", n)
	}
	if n := c.count(func(spokenLine) bool { return true }); n != calls+1 {
		t.Errorf("%d messages for %d requests", n, calls+1)
	}
	c.logsAre("closed")
}

// memoryOf is what a host may take while a client does not read: the 32 MiB that wait to be read, some copies of it, what calls that run
// need, and the race detector's part.
func memoryOf() int {
	if underRace {
		return 1200 << 20
	}
	return 450 << 20
}

// staysSmall watches a host whose clients do not read, until it makes no more results, for 8 s at most. It may take so much memory, and
// have made so many results.
func (d *serveProcess) staysSmall(results int) {
	d.t.Helper()
	most, made, last := 0, 0, time.Now()
	for limit := last.Add(8 * time.Second); time.Now().Before(limit) && time.Since(last) < 1500*time.Millisecond; time.Sleep(25 * time.Millisecond) {
		most = max(most, d.resident())
		if n := d.made(); n > made || n == 0 {
			made, last = n, time.Now()
		}
		if made > results || most > memoryOf() {
			break
		}
	}
	d.t.Logf("%d results, %d MiB at most", made, most>>20)
	if made > results || most > memoryOf() {
		d.t.Errorf("for clients that do not read the host made %d results, in %d MiB", made, most>>20)
	}
}

// made is how many results are in the logs of the home.
func (d *serveProcess) made() (n int) {
	logs, _ := filepath.Glob(filepath.Join(d.home, "state", "toolhost", "sessions", "*", "log.jsonl"))
	for _, path := range logs {
		b, err := os.ReadFile(path)
		if err != nil {
			d.t.Error(err)
		}
		n += bytes.Count(b, []byte(`"event_type":"tool.result.created"`))
	}
	return n
}

// TestFrontNeverReads: a client sends hundreds of calls, whose results have 1 MB each, and reads nothing. The memory of its host is
// bounded, the host ends when the client does, its log is whole, and so is that of another session beside it.
func TestFrontNeverReads(t *testing.T) {
	t.Parallel()
	d := newDoor(t, frontHome(t), "--drain", "500ms")
	limit := "GOMEMLIMIT=256MiB" // what is left over is no garbage
	if underRace {               // which takes much, and would do nothing but look for garbage
		limit = "GOMEMLIMIT=1GiB"
	}
	d.cmd.Env = append(d.cmd.Env, limit)
	d.noise(500)
	d.start()
	beside := listenTo(openDoor(t, d.home))
	beside.greets(false)
	calls := 500
	if underRace {
		calls = 200
	}
	var sent atomic.Int64
	sending := make(chan struct{})
	go func() { // until all are sent, or the host has ended
		defer close(sending)
		for n := range calls {
			if _, err := fmt.Fprintf(d.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"read","arguments":{"path":"picture.png"},%s}}`+"\n", n, modern); err != nil {
				return
			}
			sent.Add(1)
		}
	}()
	d.staysSmall(160) // the native family makes some 120
	beside.call(1, "read", `{"path":"small"}`)
	if r := beside.answer("1").result(t); !strings.Contains(r.says(), "a needle") {
		t.Errorf("the session beside: %+v", r)
	}
	eventually(t, "the host takes 200 calls", func() bool { return sent.Load() >= 200 })
	_ = d.in.Close()
	<-sending
	if code := d.exits(); code != exitFailed && !underRace { // that makes it so slow that nothing may be there to be read
		t.Errorf("it ended with code %d, want %d: the client did not read", code, exitFailed)
	}
	_ = beside.in.Close()
	if code := beside.exits(); code != exitOK {
		t.Errorf("the session beside ended with code %d", code)
	}
	d.logsAre("closed")
}

// panicking is a tool that panics, where its input says.
type panicking struct{}

func (panicking) Describe() agenttool.Description {
	id := agenttool.ToolID("test.panics")
	return agenttool.Description{
		Declaration: agenttool.Declaration{
			SchemaVersion: agenttool.SchemaVersion, ToolID: id, Namespace: "test", Name: "panics", Description: "Panics.",
			Lifecycle: agenttool.Available, ToolKind: agenttool.KindCustom,
		},
		Interface: agenttool.Interface{
			CallRules:     agenttool.CallRules{InterruptBehavior: "cancel"},
			SchemaVersion: agenttool.SchemaVersion, InterfaceID: "i", ToolID: id, StaticFacts: agenttool.StaticFacts{IsReadOnly: true},
			Schemas: agenttool.Schemas{ModelInputSchema: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}}}`)},
		},
	}
}

func (panicking) Bind(_ agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	c := panickingCall{}
	if err := json.Unmarshal(input, &c); err != nil {
		return nil, err
	}
	c.panicAt("bind")
	return c, nil
}

type panickingCall struct{ At string }

func (c panickingCall) panicAt(here string) {
	if c.At == here {
		panic("on purpose: " + here + "\n{\"jsonrpc\":\"2.0\"}")
	}
}

func (c panickingCall) Input() any {
	c.panicAt("input")
	return map[string]string{"at": c.At}
}

func (c panickingCall) Facts() *agenttool.Facts {
	c.panicAt("facts")
	return &agenttool.Facts{Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Yes, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes, ConcurrencySafe: agenttool.Yes, Destructive: agenttool.No}}
}

func (c panickingCall) Preflight(context.Context) error {
	c.panicAt("preflight")
	return nil
}

func (c panickingCall) Run(context.Context, agenttool.Reporter) (agenttool.Output, error) {
	c.panicAt("run")
	return agenttool.Output{Content: []agenttool.Content{agenttool.Text("ran")}}, nil
}

// TestFrontPanics: a tool that panics is an answer to its call, in both families. The stream goes on, and has nothing but messages.
func TestFrontPanics(t *testing.T) {
	t.Parallel()
	c := panicsInProcess(t)
	c.greets(false)
	for i, at := range []string{"bind", "input", "facts", "preflight", "run"} {
		c.call(i, "panics", fmt.Sprintf(`{"at":%q}`, at))
		c.send(`{"jsonrpc":"2.0","id":"n%d","method":"agenttool/invoke","params":{"id":"n%d","tool":"panics","input":{"at":%q}}}`, i, i, at)
		if m := c.answer(fmt.Sprint(i)); m.Error == nil && !m.result(t).IsError {
			t.Errorf("a panic in %s: %s", at, m.text)
		}
		m := c.find("a native answer", func(m spokenLine) bool { return string(m.ID) == fmt.Sprintf(`"n%d"`, i) })
		if m.Error == nil && !strings.Contains(m.text, `"is_error":true`) {
			t.Errorf("a panic in %s: %s", at, m.text)
		}
	}
	c.call(99, "panics", `{"at":"never"}`)
	if r := c.answer("99").result(t); r.IsError || r.says() != "ran" {
		t.Errorf("after the panics: %+v", r)
	}
}

// panicsInProcess serves the tool that panics on two pipes, as serve does its own tools.
func panicsInProcess(t *testing.T) *lineClient {
	t.Helper()
	store := persist.New(persist.Options{Dir: t.TempDir()})
	h, err := host.New(host.Options{
		Tools: []agenttool.Tool{panicking{}}, Scope: agenttool.Scope{Dir: "/ws", Roots: []string{"/ws"}}, Store: store,
		Policy: permissions.Policy{Workspace: "/ws"}, Session: store.ID(),
		Locate: func(p *agenttool.Path) error { p.Resolved, p.Root = p.Absolute, "/ws"; return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	in, theirIn, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	theirOut, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	w := stdio.NewWriter(out)
	families := []stdio.Family{native.New(native.Options{Host: h, Writer: w, Session: store.ID(), Version: "test"}), server.NewMCPLines(server.MCPOptions{Host: h, Session: store.ID(), Version: "test"}, w)}
	served := make(chan error, 1)
	go func() { served <- stdio.Serve(context.Background(), in, w, families...) }()
	c := listenTo(&serveProcess{t: t, in: theirIn, out: theirOut, ended: make(chan struct{})})
	t.Cleanup(func() { // before that of c, which waits for the end of the output
		_ = theirIn.Close()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
		limit, cancel := context.WithTimeout(context.Background(), frontPatience)
		defer cancel()
		for _, f := range families {
			f.Drain(limit)
		}
		if err := h.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Errorf("write: %v", err)
		}
		for _, f := range []io.Closer{in, out} {
			_ = f.Close()
		}
	})
	return c
}
