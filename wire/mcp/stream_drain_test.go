package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestStreamDrain(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		limit time.Duration
		want  []string      // in any order
		took  time.Duration // at most
	}{
		{"nothing came", nil, 0, nil, 0},
		{"what runs is awaited", []string{initializeLine, legacyCall("1", "wait", `{"ms":5000}`), modernCall("2", "wait", `{"ms":7000}`)}, time.Minute, []string{"0 ok", "1 waited", "2 waited"}, 7 * time.Second},
		{"what takes too long is canceled", []string{initializeLine, legacyCall("1", "wait", `{"ms":50000}`), modernCall("2", "wait", `{"ms":70000}`)}, time.Second, []string{"0 ok", "1 -32603", "2 -32603"}, time.Second},
		{"what does not notice is answered", []string{initializeLine, legacyCall("1", "deaf", `{"ms":50000}`), modernCall("2", "wait", `{"ms":1}`)}, time.Second, []string{"0 ok", "1 -32603", "2 waited"}, time.Second + 2*grace},
		{"what was canceled is not answered", []string{initializeLine, legacyCall("1", "deaf", `{"ms":50000}`), cancelOf("1")}, time.Second, []string{"0 ok"}, time.Second + 2*grace},
		{"who was asked has gone", []string{initializeLine, legacyCall("1", "ask", `{}`)}, time.Minute, []string{"0 ok", "elicitation/create", `1 unanswered: calling "elicitation/create": the input has ended; this was canceled`}, 0},
		{"MCP-17 listening ends", []string{modernRequest(`"l"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true},`), modernCall("2", "wait", `{"ms":3000}`)}, time.Minute, []string{`"l" ok`, "2 waited", "notifications/subscriptions/acknowledged"}, 3 * time.Second},
		{"the client is not asked at the end", []string{initializeLine, legacyCall("1", "late", `{}`)}, time.Minute, []string{"0 ok", `1 unanswered: calling "elicitation/create": the input has ended: nobody is left to answer`}, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes(t)
				p.send(c.lines...)
				synctest.Wait()
				start := time.Now()
				p.drain(c.limit)
				took := time.Since(start)
				got := briefs(t, p.settle())
				slices.Sort(got)
				slices.Sort(c.want)
				if !slices.Equal(got, c.want) {
					t.Errorf("got  %q\nwant %q", got, c.want)
				}
				if took > c.took {
					t.Errorf("took %s, want at most %s", took, c.took)
				}
				p.drain(c.limit)
				time.Sleep(time.Hour)
				if late := p.settle(); len(late) > 0 {
					t.Errorf("written after the end: %q", late)
				}
			})
		})
	}
}

// TestStreamDrainAtOnce drains before the SDK has taken a look at anything.
func TestStreamDrainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes(t)
		p.send(initializeLine, legacyCall("1", "echo", "{}"), legacyCall("2", "wait", `{"ms":10}`), modernCall("3", "panic", "{}"))
		p.drain(time.Minute)
		got := briefs(t, p.settle())
		slices.Sort(got)
		if want := []string{"0 ok", "1 {}", "2 waited", "3 -32603"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestStreamAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes(t)
		p.send(initializeLine)
		p.drain(0)
		p.settle()
		p.send(legacyCall("1", "echo", "{}"), modernCall("2", "echo", "{}"), cancelOf("1"), initializedLine, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		if got, want := briefs(t, p.settle()), []string{"1 -32603", "2 -32603"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if p.stream.modern != nil {
			t.Error("a session was made after the end")
		}
	})
}

// TestStreamReceiveDuringDrain: a reader can be later than the end, which a signal or a broken output can bring.
func TestStreamReceiveDuringDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes(t)
		const n = 200
		half := make(chan struct{})
		go func() {
			p.send(initializeLine)
			for i := range n {
				if i == n/2 {
					close(half)
				}
				p.send(modernCall(fmt.Sprint(i+1), "wait", `{"ms":3}`), legacyCall(fmt.Sprint(-i-1), "ask", `{}`), modernRequest(fmt.Sprintf(`"%d"`, i), "subscriptions/listen", `"notifications":{"toolsListChanged":true},`))
			}
		}()
		<-half
		p.drain(time.Minute)
		time.Sleep(time.Hour)
		answers := slices.DeleteFunc(briefs(t, p.settle()), func(s string) bool { return strings.Contains(s, "/") && !strings.Contains(s, " ") })
		if len(answers) != 3*n+1 {
			t.Errorf("%d answers, want %d", len(answers), 3*n+1)
		}
	})
}

