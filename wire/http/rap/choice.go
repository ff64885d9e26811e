package rap

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/host"
	"toolhost/host/prompt"
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

// choice is a prompt of the host as a question to a runtime. questions.mu guards the fields after the options.
type choice struct {
	call    *call
	prompt  prompt.Prompt
	opens   []string // directories that the text says stay open
	options []option // the last one denies, and is the default

	settled bool   // no answer is taken any more
	chosen  int    // the index of the option that was chosen; -1: none was
	became  string // of a question that is settled, in words
	wrong   int    // answers that were no valid choice
}

// maxWrong is how many answers may be no valid choice before the call is denied.
const maxWrong = 5

// questions are the open questions to runtimes, by their secret ids.
type questions struct {
	host   *host.Host
	o      *Options
	outbox *outbox

	mu   sync.Mutex
	open map[string]*choice
	past []string // ids of questions whose calls have ended, the oldest first
}

// maxPast is how many ended questions are remembered, so that a late answer gets the right refusal.
const maxPast = 1024

// of returns a question; nil: there is none of this id.
func (a *questions) of(id string) *choice {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open[id]
}

// forget drops the questions of a call.
func (a *questions) forget(c *call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, q := range a.open {
		if q.call == c {
			delete(a.open, id)
			a.past = append(a.past, id)
		}
	}
	if over := len(a.past) - maxPast; over > 0 {
		a.past = slices.Clone(a.past[over:])
	}
}

// ended reports whether a question of this id was open, and its call has ended.
func (a *questions) ended(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Contains(a.past, id)
}

// refusal returns the error of an answer whose id names no open question.
func (a *questions) refusal(id string) error {
	if a.ended(id) {
		return errOver
	}
	return errNever
}

// ask sends a prompt of the host to the runtime of its call. It does not block. A prompt that cannot be sent is denied.
func (a *questions) ask(c *call, p prompt.Prompt, over <-chan struct{}) {
	shown := newQuestion(p)
	q := &choice{call: c, prompt: p, opens: shown.opens, options: shown.options}
	id := rand.Text() + rand.Text()
	a.mu.Lock()
	full := len(a.open) >= maxChoices
	if !full {
		a.open[id] = q
	}
	a.mu.Unlock()
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
	a.outbox.postIf(c, m, settled, func(end outcome) {
		if end != taken {
			a.decide(q, option{}, "the person could not be asked")
		}
	})
}

// decide answers a prompt. If the host refuses an answer for the session, the answer counts once; any other refused answer denies.
// unseen says why no person chose the option; empty: one did.
func (a *questions) decide(q *choice, o option, unseen string) {
	answer := prompt.Answer{
		DecisionID: q.prompt.Decision.DecisionID, Behavior: agenttool.Deny, Channel: prompt.Channel{Name: "RAP runtime"}, Alone: true, Unseen: unseen,
		Thread: q.call.Group,
	}
	var scopes []prompt.Scope
	switch o.scope {
	case prompt.ScopeSession:
		scopes = []prompt.Scope{prompt.ScopeSession, prompt.ScopeOnce}
	case prompt.ScopeOnce:
		scopes = []prompt.Scope{prompt.ScopeOnce}
	}
	for _, scope := range scopes {
		allow := answer
		allow.Behavior, allow.Scope, allow.Opens = agenttool.Allow, scope, q.opens
		_, err := a.host.Decide(allow)
		if err == nil {
			return
		}
		if scope == prompt.ScopeSession {
			a.o.log("the answer to call %s does not count for the session: %s", visible.Text(q.call.ID), visible.Text(err.Error()))
		}
		answer.Unseen = "the answer that allowed it could not count: " + visible.Text(err.Error())
	}
	_, _ = a.host.Decide(answer) // its error: the prompt was answered elsewhere, or it is over
}

// errOver refuses answers to questions that are over, errNever those to unknown ones.
var (
	errOver  = refuse(http.StatusGone, "this question is over: it was answered, or it expired with its call")
	errNever = refuse(http.StatusNotFound, "no question waits at this path; post to the response_url of an open question")
)

// settle notes an answer: the index of an option, or the error of an invalid answer. If settles is true, the caller decides
// the question by the option and unseen, the reason why no person chose it. The error goes to the runtime.
func (a *questions) settle(id string, n int, wrong error) (o option, unseen string, settles bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := a.open[id]
	switch {
	case q == nil:
		return o, "", false, errNever
	case q.settled && wrong == nil && n == q.chosen: // it was sent again
		return o, "", false, nil
	case q.settled:
		return o, "", false, refuse(http.StatusGone, "this question was answered: %s; that counts", q.became)
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
