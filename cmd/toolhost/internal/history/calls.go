package history

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/persist"
)

// Call has the records of one call, as far as a time line shows them.
type Call struct {
	Invocation agenttool.InvocationID
	Subject    string // the client's id
	Tool       agenttool.ToolID
	Start, End time.Time
	Status     agenttool.ResultStatus // empty: it did not end
	Input      json.RawMessage        // as the model sent it, or as it ran if that is not known
	InputRef   string                 // the payload that holds the input; empty: Input does
	Asked      []Decision             // the decisions that asked; none: no person was asked
	Decided    []Decision
	Actor      string
	Summary    string
	Failure    string // code and message of the error
	Outcome    Outcome
	MayReach   []string        // hosts that the input names, of a call that was not refused
	MayChange  []string        // files that the input writes, of a call that was not refused and whose result names none
	Records    []persist.Entry // if [Reader.Keep]

	planned, started []byte // the events, decoded only of a call without a result
	steps            int64  // progress records
}

// Decision is the part of a permission decision that a time line shows.
type Decision struct {
	Time       time.Time          `json:"-"`
	ID         string             `json:"decision_id"`
	Behavior   agenttool.Behavior `json:"behavior"`
	Mode       string             `json:"mode"`
	Source     string             `json:"source"`
	RuleRefs   []string           `json:"rule_refs"`
	RequestRef string             `json:"request_ref"`
	Modified   bool               `json:"user_modified"`
	Feedback   string             `json:"accept_feedback"`
	AnsweredBy json.RawMessage    `json:"answered_by"`
	Reason     struct {
		Type        string `json:"type"`
		Detail      string `json:"detail"`
		RuleRef     string `json:"rule_ref"`
		Where       string `json:"where"`
		Subcommands []struct {
			Behavior agenttool.Behavior `json:"behavior"`
			Rule     string             `json:"rule"`
			Where    string             `json:"where"`
		} `json:"subcommands"`
	} `json:"reason"`
}

// Question returns the index of the decision in Asked that d answers; the last one if d does not say it, and -1 if there is none.
func (c *Call) Question(d Decision) int {
	for i, asked := range c.Asked {
		if asked.ID == d.RequestRef {
			return i
		}
	}
	return len(c.Asked) - 1
}

// RuleRef returns the deciding rule as SOURCE:RULE, empty if none decided.
func (d Decision) RuleRef() string {
	if d.Reason.RuleRef == "" && len(d.RuleRefs) > 0 {
		return d.RuleRefs[0]
	}
	return d.Reason.RuleRef
}

// Where returns FILE:LINE of the deciding rule, empty if it stands in no file.
func (d Decision) Where() string {
	if d.Reason.Where != "" {
		return d.Reason.Where
	}
	for _, s := range d.Reason.Subcommands {
		if s.Where != "" && strings.HasSuffix(d.RuleRef(), ":"+s.Rule) {
			return s.Where
		}
	}
	return ""
}

// By returns the user, terminal and client that answered the prompt, empty if the record does not say it.
func (d Decision) By() string {
	var by agenttool.Answerer
	if json.Unmarshal(d.AnsweredBy, &by) != nil || by.User == "" && by.Terminal == "" {
		return cmp.Or(by.Client, Plain(d.AnsweredBy))
	}
	text := cmp.Or(by.User, "somebody")
	if by.Terminal != "" {
		text += " at " + by.Terminal
	}
	if by.Client != "" {
		text += " with " + by.Client
	}
	return text
}

// Plain returns the texts of a JSON value in a line: a string as it is, and the members of an object with their names, in
// the order of these.
func Plain(value json.RawMessage) string {
	var v any
	if len(value) == 0 {
		return ""
	}
	if json.Unmarshal(value, &v) != nil {
		return string(value)
	}
	return plain(v)
}

func plain(v any) string {
	var texts []string
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		for _, e := range v {
			texts = append(texts, plain(e))
		}
		return strings.Join(texts, " ")
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			texts = append(texts, name+" "+plain(v[name]))
		}
		return strings.Join(texts, ", ")
	}
	return fmt.Sprint(v)
}

// Outcome is the part of the tools' results that a time line shows.
type Outcome struct {
	Path        string             `json:"path"` // of read, write and edit
	Created     bool               `json:"created"`
	Unchanged   bool               `json:"unchanged"`
	BytesBefore *int64             `json:"bytes_before"` // of write and edit
	ExitCode    *int               `json:"exit_code"`    // of commands
	Signal      string             `json:"signal"`
	Job         string             `json:"job"`
	State       agenttool.JobState `json:"state"`
	StdoutBytes int64              `json:"stdout_bytes"`
	StderrBytes int64              `json:"stderr_bytes"`
	Changed     []FileChange       `json:"changed_files"` // of commands; nil: nothing saw them
	MoreChanges int                `json:"more_changes"`  // not listed
	Hosts       []Host             `json:"hosts"`
}

