package host

import (
	"errors"
	"fmt"
	"time"

	"toolhost/agenttool"
	"toolhost/host/prompt"
)

// Request asks for one call.
type Request struct {
	ID      string              // the caller's id, unique among live calls; required
	Tool    string              // name or alias
	Input   []byte              // a JSON object; kept byte for byte, and read as package adapt says
	Surface agenttool.SurfaceID // that the call is held to; empty: the session's
	Batch   string              // results of one batch are handed over in the order of their requests
	After   []string            // ids of earlier calls that must succeed first
	Timeout time.Duration       // deadline from admission; 0: none
	Actor   string              // the client, for the record
	Person  bool                // the person of the session asks, at a terminal of their own: to read or end its jobs takes no permission
	Trace   []byte              // a JSON object for the record's telemetry_refs; nil: none
	Mapping []byte              // a JSON object with the native ids of the call, for the record's external_mappings; nil: none
	Caller  Caller              // how the caller hears of it, if not by events
}

// Caller is the other end of one call, where that is not the client of the whole session. The zero value hears nothing
// and answers nothing. Its functions must not block.
type Caller struct {
	CallID string   // the call's id in the caller's protocol, for the record; empty: [Request].ID
	Refs   []string // its threads and groups, for the record's runtime_refs

	// Threads are the thread of the call, and those that it descends from. Rules of a thread count for its calls.
	Threads []string

	Capacity agenttool.Capacity // how much it takes of the result

	// Asked hears the prompts of this call. A caller that sets it answers them, by [Host.Decide], so that they wait for it
	// even if no user is there. over is closed when a prompt needs no answer any more.
	Asked prompt.Listener

	// Progress hears how the call goes on while it runs, at most ten times a second, and how a job ended that it left: its id is
	// the TaskID then, and Status is completed, failed or canceled.
	Progress func(agenttool.Progress)
}

// name is the call's id in the record.
func (r Request) name() string {
	if r.Caller.CallID != "" {
		return r.Caller.CallID
	}
	return r.ID
}

// MaxMapping bounds a mapping, and a trace, in bytes. Their records nest them: readers of JSON give up at 10,000 levels, so that a record
// with a deeper one could not be written, or not be read.
const MaxMapping = 8 << 10

// ErrRequest is wrapped by the errors of requests that were refused before anything was recorded or run.
var ErrRequest = prompt.ErrRefused

// IsRefused reports whether err says that a request was refused before anything happened.
func IsRefused(err error) bool { return errors.Is(err, ErrRequest) }

// ErrBusy is wrapped by the errors of requests that can be sent again when others have ended.
var ErrBusy = errors.New("busy")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrRequest}, args...)...)
}

// CancelAck answers a cancel request.
type CancelAck struct {
	Acknowledged bool   `json:"acknowledged"`
	Status       string `json:"status"` // the call's state at the request; unknown if there is no such live call
}

// CancelKind is a kind of request to cancel a call.
type CancelKind string

// The kinds.
const (
	Interrupt CancelKind = "interrupt" // the result says that it was canceled
	Fallback  CancelKind = "fallback"  // the model's stream was given up for another: the result is discarded
)

// CancelKinds lists the kinds.
var CancelKinds = []CancelKind{Interrupt, Fallback}

// maxReason is the most bytes of a reason, and of the id of an unknown call, that a record holds.
const maxReason = 1 << 10

// Completion is how a call ended: the invocation, its one terminal result, and where the payload is kept.
type Completion struct {
	Invocation  agenttool.Invocation
	Result      agenttool.Result
	Persistence agenttool.Persistence
	Job         string // the id of a job that goes on after the call; empty: none
	Background  bool   // the call was made to start the job, and not to wait for it

	encoded []byte
}

// MarshalJSON writes {"invocation":…,"result":…,"persistence":…}.
func (c Completion) MarshalJSON() ([]byte, error) {
	if c.encoded != nil {
		return c.encoded, nil
	}
	return object("invocation", c.Invocation, "result", c.Result, "persistence", c.Persistence), nil
}
