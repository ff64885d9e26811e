package approve

import (
	"encoding/json"

	"toolhost/agenttool"
)

// The events that come from sessions. Those of one session come in their order.
type (
	// Opened reports a session that can be reached, or new information about a known one.
	Opened struct{ Session Session }

	// Closed is the end of a session, or of the connection to it.
	Closed struct{ Session, Why string }

	// Asked reports a waiting prompt. It may come more than once for the same prompt.
	Asked struct {
		Session string
		Prompt  Prompt
	}

	// Ended reports the end of a prompt, for any reason.
	Ended struct {
		Session string
		ID      agenttool.DecisionID
		How     string // a sentence for a person
		Lost    bool   // the prompt disappeared without a report of its end
	}

	// Answered says that an answer arrived; with an error it did not count, and the prompt may wait on.
	Answered struct {
		Answer Answer
		Err    error
	}

	// Trouble is something that keeps sessions from being reached.
	Trouble struct{ Text string }

	// Complete says that all sessions that ran at the start have been heard.
	Complete struct{}
)

// Answerer sends answers to sessions.
type Answerer interface {
	// Answer sends an answer and returns when it counts. The error says why it does not.
	Answer(Answer) error

	// Code sends a session the code that it shows. The session then comes as [Opened] again.
	Code(session, code string) error

	// Mode changes the mode of a session. A looser one takes the code that the session shows once it was asked for without one. The
	// session then comes as [Opened] again.
	Mode(session, mode, code string) error

	// Try asks a session for the coverage of rules. The error is that of the parser.
	Try(session string, id agenttool.DecisionID, rules []string) (Trial, error)

	// Activity asks a session for its running calls and its last denials.
	Activity(session string) (Activity, error)
}

// Answer is a person's answer to a prompt, as it is sent.
type Answer struct {
	Session       string               `json:"-"`
	ID            agenttool.DecisionID `json:"decision_id"`
	Behavior      agenttool.Behavior   `json:"behavior"`
	Scope         string               `json:"scope,omitempty"`
	UpdatedInput  json.RawMessage      `json:"updated_input,omitempty"`
	Grants        []string             `json:"grants,omitempty"`
	AcceptUpdates []int                `json:"accept_updates,omitempty"`
	Rules         []string             `json:"rules,omitempty"` // of the person's own
	Opens         []string             `json:"opens,omitempty"` // directories that the person saw stay open
	Feedback      string               `json:"feedback,omitempty"`
}
