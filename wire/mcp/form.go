package mcp

import (
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/host/asked"
	"toolhost/host/prompt"
)

// form is a prompt as an MCP client shows it: a text, and a flat form below it (MCP-09).
type form struct {
	decision agenttool.DecisionID
	message  string
	session  bool // it can be allowed for the session: the rules that this adds are in the message
	whole    bool // the call can be allowed at all: its command or input, and its grants, are in the message
}

// The fields of the form, and the choices of the first.
const (
	fieldAnswer   = "answer"
	fieldFeedback = "feedback"

	choiceOnce    = "allow_once"
	choiceSession = "allow_session"
	choiceDeny    = "deny"
)

// newForm returns the form of a prompt. It is the same whenever it is made of the same prompt.
func newForm(p prompt.Prompt) form {
	q := asked.Write(p)
	return form{decision: p.Decision.DecisionID, message: q.Text, whole: q.Once, session: q.Session}
}

// params is the form for the client. Its schema uses enum with enumNames, as clients of 2025-06-18 expect.
func (f form) params() *sdk.ElicitParams {
	var values, names []string
	if f.whole {
		values, names = append(values, choiceOnce), append(names, "Allow once")
	}
	if f.session {
		values, names = append(values, choiceSession), append(names, "Allow for this session")
	}
	values, names = append(values, choiceDeny), append(names, "Deny")
	return &sdk.ElicitParams{Mode: "form", Message: f.message, RequestedSchema: map[string]any{
		"type": "object",
		"properties": map[string]any{
			fieldAnswer: map[string]any{"type": "string", "title": "Answer", "enum": values, "enumNames": names},
			fieldFeedback: map[string]any{
				"type": "string", "title": "Feedback", "description": "Told to the model (optional)", "maxLength": maxFeedback / 4,
			},
		},
		"required": []string{fieldAnswer},
	}}
}
