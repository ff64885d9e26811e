package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/persist"
	"toolhost/tools/files"
	"toolhost/tools/search"
	"toolhost/tools/search/engine"
	"toolhost/tools/shell"
	"toolhost/tools/workspace"
)

// fixture is a server of a real host with the real tools, in a workspace of its own.
type fixture struct {
	*Server
	t     *testing.T
	dir   string
	store *persist.Store
}

// newFixture serves the built-in tools, and those that the change adds, under rules that allow the given ones.
func newFixture(t *testing.T, change ...func(*host.Options)) *fixture {
	t.Helper()
	w, err := workspace.Open([]string{t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	dir := w.Roots()[0]
	store := persist.New(persist.Options{Dir: t.TempDir()})
	tools := shell.New(w, shell.Options{Environ: os.Environ()}) // to be listed, not to be called
	tools = append(tools, files.New(w, files.Options{Payload: store.OpenPayload})...)
	searches := engine.New(engine.Options{})
	t.Cleanup(searches.Close)
	o := host.Options{
		Tools: append(tools, search.New(w, searches, nil)...), Store: store, Locate: w.Locate,
		Scope:  agenttool.Scope{Dir: dir, Roots: w.Roots()},
		Policy: permissions.Policy{Workspace: dir, Mode: permissions.AcceptEdits}, Session: store.ID(),
	}
	for _, c := range change {
		c(&o)
	}
	h, err := host.New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Host: h, Session: store.ID(), Version: "1.2.3", Instructions: "be brief", Results: everything})
	t.Cleanup(func() {
		s.Close()
		if err := h.Close(); err != nil && !errors.Is(err, persist.ErrPending) { // other tests may keep the disk busy
			t.Errorf("close: %v", err)
		}
	})
	return &fixture{s, t, dir, store}
}

// everything is for tests that look at the structured content and the records of results.
var everything = Results{Structured: new(true), Meta: new(true)}

// adding adds tools to the host, and lets them run unasked.
func adding(tools ...agenttool.Tool) func(*host.Options) {
	return func(o *host.Options) {
		o.Tools = append(o.Tools, tools...)
		for _, t := range tools {
			allow(o, t.Describe().Declaration.Name)
		}
	}
}

func allow(o *host.Options, rule string) {
	r, err := permissions.Parser{Names: host.Names(o.Tools)}.Parse(rule, agenttool.Allow, agenttool.Origin{Source: agenttool.SourceCLI})
	if err != nil {
		panic(err)
	}
	o.Policy = o.Policy.With(r)
}

// client connects a client of that name, which speaks the given revision; empty: the newest.
func (f *fixture) client(name, revision string, o *sdk.ClientOptions) *sdk.ClientSession {
	f.t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	server, err := f.sdk.Connect(f.t.Context(), ours, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	c := sdk.NewClient(&sdk.Implementation{Name: name, Version: "9"}, o)
	session, err := c.Connect(f.t.Context(), theirs, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		_ = session.Close()
		_ = server.Wait()
	})
	return session
}

// call makes one call that must not be refused by the protocol.
func (f *fixture) call(c *sdk.ClientSession, tool string, arguments any) *sdk.CallToolResult {
	f.t.Helper()
	res, err := c.CallTool(f.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		f.t.Fatalf("%s: %v", tool, err)
	}
	return res
}

// write makes a file in the workspace.
func (f *fixture) write(name, content string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// invocations returns the records of the calls that have ended, in the order in which they did.
func (f *fixture) invocations() []agenttool.Invocation {
	f.t.Helper()
	entries, _, err := f.store.Since(0, 10_000)
	if err != nil {
		f.t.Fatal(err)
	}
	var found []agenttool.Invocation
	for _, entry := range entries {
		var e struct {
			Type agenttool.EventType `json:"event_type"`
			Data struct {
				Invocation agenttool.Invocation `json:"invocation"`
			} `json:"data"`
		}
		if err := json.Unmarshal(entry.Event, &e); err != nil {
			f.t.Fatal(err)
		}
		if e.Type == agenttool.EventResultCreated {
			found = append(found, e.Data.Invocation)
		}
	}
	return found
}

// texts returns the text blocks of a result.
func texts(res *sdk.CallToolResult) []string {
	var found []string
	for _, b := range res.Content {
		if text, ok := b.(*sdk.TextContent); ok {
			found = append(found, text.Text)
		}
	}
	return found
}

// errorCode returns the code of a protocol error, 0 if it is none.
func errorCode(err error) int64 {
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

// fake is a tool that reads nothing, writes nothing and does what the test says.
type fake struct {
	name   string
	output string // its output schema
	run    func(ctx context.Context, r agenttool.Reporter) (agenttool.Output, error)
}

func (f *fake) Describe() agenttool.Description {
	id := agenttool.ToolID("test." + f.name)
	return agenttool.Description{
		Declaration: agenttool.Declaration{
			SchemaVersion: agenttool.SchemaVersion, ToolID: id, Namespace: "test", Name: f.name, Aliases: []string{"old_" + f.name},
			Description: "A fake.", Lifecycle: agenttool.Available, ToolKind: agenttool.KindCustom,
		},
		Interface: agenttool.Interface{
			CallRules:     agenttool.CallRules{InterruptBehavior: "cancel"},
			SchemaVersion: agenttool.SchemaVersion, InterfaceID: "test", ToolID: id,
			Schemas: agenttool.Schemas{ModelInputSchema: json.RawMessage(`{"type":"object","additionalProperties":false}`), OutputSchema: json.RawMessage(f.output)},
		},
	}
}

func (f *fake) Bind(agenttool.Scope, json.RawMessage) (agenttool.Call, error) {
	return &fakeCall{f, agenttool.Facts{
		Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Yes, Destructive: agenttool.No, OpenWorld: agenttool.No,
			ConcurrencySafe: agenttool.Yes, PathsComplete: agenttool.Yes},
	}}, nil
}

type fakeCall struct {
	*fake
	facts agenttool.Facts
}

func (c *fakeCall) Input() any              { return struct{}{} }
func (c *fakeCall) Facts() *agenttool.Facts { return &c.facts }
func (c *fakeCall) Run(ctx context.Context, r agenttool.Reporter) (agenttool.Output, error) {
	if c.run == nil {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text("done")}}, nil
	}
	return c.run(ctx, r)
}
