// Package sessiontest has sessions that ask what a test wants, at sockets like those of real ones.
package sessiontest

import (
	"bufio"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/agenttool/json"
	"toolhost/cmd/toolhost/internal/sockets"
	"toolhost/wire/socket"
)

// Session is a session for tests. Its fields are read by requests: use [Session.Change] once it runs.
type Session struct {
	ID   string
	Path string // of its socket

	t *testing.T
	l *socket.Listener

	mu        sync.Mutex
	Approvals map[string]any // in the greeting; with a "code", that code is needed
	Warnings  []string
	Prompts   []map[string]any // the open ones, the oldest first
	Refuse    string           // why answers are refused; empty: they are accepted
	Silent    bool             // answers get no response
	Hellos    int
	Conns     map[net.Conn]bool // those that are sent prompts

	answers []map[string]any // the accepted ones
}

// Place is a directory of a test with those of sessions in it.
type Place string

// NewPlace makes a place, which goes with the test.
func NewPlace(t *testing.T) Place {
	t.Helper()
	base, err := os.MkdirTemp("", "th") // short: the path of a socket is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	return Place(base)
}

// Sockets is the directory of the sessions' sockets.
func (p Place) Sockets() string { return filepath.Join(string(p), "run", "toolhost") }

// Environ has the variables by which a program finds the sessions, and the configuration of the place.
func (p Place) Environ() []string {
	return []string{
		"XDG_RUNTIME_DIR=" + filepath.Join(string(p), "run"), "XDG_STATE_HOME=" + filepath.Join(string(p), "state"),
		"XDG_CONFIG_HOME=" + filepath.Join(string(p), "config"),
	}
}

// Runtime gives this process a place, and returns the directory for sockets.
func Runtime(t *testing.T) string {
	t.Helper()
	p := NewPlace(t)
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(string(p), "run"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(string(p), "state"))
	return p.Sockets()
}

// Start begins a session whose id ends with end.
func Start(t *testing.T, dir, end string) *Session {
	t.Helper()
	f := &Session{
		t: t, ID: "ses_fake" + end, Path: filepath.Join(dir, end+sockets.Suffix), Conns: map[net.Conn]bool{},
		Approvals: map[string]any{"may_answer": true, "scopes": []string{"once", "session", "project", "user"}},
	}
	l, err := socket.Listen(f.Path)
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

// Stop ends the session.
func (f *Session) Stop() { f.l.Close() }

func (f *Session) serve(conn net.Conn) {
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m struct {
			ID     int            `json:"id"`
			Method string         `json:"method"`
			Params map[string]any `json:"params"`
		}
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			f.t.Errorf("%s is not JSON", lines.Text())
			return
		}
		f.mu.Lock()
		result, refusal := f.respond(conn, m.Method, m.Params)
		silent := f.Silent && m.Method == "agenttool/decide"
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
	delete(f.Conns, conn)
	f.mu.Unlock()
}

func (f *Session) write(conn net.Conn, message map[string]any) {
	encoded, err := json.Marshal(message)
	if err != nil {
		f.t.Error(err)
	}
	_, _ = conn.Write(append(encoded, '\n')) // the client may be gone
}

// respond handles a request. The caller holds mu.
func (f *Session) respond(conn net.Conn, method string, params map[string]any) (result any, refusal string) {
	switch method {
	case "agenttool/hello":
		return f.hello(conn, params), ""
	case "agenttool/prompts":
		list := []map[string]any{}
		for _, p := range f.Prompts {
			if p["coalesced_with"] == nil {
				list = append(list, p)
			}
		}
		return map[string]any{"prompts": list}, ""
	case "agenttool/status":
		return map[string]any{"denied": []any{map[string]any{"tool": "write", "subject": "a.txt", "why": "no"}}}, ""
	case "agenttool/try":
		if rules := fmt.Sprint(params["rules"]); f.index(fmt.Sprint(params["decision_id"])) < 0 || !strings.Contains(rules, "(") {
			return nil, "invalid params: rule " + rules + ": there is no such tool"
		}
		return map[string]any{"parts": []any{map[string]any{"what": "make", "covered": true}}, "runs": true}, ""
	case "agenttool/decide":
		return f.decide(params)
	}
	return nil, "no such method"
}

func (f *Session) hello(conn net.Conn, params map[string]any) any {
	f.Hellos++
	approvals := maps.Clone(f.Approvals)
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
		f.Conns[conn] = true
	}
	return map[string]any{
		"session_id": f.ID, "workspace": "/home/me/app", "mode": "default", "sandbox": map[string]any{"level": "full"},
		"approvals": approvals, "warnings": f.Warnings, "surface": map[string]any{},
	}
}

func (f *Session) decide(params map[string]any) (result any, refusal string) {
	i := f.index(fmt.Sprint(params["decision_id"]))
	switch {
	case i < 0:
		return nil, "no prompt waits for an answer: it was answered, it expired, or it never was"
	case f.Refuse != "":
		return nil, f.Refuse
	}
	f.answers = append(f.answers, params)
	f.endLocked(i, fmt.Sprint(params["behavior"]), "answered with toolhost approve")
	return map[string]any{"decision": map[string]any{}}, ""
}

func (f *Session) index(id string) int {
	return slices.IndexFunc(f.Prompts, func(p map[string]any) bool { return p["decision"].(map[string]any)["decision_id"] == id })
}

// Ask opens a prompt about a command. The members in more replace those of the prompt.
func (f *Session) Ask(id, command string, more map[string]any) {
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
	f.Prompts = append(f.Prompts, prompt)
	f.Broadcast("tool.permission.requested", prompt)
}

// End ends a prompt as another client would.
func (f *Session) End(id, behavior, detail string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.endLocked(f.index(id), behavior, detail)
}

func (f *Session) endLocked(i int, behavior, detail string) {
	id := f.Prompts[i]["decision"].(map[string]any)["decision_id"]
	f.Prompts = slices.Delete(f.Prompts, i, i+1)
	f.Broadcast("tool.permission.decided", map[string]any{"decision": map[string]any{
		"decision_id": "d", "request_ref": id, "behavior": behavior, "reason": map[string]any{"type": "other", "detail": detail},
	}})
}

// Broadcast sends an event. The caller is in [Session.Change].
func (f *Session) Broadcast(kind string, data map[string]any) {
	for conn := range f.Conns {
		f.write(conn, map[string]any{"jsonrpc": "2.0", "method": "agenttool/event", "params": map[string]any{
			"seq": 1, "event": map[string]any{"event_type": kind, "data": data},
		}})
	}
}

// Answers are the accepted answers, as JSON lines.
func (f *Session) Answers() (all []string) {
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

// Change calls change while no request is handled.
func (f *Session) Change(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// Asks reports whether a prompt is open.
func (f *Session) Asks(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.index(id) >= 0
}

// WantAnswers waits for answers, and fails the test unless these are all.
func (f *Session) WantAnswers(want ...string) {
	f.t.Helper()
	for begun := time.Now(); len(f.Answers()) < len(want) && time.Since(begun) < time.Minute; time.Sleep(10 * time.Millisecond) {
	}
	if got := strings.Join(f.Answers(), "\n"); got != strings.Join(want, "\n") {
		f.t.Errorf("the answers are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}