// TestStreamSessionClosed: the server's owner ends the sessions while the client goes on.
func TestStreamSessionClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes(t)
		p.send(initializeLine, modernRequest("1", "subscriptions/listen", `"notifications":{"toolsListChanged":true},`))
		synctest.Wait()
		for s := range p.stream.server.Sessions() {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
		p.send(legacyCall("2", "echo", "{}"), modernCall("3", "echo", "{}"))
		got := briefs(t, p.settle())
		slices.Sort(got)
		if i := slices.Index(got, "1 ok"); i >= 0 { // the SDK may end a subscription before it notices that its session is closed
			got[i] = "1 -32603"
		}
		if want := []string{"0 ok", "1 -32603", "2 -32603", "3 -32603", "notifications/subscriptions/acknowledged"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		p.drain(0)
	})
}

// TestStreamUnread: results wait for room, the client can still cancel them, and at the end nothing waits for ever.
func TestStreamUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes(t)
		room := make(chan struct{})
		p.stream.o.Room = func() { <-room }
		p.send(initializeLine, modernCall("1", "echo", "{}"), modernCall("2", "echo", "{}"))
		if got := p.settle(); len(got) > 0 {
			t.Errorf("written without room: %q", got)
		}
		p.send(cancelOf("1"))
		p.drain(time.Second)
		got := briefs(t, p.settle())
		slices.Sort(got)
		if want := []string{"0 -32603", "2 -32603"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		close(room)
		if late := p.settle(); len(late) > 0 {
			t.Errorf("written after the end: %q", late)
		}
	})
}

// TestStreamSettle: calls are waited for as long as one more of them begins or is answered, however long all of them take.
func TestStreamSettle(t *testing.T) {
	for name, move := range map[string]bool{"they move": true, "they do not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipes(t)
				room := make(chan struct{})
				p.stream.o.Room = func() { <-room }
				for i := range 5 {
					p.send(modernCall(fmt.Sprint(i), "echo", "{}"))
				}
				synctest.Wait()
				go func() {
					for range 5 {
						time.Sleep(settleTime - settleTime/4)
						if move {
							room <- struct{}{}
						}
					}
				}()
				begun := time.Now()
				p.stream.Settle(t.Context())
				if took := time.Since(begun); (p.stream.unbegun() == 0) != move || !move && took > 2*settleTime {
					t.Errorf("after %v, %d have not begun", took, p.stream.unbegun())
				}
				close(room)
				p.drain(time.Minute)
				time.Sleep(time.Hour)
			})
		})
	}
}

func TestStreamOwns(t *testing.T) {
	st := newStream(newTestServer(), StreamOptions{})
	for method, want := range map[string]bool{"agenttool/invoke": false, "agenttool/": false, "": true, "initialize": true, "no/such": true, "agenttool": true} {
		if got := st.Owns(method); got != want {
			t.Errorf("Owns(%q) = %v, want %v", method, got, want)
		}
	}
	st.Drain(context.Background())
}

func TestProtocolVersion(t *testing.T) {
	for _, c := range []struct {
		name, params string
		want         string
		given        bool
	}{
		{"none", `{}`, "", false},
		{"no params", ``, "", false},
		{"there", `{` + modernMeta + `}`, "2026-07-28", true},
		{"a slash as an escape", `{` + strings.ReplaceAll(modernMeta, "/", `\/`) + `}`, "2026-07-28", true},
		{"letters as escapes", `{"\u005fmeta":{"\u0069o.modelcontextprotocol/\u0070rotocolVersion":"x"}}`, "x", true},
		{"other case", `{"_META":{"io.modelcontextprotocol/protocolVersion":"x"}}`, "", false},
		{"elsewhere", `{"io.modelcontextprotocol/protocolVersion":"x","_meta":{"protocolVersion":"y"}}`, "", false},
		{"null", `{"_meta":{"io.modelcontextprotocol/protocolVersion":null}}`, "", true},
		{"meta is a list", `{"_meta":["io.modelcontextprotocol/protocolVersion"]}`, "", false},
		{"params are a list", `["io.modelcontextprotocol/protocolVersion"]`, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, given := protocolVersion([]byte(c.params)); got != c.want || given != c.given {
				t.Errorf("got %q, %v, want %q, %v", got, given, c.want, c.given)
			}
		})
	}
}

func TestReadID(t *testing.T) {
	for _, c := range []struct {
		spelled string
		want    any // nil: no id
	}{
		{"1", int64(1)}, {"-7", int64(-7)}, {`"1"`, "1"}, {`""`, ""}, {"9007199254740992", int64(1 << 53)}, {`"\u00e9"`, "é"},
		{"9007199254740994", nil}, {"1.5", nil}, {"1e400", nil}, {"null", nil}, {"true", nil}, {"[]", nil}, {"{}", nil}, {"", nil}, {"x", nil},
	} {
		id, err := readID([]byte(c.spelled))
		if id.Raw() != c.want || (err == nil) != (c.want != nil) {
			t.Errorf("readID(%s) = %v, %v, want %v", c.spelled, id.Raw(), err, c.want)
		}
	}
}
