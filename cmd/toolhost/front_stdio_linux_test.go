package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolhost/testdata/support/conform"
)

// TestFrontBadLines: lines that are no message come between calls of both families. Each is answered, and the session goes on. The first
// message of all is a native one, before any hello.
func TestFrontBadLines(t *testing.T) {
	t.Parallel()
	c := openLines(t)
	c.send(`{"jsonrpc":"2.0","id":0,"method":"agenttool/invoke","params":{"id":"first","tool":"read","input":{"path":"small"}}}`)
	if m := c.nativeAnswer("0"); !strings.Contains(m.text, "a needle") {
		t.Errorf("a native call before hello: %s", m.text)
	}
	c.greets(false)
	for i, bad := range []struct {
		name, line string
		id         string
		code       int
	}{
		{"half a message", `{"jsonrpc":"2.0","id":1,"method":`, "null", -32700},
		{"bytes", "\x00\xff\xfe", "null", -32700},
		{"17 MiB", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("x", 17<<20) + `"}}`, "null", -32600},
		{"an array of nothing", `[]`, "null", -32600},
		{"an array with a value", `[{"jsonrpc":"2.0","id":"batched","method":"nothing/at_all"}]`, `"batched"`, -32601},
		{"a key twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}`, "null", -32600},
		{"a key twice, deep", `{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"read","arguments":{"path":"small","p\u0061th":"x"}}}`, `"deep"`, -32600},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, "null", -32700},
		{"an id that is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}`, "null", -32600},
		{"an id that is too large", `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list"}`, "null", -32600},
		{"no version", `{"id":"bare","method":"tools/list"}`, `"bare"`, -32600},
		{"params in order", `{"jsonrpc":"2.0","id":"order","method":"tools/call","params":["read"]}`, `"order"`, -32602},
		{"a notification with an id", `{"jsonrpc":"2.0","id":"note","method":"notifications/initialized"}`, `"note"`, -32600},
		{"a method of nobody", `{"jsonrpc":"2.0","id":"nobody","method":"nothing/at_all"}`, `"nobody"`, -32601},
		{"params of another type", `{"jsonrpc":"2.0","id":"types","method":"tools/call","params":{"name":7,"arguments":"x","_meta":[]}}`, `"types"`, 0},
		{"initialize again", `{"jsonrpc":"2.0","id":"again","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, `"again"`, 0},
	} {
		refused := func(m spokenLine) bool { return m.Error != nil && string(m.ID) == bad.id }
		before := c.count(refused)
		c.send("%s", bad.line)
		n := 100 + i
		c.call(n, "read", `{"path":"small"}`)
		c.send(`{"jsonrpc":"2.0","id":%d,"method":"agenttool/invoke","params":{"id":"c%d","tool":"read","input":{"path":"small"}}}`, n, n)
		if r := c.answer(fmt.Sprint(n)).result(t); !strings.Contains(r.says(), "a needle") {
			t.Errorf("after %s, tools/call: %+v", bad.name, r)
		}
		if m := c.nativeAnswer(fmt.Sprint(n)); !strings.Contains(m.text, "a needle") {
			t.Errorf("after %s, agenttool/invoke: %s", bad.name, m.text)
		}
		seen := 0
		m := c.find("the answer to "+bad.name, func(m spokenLine) bool {
			if refused(m) {
				seen++
			}
			return seen > before
		})
		if bad.code != 0 && m.Error.Code != bad.code {
			t.Errorf("%s: %s, want code %d", bad.name, m.text, bad.code)
		}
		if more := c.count(refused); more != before+1 {
			t.Errorf("%s has %d answers", bad.name, more-before)
		}
	}
	// Answers to what was never asked, notifications that mean nothing and blank lines get no answer at all.
	before := c.count(func(spokenLine) bool { return true })
	for _, quiet := range []string{
		``, `  `, `{"jsonrpc":"2.0","id":77,"result":{}}`, `{"jsonrpc":"2.0","id":"77","error":{"code":1,"message":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5000}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[1]}}`,
		`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/of/nobody"}`,
	} {
		c.send("%s", quiet)
	}
	c.send(`{"jsonrpc":"2.0","id":"last","method":"ping"}`)
	c.answer(`"last"`)
	if n := c.count(func(spokenLine) bool { return true }); n != before+1 {
		t.Errorf("what needs no answer has %d:\n%s", n-before-1, c.heard())
	}
	_ = c.in.Close()
	if code := c.exits(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	c.logsAre("closed")
}

// TestFrontBothEras: a client may begin with either handshake, and use the other on the same stream.
func TestFrontBothEras(t *testing.T) {
	conform.Held(t, "MCP-02")
	t.Parallel()
	for _, modernFirst := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern first %v", modernFirst), func(t *testing.T) {
			t.Parallel()
			c := openLines(t)
			discover := func() {
				c.send(`{"jsonrpc":"2.0","id":"discover","method":"server/discover","params":{%s}}`, modern)
				if m := c.answer(`"discover"`); m.Error != nil || !strings.Contains(m.text, `"2026-07-28"`) || !strings.Contains(m.text, `"supportedVersions"`) {
					t.Errorf("server/discover: %s", m.text)
				}
			}
			if modernFirst {
				discover()
				c.greets(true)
			} else {
				c.greets(true)
				discover()
			}
			c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{%s}}`, modern)
			c.call(3, "read", `{"path":"small"}`)
			c.send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read","arguments":{"path":"small"},%s}}`, modern)
			old, new := c.answer("3"), c.answer("4")
			if strings.Contains(old.text, "resultType") || !strings.Contains(old.text, "a needle") {
				t.Errorf("the answer of the old era: %s", old.text)
			}
			if !strings.Contains(new.text, `"resultType":"complete"`) || !strings.Contains(new.text, "a needle") {
				t.Errorf("the answer of 2026-07-28: %s", new.text)
			}
			if c.answer("1").Error != nil || c.answer("2").Error != nil {
				t.Errorf("tools/list of one era failed:\n%s", c.heard())
			}
		})
	}
}

