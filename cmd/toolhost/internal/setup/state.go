package setup

import (
	"strings"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/mcpconfig"
	"toolhost/cmd/toolhost/internal/mcpconfig/edit"
)

// State is how far a client is set up.
type State struct {
	Client    mcpconfig.Client
	Installed bool
	Scopes    []ScopeState // those that have a server toolhost, or its hook; none for a client whose files setup does not change
}

// ScopeState is the state of one scope of a client.
type ScopeState struct {
	Scope    mcpconfig.Scope
	Hook     bool     // its own tools ask toolhost hook
	Bypasses []string // settings that are missing: its own tools or its own questions are still there
	Broken   error    // a file cannot be read
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
	case s.Installed && s.Client.Edited:
		return "installed, not set up: toolhost setup " + s.Client.Name
	case s.Installed:
		return "installed: toolhost setup " + s.Client.Name + " prints what to add"
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

// Clients are the states of all clients, with the tools of toolhost.
func (p Places) Clients() []State {
	return p.States(mcpconfig.Server{Command: []string{"toolhost", "serve"}, Tools: builtin.List()})
}

// States are those of all clients, with a server.
func (p Places) States(s mcpconfig.Server) (all []State) {
	for _, c := range mcpconfig.Clients() {
		one := State{Client: c, Installed: p.Installed(c)}
		var scopes []mcpconfig.Scope
		for _, f := range c.Files {
			if !c.Edited {
				break
			}
			if len(scopes) == 0 || scopes[len(scopes)-1] != f.Scope {
				scopes = append(scopes, f.Scope)
			}
		}
		for _, scope := range scopes {
			if state, found := (Target{Client: c, Scope: scope, Server: s}).state(p); found {
				one.Scopes = append(one.Scopes, state)
			}
		}
		all = append(all, one)
	}
	return all
}

// state reads the files of one scope. found reports whether they name toolhost at all.
func (t Target) state(p Places) (state ScopeState, found bool) {
	state.Scope = t.Scope
	for _, part := range t.parts() {
		path, err := p.path(part.File)
		if err != nil {
			state.Broken = err
			return state, true
		}
		content, err := read(path)
		if err != nil || content == nil {
			content = nil
		}
		at, holds := t.Client.Entry(part.File)
		if holds {
			if _, ok, err := edit.Value(part.Format, content, at); err == nil && ok && content != nil {
				found = true
			}
		} else {
			state.Hook = asksHook(part.Format, content, []string{"hooks", "PreToolUse"})
		}
		missing, err := edit.Missing(part.Format, content, part.changes)
		if err != nil {
			state.Broken = leftAlone(p.Short(path), err)
		}
		for _, c := range missing {
			if !c.Own && len(c.Path) > 0 {
				state.Bypasses = append(state.Bypasses, p.Short(path)+": "+strings.Join(c.Path, "."))
			}
		}
	}
	return state, found || state.Hook
}

// asksHook reports whether the value at a path has a command that is toolhost hook.
func asksHook(f edit.Format, content []byte, path []string) bool {
	v, _, err := edit.Value(f, content, path)
	return err == nil && mentionsHook(v)
}

// mentionsHook reports whether a command of hooks is toolhost hook.
func mentionsHook(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "toolhost") && strings.Contains(v, " hook ")
	case []any:
		for _, inner := range v {
			if mentionsHook(inner) {
				return true
			}
		}
	case map[string]any:
		for _, inner := range v {
			if mentionsHook(inner) {
				return true
			}
		}
	}
	return false
}

// Missing names the settings that the files of a target lack.
func (t Target) Missing(p Places) (missing []string, err error) {
	for _, part := range t.parts() {
		path, err := p.path(part.File)
		if err != nil {
			return nil, err
		}
		content, err := read(path)
		if err != nil {
			return nil, err
		}
		lacks, err := edit.Missing(part.Format, content, part.changes)
		if err != nil {
			return nil, leftAlone(p.Short(path), err)
		}
		for _, c := range lacks {
			if c.Own && present(part.Format, content, c.Path) || t.Hook != "" && asksHook(part.Format, content, c.Path) {
				continue // with flags of its own
			}
			missing = append(missing, strings.TrimSuffix(p.Short(path)+": "+strings.Join(c.Path, "."), ": "))
		}
	}
	return missing, nil
}

func present(f edit.Format, content []byte, path []string) bool {
	_, ok, err := edit.Value(f, content, path)
	return ok && err == nil
}
