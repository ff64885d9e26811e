package mcp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// TestClientMetadata: what a client says of a call is in its record; MCP-20, MCP-23.
func TestClientMetadata(t *testing.T) {
	conform.Held(t, "MCP-23")
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	tests := []struct {
		name   string
		meta   sdk.Meta
		callID string
		refs   []string
		trace  string
	}{
		{"nothing", nil, "mcp-", nil, ""},
		{"Codex", sdk.Meta{"callId": "call_1", "threadId": "t1", "sessionId": "s1", "x-codex-turn-metadata": map[string]any{"turn_id": "u1", "thread_id": 3}},
			"call_1", []string{"threadId:t1", "sessionId:s1", "turn_id:u1"}, ""},
		{"Claude Code", sdk.Meta{"claudecode/toolUseId": "toolu_1"}, "toolu_1", nil, ""},
		{"a trace", sdk.Meta{"traceparent": parent, "tracestate": "a=b", "baggage": "c=d", "x": "y"}, "mcp-", nil,
			`{"baggage":"c=d","traceparent":"` + parent + `","tracestate":"a=b"}`},
		{"an id that acts on a terminal", sdk.Meta{"callId": "a\x1b[2Jb"}, "a⟨ESC⟩[2Jb", nil, ""},
		{"too long", sdk.Meta{"callId": strings.Repeat("é", 1<<10), "baggage": strings.Repeat("x", 1<<20)}, strings.Repeat("é", maxRef/2) + "…", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.write("a.txt", "hello")
			c := f.client("codex\x1b[2J", "2025-06-18", nil)
			if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Meta: tt.meta, Name: "read", Arguments: map[string]any{"path": "a.txt"}}); err != nil {
				t.Fatal(err)
			}
			inv := f.invocations()[0]
			if inv.NativeCallID != tt.callID && !(tt.callID == "mcp-" && strings.HasPrefix(inv.NativeCallID, tt.callID)) {
				t.Errorf("call id %q, want %q", inv.NativeCallID, tt.callID)
			}
			for _, ref := range tt.refs {
				if !slices.Contains(inv.RuntimeRefs, ref) {
					t.Errorf("%q is not in %q", ref, inv.RuntimeRefs)
				}
			}
			if inv.ActorRef != "codex⟨ESC⟩[2J/9" {
				t.Errorf("actor %q", inv.ActorRef)
			}
			if tt.trace != "" && (len(inv.TelemetryRefs) != 1 || string(inv.TelemetryRefs[0]) != tt.trace) || tt.trace == "" && len(inv.TelemetryRefs) > 0 {
				t.Errorf("telemetry %s", inv.TelemetryRefs)
			}
			if string(inv.ModelInput) != `{"path":"a.txt"}` {
				t.Errorf("input %s", inv.ModelInput)
			}
		})
	}
}

// TestHostileMetadata: metadata of any type and size neither ends the server nor keeps a call from running, and what is
// kept of it is bounded.
func TestHostileMetadata(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "hello")
	keys := slices.Concat(callIDKeys, refKeys, turnKeys, traceKeys, []string{"progressToken", sdk.MetaKeyClientInfo, "io.modelcontextprotocol/x"})
	deep := json.RawMessage(strings.Repeat(`{"threadId":`, 500) + "1" + strings.Repeat("}", 500))
	long := strings.Repeat("x\x00", 100_000)
	for _, value := range []any{nil, true, 1.5, -1e300, []any{1}, map[string]any{"name": 3, "threadId": long}, deep, "", long, "\u202e"} {
		r := f.raw()
		for _, key := range keys {
			r.meta[key] = value
		}
		<-r.start("tools/call", map[string]any{"name": "read", "arguments": map[string]any{"path": "a.txt"}}) // answered, with whatever
	}
	for _, inv := range f.invocations() {
		b, err := agenttool.Encode(inv)
		if err != nil || len(b) > 64<<10 {
			t.Errorf("a record of %d bytes, %v", len(b), err)
		}
	}
	if res := f.call(f.client("test", "", nil), "read", map[string]any{"path": "a.txt"}); res.IsError {
		t.Errorf("afterwards: %+v", res)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[2J", 3)
	f.Add(strings.Repeat("\u202e", 100), 7)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(0, min(n, maxRef))
		got := clean(s, n)
		if len(got) > 16*n+len("…") { // a byte is written out as ⟨U+FFFD⟩ at most
			t.Errorf("%d bytes of %d", len(got), n)
		}
		if strings.ContainsAny(got, "\n\r\x1b\x00\u202e") {
			t.Errorf("%q", got)
		}
	})
}
