package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// sse is one open stream of a client that speaks bare HTTP.
type sse struct {
	t     *testing.T
	from  *bufio.Scanner
	close func()
	last  string // id
	word  string // that was said last
}

// event is one of a stream.
type event struct{ name, id, data string }

// next reads one event; an empty one is the end.
func (s *sse) next() (e event) {
	for s.from.Scan() {
		name, value, _ := strings.Cut(s.from.Text(), ": ")
		switch {
		case name == "event":
			e.name = value
		case name == "id":
			e.id, s.last = value, value
		case name == "data" || name == "data:":
			e.data = value
		case e != event{}:
			return e
		}
	}
	return e
}

// said is the message of the next event, unless it is the same as before: that of progress, or the text of a result. No
// event may be left out or come twice.
func (s *sse) said() string {
	for {
		was := s.last
		e := s.next()
		if e == (event{}) {
			return "end"
		}
		if index(s.t, e.id) != index(s.t, was)+1 {
			s.t.Errorf("event %s comes after %s", e.id, was)
		}
		var m struct {
			Method string
			Params struct{ Message string }
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(e.data), &m); err != nil {
			s.t.Fatalf("%v: %+v", err, e)
		}
		word := m.Params.Message
		if m.Method == "" && len(m.Result.Content) > 0 {
			word = m.Result.Content[0].Text
		}
		if word != s.word {
			s.word = word
			return word
		}
	}
}

// index is that of an event in its stream.
func index(t *testing.T, id string) int {
	t.Helper()
	_, after, _ := strings.Cut(id, "_")
	n, err := strconv.Atoi(after)
	if err != nil {
		t.Fatalf("the id is %q", id)
	}
	return n
}

// listens opens a stream of a session.
func listens(t *testing.T, url, session, method, body string, headers ...string) *sse {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r.Header.Set(headerSession, session)
	r.Header.Set(headerVersion, firstPrimed)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	transport := &http.Transport{}
	t.Cleanup(func() { cancel(); transport.CloseIdleConnections() })
	client := &http.Client{Transport: transport}
	res, err := client.Do(r)
	for limit := time.Now().Add(time.Minute); err == nil && method == "GET" && res.StatusCode == http.StatusConflict && time.Now().Before(limit); {
		res.Body.Close() // it has not noticed yet that the one before is closed
		time.Sleep(10 * time.Millisecond)
		res, err = client.Do(r)
	}
	if err != nil || res.StatusCode != 200 {
		t.Errorf("%s: %+v %v", method, res, err)
		return &sse{t: t, from: bufio.NewScanner(strings.NewReader("")), close: cancel}
	}
	return &sse{t: t, from: bufio.NewScanner(res.Body), close: func() { cancel(); res.Body.Close() }, last: r.Header.Get(headerLastEvent)}
}

// steps is a tool that repeats the newest word that the test sends it, until the end of these.
func steps() (*fake, chan string) {
	says := make(chan string)
	return &fake{name: "steps", run: func(_ context.Context, r agenttool.Reporter) (agenttool.Output, error) {
		for word, more := "", true; more; {
			select {
			case word, more = <-says:
			case <-time.After(20 * time.Millisecond): // the host leaves out steps that come too fast
			}
			if more && word != "" {
				r.Progress(agenttool.Progress{Message: word})
			}
		}
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text("finished")}}, nil
	}}, says
}

const callSteps = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":"p"}}}`

// waitKept waits until a stream has a word.
func (f *fixture) waitKept(k backlogKey, word string) {
	f.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		all, _ := f.replays.after(k, -1)
		if slices.ContainsFunc(all, func(m []byte) bool { return bytes.Contains(m, []byte(word)) }) {
			return
		}
	}
	f.t.Fatalf("%q did not come", word)
}

