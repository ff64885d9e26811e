package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/testdata/support/conform"
	"toolhost/wire/stdio"
)

// pipes is a client of a stream of test tools. It must be made inside a synctest bubble, which also finds what a stream
// leaves running.
type pipes struct {
	t      *testing.T
	stream *Stream
	busy   bool

	mu      sync.Mutex
	written []string
	dropped int // messages that might have been
}

func newPipes(t *testing.T) *pipes {
	p := &pipes{t: t}
	p.stream = newStream(newTestServer(), StreamOptions{Write: p.write, Busy: func() bool { return p.busy }})
	return p
}

func (p *pipes) write(m []byte, droppable bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if droppable {
		p.dropped++
	}
	p.written = append(p.written, string(m))
}

// send gives lines to the stream as the line reader would.
func (p *pipes) send(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		m, err := stdio.Decode([]byte(line))
		if err != nil {
			p.t.Fatalf("the reader refuses %s: %v", line, err)
		}
		if !p.stream.Owns(m.Method) {
			p.t.Fatalf("the stream does not own %s", line)
		}
		p.stream.Receive(Line(m))
	}
}

// settle waits until nothing moves, and returns what was written since the last time.
func (p *pipes) settle() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	written := p.written
	p.written = nil
	return written
}

// drain ends the stream, with so much time for what runs.
func (p *pipes) drain(d time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	p.stream.Drain(ctx)
}

// brief says what a message is: the id as spelled, and "ok", the text of a tool's result or the code of an error; for a
// message of the server, its method.
func brief(t *testing.T, message string) string {
	t.Helper()
	var m struct {
		ID     json.RawMessage
		Method string
		Error  *struct{ Code int }
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err := json.Unmarshal([]byte(message), &m); err != nil || strings.ContainsAny(message, "\r\n") {
		t.Fatalf("%q is no line: %v", message, err)
	}
	switch {
	case m.Method != "":
		return m.Method
	case m.Error != nil:
		return fmt.Sprintf("%s %d", m.ID, m.Error.Code)
	case len(m.Result.Content) > 0:
		return fmt.Sprintf("%s %s", m.ID, m.Result.Content[0].Text)
	}
	return fmt.Sprintf("%s ok", m.ID)
}

func briefs(t *testing.T, messages []string) []string {
	t.Helper()
	var all []string
	for _, m := range messages {
		all = append(all, brief(t, m))
	}
	return all
}

// newTestServer has tools that behave in the ways that tools can.
func newTestServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ServerOptions{
		SubscribeHandler:   func(context.Context, *sdk.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	s.AddReceivingMiddleware(recovering)
	for name, h := range map[string]sdk.ToolHandler{"echo": echoTool, "wait": waitTool, "deaf": deafTool, "panic": panicTool, "ask": askTool, "progress": progressTool, "late": lateTool} {
		s.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, h)
	}
	return s
}

func textResult(s string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: s}}}
}

// echoTool returns its arguments.
func echoTool(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return textResult(string(req.Params.Arguments)), nil
}

// waitTool waits for so many milliseconds, or for its cancellation.
func waitTool(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(milliseconds(req)):
		return textResult("waited"), nil
	}
}

// deafTool does not notice its cancellation.
func deafTool(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	time.Sleep(milliseconds(req))
	return textResult("slept"), nil
}

func milliseconds(req *sdk.CallToolRequest) time.Duration {
	var in struct{ MS int }
	_ = json.Unmarshal(req.Params.Arguments, &in)
	return time.Duration(in.MS%100_000) * time.Millisecond
}

