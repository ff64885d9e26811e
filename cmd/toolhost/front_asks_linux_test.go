package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool/cut"
)

// wrote is what a file of the workspace holds, "" if it is not there.
func (d *serveProcess) wrote(name string) string {
	b, _ := os.ReadFile(filepath.Join(d.ws, name)) // not there
	return string(b)
}

// TestFrontWebAsks: a call over HTTP that no rule allows asks its client, in the form of the client's revision, and follows the answer.
func TestFrontWebAsks(t *testing.T) {
	t.Parallel()
	d := openWeb(t)
	for _, revision := range []string{oldRevision, "2025-11-25", modernRevision} {
		for _, row := range []struct {
			name   string
			answer sdk.ElicitResult
			writes bool
		}{
			{"allowed", sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow_once"}}, true},
			{"declined", sdk.ElicitResult{Action: "decline"}, false},
			{"dismissed", sdk.ElicitResult{Action: "cancel"}, false},
			{"accepted without an answer", sdk.ElicitResult{Action: "accept"}, true},
		} {
			t.Run(revision+" "+row.name, func(t *testing.T) {
				name := "asked-" + revision + strings.ReplaceAll(row.name, " ", "-")
				var asked atomic.Int64
				session := d.client(revision, func(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
					asked.Add(1)
					if !strings.Contains(req.Params.Message, name) || req.Params.RequestedSchema == nil {
						t.Errorf("asked %q by %v", req.Params.Message, req.Params.RequestedSchema)
					}
					answer := row.answer
					return &answer, nil
				})
				res, err := calls(t, session, "write", map[string]string{"path": name, "content": "it was allowed\n"})
				if err != nil {
					t.Fatal(err)
				}
				if asked.Load() != 1 {
					t.Errorf("asked %d times", asked.Load())
				}
				if row.writes != (d.wrote(name) != "") || row.writes == res.IsError {
					t.Errorf("it wrote %q: %s", d.wrote(name), text(res))
				}
			})
		}
	}
	d.endsBySignal()
	d.logsAre("closed")
}

// TestFrontAskedForTheSession: what is allowed for the session is not asked again, of another client neither.
func TestFrontAskedForTheSession(t *testing.T) {
	t.Parallel()
	d := openWeb(t)
	var asked atomic.Int64
	allow := func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		asked.Add(1)
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "allow_session"}}, nil
	}
	for i, session := range []*sdk.ClientSession{d.client(modernRevision, allow), d.client(oldRevision, allow), d.client(oldRevision, nil)} {
		content := fmt.Sprintf("%d\n", i)
		res, err := calls(t, session, "write", map[string]string{"path": "again", "content": content})
		if err != nil || res.IsError && !strings.Contains(text(res), "read it first") || !res.IsError && d.wrote("again") != content {
			t.Errorf("client %d: %v %v", i, res, err)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
}

// TestFrontAnsweredElsewhere: a person answers with toolhost approve while the client is asked as well. Theirs counts, and the client gets
// the result, whatever it says afterwards.
func TestFrontAnsweredElsewhere(t *testing.T) {
	t.Parallel()
	for _, revision := range []string{oldRevision, modernRevision} {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			d := openWeb(t)
			asked := make(chan struct{})
			session := d.client(revision, func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				close(asked)
				for limit := time.Now().Add(frontPatience); d.wrote("new") == "" && time.Now().Before(limit); {
					time.Sleep(10 * time.Millisecond)
				}
				return &sdk.ElicitResult{Action: "decline"}, nil // too late
			})
			ended := make(chan error, 1)
			go func() {
				res, err := calls(t, session, "write", map[string]string{"path": "new", "content": "a person said so\n"})
				if err == nil && res.IsError {
					err = fmt.Errorf("the result: %s", text(res))
				}
				ended <- err
			}()
			select {
			case <-asked:
			case err := <-ended:
				t.Fatalf("nobody was asked: %v", err)
			}
			d.approved()
			if err := <-ended; err != nil {
				t.Errorf("the call that a person allowed: %v", err)
			}
			if d.wrote("new") != "a person said so\n" {
				t.Error("it did not write")
			}
			d.endsBySignal()
			d.logsAre("closed")
		})
	}
	t.Run("lines", func(t *testing.T) {
		t.Parallel()
		c := openLines(t)
		c.greets(true)
		c.call(1, "write", `{"path":"new","content":"x"}`)
		question := c.find("a question", func(m spokenLine) bool { return m.Method == "elicitation/create" })
		c.approved()
		if r := c.answer("1").result(t); r.IsError || c.wrote("new") != "x" {
			t.Errorf("the call that a person allowed: %+v", r)
		}
		withdrawn := c.find("the end of the question", func(m spokenLine) bool { return m.Method == "notifications/cancelled" })
		var of struct{ RequestID json.RawMessage }
		if err := json.Unmarshal(withdrawn.Params, &of); err != nil || string(of.RequestID) != string(question.ID) {
			t.Errorf("it takes another question back: %s", withdrawn.text)
		}
		c.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"decline"}}`, question.ID) // too late
		c.call(2, "read", `{"path":"new"}`)
		if r := c.answer("2").result(t); r.IsError {
			t.Errorf("afterwards: %+v", r)
		}
	})
}

// approved allows the one prompt of the home's session with toolhost approve, once.
func (d *serveProcess) approved() {
	d.t.Helper()
	p := d.approves()
	eventually(d.t, "toolhost approve shows the prompt", func() bool { return strings.Contains(p.String(), "prompt 1: write asks") })
	p.types("1 once")
	eventually(d.t, "toolhost approve says that it counted", func() bool { return strings.Contains(p.String(), "you allowed it once") })
}

// answering is a running toolhost approve --plain.
type answering struct {
	t *testing.T
	lockedText
	in io.Writer
}

// approves starts it, for the one session of the home.
func (d *serveProcess) approves() *answering {
	d.t.Helper()
	p := &answering{t: d.t}
	cmd := d.command("approve", "--plain")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &p.lockedText, &p.lockedText, time.Second
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	p.in = in
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if d.t.Failed() {
			d.t.Logf("toolhost approve: %s", p.String())
		}
	})
	return p
}

func (p *answering) types(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Error(err)
	}
}

// rapRuntime is the other end of RAP: it keeps what it is told.
type rapRuntime struct {
	t    *testing.T
	web  *httptest.Server
	told chan rapMessage
}

// rapMessage is a callback.
type rapMessage struct {
	Type     string   `json:"type"`
	ID       string   `json:"id"`
	Group    string   `json:"group_id"`
	CallID   string   `json:"call_id"`
	Text     string   `json:"text"`
	Prompt   string   `json:"prompt"`
	Choices  []string `json:"choices"`
	Default  int      `json:"default"`
	Response string   `json:"response_url"`
}

func newRapRuntime(t *testing.T) *rapRuntime {
	rt := &rapRuntime{t: t, told: make(chan rapMessage, 100)}
	rt.web = httptest.NewServer(nethttp.HandlerFunc(func(_ nethttp.ResponseWriter, r *nethttp.Request) {
		var m rapMessage
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.Group != "group" {
			t.Errorf("a callback: %v %+v", err, m)
		}
		rt.told <- m
	}))
	t.Cleanup(rt.web.Close)
	return rt
}

// invoke sends an invocation, which is acknowledged at once.
func (rt *rapRuntime) invoke(d *webDoor, id, tool, arguments string) {
	rt.t.Helper()
	status, said := d.asks("POST", "/invoke", fmt.Sprintf(`{"operation":%q,"arguments":%s,"id":%q,"call_id":"call-%s","callback_url":"%s/back?secret=1","group_id":"group","thread_ancestors":[]}`,
		tool, arguments, id, id, rt.web.URL))
	if status != 200 || said != "" {
		rt.t.Fatalf("invoke: %d %s", status, said)
	}
}

// await returns the next callback of a type. Those of others are passed over.
func (rt *rapRuntime) await(kind string) rapMessage {
	rt.t.Helper()
	limit := time.After(frontPatience)
	for {
		select {
		case m := <-rt.told:
			if m.Type == kind {
				return m
			}
		case <-limit:
			rt.t.Fatalf("no %s came", kind)
		}
	}
}

// TestFrontRAP: a runtime discovers the tools, calls them, is asked and answers.
func TestFrontRAP(t *testing.T) {
	t.Parallel()
	d := openWeb(t, "--deny", "Write(never)")
	rt := newRapRuntime(t)
	status, said := d.asks("GET", d.RAP, "")
	var set struct {
		Endpoint string
		Tools    []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(said), &set); err != nil || status != 200 || set.Endpoint != d.URL+"/invoke" || len(set.Tools) < 6 {
		t.Fatalf("the toolset: %d %s: %v", status, cut.Characters(said, 300), err)
	}
	rt.invoke(d, "r", "read", `{"path":"small"}`)
	if m := rt.await("tool_result"); m.ID != "r" || m.CallID != "call-r" || !strings.Contains(m.Text, "a needle") {
		t.Errorf("read: %+v", m)
	}
	rt.invoke(d, "bad", "read", `{"nothing":1}`)
	if m := rt.await("tool_result"); m.ID != "bad" || !strings.HasPrefix(m.Text, "Error: ") {
		t.Errorf("arguments that are none: %+v", m)
	}
	rt.invoke(d, "never", "write", `{"path":"never","content":"x"}`)
	if m := rt.await("tool_result"); m.ID != "never" || !strings.HasPrefix(m.Text, "Error: ") || !strings.Contains(m.Text, "Write(never)") {
		t.Errorf("a rule that denies: %+v", m)
	}
	for _, answer := range []string{"Allow once", "Deny"} {
		name := strings.ReplaceAll(answer, " ", "-")
		rt.invoke(d, name, "write", fmt.Sprintf(`{"path":%q,"content":"by RAP\n"}`, name))
		q := rt.await("user_choice")
		choice := slices.Index(q.Choices, answer)
		if q.ID != name || choice < 0 || q.Default >= len(q.Choices) || q.Choices[q.Default] != "Deny" || !strings.Contains(q.Prompt, name) {
			t.Fatalf("the question: %+v", q)
		}
		if status, said := d.asks("POST", q.Response, fmt.Sprintf(`{"id":%q,"selected":%d}`, name, choice)); status != 200 {
			t.Errorf("the answer: %d %s", status, said)
		}
		m := rt.await("tool_result")
		if allowed := answer != "Deny"; m.ID != name || allowed != (d.wrote(name) == "by RAP\n") || allowed == strings.HasPrefix(m.Text, "Error: ") {
			t.Errorf("%s: it wrote %q: %+v", answer, d.wrote(name), m)
		}
	}
	d.endsBySignal()
	d.logsAre("closed")
}