// TestBrokenStream: a stream that breaks in the middle of a call goes on with the event after the last one that came, whether
// the call has ended by then, and whether the server has seen the end of the old connection; MCP-22.
func TestBrokenStream(t *testing.T) {
	for _, name := range []string{"the call goes on", "the call has ended", "the old connection looks alive"} {
		t.Run(name, func(t *testing.T) {
			tool, says := steps()
			f := newFixture(t, adding(tool))
			url := f.serveHTTP().URL
			session := f.httpClient(url, firstPrimed, nil).ID()
			s := listens(t, url, session, "POST", callSteps)
			if e := s.next(); e.name != "prime" || e.id == "" || e.data != "" {
				t.Fatalf("the stream begins with %+v", e)
			}
			says <- "one"
			if got := s.said(); got != "one" {
				t.Fatal(got)
			}
			goOn := func() *sse {
				opened, last := make(chan *sse, 1), s.last
				go func() { opened <- listens(t, url, session, "GET", "", headerLastEvent, last) }() // the head comes with an event
				if name == "the old connection looks alive" {
					if got := s.said(); got != "end" {
						t.Errorf("the old connection got %q", got)
					}
				}
				says <- "two"
				return <-opened
			}
			var again *sse
			switch name {
			case "the call has ended":
				s.close()
				says <- "two"
				f.waitKept(backlogKey{session, strings.Split(s.last, "_")[0]}, "two")
				close(says)
				f.waitEnded(1)
				again = listens(t, url, session, "GET", "", headerLastEvent, s.last)
			case "the call goes on":
				s.close()
				fallthrough
			default:
				again = goOn()
				f.waitKept(backlogKey{session, strings.Split(s.last, "_")[0]}, "two")
				close(says)
			}
			again.word = "one" // it may come again, as a later event
			if got := []string{again.said(), again.said(), again.said()}; !slices.Equal(got, []string{"two", "finished", "end"}) {
				t.Errorf("%q", got)
			}
			whole := listens(t, url, session, "GET", "", headerLastEvent, strings.Split(s.last, "_")[0]+"_0")
			if got := []string{whole.said(), whole.said(), whole.said(), whole.said()}; !slices.Equal(got, []string{"one", "two", "finished", "end"}) {
				t.Errorf("all of it: %q", got)
			}
		})
	}
}

// TestBrokenStandingStream: messages that belong to no request are not lost between two connections, and none comes twice;
// MCP-22.
func TestBrokenStandingStream(t *testing.T) {
	conform.Held(t, "MCP-22")
	f := newFixture(t)
	server := f.serveHTTP()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "9"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: server.URL, DisableStandaloneSSE: true}, &sdk.ClientSessionOptions{ProtocolVersion: firstPrimed})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s := listens(t, server.URL, c.ID(), "GET", "")
	first := s.next()
	if first.name != "prime" || first.id != "_0" || first.data != "" {
		t.Fatalf("the stream begins with %+v", first)
	}
	change := func(name string) {
		f.sdk.AddTool(&sdk.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
	}
	change("one")
	if e := s.next(); e.id != "_1" || !strings.Contains(e.data, "list_changed") {
		t.Fatalf("%+v", e)
	}
	s.close()
	again := listens(t, server.URL, c.ID(), "GET", "", headerLastEvent, s.last)
	change("two")
	if e := again.next(); e.id != "_2" || !strings.Contains(e.data, "list_changed") {
		t.Fatalf("%+v", e)
	}
	again.close()
	fresh := listens(t, server.URL, c.ID(), "GET", "", headerLastEvent, "")
	if e := fresh.next(); e.name != "prime" || e.id != "_2" {
		t.Fatalf("%+v", e)
	}
}

// TestReplaysAreBounded: the streams that clients got whole are given up first, and a gap is an error.
func TestReplaysAreBounded(t *testing.T) {
	p, ctx := newReplays(), t.Context()
	add := func(stream string, size int, over bool) {
		t.Helper()
		if p.all[backlogKey{"s", stream}] == nil {
			_ = p.Open(ctx, "s", stream)
		}
		if err := p.Append(ctx, "s", stream, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		p.all[backlogKey{"s", stream}].over = over
	}
	add("", 10, false)
	add("running", maxReplay/2, false)
	for i := range 2000 {
		add(fmt.Sprint("small", i), 1, true)
	}
	if n := len(p.all); n > maxOver+4 || n < maxOver {
		t.Errorf("%d streams are kept", n)
	}
	add("large", maxReplay/2, true)
	add("larger", maxReplay/2, true)
	add("newest", 1, false)
	if _, err := p.after(backlogKey{"s", "large"}, -1); err == nil || p.size > maxReplay+maxReplay/2 {
		t.Errorf("the large one is kept: %v, %d bytes", err, p.size)
	}
	if got, err := p.after(backlogKey{"s", "running"}, -1); err != nil || len(got) != 1 {
		t.Errorf("the running one: %v", err)
	}
	add("running", maxReplay, false)
	add("running", 1, false)
	if _, err := p.after(backlogKey{"s", "running"}, 0); err == nil {
		t.Error("a gap is no error")
	}
	if got, err := p.after(backlogKey{"s", "running"}, 1); err != nil || len(got) != 1 {
		t.Errorf("after the gap: %d %v", len(got), err)
	}
	if _, err := p.after(backlogKey{"s", "running"}, 9); err == nil {
		t.Error("an event that was never sent is no error")
	}
	if err := p.SessionClosed(ctx, "s"); err != nil || len(p.all) != 0 || p.size != 0 {
		t.Errorf("%v, %d streams with %d bytes are left", err, len(p.all), p.size)
	}
}