func panicTool(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { panic("oh no") }

func askTool(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	answer, err := req.Session.Elicit(ctx, &sdk.ElicitParams{Message: "may I?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
	if err != nil {
		return textResult("unanswered: " + err.Error()), nil
	}
	return textResult(answer.Action), nil
}

// lateTool asks after a second.
func lateTool(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	time.Sleep(time.Second)
	return askTool(ctx, req)
}

func progressTool(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	err := req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: "p", Progress: 1})
	return textResult(fmt.Sprint(err)), nil
}

const (
	initializeLine  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`
	initializedLine = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	modernMeta      = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
)

// legacyCall is a tools/call of the handshake's era.
func legacyCall(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

// modernCall is a tools/call of the stateless era.
func modernCall(id, tool, arguments string) string {
	return modernRequest(id, "tools/call", `"name":"`+tool+`","arguments":`+arguments+`,`)
}

func modernRequest(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + params + modernMeta + `}}`
}

func plainRequest(id, method string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `"}`
}

func cancelOf(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"test"}}`
}

func TestStream(t *testing.T) {
	conform.Held(t, "MCP-03")
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	for _, c := range []struct {
		name  string
		lines []string
		want  []string // after each line; "" if nothing is written
	}{
		{"ids come back as spelled", []string{initializeLine, legacyCall(`"a\u0062"`, "echo", "{}"), legacyCall(`-0`, "echo", "{}"), legacyCall(`9007199254740992`, "echo", "{}"), legacyCall(`""`, "echo", "{}")},
			[]string{"0 ok", `"a\u0062" {}`, "-0 {}", "9007199254740992 {}", `"" {}`}},
		{"1 and its text are two ids", []string{initializeLine, legacyCall("1", "wait", `{"ms":9}`), legacyCall(`"1"`, "echo", "{}")}, []string{"0 ok", "", `"1" {}`}},
		{"an id in flight", []string{initializeLine, legacyCall(`"a"`, "wait", `{"ms":9}`), legacyCall(`"\u0061"`, "echo", "{}"), cancelOf(`"a"`), legacyCall(`"a"`, "echo", "{}")},
			[]string{"0 ok", "", "null -32600", "", `"a" {}`}},
		{"an id in flight in the other era", []string{initializeLine, legacyCall("1", "wait", `{"ms":9}`), modernCall("1", "echo", "{}")}, []string{"0 ok", "", "null -32600"}},
		{"MCP-02 both eras", []string{modernCall("1", "echo", "{}"), initializeLine, initializedLine, legacyCall("2", "echo", "{}"), modernCall("3", "echo", "{}"), modernRequest("4", "server/discover", "")},
			[]string{"1 {}", "0 ok", "", "2 {}", "3 {}", "4 ok"}},
		{"MCP-02 the version is spelled with escapes", []string{strings.ReplaceAll(modernCall("1", "echo", "{}"), "protocolV", `\u0070rotocolV`)}, []string{"1 {}"}},
		{"MCP-02 the version is in the arguments only", []string{initializeLine, legacyCall("1", "echo", `{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`)},
			[]string{"0 ok", `1 {"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`}},
		{"MCP-03 no capabilities", []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`}, []string{"1 -32602"}},
		{"MCP-03 a version that is not known", []string{strings.ReplaceAll(modernCall("1", "echo", "{}"), "2026-07-28", "2999-01-01")}, []string{"1 -32022"}},
		{"MCP-03 a version before", []string{strings.ReplaceAll(modernCall("1", "echo", "{}"), "2026-07-28", "1999-01-01")}, []string{"1 -32022"}},
		{"MCP-03 a version that is no text", []string{strings.ReplaceAll(modernCall("1", "echo", "{}"), `"2026-07-28"`, "7")}, []string{"1 -32022"}},
		{"an old version in _meta after the handshake", []string{initializeLine, strings.ReplaceAll(modernCall("1", "echo", "{}"), "2026-07-28", "2025-06-18")}, []string{"0 ok", "1 {}"}},
		{"MCP-04 discovery without a version", []string{plainRequest("1", "server/discover"), initializeLine, legacyCall("2", "echo", "{}")}, []string{"1 -32601", "0 ok", "2 {}"}},
		{"MCP-08 elicitation after discovery", []string{modernRequest("1", "server/discover", ""), initializeLine, legacyCall("2", "ask", "{}"), `{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`, legacyCall("3", "echo", "{}")},
			[]string{"1 ok", "0 ok", "elicitation/create", "2 decline", "3 {}"}},
		{"MCP-06 the stateless era is not asked", []string{modernCall("1", "echo", "{}"), initializeLine, modernCall("2", "ask", "{}")},
			[]string{"1 {}", "0 ok", `2 unanswered: "elicitation/create" cannot be sent while serving a request on protocol version 2026-07-28: return an InputRequests map instead (multi round-trip requests, SEP-2322)`}},
		{"an answer is an error", []string{initializeLine, legacyCall("2", "ask", "{}"), `{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`}, []string{"0 ok", "elicitation/create", `2 unanswered: calling "elicitation/create": no`}},
		{"an answer that cannot be read", []string{initializeLine, legacyCall("2", "ask", "{}"), `{"jsonrpc":"2.0","id":1,"error":"no"}`, legacyCall("3", "echo", "{}")},
			[]string{"0 ok", "elicitation/create", `2 unanswered`, "3 {}"}},
		{"answers to what was not asked", []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, initializeLine, `{"jsonrpc":"2.0","id":"x","result":{}}`, `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"m"}}`, legacyCall("1", "echo", "{}")},
			[]string{"", "0 ok", "", "", "1 {}"}},
		{"an answer twice", []string{initializeLine, legacyCall("2", "ask", "{}"), `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`, `{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}`},
			[]string{"0 ok", "elicitation/create", "2 accept", ""}},
		{"initialize again", []string{initializeLine, strings.Replace(initializeLine, `"id":0`, `"id":1`, 1), legacyCall("2", "echo", "{}")}, []string{"0 ok", "1 -32600", "2 {}"}},
		{"initialize that cannot be read", []string{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":[1]}`, plainRequest("2", "initialize"), initializeLine, legacyCall("3", "echo", "{}")}, []string{"1 -32602", "2 -32600", "0 ok", "3 {}"}},
		{"a call before initialize", []string{legacyCall("1", "echo", "{}"), initializeLine, legacyCall("2", "echo", "{}")}, []string{"1 -32600", "0 ok", "2 {}"}},
		{"ping before initialize", []string{plainRequest("1", "ping")}, []string{"1 ok"}},
		{"methods that are not known", []string{initializeLine, plainRequest("1", "no/such"), modernRequest("2", "no/such", "")}, []string{"0 ok", "1 -32601", "2 -32601"}},
		{"requests without an id", []string{initializeLine, `{"jsonrpc":"2.0","method":"tools/list"}`, `{"jsonrpc":"2.0","method":"no/such"}`, initializedLine, initializedLine}, []string{"0 ok", "", "", "", ""}},
		{"a notification with an id", []string{initializeLine, legacyCall("1", "wait", `{"ms":9}`), strings.Replace(cancelOf("1"), `"method"`, `"id":2,"method"`, 1)}, []string{"0 ok", "", "2 -32600"}},
		{"params in a list", []string{initializeLine, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":1}}`}, []string{"0 ok", "1 -32602", "2 -32602"}},
		{"params of great depth", []string{initializeLine, legacyCall("1", "echo", deep), modernCall("2", "echo", deep), legacyCall("3", "echo", "{}")}, []string{"0 ok", "1 -32602", "2 -32602", "3 {}"}},
		{"a panic ends its request", []string{initializeLine, legacyCall("1", "panic", "{}"), modernCall("2", "panic", "{}"), legacyCall("3", "echo", "{}")}, []string{"0 ok", "1 -32603", "2 -32603", "3 {}"}},
		{"MCP-15 a canceled request has no response", []string{initializeLine, legacyCall("1", "wait", `{"ms":9}`), cancelOf("1"), modernCall(`"1"`, "wait", `{"ms":9}`), cancelOf(`"1"`), legacyCall("1", "echo", "{}")},
			[]string{"0 ok", "", "", "", "", "1 {}"}},
		{"MCP-15 cancellations that hit nothing", []string{cancelOf("1"), initializeLine, cancelOf("0"), cancelOf("1"), cancelOf("1.5"), cancelOf("null"), cancelOf("[]"), `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, legacyCall("1", "echo", "{}"), cancelOf("1")},
			[]string{"", "0 ok", "", "", "", "", "", "", "1 {}", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes(t)
				for i, line := range c.lines {
					p.send(line)
					got := strings.Join(briefs(t, p.settle()), ", ")
					if got != c.want[i] && !(strings.HasSuffix(c.want[i], " unanswered") && strings.HasPrefix(got, c.want[i])) {
						t.Errorf("after line %d, %.200s\n got %s\nwant %s", i, line, got, c.want[i])
					}
				}
				p.drain(time.Minute)
			})
		})
	}
}

// TestStreamHandshakeIsNotCanceled: MCP forbids it, and a session that is half made serves nobody.
func TestStreamHandshakeIsNotCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes(t)
		p.send(initializeLine, cancelOf("0"), legacyCall("1", "echo", "{}"))
		got := briefs(t, p.settle())
		slices.Sort(got)
		if want := []string{"0 ok", "1 {}"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		p.drain(0)
	})
}

func TestStreamMakesNoSessionEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes(t)
		p.send(initializedLine, cancelOf("1"), `{"jsonrpc":"2.0","id":1,"result":{}}`)
		if len(p.stream.connections()) > 0 {
			t.Error("a message that asks for nothing made a session")
		}
		p.drain(0)
	})
}

func TestStreamProgressMayBeDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes(t)
		p.send(initializeLine, legacyCall("1", "progress", "{}"))
		if got, want := briefs(t, p.settle()), []string{"0 ok", "notifications/progress", "1 <nil>"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if p.dropped != 1 {
			t.Errorf("%d messages may be dropped, want the progress only", p.dropped)
		}
		p.drain(0)
	})
}

func TestStreamBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes(t)
		p.send(initializeLine, legacyCall("1", "ask", "{}"), legacyCall("2", "wait", `{"ms":9}`))
		p.settle()
		p.busy = true
		p.send(legacyCall("3", "echo", "{}"), legacyCall("2", "echo", "{}"), cancelOf("2"), `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)
		got := briefs(t, p.settle())
		slices.Sort(got)
		if want := []string{"1 accept", "3 -32000", "null -32600"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		p.drain(0)
	})
}

func TestStreamTakesNoMoreThanItCanKeep(t *testing.T) {
	for _, c := range []struct {
		name           string
		requests, size int
		want           int // that are refused
	}{
		{"requests", maxRequests + 3, 0, 4}, // a second one of the last id
		{"bytes", 10, maxRequestBytes / 8, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes(t)
				p.send(initializeLine)
				p.settle()
				for i := range c.requests {
					l := Line{ID: json.RawMessage(fmt.Sprint(i)), Method: "tools/call", Params: json.RawMessage(`{"name":"wait","arguments":{"ms":10}}`)}
					l.Raw = make([]byte, c.size)
					p.stream.Receive(l)
				}
				p.stream.Receive(Line{ID: json.RawMessage(`"one more"`), Method: "tools/call", Params: json.RawMessage(`{"name":"wait","arguments":{"ms":10}}`), Raw: make([]byte, c.size)})
				got := briefs(t, p.settle())
				if len(got) != c.want || slices.ContainsFunc(got, func(s string) bool { return !strings.HasSuffix(s, " -32000") }) {
					t.Errorf("%d are refused: %.300q, want %d", len(got), got, c.want)
				}
				p.drain(time.Minute)
				if got := p.settle(); len(got) != c.requests+1-c.want {
					t.Errorf("%d requests were answered, want %d", len(got), c.requests+1-c.want)
				}
			})
		})
	}
}

// TestStreamCutsErrors: the SDK quotes all of what it cannot read.
func TestStreamCutsErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes(t)
		p.send(initializeLine, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["`+strings.Repeat("é", 1<<20)+`"]}`)
		got := p.settle()
		if len(got) != 2 || len(got[1]) > 2*maxErrorText {
			t.Errorf("got %d messages, the last of %d bytes, want 2 and at most %d", len(got), len(got[len(got)-1]), 2*maxErrorText)
		}
		p.drain(0)
	})
}