// FileChange is a file that a call changed.
type FileChange struct {
	Path   string `json:"path"`
	Change string `json:"change"` // created, written, renamed, removed
	From   string `json:"from"`   // of a renamed file and a new hard link
}

// Cause returns how the file changed, with the former name after it if there is one.
func (f FileChange) Cause(workspace string) string {
	if f.From == "" {
		return f.Change
	}
	return f.Change + " from " + strings.TrimPrefix(f.From, workspace+"/")
}

// Host is a host that a call reached, or tried to.
type Host struct {
	Host     string `json:"host"`
	Port     int    `json:"port"`
	Allowed  *bool  `json:"allowed"`
	Sent     int64  `json:"bytes_sent"`
	Received int64  `json:"bytes_received"`
}

// Note is a record about the session and not about one call.
type Note struct {
	agenttool.Envelope
	Warning string
	Data    json.RawMessage
}

// Unended is a call or a job whose end is not in the log.
type Unended struct {
	Call     *Call
	CallRuns bool   // the call has no result
	Time     string // of the first record; of a job after its call's end, when the call began
	Job      string // empty: there is none
	Command  string // of the job
}

// Item is an entry of a time line. One of its fields is set.
type Item struct {
	Call    *Call
	Note    *Note
	Unended *Unended
}

// Time returns when the item began.
func (i Item) Time() time.Time {
	switch {
	case i.Call != nil:
		return i.Call.Start
	case i.Note != nil:
		return Time(i.Note.Time)
	}
	return Time(i.Unended.Time)
}

// About returns the call that the item is about; nil if it concerns the session.
func (i Item) About() *Call {
	if i.Unended != nil {
		return i.Unended.Call
	}
	return i.Call
}

// Reader makes a time line of the records of one session. Its zero value is ready.
type Reader struct {
	Keep  bool // calls hold their records
	Newer int  // records of a newer version, which are left out

	calls map[agenttool.InvocationID]*Call
	work  openWork
}

// Items returns the time line of a log: calls in the order of their ends, and at the end the calls and jobs that did not end.
func (r *Reader) Items(log io.Reader) iter.Seq2[Item, error] { return r.items(persist.Scan(log)) }

