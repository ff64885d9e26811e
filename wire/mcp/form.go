package mcp

import (
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/host/prompt"
)

// form is a prompt as an MCP client shows it: a text, and at most one field below it, which can be left out (MCP-09). To accept allows
// the call once, unless the field says more.
type form struct {
	decision agenttool.DecisionID
	message  string
	scopes   []prompt.Scope // beyond once for which it can be allowed: the rules that this adds are in the message
	opens    []string       // directories that the message says stay open
	whole    bool           // the call can be allowed at all: its command or input, and its grants, are in the message
}

// The field of the form, and its choices.
const (
	fieldAnswer = "answer"

	choiceOnce    = "allow_once"
	choiceSession = "allow_session"
	choiceProject = "allow_project"
)

// choices are the choices by their scopes, in the order of the form.
var choices = []struct {
	scope       prompt.Scope
	value, name string
}{
	{prompt.ScopeOnce, choiceOnce, "Allow once"},
	{prompt.ScopeSession, choiceSession, "Allow for this session"},
	{prompt.ScopeProject, choiceProject, "Allow in this project"},
}

// newForm returns the form of a prompt. It is the same whenever it is made of the same prompt.
func newForm(p prompt.Prompt) form {
	q := p.Form()
	f := form{decision: p.Decision.DecisionID, message: q.Text, opens: q.Opens, whole: q.Once}
	if q.Session && q.Once {
		f.scopes = slices.DeleteFunc(slices.Clone(p.Scopes), func(s prompt.Scope) bool { return s == prompt.ScopeOnce })
	}
	return f
}

// params is the form for the client. Its schema uses enum with enumNames, as clients of 2025-06-18 expect.
func (f form) params() *sdk.ElicitParams {
	properties := map[string]any{}
	var values, names []string
	for _, c := range choices {
		if f.offers(c.scope) {
			values, names = append(values, c.value), append(names, c.name)
		}
	}
	if len(values) > 1 {
		properties[fieldAnswer] = map[string]any{"type": "string", "title": "Answer", "enum": values, "enumNames": names, "default": choiceOnce}
	}
	return &sdk.ElicitParams{Mode: "form", Message: f.message, RequestedSchema: map[string]any{"type": "object", "properties": properties}}
}

// offers reports whether the call can be allowed for a scope.
func (f form) offers(s prompt.Scope) bool {
	return f.whole && (s == prompt.ScopeOnce || slices.Contains(f.scopes, s))
}

// chosen returns the scope of an accepted form. It fails for content that does not fit the form.
func (f form) chosen(content map[string]any) (prompt.Scope, bool) {
	answer, given := content[fieldAnswer]
	switch {
	case len(content) == 0, len(content) == 1 && given && answer == nil:
		return prompt.ScopeOnce, f.whole
	case len(content) > 1:
		return "", false
	}
	for _, c := range choices {
		if answer == any(c.value) {
			return c.scope, f.offers(c.scope)
		}
	}
	return "", false
}
