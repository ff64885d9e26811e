package stdio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/testdata/support/conform"
)

// echo is a family that answers each request with its id.
type echo struct {
	w      *Writer
	prefix string
	mu     sync.Mutex
	got    []string
}

func (e *echo) Owns(method string) bool { return strings.HasPrefix(method, e.prefix) }
func (e *echo) Receive(m Message) {
	e.mu.Lock()
	e.got = append(e.got, m.Method)
	e.mu.Unlock()
	if m.ID != nil {
		e.w.Reply(m.ID, json.RawMessage(`"`+e.prefix+`"`), nil)
	}
}
func (e *echo) Drain(context.Context) {}

// TestServe: each line gets its answer from its own family or from the reader, and the stream goes on to its end.
func TestServe(t *testing.T) {
	conform.Held(t, "MCP-01")
	var out bytes.Buffer
	w := NewWriter(&out)
	a, b := &echo{w: w, prefix: "a/"}, &echo{w: w, prefix: "b/"}
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"a/x"}`, ``, "\r", `{"jsonrpc":"2.0","id":2,"method":"b/x"}` + "\r", `nonsense`,
		`{"jsonrpc":"2.0","id":3,"method":"c/x"}`, `{"jsonrpc":"2.0","method":"c/x"}`, `{"jsonrpc":"2.0","method":"a/y"}`,
		strings.Repeat("x", MaxLine+1), strings.Repeat(" ", MaxLine-50) + `{"jsonrpc":"2.0","id":5,"method":"a/x"}`,
		`{"jsonrpc":"2.0","id":4,"method":"b/last"}`, // and no line end
	}, "\n")
	if err := Serve(t.Context(), strings.NewReader(in), w, a, b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{`"id":1,"result":"a/"`, `"id":2,"result":"b/"`, `"id":null,"error":{"code":-32700`, `"id":3,"error":{"code":-32601`,
		`"id":null,"error":{"code":-32600`, `"id":5,"result":"a/"`, `"id":4,"result":"b/"`}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), out.String())
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) || !json.Valid([]byte(line)) {
			t.Errorf("line %d is %s, want %s", i, line, want[i])
		}
	}
	if len(a.got) != 3 || len(b.got) != 2 {
		t.Errorf("families got %v and %v", a.got, b.got)
	}
}

// TestBatch: the messages of an array count as lines of their own. Each request gets an answer with its id, whatever the others are.
func TestBatch(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out)
	a, b := &echo{w: w, prefix: "a/"}, &echo{w: w, prefix: "b/"}
	in := strings.Join([]string{
		`[{"jsonrpc":"2.0","id":1,"method":"a/x"}, {"jsonrpc":"2.0","id":"two","method":"b/x"},{"jsonrpc":"2.0","method":"a/note"}]`,
		`[{"jsonrpc":"2.0","id":3,"method":"c/x"},{"jsonrpc":"2.0","id":4,"method":"a/x","params":{"k":1,"k":2}},17,[],{"id":5,"method":"a/x"},{"jsonrpc":"2.0","id":6,"method":"a/x"}]`,
		`[]`, `[{"jsonrpc":"2.0","id":7,"method":"a/x"}`, `[{"jsonrpc":"2.0","id":8,"result":{}}]`,
	}, "\n")
	if err := Serve(t.Context(), strings.NewReader(in), w, a, b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{`"id":1,"result":"a/"`, `"id":"two","result":"b/"`,
		`"id":3,"error":{"code":-32601`, `"id":4,"error":{"code":-32600`, `"id":null,"error":{"code":-32600`, `"id":null,"error":{"code":-32600`,
		`"id":5,"error":{"code":-32600`, `"id":6,"result":"a/"`,
		`"id":null,"error":{"code":-32600`, `"id":null,"error":{"code":-32700`}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), len(want), out.String())
	}
	for i, line := range lines {
		if !strings.Contains(line, want[i]) {
			t.Errorf("line %d is %s, want %s", i, line, want[i])
		}
	}
	if len(a.got) != 3 || len(b.got) != 1 {
		t.Errorf("families got %v and %v", a.got, b.got)
	}
}

// stuck is a client that reads nothing until it is let go.
type stuck struct {
	release chan struct{}
	bytes.Buffer
}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.release
	return s.Buffer.Write(p)
}

// TestClientThatDoesNotRead loses progress first and results never, and nobody who sends waits for it.
func TestClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{release: make(chan struct{})}
		w := NewWriter(out)
		progress := []byte(`{"progress":"` + strings.Repeat("x", 1000) + `"}`)
		const n = 20_000
		for i := range n {
			w.Send(true, progress)
			w.Reply(json.RawMessage(fmt.Sprint(i)), json.RawMessage(`{"result":"`+strings.Repeat("y", 2000)+`"}`), nil)
		}
		if !w.Busy() {
			t.Error("40 MB wait and the writer takes on more work")
		}
		close(out.release)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		results, steps := strings.Count(out.String(), `"result":{`), strings.Count(out.String(), "progress")
		if results != n || steps == 0 || steps > n/10 {
			t.Errorf("%d results of %d came, and %d of %d progress lines", results, n, steps, n)
		}
		if w.Busy() {
			t.Error("busy when all is read")
		}
	})
}

// TestReaderPausesAtTheLimit: a client that writes and does not read is not read from, and after a while it has gone.
func TestReaderPausesAtTheLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		reads  time.Duration // when the client begins to read
		broken bool
	}{{"in time", patience / 2, false}, {"too late", 2 * patience, true}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &stuck{release: make(chan struct{})}
				w := NewWriter(out)
				big := json.RawMessage(`"` + strings.Repeat("z", 1<<20) + `"`)
				for range pauseAbove>>20 + 2 {
					w.Reply(json.RawMessage("1"), big, nil)
				}
				paused := make(chan struct{})
				go func() { w.Pause(); close(paused) }()
				time.Sleep(patience / 4)
				select {
				case <-paused:
					t.Error("the reader goes on")
				default:
				}
				time.Sleep(c.reads)
				close(out.release)
				<-paused
				if err := w.Close(); (err != nil) != c.broken || c.broken && !errors.Is(err, errUnread) {
					t.Errorf("the output ended with %v", err)
				}
			})
		})
	}
}

// TestRoom: who makes results waits while too many are unread, until the end.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &stuck{release: make(chan struct{})}
		w := NewWriter(out)
		w.Room()
		w.Reply(json.RawMessage("1"), json.RawMessage(`"`+strings.Repeat("z", busyAbove)+`"`), nil)
		passed := make(chan struct{})
		go func() { w.Room(); close(passed) }()
		synctest.Wait()
		select {
		case <-passed:
			t.Error("there was room above the limit")
		default:
		}
		w.End()
		<-passed
		close(out.release)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

// failing is an output that breaks.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestBrokenOutput ends Serve although the input goes on.
func TestBrokenOutput(t *testing.T) {
	w := NewWriter(failing{})
	in, feed := io.Pipe()
	defer feed.Close()
	w.Reply(nil, json.RawMessage("1"), nil)
	if err := Serve(t.Context(), in, w); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Serve: %v", err)
	}
	if err := w.Close(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Close: %v", err)
	}
}

// TestServeEndsWithItsContext although the input is open.
func TestServeEndsWithItsContext(t *testing.T) {
	in, feed := io.Pipe()
	defer feed.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("a signal")
	cancel(why)
	if err := Serve(ctx, in, NewWriter(io.Discard)); !errors.Is(err, why) {
		t.Errorf("Serve: %v", err)
	}
}
