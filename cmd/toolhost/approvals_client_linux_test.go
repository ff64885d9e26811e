package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/agenttool/cut"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/testdata/support/recordtest"
	"toolhost/testdata/support/wiretest"
)

// soon is how long what a host does by itself may take. It is generous.
const soon = time.Minute

// wireClient is one end of the wire, the client's or a person's: it answers nothing by itself.
type wireClient struct {
	*wiretest.Conn
	t    testing.TB
	name string
	user string // whose answers it gives

	mu   sync.Mutex
	kept []notice
	news chan struct{} // closed at the next notice
}

// notice is an event.
type notice struct {
	Type         string `json:"event_type"`
	InvocationID string `json:"invocation_id"`
	Data         struct {
		prompted
		Warning string
		Mode    string
	}
	order int // of all that this speaker has heard, from 0
}

// prompted is a prompt as it is shown. Of the event that tells of an answer it holds the decision only.
type prompted struct {
	Decision ruling
	Tool     string
	Input    json.RawMessage
	Dir      string
	Sandbox  struct {
		Level, Profile string
		Grants         []string
	}
	Grants    []string `json:"suggested_grants"`
	Opens     []string
	Attempt   int
	Coalesced string `json:"coalesced_with"`
}

// String is what a failed test prints.
func (p prompted) String() string {
	return fmt.Sprintf("%s %s in %s, sandbox %+v, grants %q, attempt %d, with %q: %+v", p.Tool, p.Input, p.Dir, p.Sandbox, p.Grants, p.Attempt, p.Coalesced, p.Decision)
}

// ruling is a decision.
type ruling struct {
	ID           string `json:"decision_id"`
	InvocationID string `json:"invocation_id"`
	RequestRef   string `json:"request_ref"`
	Behavior     string
	Source       string
	Feedback     string                        `json:"accept_feedback"`
	AnsweredBy   struct{ User, Client string } `json:"answered_by"`
	Blocked      string                        `json:"blocked_path"`
	Grants       []string
	RuleRefs     []string                      `json:"rule_refs"`
	UserModified bool                          `json:"user_modified"`
	Suggested    []struct{ Rules []string }    `json:"suggested_updates"`
	Blocks       []struct{ Type, Diff string } `json:"content_blocks"`
	Reason       struct {
		Type, Detail string
		RuleRef      string `json:"rule_ref"`
	}
}

// greeting is the answer to a hello.
type greeting struct {
	Session   string `json:"session_id"`
	Workspace string
	Mode      string
	Sandbox   struct{ Level string }
	Warnings  []string
	Approvals struct {
		May       bool `json:"may_answer"`
		Why       string
		NeedsCode bool `json:"needs_code"`
		Scopes    []string
		Command   string
		Code      string
		Detail    string
	}
}

func newSpeaker(t testing.TB, name string) *wireClient {
	return &wireClient{t: t, name: name, user: session.UserName(), news: make(chan struct{})}
}

