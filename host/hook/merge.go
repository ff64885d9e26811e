package hook

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
)

// Run is one run of a hook: the record of it, what it said, and why it failed.
type Run struct {
	Hook   *Hook
	Record agenttool.Hook
	Answer Answer
	Err    *agenttool.Error // nil: it answered, or had no opinion. Of class hook_blocked
}

// Message is a text of a hook, with its run and hook.
type Message struct {
	Text string
	Ref  agenttool.HookID
	Name string // of the hook, as [Hook.Name]
}

// Outcome is the merged answer of the hooks of one event. The zero value is no opinion.
type Outcome struct {
	Behavior agenttool.Behavior // deny over ask over allow; "": no opinion
	Why      Message            // of the first hook with that opinion
	Stop     *Message           // beats every opinion
	Rewrites
	Context  string    // for the model; "" for none
	Messages []Message // for the person
	Failures []*agenttool.Error
}

// Rewrites are the changes of hooks, each with its hook.
type Rewrites struct {
	Input    json.RawMessage // the input to run instead; nil: unchanged
	InputBy  Message
	Output   *Output // the output to return instead; nil: unchanged
	OutputBy Message
}

const (
	maxContext  = 10_000 // characters of all context of an event
	maxMessages = 10_000 // characters of all its messages
	maxReason   = 2_000  // characters of one reason
)

// Merge merges the answers of the runs of an event, which are in the order of the settings.
//
// The strictest behaviour counts. If another hook rewrites the input, an allow does not count, because its hook has not seen the
// new input. Two hooks that rewrite the input differently contradict each other, which is a failure; of two
// outputs the first counts, and the failure is reported. A run that failed has no answer.
func Merge(e Event, runs []Run) Outcome {
	var o Outcome
	for i := range runs {
		if r := &runs[i]; r.Err != nil {
			o.Failures = append(o.Failures, r.Err)
		} else {
			o.rewrite(e, r)
		}
	}
	var context []string
	room := maxMessages
	for i := range runs {
		r := &runs[i]
		if r.Err != nil {
			continue
		}
		o.weigh(r)
		if m := r.Answer.Message; m != "" && room > 0 {
			o.Messages = append(o.Messages, r.says(cut(Printable(m), room)))
			room -= len(m)
		}
		for _, t := range r.Answer.Context {
			context = append(context, t.Text)
		}
	}
	o.Context = cut(Printable(strings.Join(context, "\n")), maxContext)
	return o
}

// rewrite takes up what a run changes.
func (o *Outcome) rewrite(e Event, r *Run) {
	if in := r.Answer.UpdatedInput; in != nil && o.Input == nil {
		o.Input, o.InputBy = in, r.says("")
	} else if in != nil && !sameJSON(in, o.Input) {
		o.Failures = append(o.Failures, contradiction(e, "input", o.InputBy, r))
	}
	if out := r.Answer.UpdatedOutput; out != nil && o.Output == nil {
		o.Output, o.OutputBy = out, r.says("")
	} else if out != nil && !sameJSON(out.raw, o.Output.raw) {
		o.Failures = append(o.Failures, contradiction(e, "output", o.OutputBy, r))
	}
}

func contradiction(e Event, what string, first Message, second *Run) *agenttool.Error {
	message := fmt.Sprintf("two hooks of %s change the %s in different ways: %s and %s; let one of them do it", e, what, first.Name, second.Hook.Name())
	if !e.Before() {
		message += " (the first one counts)"
	}
	return agenttool.Failure(agenttool.HookBlocked, "hook_failed", message)
}

// weigh takes up a run's opinion.
func (o *Outcome) weigh(r *Run) {
	if s := r.Answer.Stop; s != nil && o.Stop == nil {
		said := r.says(reason(s.Reason))
		o.Stop = &said
	}
	p := r.Answer.PermissionResult
	if p == nil || p.Behavior == agenttool.Passthrough || p.Behavior == agenttool.Allow && o.Input != nil && !sameJSON(r.Answer.UpdatedInput, o.Input) {
		return
	}
	if strictness(p.Behavior) > strictness(o.Behavior) {
		o.Behavior, o.Why = p.Behavior, r.says(reason(p.Reason))
	}
}

func reason(text string) string { return cut(Printable(strings.TrimSpace(text)), maxReason) }

func strictness(b agenttool.Behavior) int {
	switch b {
	case agenttool.Deny:
		return 3
	case agenttool.Ask:
		return 2
	case agenttool.Allow:
		return 1
	}
	return 0
}

func (r *Run) says(text string) Message {
	return Message{Text: text, Ref: r.Record.HookID, Name: r.Hook.Name()}
}

// sameJSON reports whether two documents say the same, numbers as they are spelt.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
