package mcp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/wire/stdio"
)

// TestStreamAnswersOnce sends 2,000 messages of both eras in random order: each request is answered once, under its id
// as spelled, and not after it was canceled.
func TestStreamAnswersOnce(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &chaos{pipes: newPipes(t), rand: rand.New(rand.NewPCG(seed, 7)), want: map[string]string{"0": "ok", `"slow"`: "slept"}}
				c.send(initializeLine, legacyCall(`"slow"`, "deaf", `{"ms":99999}`))
				for range 2000 {
					c.step()
				}
				c.drain(time.Hour)
				c.check()
			})
		})
	}
}

// chaos is a client that does everything in random order.
type chaos struct {
	*pipes
	rand       *rand.Rand
	ids        []string          // of the requests, as spelled
	want       map[string]string // the response to a request: in brief, without its id
	duplicates int               // requests with the id of one in flight
}

// step sends one message.
func (c *chaos) step() {
	switch n := c.rand.IntN(20); {
	case n < 12:
		c.ask()
	case n < 16 && len(c.ids) > 0:
		c.cancel()
	case n == 16:
		c.duplicates++
		c.send(modernCall(`"sl\u006fw"`, "echo", "{}"))
	case n == 17:
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, c.rand.IntN(9)), initializedLine)
	default:
		time.Sleep(time.Duration(c.rand.IntN(5)) * time.Millisecond)
	}
}

// ask sends a request with an id of its own.
func (c *chaos) ask() {
	n := len(c.ids) + 1
	id := []string{fmt.Sprint(n), fmt.Sprint(-n), fmt.Sprintf(`"%d"`, n), fmt.Sprintf(`"\u0041%d"`, n), fmt.Sprintf(`"a\/%d é"`, n)}[c.rand.IntN(5)]
	arguments := fmt.Sprintf(`{"ms":%d}`, c.rand.IntN(9))
	send := legacyCall
	if c.rand.IntN(2) == 0 {
		send = modernCall
	}
	c.ids = append(c.ids, id)
	switch c.rand.IntN(6) {
	case 0:
		c.want[id] = arguments
		c.send(send(id, "echo", arguments))
	case 1:
		c.want[id] = "-32603"
		c.send(send(id, "panic", arguments))
	case 2:
		c.want[id] = "-32601"
		c.send(modernRequest(id, "no/such", ""))
	case 3:
		c.want[id] = "slept"
		c.send(send(id, "deaf", arguments))
	default:
		c.want[id] = "waited"
		c.send(send(id, "wait", arguments))
	}
}

// cancel takes back one of the latest requests, and notes when that was.
func (c *chaos) cancel() {
	id := c.ids[max(0, len(c.ids)-1-c.rand.IntN(20))]
	c.send(cancelOf(id), cancelOf("0.5"))
	c.write([]byte("canceled "+id), false)
}

// check compares what was written with what was sent.
func (c *chaos) check() {
	canceled, answered := map[string]bool{}, map[string]bool{}
	duplicates := 0
	for _, message := range c.settle() {
		if id, ok := strings.CutPrefix(message, "canceled "); ok {
			canceled[id] = true
			continue
		}
		id, got := cutID(c.t, message)
		switch {
		case id == "null" && got == "-32600":
			duplicates++
		case c.want[id] == "":
			c.t.Errorf("%s is the answer to nothing", message)
		case answered[id]:
			c.t.Errorf("%s is one answer too much", message)
		case canceled[id]:
			c.t.Errorf("%s came after the request was canceled", message)
		case got != c.want[id]:
			c.t.Errorf("%s: got %s, want %s", id, got, c.want[id])
		}
		answered[id] = true
	}
	for id := range c.want {
		if !answered[id] && !canceled[id] {
			c.t.Errorf("request %s was never answered", id)
		}
	}
	if duplicates != c.duplicates {
		c.t.Errorf("%d requests were refused for their ids, want %d", duplicates, c.duplicates)
	}
	if len(c.ids) < 800 || len(canceled) < 100 || len(answered) < 800 {
		c.t.Errorf("%d requests, %d cancellations and %d answers show nothing", len(c.ids), len(canceled), len(answered))
	}
}

