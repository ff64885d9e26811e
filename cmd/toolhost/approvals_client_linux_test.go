package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"toolhost/agenttool/cut"
	"toolhost/agenttool/recordtest"
)

// soon is how long what a host does by itself may take. It is generous.
const soon = time.Minute

// speaker is one end of the wire, the client's or a person's: it answers nothing by itself.
type speaker struct {
	t    testing.TB
	name string
	to   io.WriteCloser
	over chan struct{} // closed when nothing more comes

	writing sync.Mutex
	last    atomic.Int64

	mu      sync.Mutex
	waiting map[int64]chan []byte // nil: nothing more comes
	heard   []notice
	news    chan struct{} // closed at the next notice
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
	Feedback     string `json:"accept_feedback"`
	Blocked      string `json:"blocked_path"`
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

func newSpeaker(t testing.TB, name string, to io.WriteCloser, from io.Reader) *speaker {
	s := &speaker{
		t: t, name: name, to: to, over: make(chan struct{}), waiting: map[int64]chan []byte{}, news: make(chan struct{}),
	}
	go s.read(from)
	return s
}

func (s *speaker) read(from io.Reader) {
	defer close(s.over)
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		s.receive(slices.Clone(lines.Bytes()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.waiting {
		close(c)
	}
	s.waiting = nil
	close(s.news)
}

func (s *speaker) receive(line []byte) {
	var m struct {
		ID     int64
		Params *struct{ Event notice }
	}
	if err := json.Unmarshal(line, &m); err != nil {
		s.t.Errorf("%s is told what is no message: %v: %s", s.name, err, cut.Characters(string(line), 300))
		return
	}
	for _, err := range recordtest.Message(line) {
		s.t.Errorf("%s is told: %v\n%s", s.name, err, cut.Characters(string(line), 2000))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Params != nil {
		m.Params.Event.order = len(s.heard)
		s.heard = append(s.heard, m.Params.Event)
		close(s.news)
		s.news = make(chan struct{})
		return
	}
	if c := s.waiting[m.ID]; c != nil {
		delete(s.waiting, m.ID)
		c <- line
	}
}

// send sends a request; its answer comes through the channel, which is closed without one if nothing more comes.
func (s *speaker) send(method string, params any) <-chan []byte {
	id, c := s.last.Add(1), make(chan []byte, 1)
	s.mu.Lock()
	if s.waiting == nil {
		close(c)
	} else {
		s.waiting[id] = c
	}
	s.mu.Unlock()
	line, err := json.Marshal(fields{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		panic(err)
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_, _ = s.to.Write(append(line, '\n')) // what is not written is not answered
	return c
}

// try sends a request and waits for its result.
func (s *speaker) try(method string, params, result any) error {
	return settle(s.name+": "+method, s.send(method, params), result, soon)
}

// request is try where an error ends the test.
func (s *speaker) request(method string, params, result any) {
	s.t.Helper()
	if err := s.try(method, params, result); err != nil {
		s.t.Fatal(err)
	}
}

// refused is a request that must be refused, and why it was.
func (s *speaker) refused(method string, params any) string {
	s.t.Helper()
	err := s.try(method, params, &struct{}{})
	if err == nil {
		s.t.Errorf("%s: %s %v was not refused", s.name, method, params)
		return ""
	}
	return err.Error()
}

// hello says hello, and that prompts are answered.
func (s *speaker) hello(code string) (g greeting) {
	s.t.Helper()
	params := fields{"client": fields{"name": s.name}, "approvals": true}
	if code != "" {
		params["code"] = code
	}
	s.request("agenttool/hello", params, &g)
	return g
}

// answer answers a prompt with more: scope, grants, and so on.
func (s *speaker) answer(p prompted, behavior string, more ...fields) (d ruling, err error) {
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
func (s *speaker) decide(p prompted, behavior string, more ...fields) ruling {
	s.t.Helper()
	d, err := s.answer(p, behavior, more...)
	if err != nil {
		s.t.Fatal(err)
	}
	if d.RequestRef != p.Decision.ID || d.Behavior != behavior {
		s.t.Errorf("%s: %s is the answer to %s, and says %s", s.name, d.RequestRef, p.Decision.ID, d.Behavior)
	}
	return d
}

// undecided is an answer that must not count, and why.
func (s *speaker) undecided(p prompted, behavior string, more ...fields) string {
	s.t.Helper()
	d, err := s.answer(p, behavior, more...)
	if err == nil {
		s.t.Errorf("%s: the answer %s %v counts: %+v", s.name, behavior, more, d)
		return ""
	}
	return err.Error()
}

// prompts are those that are open.
func (s *speaker) prompts() []prompted {
	s.t.Helper()
	var open struct{ Prompts []prompted }
	s.request("agenttool/prompts", fields{}, &open)
	return open.Prompts
}

// notices are those so far that are so.
func (s *speaker) notices(so func(notice) bool) (found []notice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.heard {
		if so(n) {
			found = append(found, n)
		}
	}
	return found
}

// notice waits for the first that is so, of those that came and those that will.
func (s *speaker) notice(what string, so func(notice) bool) notice {
	s.t.Helper()
	limit := time.NewTimer(soon)
	defer limit.Stop()
	for {
		s.mu.Lock()
		news, ended := s.news, s.waiting == nil
		s.mu.Unlock()
		if found := s.notices(so); len(found) > 0 {
			return found[0]
		}
		if ended {
			s.t.Fatalf("%s: the end came before: %s", s.name, what)
		}
		select {
		case <-news:
		case <-limit.C:
			s.t.Fatalf("%s is not told: %s", s.name, what)
		}
	}
}

// prompt waits for a prompt about a call whose input has text in it, that is the nth of those, from 1.
func (s *speaker) prompt(text string, nth int) prompted {
	s.t.Helper()
	asks := func(n notice) bool {
		return n.Type == "tool.permission.requested" && strings.Contains(string(n.Data.Input), text)
	}
	return s.notice(fmt.Sprintf("prompt %d about %s", nth, text), func(n notice) bool {
		return asks(n) && len(s.noticesBefore(n.order, asks)) == nth-1
	}).Data.prompted
}

// noticesBefore are those before the one of an order that are so. The caller holds s.mu.
func (s *speaker) noticesBefore(order int, so func(notice) bool) (found []notice) {
	for _, n := range s.heard[:order] {
		if so(n) {
			found = append(found, n)
		}
	}
	return found
}

// ended waits until it is told that a prompt has ended, and returns how.
func (s *speaker) ended(p prompted) ruling {
	s.t.Helper()
	return s.notice("the prompt has ended", func(n notice) bool {
		return n.Type == "tool.permission.decided" && n.Data.Decision.RequestRef == p.Decision.ID
	}).Data.Decision
}

// forget takes a prompt out of what was heard.
func (s *speaker) forget(p prompted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = slices.DeleteFunc(s.heard, func(n notice) bool { return n.Data.Decision.ID == p.Decision.ID })
	for i := range s.heard {
		s.heard[i].order = i
	}
}

// asked is how many prompts there were.
func (s *speaker) asked() int {
	return len(s.notices(func(n notice) bool { return n.Type == "tool.permission.requested" }))
}
