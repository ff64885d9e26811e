package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"toolhost/wire/socket"
)

// fakeSession is a session that asks what a test wants, at a socket like that of a real one.
type fakeSession struct {
	t    *testing.T
	id   string
	path string
	l    *socket.Listener

	mu        sync.Mutex
	approvals map[string]any // what hello says of answers; with a code in "code" it is wanted
	warnings  []string
	prompts   []map[string]any // the open ones, the oldest first
	answers   []map[string]any // what counted
	refuse    string           // why answers do not count; empty: they do
	silent    bool             // decide is not answered
	hellos    int
	conns     map[net.Conn]bool // those that hear of prompts
}

// fakeRuntime gives the test places for sockets and state of its own, and returns the one for sockets.
func fakeRuntime(t *testing.T) string {
	t.Helper()
	base, err := os.MkdirTemp("", "th") // short: the path of a socket is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(base, "run"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(base, "state"))
	return filepath.Join(base, "run", "toolhost")
}

// startFake begins a session with an id that ends so.
func startFake(t *testing.T, dir, end string) *fakeSession {
	t.Helper()
	f := &fakeSession{
		t: t, id: "ses_fake" + end, path: filepath.Join(dir, end+socketSuffix), conns: map[net.Conn]bool{},
		approvals: map[string]any{"may_answer": true, "scopes": []string{"once", "session", "project", "user"}},
	}
	l, err := socket.Listen(f.path)
	if err != nil {
		t.Fatal(err)
	}
	f.l = l
	served := make(chan struct{})
	go func() {
		defer close(served)
		l.Serve(f.serve)
	}()
	t.Cleanup(func() {
		l.Close()
		<-served
	})
	return f
}

// stop ends the session.
func (f *fakeSession) stop() { f.l.Close() }

func (f *fakeSession) serve(conn net.Conn) {
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     int
			Method string
			Params map[string]any
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			f.t.Errorf("%s is not JSON", lines.Text())
			return
		}
		f.mu.Lock()
		result, refusal := f.answer(conn, m.Method, m.Params)
		silent := f.silent && m.Method == "agenttool/decide"
		f.mu.Unlock()
		answer := map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}
		if refusal != "" {
			answer = map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32602, "message": refusal}}
		}
		if !silent {
			f.write(conn, answer)
		}
	}
	f.mu.Lock()
	delete(f.conns, conn)
	f.mu.Unlock()
}

func (f *fakeSession) write(conn net.Conn, message map[string]any) {
	encoded, err := json.Marshal(message)
	if err != nil {
		f.t.Error(err)
	}
	_, _ = conn.Write(append(encoded, '\n')) // who has gone does not hear it
}

// answer answers a request. The caller holds mu.
func (f *fakeSession) answer(conn net.Conn, method string, params map[string]any) (result any, refusal string) {
	switch method {
	case "agenttool/hello":
		return f.hello(conn, params), ""
	case "agenttool/prompts":
		list := []map[string]any{}
		for _, p := range f.prompts {
			if p["coalesced_with"] == nil {
				list = append(list, p)
			}
		}
		return map[string]any{"prompts": list}, ""
	case "agenttool/decide":
		return f.decide(params)
	}
	return nil, "no such method"
}

func (f *fakeSession) hello(conn net.Conn, params map[string]any) any {
	f.hellos++
	approvals := maps.Clone(f.approvals)
	if code := approvals["code"]; code != nil {
		delete(approvals, "code")
		approvals["may_answer"] = params["code"] == code
		approvals["needs_code"] = params["code"] != code
		if params["code"] != nil && params["code"] != code {
			approvals["why"] = "wrong code"
		}
	}
	if params["approvals"] != true {
		approvals = nil
	}
	if approvals["may_answer"] == true {
		f.conns[conn] = true
	}
	return map[string]any{
		"session_id": f.id, "workspace": "/home/me/app", "mode": "default", "sandbox": map[string]any{"level": "full"},
		"approvals": approvals, "warnings": f.warnings, "surface": map[string]any{},
	}
}

func (f *fakeSession) decide(params map[string]any) (result any, refusal string) {
	i := f.index(fmt.Sprint(params["decision_id"]))
	switch {
	case i < 0:
		return nil, "no prompt waits for an answer: it was answered, it expired, or it never was"
	case f.refuse != "":
		return nil, f.refuse
	}
	f.answers = append(f.answers, params)
	f.endLocked(i, fmt.Sprint(params["behavior"]), "answered with toolhost approve")
	return map[string]any{"decision": map[string]any{}}, ""
}

func (f *fakeSession) index(id string) int {
	return slices.IndexFunc(f.prompts, func(p map[string]any) bool { return p["decision"].(map[string]any)["decision_id"] == id })
}

// ask opens a prompt about a command; more are members of it that win.
func (f *fakeSession) ask(id, command string, more map[string]any) {
	now := time.Now()
	prompt := map[string]any{
		"decision": map[string]any{
			"decision_id": id, "behavior": "ask", "expires_at": now.Add(10 * time.Minute).Format(time.RFC3339),
			"reason": map[string]any{"type": "mode", "detail": "it is not proved to only read"},
			"suggested_updates": []any{
				map[string]any{"op": "add_rules", "destination": "session", "behavior": "allow", "rules": []string{"Shell(" + command + ")"}},
			},
		},
		"tool": "shell", "input": map[string]any{"command": command}, "dir": "/home/me/app", "profile": "workspace",
		"facts": map[string]any{"read_only": "no", "destructive": "no", "open_world": "no"}, "asked_at": now.Format(time.RFC3339Nano),
	}
	maps.Copy(prompt, more)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.prompts = append(f.prompts, prompt)
	f.broadcast("tool.permission.requested", prompt)
}

// end ends a prompt as if somebody else had.
func (f *fakeSession) end(id, behavior, detail string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endLocked(f.index(id), behavior, detail)
}

func (f *fakeSession) endLocked(i int, behavior, detail string) {
	id := f.prompts[i]["decision"].(map[string]any)["decision_id"]
	f.prompts = slices.Delete(f.prompts, i, i+1)
	f.broadcast("tool.permission.decided", map[string]any{"decision": map[string]any{
		"decision_id": "d", "request_ref": id, "behavior": behavior, "reason": map[string]any{"type": "other", "detail": detail},
	}})
}

func (f *fakeSession) broadcast(kind string, data map[string]any) {
	for conn := range f.conns {
		f.write(conn, map[string]any{"jsonrpc": "2.0", "method": "agenttool/event", "params": map[string]any{
			"seq": 1, "event": map[string]any{"event_type": kind, "data": data},
		}})
	}
}

// answered returns the answers that counted, as JSON lines.
func (f *fakeSession) answered() (all []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range f.answers {
		encoded, err := json.Marshal(a)
		if err != nil {
			f.t.Error(err)
		}
		all = append(all, string(encoded))
	}
	return all
}

// set changes something of the session.
func (f *fakeSession) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}
