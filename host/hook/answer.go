package hook

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/validate"
	"toolhost/agenttool/visible"
)

// Answer is the answer of a hook (AT-176 … AT-182). The zero value is no opinion.
type Answer struct {
	Message          string            `json:"message"`
	Progress         *Progress         `json:"progress"`
	UpdatedInput     json.RawMessage   `json:"updated_input"` // an object; nil: none
	PermissionResult *PermissionResult `json:"permission_result"`
	Context          []Text            `json:"additional_context"`
	Stop             *Stop             `json:"stop"`
	UpdatedOutput    *Output           `json:"updated_output"`
}

// PermissionResult is a hook's opinion about a call: allow, ask or deny; passthrough leaves it to the policy, as none does (AT-140).
type PermissionResult struct {
	Behavior agenttool.Behavior `json:"behavior"`
	Reason   string             `json:"reason,omitempty"`
}

// Stop is a hook's wish that nothing more is done.
type Stop struct {
	Reason string `json:"reason,omitempty"`
}

// Progress is a step that a hook tells of.
type Progress struct {
	Message string   `json:"message"`
	Percent *float64 `json:"percent,omitempty"` // 0 … 100
}

// UnmarshalJSON reads a string or an object.
func (p *Progress) UnmarshalJSON(b []byte) error {
	type plain Progress
	return stringOr(b, &p.Message, (*plain)(p))
}

// Text is a piece of context for the model.
type Text struct {
	Text string `json:"text"`
}

// UnmarshalJSON reads a string or an object.
func (t *Text) UnmarshalJSON(b []byte) error {
	type plain Text
	return stringOr(b, &t.Text, (*plain)(t))
}

// Output replaces the output of a call.
type Output struct {
	Content    []agenttool.Content `json:"content"`            // nil: Structured as text
	Structured json.RawMessage     `json:"structured_content"` // an object; nil: none

	raw json.RawMessage // as the hook wrote it
}

// UnmarshalJSON reads a string, which is one block of text, or an object.
func (o *Output) UnmarshalJSON(b []byte) error {
	type plain Output
	var text string
	err := stringOr(b, &text, (*plain)(o))
	if bytes.HasPrefix(b, []byte(`"`)) {
		o.Content = []agenttool.Content{agenttool.Text(text)}
	}
	o.raw = bytes.Clone(b)
	return err
}

func stringOr(b []byte, text *string, object any) error {
	if bytes.HasPrefix(b, []byte(`"`)) {
		return json.Unmarshal(b, text)
	}
	return json.Unmarshal(b, object)
}

// answerSchema is the form of an answer. Unknown keys are an error: a misspelt deny must not count as silence.
//
//go:embed answer.schema.json
var answerSchema []byte

// compiledAnswer is compiled when the first hook has answered.
var compiledAnswer = sync.OnceValue(func() *validate.Schema {
	s, err := validate.Compile(answerSchema)
	if err != nil {
		panic("hook: the schema of answers: " + err.Error())
	}
	return s
})

// meaningful are the keys of an answer that mean something in some events only.
var meaningful = map[string][]Event{
	"permission_result": {PreToolUse, PermissionRequest},
	"updated_input":     {PreToolUse, PermissionRequest},
	"updated_output":    {PostToolUse, ResultPersistence},
	"progress":          {PreToolUse, PermissionRequest, PostToolUse, PostToolUseFailure},
	"stop":              {PreToolUse, PermissionRequest, PermissionDecision, PostToolUse, PostToolUseFailure},
}

