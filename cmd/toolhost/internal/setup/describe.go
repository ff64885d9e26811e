package setup

import (
	"strings"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/mcpconfig"
)

// String says what became of a file.
func (f UndoneFile) String() string {
	switch {
	case f.Before == nil && f.After == nil:
		return "was gone already"
	case len(f.Kept) > 0:
		return "was changed since, and setup's parts were removed, but for those with other values by now: " + strings.Join(f.Kept, ", ")
	case f.Since && f.After == nil:
		return "removed: it held nothing else"
	case f.Since:
		return "was changed since: only setup's parts were removed"
	case f.After == nil:
		return "removed, as before"
	}
	return "restored byte for byte"
}

// String says in a line how far a client is set up.
func (s State) String() string {
	var words []string
	for _, one := range s.Scopes {
		words = append(words, one.of(s.Client))
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, "; ")
	case s.Installed:
		return "installed, not set up: toolhost setup " + s.Client.Name
	}
	return "not installed"
}

func (s ScopeState) of(c mcpconfig.Client) string {
	where := map[mcpconfig.Scope]string{mcpconfig.Project: "in this project", mcpconfig.User: "for you"}[s.Scope]
	switch {
	case s.Broken != nil:
		return "cannot be read: " + visible.Text(s.Broken.Error())
	case s.Hook:
		return "asks toolhost hook " + where
	case len(s.Bypasses) > 0:
		return "has toolhost " + where + ", and bypasses it with its own tools: " + visible.Text(strings.Join(s.Bypasses, ", "))
	case c.Keeps != "":
		return "set up " + where + ", and keeps " + c.Keeps
	}
	return "set up " + where
}
