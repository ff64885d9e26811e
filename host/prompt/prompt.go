// Package prompt asks a user about a call, and returns the answer.
//
// The broker holds the questions that wait. It knows a call only as [Call]. A question reaches attached users by its
// event, the caller of the call by [Question.Asked], and other users later, if prompts wait for them: [Broker.Reaches] covers all three.
//
//	detach := broker.Attend() // a user is there
//	…
//	waiting, err := broker.Open(question) // by the call
//	answer, err := waiting.Answer(ctx)
//	waiting.Over()
//	…
//	decision, err := broker.Decide(prompt.Answer{…}) // by the user
package prompt

import (
	"cmp"
	"encoding/json"
	"time"

	"toolhost/agenttool"
)

// Prompt is a question to a person, with all that they need to answer it.
type Prompt struct {
	Decision  agenttool.Decision `json:"decision"` // the one that asks; its diff is in content_blocks
	Tool      string             `json:"tool"`
	Input     json.RawMessage    `json:"input"` // as it would run
	Facts     *agenttool.Facts   `json:"facts"`
	Dir       string             `json:"dir"`
	Sandbox   *Sandbox           `json:"sandbox,omitempty"`          // that it would run in; nil: it runs nothing
	Grants    []string           `json:"suggested_grants,omitempty"` // grants by which an answer may widen that sandbox
	Opens     []string           `json:"opens,omitempty"`            // directories that it makes outside of the workspace, "push:DIR" for repositories that it pushes to; an answer may keep them open
	Attempt   int                `json:"attempt,omitempty"`          // 2 and more: it ran before, and was kept from something
	Coalesced string             `json:"coalesced_with,omitempty"`   // the decision_id of a prompt that asks the same; answering it answers this one
	AskedAt   string             `json:"asked_at"`
	Scopes    []Scope            `json:"-"` // that answers of the client may have
}

// Sandbox is the sandbox that a call would get.
type Sandbox struct {
	Level   string   `json:"level"`   // of this machine
	Profile string   `json:"profile"` // read_only, workspace or unconfined
	Grants  []string `json:"grants,omitempty"`
}

// Answer is a person's answer to a prompt.
type Answer struct {
	DecisionID    agenttool.DecisionID
	Behavior      agenttool.Behavior // allow or deny
	Scope         Scope              // empty: ScopeOnce
	UpdatedInput  []byte             // runs instead of the input that was shown; nil: that one
	Grants        []string           // widen the sandbox of this call, see [agenttool.Confined]
	AcceptUpdates []int              // which suggested updates to accept; with a wider scope than once none means the first
	Rules         []string           // of the person's own, which are kept for the scope, and cover something of the call
	Opens         []string           // of the prompt's, those that the user saw: they stay open to calls of the session
	Feedback      string             // told to the model
	Channel       Channel            // of the answer

	// Alone says that it is for this prompt only, and not for those that ask the same: the user does not see them.
	Alone bool

	// Thread is the caller's thread where the rules that the answer keeps count. They also count in threads that descend from it;
	// empty: in the whole session.
	Thread string

	// Unseen says why perhaps no user saw the prompt of a denial: "the client declined". The call's error says how else it
	// could be allowed, and not that a user said no. It ends only the channel that it comes by, if others can still answer.
	Unseen string
}

// Approvals says how prompts are answered. The zero value waits only while a user is attached.
type Approvals struct {
	Timeout time.Duration // how long a prompt waits for its answer; 0: 10 minutes
	Wall    time.Duration // how long a running command is held while a user is asked; 0: 2 minutes; less: it is not
	Wait    Wait          // whether a prompt waits although no user may be there; empty: WaitAttached
	Widest  Scope         // the widest scope of an answer of the client; empty: ScopeSession

	Here     func() bool                             // whether a user who is not attached yet will answer; nil: none will
	Opened   func()                                  // called for the first prompt, before it is shown; may be nil
	Remember func(scope Scope, rules []string) error // keeps rules for longer than the session; nil: nothing does
}

// Wait says when a prompt waits for an answer.
type Wait string

// When prompts wait.
const (
	WaitAttached Wait = "attached" // while a user is attached, or about to be
	WaitAlways   Wait = "always"
	WaitNever    Wait = "never" // but for the client that says that it answers
)

// Scope is the scope of an answer.
type Scope string

// The scopes, the narrowest first.
const (
	ScopeOnce    Scope = "once"
	ScopeSession Scope = "session"
	ScopeProject Scope = "project"
	ScopeUser    Scope = "user"
)

// Scopes lists them, the narrowest first.
var Scopes = []Scope{ScopeOnce, ScopeSession, ScopeProject, ScopeUser}

// Channel is a way for a user to answer. The zero value is the client's.
type Channel struct {
	Name   string  // for the record; empty: the client
	Scopes []Scope // that its answers may have; nil: those of the client

	By agenttool.Answerer // for the record; without a client Name is one
}

// answerer returns the party that answers by the channel.
func (c Channel) answerer() *agenttool.Answerer {
	by := c.By
	by.Client = cmp.Or(by.Client, c.Name, "the client")
	return &by
}

// defaultTimeout is how long a prompt waits for its answer.
const defaultTimeout = 10 * time.Minute

func (a Approvals) timeout() time.Duration {
	if a.Timeout > 0 {
		return a.Timeout
	}
	return defaultTimeout
}

// defaultWall is how long a running command is held while a user is asked.
const defaultWall = 2 * time.Minute

// waitsAlone reports whether prompts wait although no user is attached.
func (a Approvals) waitsAlone() bool {
	switch a.Wait {
	case WaitAlways:
		return true
	case WaitNever:
		return false
	}
	return a.Here != nil && a.Here()
}