// ParseAnswer reads the output of a hook of an event. White space alone is the zero Answer.
func ParseAnswer(e Event, stdout []byte) (Answer, error) {
	stdout = bytes.TrimSpace(stdout)
	if len(stdout) == 0 {
		return Answer{}, nil
	}
	if err := compiledAnswer().Check(stdout); err != nil {
		return Answer{}, fmt.Errorf("its answer on stdout is not one JSON object of the right form: %w%s", err, quoteStart(stdout))
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(stdout, &keys); err != nil {
		return Answer{}, err // the schema has seen it: it cannot be
	}
	for key := range keys {
		if events, limited := meaningful[key]; limited && !slices.Contains(events, e) {
			return Answer{}, fmt.Errorf("its answer has %s, which means nothing in %s", key, e)
		}
	}
	var a Answer
	if err := agenttool.DecodeInput(stdout, &a); err != nil { // no half characters
		return Answer{}, fmt.Errorf("its answer on stdout: %w", err)
	}
	return a, nil
}

// quoteStart shows how an answer begins that is no object.
func quoteStart(stdout []byte) string {
	if stdout[0] == '{' {
		return ""
	}
	first, _, _ := strings.Cut(string(stdout[:min(len(stdout), 400)]), "\n")
	return fmt.Sprintf("; it begins with: %s", cut(Printable(strings.ToValidUTF8(first, "\uFFFD")), 80))
}

// exitDenies is the exit code that denies, or stops the call where the decision has been made.
const exitDenies = 2

// finish reads the output of a process and completes the record.
func (run *Run) finish(e ending) {
	extra := run.Record.Extra
	stderr := strings.TrimSpace(Printable(strings.ToValidUTF8(string(e.stderr), "\uFFFD")))
	if stderr != "" {
		extra["stderr"] = encode(stderr)
	}
	if e.status != nil && e.status.Exited() {
		extra["exit_code"] = encode(e.status.ExitStatus())
	}
	switch h := run.Hook; {
	case e.err != nil || e.status == nil:
		run.Err = h.failure(e)
	case e.status.ExitStatus() == exitDenies && h.Event.Before() && !h.Event.decides():
		run.Answer = Answer{Stop: &Stop{Reason: stderr}}
	case e.status.ExitStatus() == exitDenies && h.Event.Before():
		run.Answer = Answer{PermissionResult: &PermissionResult{Behavior: agenttool.Deny, Reason: stderr}}
	case *e.status != 0:
		e.err = statusError(*e.status)
		run.Err = h.failure(e)
	default:
		answer, err := ParseAnswer(h.Event, e.stdout)
		run.Answer = answer
		if err != nil {
			e.err = err
			run.Err = h.failure(e)
		}
	}
	run.describe()
}

// statusError says how a process ended that did not succeed.
func statusError(s syscall.WaitStatus) error {
	if s.Exited() {
		return fmt.Errorf("exit status %d", s.ExitStatus())
	}
	return fmt.Errorf("signal: %v", s.Signal())
}

// describe puts the hook's answer into the record.
func (run *Run) describe() {
	a, record := &run.Answer, &run.Record
	if run.Err != nil {
		record.Extra["error"] = encode(run.Err)
	}
	if a.Message != "" {
		record.Outputs = append(record.Outputs, encode(map[string]any{"type": "message", "text": cut(a.Message, maxMessages)}))
	}
	if a.Progress != nil {
		step := map[string]any{"type": "progress", "text": cut(a.Progress.Message, maxReason)}
		if a.Progress.Percent != nil {
			step["percent"] = *a.Progress.Percent
		}
		record.Outputs = append(record.Outputs, encode(step))
	}
	if p := a.PermissionResult; p != nil {
		record.PermissionResult = map[string]any{"behavior": p.Behavior, "reason": reason(p.Reason)}
	}
	if a.Stop != nil {
		record.Stop = map[string]any{"reason": reason(a.Stop.Reason)}
	}
	room := maxContext
	for _, t := range a.Context {
		if room > 0 {
			record.AdditionalContext = append(record.AdditionalContext, encode(Text{cut(t.Text, room)}))
		}
		room -= len(t.Text)
	}
	record.UpdatedInput = a.UpdatedInput
	if a.UpdatedOutput != nil {
		record.UpdatedOutput = a.UpdatedOutput.raw
	}
}

// maxToldStderr is the most characters of stderr that a message about a failure holds, the last ones.
const maxToldStderr = 500

// failure is the error of a failed run: the hook, the reason, and its stderr.
func (h *Hook) failure(e ending) *agenttool.Error {
	code, what := "hook_failed", "failed"
	why := e.err
	switch {
	case errors.Is(e.err, errTimeout):
		code, what, why = "hook_timeout", "did not end within "+h.timeout().String(), nil
	case errors.Is(e.err, errFlood):
		what, why = "wrote more than 1 MiB to stdout", nil
	case e.err == nil:
		what = "cannot be ended: it is stuck in the kernel"
	}
	text := fmt.Sprintf("the %s hook %s %s", h.Event, h.Name(), what)
	if why != nil {
		text += ": " + Printable(why.Error())
	}
	if said := strings.TrimSpace(strings.ToValidUTF8(string(e.stderr), "\uFFFD")); said != "" {
		text += "; it said: " + lastOf(Printable(said), maxToldStderr)
	}
	return agenttool.Failure(agenttool.HookBlocked, code, text).Because(e.err)
}

// lastOf returns the last max characters of s.
func lastOf(s string, max int) string {
	runes := []rune(s)
	if len(runes) <= max {
		return s
	}
	return "…" + string(runes[len(runes)-max:])
}

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
	Input    json.RawMessage    // the input to run instead; nil: unchanged
	InputBy  Message            // of the hook that changed it
	Output   *Output            // the output to return instead; nil: unchanged
	OutputBy Message            // of the hook that changed it
	Context  string             // for the model; "" for none
	Messages []Message          // for the person
	Failures []*agenttool.Error
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

// Printable returns s with everything that would not be seen, or would change how the rest is seen (control
// characters, marks of direction, invisible ones), as \u{…}. Line feeds and tabs stay.
func Printable(s string) string {
	hidden := func(r rune) bool { return r == utf8.RuneError || !visible.Shows(r) && r != '\n' && r != '\t' }
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, `\u{%x}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cut returns the first max characters of s, with a mark where more was.
func cut(s string, max int) string {
	if len(s) <= max || utf8.RuneCountInString(s) <= max {
		return s
	}
	end := 0
	for range max {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return s[:end] + fmt.Sprintf("[… %d characters left out]", utf8.RuneCountInString(s[end:]))
}