// cutID returns the id of a response as spelled, and the rest in brief.
func cutID(t *testing.T, message string) (id, rest string) {
	var m struct{ ID json.RawMessage }
	if err := json.Unmarshal([]byte(message), &m); err != nil {
		t.Fatalf("%q: %v", message, err)
	}
	return string(m.ID), strings.TrimPrefix(brief(t, message), string(m.ID)+" ")
}

// FuzzStream sends arbitrary lines, each with a pause after every so many: each request is answered once, unless there is
// a cancellation for it, and nothing hangs, panics or stays.
func FuzzStream(f *testing.F) {
	for _, seed := range [][]string{
		{initializeLine, initializedLine, legacyCall("1", "echo", "{}"), modernCall(`"1"`, "wait", `{"ms":5}`), cancelOf(`"1"`)},
		{legacyCall("1", "wait", `{"ms":2000}`), modernCall("2", "deaf", `{"ms":9}`), modernCall("2", "panic", "[]"), cancelOf("2"), cancelOf("null")},
		{modernRequest("1", "server/discover", ""), modernRequest("2", "tools/list", `"cursor":"x",`), modernRequest("3", "subscriptions/listen", `"notifications":{"toolsListChanged":true},`), cancelOf("3")},
		{initializeLine, legacyCall("1", "ask", "{}"), `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`, legacyCall("2", "ask", "{}"), `{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"m"}}`},
		{initializeLine, initializeLine, plainRequest("1", "ping"), plainRequest("2", "tools/list"), plainRequest("3", "resources/subscribe"), plainRequest("4", "notifications/cancelled"), `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"x"}}`},
		{modernRequest("1", "initialize", ""), strings.ReplaceAll(modernCall("1", "echo", "{}"), "2026-07-28", "2025-06-18"), strings.ReplaceAll(modernCall("9", "late", "null"), `"_meta"`, `"\u005fmeta"`)},
	} {
		f.Add([]byte(strings.Join(seed, "\n")), uint8(2))
	}
	f.Fuzz(func(t *testing.T, lines []byte, pace uint8) {
		synctest.Test(t, func(t *testing.T) {
			p := newPipes(t)
			asked, cancellations := map[string]int{}, 0
			for i, line := range strings.Split(string(lines), "\n") {
				m, err := stdio.Decode([]byte(strings.Trim(line, " \t\r") + " "))
				if err != nil || !p.stream.Owns(m.Method) {
					continue // the line reader answers
				}
				p.stream.Receive(Line(m))
				switch {
				case m.ID != nil && m.Method != "":
					asked[string(m.ID)]++
				case m.Method == methodCancelled:
					cancellations++
				}
				if i%(int(pace)+1) == 0 {
					time.Sleep(time.Millisecond)
				}
			}
			p.drain(time.Second)
			checkAnswers(t, p.settle(), asked, cancellations)
			if left := len(p.stream.requests.all()) + len(p.stream.requests.open()); left > 0 {
				t.Errorf("%d requests are left", left)
			}
		})
	})
}

// checkAnswers compares responses with how often each id was asked.
func checkAnswers(t *testing.T, written []string, asked map[string]int, cancellations int) {
	missing := 0
	for _, n := range asked {
		missing += n
	}
	got := map[string]int{}
	for _, message := range written {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method *string         `json:"method"`
		}
		if err := json.Unmarshal([]byte(message), &m); err != nil || strings.ContainsAny(message, "\n\r") {
			t.Fatalf("%q is no line: %v", message, err)
		}
		if m.Method != nil {
			continue
		}
		missing--
		if got[string(m.ID)]++; string(m.ID) != "null" && got[string(m.ID)] > asked[string(m.ID)] {
			t.Errorf("%s was asked %d times: %s", m.ID, asked[string(m.ID)], message)
		}
	}
	if missing < 0 || missing > cancellations {
		t.Errorf("%d requests were not answered, with %d cancellations", missing, cancellations)
	}
}
