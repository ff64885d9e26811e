package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool/cut"
	"toolhost/testdata/support/conform"
)

// webDoor is a running toolhost serve --http.
type webDoor struct {
	*serveProcess
	URL, MCP, RAP, Events, Token string
	web                          *nethttp.Client // shows no token by itself
}

// openWeb starts one on a port of loopback, and reads where it is.
func openWeb(t *testing.T, flags ...string) *webDoor {
	t.Helper()
	return openWebIn(t, frontHome(t), flags...)
}

func openWebIn(t *testing.T, home string, flags ...string) *webDoor {
	t.Helper()
	d := &webDoor{serveProcess: openDoor(t, home, append([]string{"--http", "127.0.0.1:0"}, flags...)...), web: newWeb(t)}
	line, err := bufio.NewReader(d.out).ReadBytes('\n') // the process ends it
	if err == nil {
		err = json.Unmarshal(line, d)
	}
	if err != nil {
		t.Fatalf("serve --http says %q: %v", line, err)
	}
	return d
}

// newWeb is a client of its own connections, which end with the test.
func newWeb(t *testing.T) *nethttp.Client {
	transport := &nethttp.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &nethttp.Client{Transport: transport, Timeout: frontPatience}
}

// withToken shows a token with every request.
type withToken struct {
	token string
	next  nethttp.RoundTripper
}

func (w withToken) RoundTrip(r *nethttp.Request) (*nethttp.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return w.next.RoundTrip(r)
}

// client connects the SDK's client, of a revision of the protocol.
func (d *webDoor) client(revision string, asked func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error)) *sdk.ClientSession {
	d.t.Helper()
	c := sdk.NewClient(&sdk.Implementation{Name: "front", Version: "1"}, &sdk.ClientOptions{ElicitationHandler: asked})
	web := newWeb(d.t)
	web.Transport, web.Timeout = withToken{d.Token, web.Transport}, 0
	session, err := c.Connect(d.t.Context(), &sdk.StreamableClientTransport{Endpoint: d.MCP, HTTPClient: web, DisableStandaloneSSE: true}, &sdk.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		d.t.Fatalf("connect by %s: %v", revision, err)
	}
	d.t.Cleanup(func() { _ = session.Close() }) // the server may have ended
	if got := session.InitializeResult().ProtocolVersion; got != revision {
		d.t.Errorf("connected by %s, want %s", got, revision)
	}
	return session
}

// The revisions that the tests speak: with a handshake, and without.
const (
	oldRevision    = "2025-06-18"
	modernRevision = "2026-07-28"
)

// calls calls a tool, in at most as long as anybody is patient.
func calls(t *testing.T, session *sdk.ClientSession, tool string, arguments any) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(t.Context(), frontPatience)
	defer cancel()
	return session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
}

// text is all text of a result.
func text(r *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if one, ok := c.(*sdk.TextContent); ok {
			b.WriteString(one.Text)
		}
	}
	return b.String()
}

// request makes a request with a token and further headers, each as "Name: value".
func (d *webDoor) request(ctx context.Context, method, url, body string, headers ...string) (*nethttp.Response, error) {
	r, err := nethttp.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+d.Token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Set(name, value)
		}
	}
	return d.web.Do(r)
}

// asks makes a request and returns the status and what came back.
func (d *webDoor) asks(method, path, body string, headers ...string) (status int, said string) {
	d.t.Helper()
	url := path
	if strings.HasPrefix(path, "/") {
		url = d.URL + path
	}
	res, err := d.request(d.t.Context(), method, url, body, headers...)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatalf("%s %s: %v", method, path, err)
	}
	return res.StatusCode, string(b)
}

// modernCall is the body and the headers of tools/call of 2026-07-28.
func modernCall(id int, tool, arguments string) (body string, headers []string) {
	body = fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, id, tool, arguments, modern)
	return body, []string{"Mcp-Protocol-Version: " + modernRevision, "Mcp-Method: tools/call", "Mcp-Name: " + tool}
}

