package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/testdata/support/conform"
)

// TestNativeIDs: the record of a call has the ids of its request, over lines and over HTTP, in both eras.
func TestNativeIDs(t *testing.T) {
	conform.Held(t, "AT-340")
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			f := newFixture(t)
			f.write("a.txt", "hello")
			sent := &recorder{}
			c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "9"}, nil)
			session, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{
				Endpoint: f.serveHTTP().URL, HTTPClient: &http.Client{Transport: sent},
			}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = session.Close() })
			for range 3 {
				if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{
					Meta: sdk.Meta{"callId": "call_1", "theirs/turn": 7}, Name: "Read", Arguments: map[string]any{"path": "a.txt"},
				}); err != nil {
					t.Fatal(err)
				}
			}
			if len(sent.ids) != 3 || sent.ids[0] == sent.ids[1] {
				t.Fatalf("ids %q", sent.ids)
			}
			for i, id := range sent.ids {
				f.checkMapping(i, mapped{
					Source: "mcp", Server: "toolhost", Session: session.ID(), Version: revision, Method: "tools/call", Tool: "Read",
					Request: id, Structured: "result#/structured_content", IsError: "result#/is_error", Meta: `{"callId":"call_1","theirs/turn":7}`,
				})
			}
		})
	}
}

// TestNativeIDsOfLines: ids keep their spelling, and metadata that the record has elsewhere, or that is too long, is left out.
func TestNativeIDsOfLines(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "hello")
	answers := make(chan []byte, 9)
	st := f.Stream(StreamOptions{Write: func(m []byte, _ bool) { answers <- m }})
	const version = `"` + sdk.MetaKeyProtocolVersion + `":"` + firstStateless + `","` + sdk.MetaKeyClientCapabilities + `":{}`
	long := strings.Repeat("x", 1<<20)
	for i, c := range []struct{ id, meta, wantID, wantMeta string }{
		{`"r-1"`, version, `"r-1"`, ""},
		{`7`, version + `,"callId":"c"`, `7`, `{"callId":"c"}`},
		{`1e1`, version + `,"long":"` + long + `"`, `1e1`, ""},
		{`"` + long + `"`, version, `"` + long[:maxRef] + `…"`, ""},
	} {
		params := json.RawMessage(`{"name":"read","arguments":{"path":"a.txt"},"_meta":{` + c.meta + `}}`)
		st.Receive(Line{ID: json.RawMessage(c.id), Method: methodCall, Params: params, Raw: []byte("x")})
		<-answers
		f.checkMapping(i, mapped{
			Source: "mcp", Server: "toolhost", Version: firstStateless, Method: "tools/call", Tool: "read",
			Request: c.wantID, Structured: "result#/structured_content", IsError: "result#/is_error", Meta: c.wantMeta,
		})
	}
	st.Drain(t.Context())
}

// mapped is a mapping as a test reads it.
type mapped struct {
	Source, Server, Session, Version, Method, Tool, Request, Structured, IsError, Meta string
}

func (f *fixture) checkMapping(call int, want mapped) {
	f.t.Helper()
	all := f.invocations()[call].ExternalMappings
	if len(all) != 1 {
		f.t.Fatalf("mappings %s", all)
	}
	var m struct {
		Source     string          `json:"source"`
		Server     string          `json:"server_id"`
		Session    string          `json:"mcp_session_id"`
		Version    string          `json:"mcp_protocol_version"`
		Method     string          `json:"method"`
		Tool       string          `json:"tool_name"`
		Request    json.RawMessage `json:"jsonrpc_request_id"`
		Structured string          `json:"structuredContent"`
		IsError    string          `json:"isError"`
		Meta       json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(all[0], &m); err != nil {
		f.t.Fatal(err)
	}
	got := mapped{m.Source, m.Server, m.Session, m.Version, m.Method, m.Tool, string(m.Request), m.Structured, m.IsError, string(m.Meta)}
	if got != want {
		f.t.Errorf("mapping\n%+v, want\n%+v", got, want)
	}
}

// recorder notes the ids of the calls that a client sends.
type recorder struct{ ids []string }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		req.Body = io.NopCloser(bytes.NewReader(body))
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(body, &m) == nil && m.Method == methodCall {
			r.ids = append(r.ids, string(m.ID))
		}
	}
	return http.DefaultTransport.RoundTrip(req)
}
