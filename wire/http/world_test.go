package http

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/permissions"
	"toolhost/persist"
)

// hang is how long is waited for what comes at once where little else runs: that it comes is the point, not when.
const hang = time.Minute

const testToken = "t0ken-of-the-tests-1234567890"

// nap is a tool that reads nothing and says nothing.
type nap struct{}

func (nap) Describe() agenttool.Description {
	return agenttool.Description{
		Declaration: agenttool.Declaration{SchemaVersion: agenttool.SchemaVersion, ToolID: "test.nap", Namespace: "test", Name: "nap",
			Description: "Naps.", Lifecycle: agenttool.Available, ToolKind: agenttool.KindCustom},
		Interface: agenttool.Interface{CallRules: agenttool.CallRules{InterruptBehavior: "cancel"}, SchemaVersion: agenttool.SchemaVersion, InterfaceID: "i", ToolID: "test.nap",
			Schemas: agenttool.Schemas{ModelInputSchema: json.RawMessage(`{"type":"object","properties":{"pad":{"type":"string"}},"additionalProperties":false}`)}},
	}
}

func (nap) Bind(agenttool.Scope, json.RawMessage) (agenttool.Call, error) { return napCall{}, nil }

type napCall struct{}

func (napCall) Input() any { return struct{}{} }
func (napCall) Facts() *agenttool.Facts {
	return &agenttool.Facts{Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Yes, OpenWorld: agenttool.No, PathsComplete: agenttool.Yes, ConcurrencySafe: agenttool.Yes}}
}
func (napCall) Run(context.Context, agenttool.Reporter) (agenttool.Output, error) {
	return agenttool.Output{}, nil
}

// world is a server with a host, and what tests ask of it.
type world struct {
	t     testing.TB
	host  *host.Host
	s     *Server
	serve chan error
	stop  context.CancelFunc

	mu  sync.Mutex
	log bytes.Buffer
}

func testHost(t testing.TB, ephemeral bool) (*host.Host, agenttool.SessionID) {
	t.Helper()
	store := persist.New(persist.Options{Dir: t.TempDir(), Ephemeral: ephemeral})
	h, err := host.New(host.Options{
		Tools: []agenttool.Tool{nap{}}, Scope: agenttool.Scope{Dir: "/", Roots: []string{"/"}}, Store: store,
		Locate: func(*agenttool.Path) error { return nil }, Policy: permissions.Policy{Workspace: "/"}, Session: store.ID(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h, store.ID()
}

// newWorld starts a server; change may be nil.
func newWorld(t testing.TB, change func(*Options, *limits)) *world {
	t.Helper()
	w := &world{t: t, serve: make(chan error, 1)}
	h, session := testHost(t, false)
	w.host = h
	o, l := Options{Token: testToken, Host: h, Session: session, Version: "test", Log: w.say}, defaultLimits()
	if change != nil {
		change(&o, &l)
	}
	s, err := listen(o, l)
	if err != nil {
		t.Fatal(err)
	}
	w.s = s
	ctx, stop := context.WithCancel(t.Context())
	w.stop = stop
	go func() { w.serve <- s.Serve(ctx) }()
	t.Cleanup(func() { _ = s.Close() })
	return w
}

func (w *world) say(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log.WriteString(line + "\n")
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

// dial opens a connection that ends with the test.
func (w *world) dial() net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", w.s.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(hang))
	return c
}

// raw sends text as it is and reads one answer; authorized heads have "TOKEN" replaced.
func (w *world) raw(text string) (*nethttp.Response, string) {
	w.t.Helper()
	c := w.dial()
	if _, err := io.WriteString(c, strings.ReplaceAll(text, "TOKEN", testToken)); err != nil {
		w.t.Fatal(err)
	}
	return w.answer(c)
}

func (w *world) answer(c net.Conn) (*nethttp.Response, string) {
	w.t.Helper()
	r, err := nethttp.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		w.t.Fatalf("no answer: %v", err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Fatalf("answer cut off: %v", err)
	}
	return r, string(body)
}

// ask asks as a client does that may.
func (w *world) ask(method, path string, body io.Reader, headers ...string) (*nethttp.Response, error) {
	r, err := nethttp.NewRequestWithContext(w.t.Context(), method, w.s.URL()+path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	transport := &nethttp.Transport{}
	w.t.Cleanup(transport.CloseIdleConnections)
	return (&nethttp.Client{Transport: transport, Timeout: hang}).Do(r)
}

func (w *world) mustAsk(method, path string, body io.Reader, headers ...string) (int, string) {
	w.t.Helper()
	r, err := w.ask(method, path, body, headers...)
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// call makes n calls of the host and waits for them.
func (w *world) call(prefix string, n int, pad string) {
	w.t.Helper()
	for i := range n {
		done := make(chan struct{})
		input := fmt.Appendf(nil, `{"pad":%q}`, pad)
		if err := w.host.Invoke(host.Request{ID: fmt.Sprintf("%s%d", prefix, i), Tool: "nap", Input: input}, func(host.Completion) { close(done) }); err != nil {
			w.t.Error(err)
			return
		}
		<-done
	}
}

// code returns the code of an error, and fails the test if the answer is none.
func code(t testing.TB, body string) string {
	t.Helper()
	var said struct {
		Error struct{ Code, Message string }
	}
	if err := json.Unmarshal([]byte(body), &said); err != nil || said.Error.Message == "" {
		t.Fatalf("the answer is no error with a message: %q", body)
	}
	return said.Error.Code
}

// mounts is what a test mounts at /mount.
func mounts(h nethttp.HandlerFunc) map[string]nethttp.Handler {
	return map[string]nethttp.Handler{"/mount": h}
}

func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Fatalf("not within %s: %s", hang, what)
}