// oldSession begins a session of the old era by hand and returns the headers of its requests.
func (d *webDoor) oldSession() []string {
	d.t.Helper()
	res, err := d.request(d.t.Context(), "POST", d.MCP, mcpInitialize)
	if err != nil {
		d.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, res.Body)
	res.Body.Close()
	headers := []string{"Mcp-Protocol-Version: " + oldRevision, "Mcp-Session-Id: " + res.Header.Get("Mcp-Session-Id")}
	if status, said := d.asks("POST", d.MCP, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers...); status != nethttp.StatusAccepted {
		d.t.Fatalf("initialized: %d %s", status, said)
	}
	return headers
}

// TestFrontTwoWebClients: clients of both eras speak to one server at once, with the same ids. Each gets its own results.
func TestFrontTwoWebClients(t *testing.T) {
	t.Parallel()
	d := openWeb(t)
	const rounds = 30
	for i := range 4 * rounds {
		d.put(fmt.Sprintf("f%d", i), fmt.Appendf(nil, "this is %d.\n", i))
	}
	sessions := []*sdk.ClientSession{d.client(oldRevision, nil), d.client(oldRevision, nil), d.client(modernRevision, nil), d.client(modernRevision, nil)}
	done := make(chan error, len(sessions))
	for n, session := range sessions {
		go func() {
			for i := range rounds {
				file := n*rounds + i
				res, err := calls(t, session, "read", map[string]string{"path": fmt.Sprintf("f%d", file)})
				if err == nil && (res.IsError || !strings.Contains(text(res), fmt.Sprintf("this is %d.", file))) {
					err = fmt.Errorf("f%d: %s", file, text(res))
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range sessions {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	list, err := sessions[2].ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	checkListed(t, raw)
	d.endsBySignal()
	d.logsAre("closed")
}

// TestFrontVanished: a client goes away in the middle of a call. The call is canceled and its command is gone.
func TestFrontVanished(t *testing.T) {
	conform.Held(t, "MCP-15")
	t.Parallel()
	for _, era := range []string{"closed connection", "deleted session"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			d := openWeb(t, "--allow", "Shell")
			command, mark := nap(t)
			ctx, vanish := context.WithCancel(t.Context())
			defer vanish()
			body, headers := modernCall(1, "shell", fmt.Sprintf(`{"command":%q}`, command))
			if era == "deleted session" {
				headers = d.oldSession()
				body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shell","arguments":{"command":%q}}}`, command)
			}
			over := make(chan struct{})
			go func() {
				defer close(over)
				if res, err := d.request(ctx, "POST", d.MCP, body, headers...); err == nil {
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
			}()
			begins(t, mark)
			if era == "deleted session" {
				if status, said := d.asks("DELETE", d.MCP, "", headers...); status != nethttp.StatusNoContent {
					t.Errorf("DELETE: %d %s", status, said)
				}
			} else {
				vanish()
			}
			wakes(t, mark)
			<-over
			eventually(t, "the result is in the log", func() bool { return d.made() == 1 }) // which is not read while it is written
			if status, said := d.asks("GET", "/healthz", ""); status != nethttp.StatusOK {
				t.Errorf("afterwards: %d %s", status, said)
			}
			d.logsAre("open")
			d.endsBySignal()
			d.logsAre("closed")
			out, err := d.command("log", "show").CombinedOutput()
			if err != nil || !strings.Contains(string(out), "canceled") {
				t.Errorf("the log does not say that the call was canceled: %v\n%s", err, cut.Characters(string(out), 2000))
			}
		})
	}
}

// TestFrontWebUnread: clients ask for much and read nothing. Another one is served, memory is bounded, and the server ends in time.
func TestFrontWebUnread(t *testing.T) {
	t.Parallel()
	d := openWeb(t)
	d.noise(160)
	body, headers := modernCall(1, "read", `{"path":"picture.png"}`)
	for range 16 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(d.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		var b bytes.Buffer
		fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n", d.Token)
		for _, h := range headers {
			b.WriteString(h + "\r\n")
		}
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
		request := b.Bytes()
		for range 100 { // 10 MB of results on each connection
			_ = conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
			if _, err := conn.Write(request); err != nil {
				break // it takes no more
			}
		}
	}
	d.staysSmall(16 * 100)
	res, err := calls(t, d.client(modernRevision, nil), "read", map[string]string{"path": "small"})
	if err != nil || !strings.Contains(text(res), "a needle") {
		t.Errorf("another client: %v %v", res, err)
	}
	d.endsBySignal()
	d.logsAre("closed")
}

// TestFrontWebSignal: SIGTERM comes while calls run, in both eras and by RAP. Their clients are told, the server ends in order and in time.
func TestFrontWebSignal(t *testing.T) {
	t.Parallel()
	d := openWeb(t, "--allow", "Shell")
	var marks []string
	told := make(chan error, 2)
	for _, revision := range []string{oldRevision, modernRevision} {
		session := d.client(revision, nil)
		command, mark := nap(t)
		marks = append(marks, mark)
		go func() {
			res, err := calls(t, session, "shell", map[string]string{"command": command})
			if err == nil && !res.IsError {
				err = fmt.Errorf("%s: it worked: %s", revision, text(res))
			} else if err != nil && !strings.Contains(err.Error(), "cancel") {
				err = fmt.Errorf("%s: %w", revision, err)
			} else {
				err = nil
			}
			told <- err
		}()
		begins(t, mark)
	}
	runtime := newRapRuntime(t)
	command, mark := nap(t)
	marks = append(marks, mark)
	runtime.invoke(d, "nap", "shell", fmt.Sprintf(`{"command":%q}`, command))
	begins(t, mark)
	d.endsBySignal()
	for range 2 {
		if err := <-told; err != nil {
			t.Errorf("a client was told %v", err)
		}
	}
	if m := runtime.await("tool_result"); m.ID != "nap" || !strings.HasPrefix(m.Text, "Error: ") {
		t.Errorf("the runtime was told %+v", m)
	}
	for _, mark := range marks {
		wakes(t, mark)
	}
	d.logsAre("closed")
}

// TestFrontStrangers: who shows no token, or comes from a web page or by another name, is sent away.
func TestFrontStrangers(t *testing.T) {
	t.Parallel()
	d := openWeb(t)
	body, headers := modernCall(1, "read", `{"path":"small"}`)
	for _, row := range []struct {
		name, path string
		more       []string
		want       int
	}{
		{"as it should be", "/mcp", nil, 200},
		{"another name of loopback", "/mcp", []string{"Host: localhost:1"}, 200},
		{"a wrong token", "/mcp", []string{"Authorization: Bearer " + strings.Repeat("A", 52)}, 401},
		{"half of the token", "/mcp", []string{"Authorization: Bearer " + d.Token[:26]}, 401},
		{"no token", "/mcp", []string{"Authorization: "}, 401},
		{"the token in the address", "/mcp?token=" + d.Token + "&access_token=" + d.Token, []string{"Authorization: "}, 401},
		{"a web page", "/mcp", []string{"Origin: http://evil.example"}, 403},
		{"a web page without an origin", "/mcp", []string{"Origin: null"}, 403},
		{"a name that was bound to us", "/mcp", []string{"Host: evil.example"}, 403},
		{"RAP without a token", "/invoke", []string{"Authorization: "}, 401},
		{"RAP by another name", "/invoke", []string{"Host: evil.example"}, 403},
		{"events without a token", "/events", []string{"Authorization: "}, 401},
	} {
		status, said := d.asks("POST", row.path, body, append(headers, row.more...)...)
		if status != row.want || strings.Contains(said, "a needle") != (row.want == 200) || strings.Contains(said, d.Token) {
			t.Errorf("%s: %d %s, want %d", row.name, status, cut.Characters(said, 300), row.want)
		}
	}
	if status, said := d.asks("GET", "/healthz", "", "Authorization: "); status != 200 || strings.TrimSpace(said) != `{"status":"ok"}` {
		t.Errorf("healthz: %d %s", status, said)
	}
	d.endsBySignal()
	if strings.Contains(d.said.String(), d.Token) {
		t.Error("the token is in what the server said")
	}
}

// TestFrontWebStart: what would let strangers in is refused before anything is served; a token from a file is not said.
func TestFrontWebStart(t *testing.T) {
	t.Parallel()
	d := openWeb(t) // for its home
	open, closed, short := filepath.Join(d.home, "open"), filepath.Join(d.home, "closed"), filepath.Join(d.home, "short")
	token := strings.Repeat("token-", 6)
	for path, text := range map[string]string{open: token, closed: token + "\n", short: "short"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(open, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		flags []string
		says  string
	}{
		{[]string{"--http", "127.0.0.1:0", "--http-token-file", open}, "chmod 600"},
		{[]string{"--http", "127.0.0.1:0", "--http-token-file", short}, "fewer than"},
		{[]string{"--http", "127.0.0.1:0", "--http-token-file", filepath.Join(d.home, "none")}, "no such file"},
		{[]string{"--http", "0.0.0.0:0"}, "certificate"},
		{[]string{"--http", "[::]:0"}, "certificate"},
		{[]string{"--http", ":0"}, "certificate"},
		{[]string{"--http", "0.0.0.0:0", "--http-token-file", closed}, "certificate"},
		{[]string{"--http", "127.0.0.1:0", "--tls-cert", closed}, "key"},
		{[]string{"--http", strings.TrimPrefix(d.URL, "http://")}, "in use"},
		{[]string{"--http-token-file", closed}, "--http"},
	} {
		cmd := d.command(append([]string{"serve"}, row.flags...)...)
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		err := runWithin(cmd, frontPatience)
		if err == nil || cmd.ProcessState.ExitCode() != exitUsage || out.Len() > 0 || !strings.Contains(said.String(), row.says) {
			t.Errorf("%q: %v, stdout %q, stderr %q, want exit code %d and %q", row.flags, err, out.String(), said.String(), exitUsage, row.says)
		}
	}
	quiet := openWeb(t, "--http-token-file", closed)
	if quiet.Token != "" {
		t.Error("a token from a file is said")
	}
	body, headers := modernCall(1, "read", `{"path":"small"}`)
	if status, said := quiet.asks("POST", "/mcp", body, append(headers, "Authorization: Bearer "+token)...); status != 200 || !strings.Contains(said, "a needle") {
		t.Errorf("by the token of the file: %d %s", status, said)
	}
	quiet.endsBySignal()
}

// TestFrontTokenIsHidden: the file with the token is read by no call and no command, though it lies in the workspace.
func TestFrontTokenIsHidden(t *testing.T) {
	t.Parallel()
	const token = "the-token-of-this-test-0123456789"
	home := frontHome(t)
	if err := os.WriteFile(filepath.Join(home, "ws", "token"), []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := openWebIn(t, home, "--http-token-file", "token", "--allow", "Shell", "--allow", "Read(token)")
	d.Token = token
	c := d.client(modernRevision, nil)
	for tool, arguments := range map[string]map[string]any{
		"read": {"path": "token"}, "grep": {"pattern": "of-this"}, "shell": {"command": `f=$(printf tok; printf en); cat "$f"; grep -r of-this .`},
	} {
		r, err := calls(t, c, tool, arguments)
		if err != nil {
			t.Errorf("%s: %v", tool, err)
		} else if strings.Contains(text(r), "the-token") {
			t.Errorf("%s says %q", tool, text(r))
		}
	}
}

// runWithin runs a command that may take no longer than a limit.
func runWithin(cmd *exec.Cmd, limit time.Duration) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	late := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	return cmd.Wait()
}