// TestFrontEnd: stdin ends, or a signal comes, while calls are under way. Each is answered, the process ends in order, and nothing of it
// is left.
func TestFrontEnd(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, asked bool, flags ...string) (c *lineClient, mark string) {
		t.Parallel()
		c = openLines(t, append(flags, "--allow", "Shell")...)
		c.greets(asked)
		command, mark := nap(t)
		c.call(1, "shell", fmt.Sprintf(`{"command":%q}`, command))
		begins(t, mark)
		return c, mark
	}
	end := func(t *testing.T, c *lineClient, mark string) {
		t.Helper()
		if code := c.exits(); code != exitOK {
			t.Errorf("exit code %d", code)
		}
		c.cutOff("1")
		wakes(t, mark)
		c.logsAre("closed")
	}
	t.Run("a call ends by itself", func(t *testing.T) {
		t.Parallel()
		c := openLines(t, "--allow", "Shell", "--drain", "30s")
		c.greets(false)
		c.call(1, "shell", `{"command":"touch begun; sleep 1; echo all done"}`)
		eventually(t, "the command runs", func() bool { _, err := os.Stat(filepath.Join(c.ws, "begun")); return err == nil })
		_ = c.in.Close()
		if r := c.answer("1").result(t); r.IsError || !strings.Contains(r.says(), "all done") {
			t.Errorf("the call was not waited for: %+v", r)
		}
		if code := c.exits(); code != exitOK {
			t.Errorf("exit code %d", code)
		}
		c.logsAre("closed")
	})
	t.Run("a call goes on for too long", func(t *testing.T) {
		c, mark := start(t, false, "--drain", "200ms")
		_ = c.in.Close()
		end(t, c, mark)
	})
	t.Run("signal", func(t *testing.T) {
		c, mark := start(t, false, "--drain", "10m") // nobody is waited for
		c.endsBySignal()
		end(t, c, mark)
	})
	t.Run("signal while the client is asked", func(t *testing.T) {
		c, mark := start(t, true, "--drain", "10m")
		c.call(2, "write", `{"path":"new","content":"x"}`)
		c.find("a question", func(m spokenLine) bool { return m.Method == "elicitation/create" })
		c.endsBySignal()
		end(t, c, mark)
		c.notWritten("2", "new")
	})
	t.Run("the client is asked", func(t *testing.T) {
		t.Parallel()
		c := openLines(t)
		c.greets(true)
		c.call(2, "write", `{"path":"new","content":"x"}`)
		c.find("a question", func(m spokenLine) bool { return m.Method == "elicitation/create" })
		_ = c.in.Close()
		begun := time.Now()
		c.notWritten("2", "new")
		if code := c.exits(); code != exitOK {
			t.Errorf("exit code %d", code)
		}
		within(t, "the end", time.Since(begun), 20*time.Second, frontPatience)
		c.logsAre("closed")
	})
	t.Run("the client was asked by a result", func(t *testing.T) {
		t.Parallel()
		c := openLines(t, "--drain", "1s")
		c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"write","arguments":{"path":"new","content":"x"},%s}}`, askable)
		if m := c.answer("2"); !strings.Contains(m.text, `"resultType":"input_required"`) {
			t.Errorf("no question: %s", m.text)
		}
		_ = c.in.Close()
		if code := c.exits(); code != exitOK {
			t.Errorf("exit code %d", code)
		}
		if _, err := os.Stat(filepath.Join(c.ws, "new")); err == nil {
			t.Error("a call that nobody allowed wrote")
		}
		c.logsAre("closed")
	})
}

// askable is the _meta of a request of 2026-07-28 whose client shows forms.
const askable = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}},"io.modelcontextprotocol/clientInfo":{"name":"front","version":"1"}}`

// cutOff checks the answer to a call that was ended with the host.
func (c *lineClient) cutOff(id string) {
	c.t.Helper()
	m := c.answer(id)
	if m.Error != nil && strings.Contains(m.Error.Message, "canceled") {
		return
	}
	if r := m.result(c.t); !r.IsError || r.Meta["dev.toolhost/error_class"] != "canceled" {
		c.t.Errorf("the call that was cut off: %+v", r)
	}
}

// notWritten checks the result of a call that was to write, and that nobody allowed or denied.
func (c *lineClient) notWritten(id, name string) {
	c.t.Helper()
	if m := c.answer(id); m.Error == nil && !m.result(c.t).IsError || strings.Contains(m.text, "a person looked at the call") {
		c.t.Errorf("nobody allowed the call, and nobody looked at it, but the model is told: %s", m.text)
	}
	if _, err := os.Stat(filepath.Join(c.ws, name)); err == nil {
		c.t.Error("a call that nobody allowed wrote")
	}
}

// TestFrontTools: the list of the built-in tools is short, and each tool has all four hints.
func TestFrontTools(t *testing.T) {
	t.Parallel()
	c := openLines(t)
	c.greets(false)
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	c.send(`{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{%s}}`, modern)
	for _, id := range []string{"1", "2"} {
		m := c.answer(id)
		if len(m.text) > 10_000 {
			t.Errorf("tools/list is %d bytes", len(m.text))
		}
		checkListed(t, m.Result)
	}
}
