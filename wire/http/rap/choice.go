package rap

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/host"
)

// choiceMessage asks the person at the runtime (RAP-17).
type choiceMessage struct {
	Type        string   `json:"type"` // user_choice
	Group       string   `json:"group_id"`
	ID          string   `json:"id"`
	CallID      *string  `json:"call_id,omitempty"`
	Prompt      string   `json:"prompt"`
	Choices     []string `json:"choices"`
	Default     int      `json:"default"`
	ResponseURL string   `json:"response_url"`
}

// choice is a question of the host that its runtime was asked. Server.mu guards what follows the options.
type choice struct {
	call    *call
	prompt  host.Prompt
	options []option // the last one denies, and is the default

	settled bool   // no answer is taken any more
	chosen  int    // the index of the option that was chosen; -1: none was
	became  string // of a question that is settled, in words
	wrong   int    // answers that were no valid choice
}

// maxWrong is how many answers may be no valid choice before the call is denied.
const maxWrong = 5

// option is one answer.
type option struct {
	label string
	scope host.Scope // empty: deny
}

// ask sends a prompt of the host to the runtime of its call. It does not block. A prompt that cannot be sent is denied.
func (s *Server) ask(c *call, p host.Prompt, over <-chan struct{}) {
	shown := newQuestion(p)
	q := &choice{call: c, prompt: p, options: shown.options}
	id := rand.Text() + rand.Text()
	s.mu.Lock()
	full := len(s.choices) >= maxChoices
	if !full {
		s.choices[id] = q
		c.choices = append(c.choices, id)
	}
	s.mu.Unlock()
	m := choiceMessage{
		Type: "user_choice", Group: c.Group, ID: c.ID, CallID: c.CallID, Prompt: shown.text,
		Default: len(q.options) - 1, ResponseURL: c.base + SecretPath + "/" + id,
	}
	for _, o := range q.options {
		m.Choices = append(m.Choices, o.label)
	}
	settled := func() bool {
		select {
		case <-over:
			return true
		default:
			return full
		}
	}
	s.postIf(c, m, settled, func(end outcome) {
		if end != taken {
			s.decide(q, option{}, "the person could not be asked")
		}
	})
}

// decide answers a prompt. An answer for the session that cannot count is one for once; anything else that cannot is a denial.
// unseen says why nobody chose the option; empty: somebody did.
func (s *Server) decide(q *choice, o option, unseen string) {
	answer := host.Answer{
		DecisionID: q.prompt.Decision.DecisionID, Behavior: agenttool.Deny, Channel: host.Channel{Name: "RAP runtime"}, Alone: true, Unseen: unseen,
	}
	var scopes []host.Scope
	switch o.scope {
	case host.ScopeSession:
		scopes = []host.Scope{host.ScopeSession, host.ScopeOnce}
	case host.ScopeOnce:
		scopes = []host.Scope{host.ScopeOnce}
	}
	for _, scope := range scopes {
		allow := answer
		allow.Behavior, allow.Scope = agenttool.Allow, scope
		_, err := s.o.Host.Decide(allow)
		if err == nil {
			return
		}
		if scope == host.ScopeSession {
			s.log("the answer to call %s does not count for the session: %s", visible.Text(q.call.ID), visible.Text(err.Error()))
		}
		answer.Unseen = "the answer that allowed it could not count: " + visible.Text(err.Error())
	}
	_, _ = s.o.Host.Decide(answer) // its error: somebody else has answered it, or it is over
}

// Knows reports whether the path of a request, without the base, is that of a question which is not over: it holds a secret that
// stands for a token. It may be asked by anybody.
func (s *Server) Knows(path string) bool {
	id, ok := strings.CutPrefix(path, SecretPath+"/")
	if !ok {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.choices[id] != nil
}

// errOver refuses answers to what nobody asks.
var errOver = refuse(http.StatusNotFound, "there is no such question, or it is over")

// serveChoice takes the answer to a question (RAP-17). What is no valid choice may be corrected a few times, and denies then: nothing
// stays pending.
func (s *Server) serveChoice(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	s.mu.Lock()
	q := s.choices[id]
	s.mu.Unlock()
	if q == nil { // whoever guesses takes nothing from those who know
		write(w, errOver)
		return
	}
	body, release, err := s.body(w, r, maxSmallBody)
	if err != nil {
		write(w, err)
		return
	}
	defer release()
	n, wrong := q.selected(body)
	o, unseen, settles, err := s.settleChoice(id, n, wrong)
	if err != nil {
		write(w, err)
	} else {
		acknowledge(w)
	}
	if settles {
		s.decide(q, o, unseen)
	}
}

// settleChoice notes an answer: the index of an option, or what is wrong with it. settles reports whether the question is to be
// decided now, by the option and why nobody chose it. The error is what the runtime is told.
func (s *Server) settleChoice(id string, n int, wrong error) (o option, unseen string, settles bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.choices[id]
	switch {
	case q == nil:
		return o, "", false, errOver
	case q.settled && wrong == nil && n == q.chosen: // it was sent again
		return o, "", false, nil
	case q.settled:
		return o, "", false, refuse(http.StatusConflict, "this question was answered: %s; that counts", q.became)
	case wrong == nil:
		q.settled, q.chosen, q.became = true, n, q.options[n].label
		return q.options[n], "", true, nil
	}
	if q.wrong++; q.wrong < maxWrong {
		return o, "", false, refuse(http.StatusBadRequest, "%v: send {\"id\": the id of the call, \"selected\": an index of choices}; the question is still open", wrong)
	}
	q.settled, q.chosen, q.became = true, -1, fmt.Sprintf("the call was denied after %d answers that were no valid choice", maxWrong)
	return o, "the answers to it were no valid choice: " + wrong.Error(), true, refuse(http.StatusBadRequest, "%v; %s", wrong, q.became)
}

// selected reads an answer: the id of the call, and the index of the option that was chosen.
func (q *choice) selected(body []byte) (int, error) {
	members, err := object(body)
	if err != nil {
		return 0, err
	}
	if id, err := text(members, "id", maxID); err != nil || id != q.call.ID {
		return 0, errors.New("id is not that of the call")
	}
	n, err := strconv.Atoi(string(members["selected"]))
	if err != nil || n < 0 || n >= len(q.options) {
		return 0, fmt.Errorf("selected is not the index of one of %d choices", len(q.options))
	}
	return n, nil
}