func (r *Reader) items(log iter.Seq2[persist.Entry, error]) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for entry, err := range log {
			if errors.Is(err, persist.ErrNewer) {
				r.Newer++
				continue
			}
			if err != nil {
				yield(Item{}, fmt.Errorf("%w: toolhost log verify says more", err))
				return
			}
			items, err := r.Add(entry)
			if err != nil {
				yield(Item{}, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}
		for _, item := range r.work.end() {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// Add reads the next record and returns the items that it completes.
func (r *Reader) Add(entry persist.Entry) ([]Item, error) {
	e, ok := agenttool.Peek(entry.Event)
	if !ok {
		return nil, fmt.Errorf("record %d is not an event: toolhost log verify says more", entry.Seq)
	}
	if e.InvocationID == "" {
		return r.note(e, entry)
	}
	c := r.call(e)
	if r.Keep {
		c.Records = append(c.Records, persist.Entry{Seq: entry.Seq, Event: slices.Clone(entry.Event)})
	}
	switch {
	case e.Type == agenttool.EventPlanned:
		c.planned = slices.Clone(entry.Event)
		r.work.note(c, e, &callData{})
		return nil, nil
	case e.Type == agenttool.EventStarted:
		c.started = slices.Clone(entry.Event)
		return nil, nil
	case !slices.Contains(shown, e.Type):
		return nil, nil
	}
	var data eventData
	var otherShape *json.UnmarshalTypeError // what it names stays empty: a tool's own result may have any shape
	if err := json.Unmarshal(entry.Event, &data); err != nil && !errors.As(err, &otherShape) {
		return nil, fmt.Errorf("record %d: %w", entry.Seq, err)
	}
	data.Data.apply(c, e)
	r.work.note(c, e, &data.Data)
	if e.Type != agenttool.EventResultCreated {
		return nil, nil
	}
	delete(r.calls, e.InvocationID)
	return []Item{{Call: c}}, nil
}

// shown are the events of calls that a time line reads.
var shown = []agenttool.EventType{
	agenttool.EventSelected, agenttool.EventArgumentsReady, agenttool.EventPermissionRequested, agenttool.EventPermissionDecided, agenttool.EventProgress, agenttool.EventResultCreated,
}

// call returns the call that an event is about.
func (r *Reader) call(e agenttool.Envelope) *Call {
	if r.calls == nil {
		r.calls = map[agenttool.InvocationID]*Call{}
	}
	c := r.calls[e.InvocationID]
	if c == nil {
		c = &Call{Invocation: e.InvocationID, Subject: e.Subject, Tool: e.ToolID, Start: Time(e.Time)}
		r.calls[e.InvocationID] = c
	}
	return c
}

// Call returns the call with this id that has not ended; nil if there is none.
func (r *Reader) Call(id agenttool.InvocationID) *Call {
	c := r.calls[id]
	if c != nil {
		c.recall()
	}
	return c
}

// recall reads the record that a call was admitted with. A result has all that it says.
func (c *Call) recall() {
	var data eventData
	if json.Unmarshal(c.planned, &data) == nil {
		data.Data.apply(c, agenttool.Envelope{})
	}
}

// note reads a record about the session.
func (r *Reader) note(e agenttool.Envelope, entry persist.Entry) (items []Item, err error) {
	var event struct {
		Data json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(entry.Event, &event); err != nil {
		return nil, fmt.Errorf("record %d: %w", entry.Seq, err)
	}
	var note struct {
		Warning   string         `json:"warning"`
		Continues *persist.Break `json:"continues"`
	}
	_ = json.Unmarshal(event.Data, &note)                                // most have none
	if e.Type == agenttool.EventSessionOpened && note.Continues == nil { // the process before this one has ended
		items = r.work.end()
		clear(r.calls)
	}
	return append(items, Item{Note: &Note{Envelope: e, Warning: note.Warning, Data: event.Data}}), nil
}

// eventData holds the members of the events of calls that a time line reads.
type eventData struct {
	Data callData `json:"data"`
}

type callData struct {
	Decision   *Decision       `json:"decision"`
	Input      json.RawMessage `json:"input"`
	Invocation *struct {
		NativeCallID  string           `json:"native_call_id"`
		ToolID        agenttool.ToolID `json:"tool_id"`
		ActorRef      string           `json:"actor_ref"`
		CreatedAt     string           `json:"created_at"`
		EndedAt       string           `json:"ended_at"`
		ModelInput    json.RawMessage  `json:"model_input"`
		ModelInputRef string           `json:"model_input_ref"`
		Observable    json.RawMessage  `json:"observable_input"`
		Facts         struct {
			Hosts  []string `json:"hosts"`
			Writes []struct {
				Absolute string `json:"absolute"`
			} `json:"writes"`
		} `json:"facts"`
	} `json:"invocation"`
	Result *struct {
		Status  agenttool.ResultStatus `json:"status"`
		Summary string                 `json:"ui_facing_summary"`
		Outcome Outcome                `json:"structured_content"`
		Error   *struct {
			Code    string `json:"error_code"`
			Message string `json:"message"`
		} `json:"error"`
	} `json:"result"`
	Progress *struct {
		TaskID   string `json:"task_id"`
		Status   string `json:"status"`
		Command  string `json:"command"`
		Sequence int64  `json:"sequence"`
	} `json:"progress"`
}

// apply adds to a call what an event says of it.
func (d *callData) apply(c *Call, e agenttool.Envelope) {
	if d.Decision != nil {
		d.Decision.Time = Time(e.Time)
		if e.Type == agenttool.EventPermissionRequested {
			c.Asked = append(c.Asked, *d.Decision)
		} else {
			c.Decided = append(c.Decided, *d.Decision)
		}
	}
	if len(c.Input) == 0 && len(d.Input) > 0 {
		c.Input = d.Input
	}
	if d.Progress != nil {
		c.steps = max(c.steps, d.Progress.Sequence)
	}
	if i := d.Invocation; i != nil {
		c.Actor, c.InputRef, c.MayReach = i.ActorRef, i.ModelInputRef, i.Facts.Hosts
		for _, w := range i.Facts.Writes {
			c.MayChange = append(c.MayChange, w.Absolute)
		}
		if i.CreatedAt != "" {
			c.Start = Time(i.CreatedAt)
		}
		for _, input := range []json.RawMessage{i.Observable, i.ModelInput} {
			if len(input) > 0 {
				c.Input = input
			}
		}
		if i.EndedAt != "" {
			c.End = Time(i.EndedAt)
		}
	}
	if r := d.Result; r != nil {
		c.Status, c.Summary, c.Outcome = r.Status, r.Summary, r.Outcome
		if r.Error != nil {
			c.Failure = r.Error.Code + ": " + r.Error.Message
		}
		if c.Denied() {
			c.MayReach, c.MayChange = nil, nil
		}
		seen := c.Outcome.Changed != nil && c.Outcome.State == agenttool.JobEnded
		if seen || len(c.Changes()) > 0 || c.Outcome.BytesBefore != nil || c.Tool != "toolhost.shell" && c.Status != agenttool.ResultSucceeded {
			c.MayChange = nil
		}
	}
}

// Time reads a timestamp of a record; zero if it is none.
func Time(stamp string) time.Time {
	t, _ := time.Parse(time.RFC3339, stamp)
	return t
}
