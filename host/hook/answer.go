package hook

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/validate"
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
