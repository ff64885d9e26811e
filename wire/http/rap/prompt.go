package rap

import (
	"toolhost/host/prompt"
)

// question is a prompt as a person sees it at the runtime: a text and the possible answers.
type question struct {
	text    string
	opens   []string // directories that the text says stay open
	options []option // the last one denies
}

func newQuestion(p prompt.Prompt) question {
	q := p.Form()
	var options []option
	if q.Once {
		options = append(options, option{"Allow once", prompt.ScopeOnce})
	}
	if q.Session {
		options = append(options, option{"Allow for this session", prompt.ScopeSession})
	}
	return question{q.Text, q.Opens, append(options, option{label: "Deny"})}
}

// option is one answer.
type option struct {
	label string
	scope prompt.Scope // empty: deny
}
