package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
)

// serveHTTP serves the fixture's handler.
func (f *fixture) serveHTTP() *httptest.Server {
	f.t.Helper()
	server := httptest.NewServer(f.Handler())
	f.t.Cleanup(func() {
		f.Close() // sessions hold connections
		server.Close()
	})
	return server
}

func (f *fixture) httpClient(url, revision string, o *sdk.ClientOptions) *sdk.ClientSession {
	f.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "9"}, o)
	session, err := c.Connect(f.t.Context(), &sdk.StreamableClientTransport{Endpoint: url}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = session.Close() })
	return session
}

// TestHTTP: clients of both eras list, call, hear of progress and read pages at one address; MCP-21, MCP-22.
func TestHTTP(t *testing.T) {
	slow := &fake{name: "slow", run: func(_ context.Context, r agenttool.Reporter) (agenttool.Output, error) {
		r.Progress(agenttool.Progress{Message: "half way"})
		time.Sleep(50 * time.Millisecond)
		return agenttool.Output{}, nil
	}}
	f := newFixture(t, adding(slow))
	f.write("a.txt", "hello")
	server := f.serveHTTP()
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			heard := make(chan string, 9)
			c := f.httpClient(server.URL, revision, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
				heard <- req.Params.Message
			}})
			if stateless := c.ID() == ""; stateless != isModern(revision) {
				t.Errorf("session %q", c.ID())
			}
			if list, err := c.ListTools(t.Context(), nil); err != nil || len(list.Tools) != len(builtins)+1 {
				t.Errorf("%v, %v", list, err)
			}
			if res := f.call(c, "read", map[string]any{"path": "a.txt"}); !strings.Contains(texts(res)[0], "hello") {
				t.Errorf("%q", texts(res))
			}
			params := &sdk.CallToolParams{Name: "slow"}
			params.SetProgressToken("p")
			if _, err := c.CallTool(t.Context(), params); err != nil {
				t.Fatal(err)
			}
			if message := <-heard; message != "half way" {
				t.Errorf("progress %q", message)
			}
		})
	}
}

// TestHTTPApproval: a client of either era is asked over HTTP, and its answer counts; MCP-07, MCP-08.
func TestHTTPApproval(t *testing.T) {
	for _, revision := range revisions {
		f := newFixture(t, asking)
		c := f.httpClient(f.serveHTTP().URL, revision, &sdk.ClientOptions{
			ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				return accepted("allow_once"), nil
			},
		})
		if res := f.call(c, "write", map[string]any{"path": "new.txt", "content": "x"}); res.IsError || !f.has("new.txt") {
			t.Errorf("%s: %q", revision, texts(res))
		}
	}
}

// hanging is a tool that runs until it is canceled.
func hanging() (tool *fake, started, canceled chan struct{}) {
	started, canceled = make(chan struct{}, 9), make(chan struct{}, 9)
	return &fake{name: "hang", run: func(ctx context.Context, _ agenttool.Reporter) (agenttool.Output, error) {
		started <- struct{}{}
		<-ctx.Done()
		canceled <- struct{}{}
		return agenttool.Output{}, ctx.Err()
	}}, started, canceled
}

// TestClientVanishes: a stateless call ends with its connection, a call of a session with the session; MCP-15.
func TestClientVanishes(t *testing.T) {
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			tool, started, canceled := hanging()
			f := newFixture(t, adding(tool))
			server := f.serveHTTP()
			ctx, cancel := context.WithCancel(t.Context())
			c := f.httpClient(server.URL, revision, nil)
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				_, _ = c.CallTool(ctx, &sdk.CallToolParams{Name: "hang"})
			}()
			<-started
			if !isModern(revision) {
				endSession(t, server.URL, c.ID())
			}
			cancel()
			<-canceled
			<-gone
			f.waitEnded(1)
			if all := f.invocations(); all[0].Status != agenttool.StatusCanceled {
				t.Errorf("status %s", all[0].Status)
			}
		})
	}
}

// endSession ends a session as its client does.
func endSession(t *testing.T, url, id string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(headerSession, id)
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != http.StatusNoContent {
		t.Fatalf("%+v, %v", res, err)
	}
	_ = res.Body.Close()
}

// waitEnded waits until so many calls have ended.
func (f *fixture) waitEnded(n int) {
	f.t.Helper()
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
		if len(f.invocations()) >= n {
			return
		}
	}
	f.t.Fatalf("%d calls have ended, want %d", len(f.invocations()), n)
}

// post sends one body, and returns the status and the answer.
func post(t *testing.T, url string, body []byte, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(b)
}

// modernBody is a request of the stateless revision.
func modernBody(method string, params map[string]any) []byte {
	params["_meta"] = map[string]any{
		sdk.MetaKeyProtocolVersion: firstStateless, sdk.MetaKeyClientCapabilities: map[string]any{},
		sdk.MetaKeyClientInfo: map[string]any{"name": "raw", "version": "1"},
	}
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	return b
}

// TestHTTPRefusals: what is not a request is refused, and others are served afterwards.
func TestHTTPRefusals(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "hello")
	server := f.serveHTTP()
	huge := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":"` + strings.Repeat("x", maxBody) + `"}}`)
	list := modernBody("tools/list", map[string]any{})
	tests := []struct {
		name    string
		body    []byte
		headers []string
		status  int
		says    string
	}{
		{"modern", list, []string{headerVersion, firstStateless, "Mcp-Method", "tools/list"}, 200, "inputSchema"},
		{"modern without its header", list, nil, 400, ""},
		{"another method than its header", list, []string{headerVersion, firstStateless, "Mcp-Method", "tools/call"}, 400, "-32020"},
		{"an older header than its body", list, []string{headerVersion, "2025-11-25"}, 400, ""},
		{"a revision to come", list, []string{headerVersion, "2099-01-01", "Mcp-Method", "tools/list"}, 400, ""},
		{"a revision that was none", list, []string{headerVersion, "2001-01-01"}, 400, ""},
		{"huge, modern", huge, []string{headerVersion, firstStateless}, 413, ""},
		{"huge, legacy", huge, []string{headerVersion, "2025-11-25"}, 413, ""},
		{"huge, without a header", huge, nil, 413, ""},
		{"no JSON", []byte(`{"jsonrpc"`), nil, 400, ""},
		{"no JSON, modern", []byte(`{"jsonrpc"`), []string{headerVersion, firstStateless}, 400, ""},
		{"nothing", nil, nil, 400, ""},
		{"a session that is none", list, []string{headerSession, "x"}, 404, ""},
		{"not a type that is taken", list, []string{"Content-Type", "text/plain"}, 415, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, body := post(t, server.URL, tt.body, tt.headers...)
			if res.StatusCode != tt.status || !strings.Contains(body, tt.says) {
				t.Errorf("status %d, want %d: %.300s", res.StatusCode, tt.status, body)
			}
		})
	}
	if res := f.call(f.httpClient(server.URL, "2025-11-25", nil), "read", map[string]any{"path": "a.txt"}); res.IsError {
		t.Errorf("afterwards: %+v", res)
	}
}

// TestClose: closing cancels what goes on and takes no more.
func TestClose(t *testing.T) {
	tool, started, canceled := hanging()
	f := newFixture(t, adding(tool))
	c := f.client("test", "2025-11-25", nil)
	ended := make(chan error, 1)
	go func() {
		_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "hang"})
		ended <- err
	}()
	<-started
	f.Close()
	<-canceled
	<-ended
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "hang"}); err == nil {
		t.Error("a call after the end")
	}
	f.Close()
}
