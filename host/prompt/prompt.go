package prompt

import (
	"encoding/json"

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
