package approve

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/agenttool/json"
	"toolhost/agenttool/visible"
)

// Prompt is a prompt as the session sent it. Members that could not be read are empty, and Unread names them, so that the
// person does not take unknown for harmless.
type Prompt struct {
	Decision agenttool.Decision
	Tool     string
	Input    json.RawMessage // an object
	Facts    agenttool.Facts
	Dir      string // absolute
	Sandbox  Sandbox
	Grants   []string             // suggested grants
	Opens    []string             // directories that it makes, and that stay open once it is allowed
	With     agenttool.DecisionID // an earlier prompt that asks the same and is answered with it; empty: none
	Attempt  int                  // 2 and more: it ran before, and asks for the accesses that the sandbox blocked
	AskedAt  time.Time

	Unread []string        // names of members that could not be read
	Raw    json.RawMessage // all of it
}

// Sandbox is the sandbox of a call.
type Sandbox struct {
	Level   string   `json:"level"`
	Profile string   `json:"profile"`
	Grants  []string `json:"grants"`
}

// ParsePrompt reads a prompt. It fails only where nothing could be answered: without an id.
func ParsePrompt(raw json.RawMessage) (Prompt, error) {
	p := Prompt{Raw: raw}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return p, fmt.Errorf("a prompt is no object: %w", err)
	}
	var asked, profile string
	for _, m := range []struct {
		name string
		into any
	}{
		{"decision", &p.Decision}, {"tool", &p.Tool}, {"facts", &p.Facts}, {"dir", &p.Dir}, {"sandbox", &p.Sandbox},
		{"profile", &profile}, {"suggested_grants", &p.Grants}, {"opens", &p.Opens}, {"coalesced_with", &p.With}, {"attempt", &p.Attempt}, {"asked_at", &asked},
	} {
		if value := members[m.name]; value != nil && json.Unmarshal(value, m.into) != nil {
			p.Unread = append(p.Unread, m.name)
		}
	}
	if p.Decision.DecisionID == "" {
		var least struct {
			ID agenttool.DecisionID `json:"decision_id"`
		}
		_ = json.Unmarshal(members["decision"], &least)
		p.Decision.DecisionID = least.ID
	}
	if p.Decision.DecisionID == "" {
		return p, fmt.Errorf("a prompt has no decision_id")
	}
	p.Input = members["input"]
	p.Sandbox.Profile = cmp.Or(p.Sandbox.Profile, profile)
	p.AskedAt, _ = time.Parse(time.RFC3339, asked) // none: it sorts as the oldest
	if p.Facts.Dir != nil && p.Dir == "" {
		p.Dir = p.Facts.Dir.Absolute
	}
	return p, nil
}

// in is the sandbox of the prompt, with the level of the session where the prompt has none.
func (p Prompt) in(s Session) Sandbox {
	b := p.Sandbox
	b.Level = cmp.Or(b.Level, s.Sandbox.Level)
	return b
}

// ID names the prompt in answers.
func (p Prompt) ID() agenttool.DecisionID { return p.Decision.DecisionID }

// Expires is when the session stops waiting; the zero time: it did not say.
func (p Prompt) Expires() time.Time {
	t, _ := time.Parse(time.RFC3339, p.Decision.ExpiresAt)
	return t
}

// Command is the command line that the prompt is about, if its tool is the shell.
func (p Prompt) Command() (string, bool) {
	var input struct {
		Command *string `json:"command"`
	}
	if p.Tool != "shell" || json.Unmarshal(p.Input, &input) != nil || input.Command == nil {
		return "", false
	}
	return *input.Command, true
}

// Diff is the diff of the files that the call would change, empty if that is not known.
func (p Prompt) Diff() string {
	for _, b := range p.Decision.ContentBlocks {
		if b.Diff != "" {
			return b.Diff
		}
	}
	return ""
}

// ShowsAll reports whether the diff shows all that would be written: text that is not too long.
func (p Prompt) ShowsAll() bool {
	for _, b := range p.Decision.ContentBlocks {
		if b.Diff != "" {
			return !b.Partial
		}
	}
	return false
}

// Rules are the exact texts that the n-th suggested update would store.
func (p Prompt) Rules(n int) []string { return p.Decision.SuggestedUpdates[n].Rules }

// Session is a running session, as it greeted.
type Session struct {
	ID        string   `json:"session_id"`
	Workspace string   `json:"workspace"`
	Mode      string   `json:"mode"`
	Sandbox   Sandbox  `json:"sandbox"`
	Warnings  []string `json:"warnings"`
	Approvals struct {
		MayAnswer bool              `json:"may_answer"`
		Why       string            `json:"why"` // why not
		NeedsCode bool              `json:"needs_code"`
		Scopes    []string          `json:"scopes"`
		Stores    map[string]string `json:"stores"` // the file of each scope that has one
	} `json:"approvals"`
}

// Short is the end of the id, which is its random part.
func (s Session) Short() string { return s.ID[max(0, len(s.ID)-6):] }

// Store is where rules of that scope are kept, for a person: they are kept in …
func (s Session) Store(scope string) string {
	switch file := s.Approvals.Stores[scope]; {
	case scope == "session":
		return "memory, until the session ends"
	case file != "":
		return file
	case scope == "project":
		return s.Workspace + "/.toolhost/settings.local.json"
	}
	return "your settings, which hold for all projects"
}

const maxText = 1000 // of an input in a one-line summary

// Subject returns the subject of a prompt in one line: its command, or the path that it writes.
func (p Prompt) Subject() string {
	if command, ok := p.Command(); ok {
		return visible.Text(strings.Join(strings.FieldsFunc(cut.Short(command, maxText), isBlank), " "))
	}
	var paths []string
	for _, w := range p.Facts.Writes {
		paths = append(paths, w.Spelling)
	}
	for _, r := range p.Facts.Reads {
		if len(paths) == 0 {
			paths = append(paths, r.Spelling)
		}
	}
	if len(paths) == 0 {
		return visible.Text(cut.Short(string(p.Input), maxText))
	}
	return visible.Text(cut.Short(strings.Join(paths, " "), maxText))
}

func isBlank(r rune) bool { return r == ' ' || r == '\n' || r == '\t' }