// process starts a process to speak with.
func (s *wireClient) process(cmd *exec.Cmd) *wiretest.Process {
	s.t.Helper()
	started := make(chan struct{}) // s has its connection then
	p, err := wiretest.Start(cmd, wiretest.Options{Malformed: malformed(s.t, s.name), Heard: func(m wiretest.Message) {
		<-started
		s.heard(m)
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.Conn = p.Conn
	close(started)
	return p
}

// heard checks a message, and keeps an event.
func (s *wireClient) heard(m wiretest.Message) {
	for _, err := range recordtest.Message(m.Line) {
		s.t.Errorf("%s is told: %v\n%s", s.name, err, cut.Characters(string(m.Line), 2000))
	}
	if m.Method == "" {
		return
	}
	var params struct{ Event notice }
	if err := json.Unmarshal(m.Params, &params); err != nil {
		s.t.Errorf("%s is told: %v: %s", s.name, err, cut.Characters(string(m.Line), 300))
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	params.Event.order = len(s.kept)
	s.kept = append(s.kept, params.Event)
	close(s.news)
	s.news = make(chan struct{})
}

// try sends a request and waits for its result.
func (s *wireClient) try(method string, params, result any) error {
	if err := s.Request(method, params, result, soon); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return nil
}

// request is try where an error ends the test.
func (s *wireClient) request(method string, params, result any) {
	s.t.Helper()
	if err := s.try(method, params, result); err != nil {
		s.t.Fatal(err)
	}
}

// refused is a request that must be refused, and why it was.
func (s *wireClient) refused(method string, params any) string {
	s.t.Helper()
	err := s.try(method, params, &struct{}{})
	if err == nil {
		s.t.Errorf("%s: %s %v was not refused", s.name, method, params)
		return ""
	}
	return err.Error()
}

// hello says hello, and that prompts are answered.
func (s *wireClient) hello(code string) (g greeting) {
	s.t.Helper()
	params := fields{"client": fields{"name": s.name}, "approvals": true}
	if code != "" {
		params["code"] = code
	}
	s.request("agenttool/hello", params, &g)
	return g
}

// answer answers a prompt with more: scope, grants, and so on.
func (s *wireClient) answer(p prompted, behavior string, more ...fields) (d ruling, err error) {
	params := fields{"decision_id": p.Decision.ID, "behavior": behavior}
	for _, m := range more {
		for name, value := range m {
			params[name] = value
		}
	}
	var result struct{ Decision ruling }
	err = s.try("agenttool/decide", params, &result)
	return result.Decision, err
}

// decide is an answer that must count.
func (s *wireClient) decide(p prompted, behavior string, more ...fields) ruling {
	s.t.Helper()
	d, err := s.answer(p, behavior, more...)
	if err != nil {
		s.t.Fatal(err)
	}
	user, client := s.user, "toolhost approve"
	if s.name == "the client" {
		user, client = "", "approvals/1"
	}
	if d.AnsweredBy.User != user || d.AnsweredBy.Client != client {
		s.t.Errorf("%s: the record says that %+v answered", s.name, d.AnsweredBy)
	}
	if d.RequestRef != p.Decision.ID || d.Behavior != behavior {
		s.t.Errorf("%s: %s is the answer to %s, and says %s", s.name, d.RequestRef, p.Decision.ID, d.Behavior)
	}
	return d
}

// undecided is an answer that must not count, and why.
func (s *wireClient) undecided(p prompted, behavior string, more ...fields) string {
	s.t.Helper()
	d, err := s.answer(p, behavior, more...)
	if err == nil {
		s.t.Errorf("%s: the answer %s %v counts: %+v", s.name, behavior, more, d)
		return ""
	}
	return err.Error()
}

// prompts are those that are open.
func (s *wireClient) prompts() []prompted {
	s.t.Helper()
	var open struct{ Prompts []prompted }
	s.request("agenttool/prompts", fields{}, &open)
	return open.Prompts
}

// notices are those so far that are so.
func (s *wireClient) notices(so func(notice) bool) (found []notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.kept {
		if so(n) {
			found = append(found, n)
		}
	}
	return found
}

// notice waits for the first that is so, of those that came and those that will.
func (s *wireClient) notice(what string, so func(notice) bool) notice {
	s.t.Helper()
	limit := time.NewTimer(soon)
	defer limit.Stop()
	for {
		ended := s.Over()
		s.mu.Lock()
		news := s.news
		s.mu.Unlock()
		if found := s.notices(so); len(found) > 0 {
			return found[0]
		}
		if ended {
			s.t.Fatalf("%s: the end came before: %s", s.name, what)
		}
		select {
		case <-news:
		case <-s.Ended():
		case <-limit.C:
			s.t.Fatalf("%s is not told: %s", s.name, what)
		}
	}
}

// prompt waits for a prompt about a call whose input has text in it, that is the nth of those, from 1.
func (s *wireClient) prompt(text string, nth int) prompted {
	s.t.Helper()
	asks := func(n notice) bool {
		return n.Type == "tool.permission.requested" && strings.Contains(string(n.Data.Input), text)
	}
	return s.notice(fmt.Sprintf("prompt %d about %s", nth, text), func(n notice) bool {
		return asks(n) && len(s.noticesBefore(n.order, asks)) == nth-1
	}).Data.prompted
}

// noticesBefore are those before the one of an order that are so. The caller holds s.mu.
func (s *wireClient) noticesBefore(order int, so func(notice) bool) (found []notice) {
	for _, n := range s.kept[:order] {
		if so(n) {
			found = append(found, n)
		}
	}
	return found
}

// ended waits until it is told that a prompt has ended, and returns how.
func (s *wireClient) ended(p prompted) ruling {
	s.t.Helper()
	return s.notice("the prompt has ended", func(n notice) bool {
		return n.Type == "tool.permission.decided" && n.Data.Decision.RequestRef == p.Decision.ID
	}).Data.Decision
}

// forget takes a prompt out of what was heard.
func (s *wireClient) forget(p prompted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = slices.DeleteFunc(s.kept, func(n notice) bool { return n.Data.Decision.ID == p.Decision.ID })
	for i := range s.kept {
		s.kept[i].order = i
	}
}

// asked is how many prompts there were.
func (s *wireClient) asked() int {
	return len(s.notices(func(n notice) bool { return n.Type == "tool.permission.requested" }))
}
