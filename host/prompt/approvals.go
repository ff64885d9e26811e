package prompt

import (
	"cmp"
	"time"

	"toolhost/agenttool"
)

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
