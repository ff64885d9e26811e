package setup

import (
	"fmt"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/mcpconfig"
	"toolhost/cmd/toolhost/internal/mcpconfig/edit"
	"toolhost/cmd/toolhost/internal/output"
)

// Target is a client's configuration in one scope.
type Target struct {
	Client mcpconfig.Client
	Scope  mcpconfig.Scope
	Server mcpconfig.Server
	Hook   string // the command that the client asks before its own tools; then toolhost offers it none. Empty: there is no hook
}

// part is a file of a target, with the changes that it gets.
type part struct {
	mcpconfig.File
	changes []edit.Change
}

func (t Target) parts() (parts []part) {
	for _, f := range t.Client.In(t.Scope) {
		changes := t.Client.ChangesOf(f, t.Server)
		_, holds := t.Client.Entry(f)
		switch {
		case t.Hook == "":
			parts = append(parts, part{f, changes})
		case !holds:
			parts = append(parts, part{f, mcpconfig.ClaudeHook(t.Hook)})
		}
	}
	return parts
}

// Hooked is the target with a hook in the place of the server, whose program and flags the command has.
func (t Target) Hooked() (Target, error) {
	program, flags := t.Server.Command[0], t.Server.Command[2:]
	if t.Client.Name != "claude" {
		return t, fmt.Errorf("%s: --hook is for claude", t.Client.Title)
	}
	if len(flags) > 0 {
		return t, fmt.Errorf("%s: a hook takes no flags of toolhost serve; use toolhost settings", flags[0])
	}
	t.Hook = output.Words(program) + " hook " + t.Client.Name
	return t, nil
}

// Placed is the target with a workspace for the server, if the client starts it in no project.
func (t Target) Placed(p Places) (Target, error) {
	if !t.Client.Rootless || t.Server.HasWorkspace() {
		return t, nil
	}
	if p.Project == p.Home {
		return t, fmt.Errorf("%s starts its servers in no project: name one with --workspace", t.Client.Title)
	}
	t.Server.Command = append(t.Server.Command, "--workspace", p.Project)
	return t, nil
}

// Other is the target with a hook in the place of the server, or the other way round.
func (t Target) Other() Target {
	if t.Hook == "" {
		t.Hook = "hook"
	} else {
		t.Hook = ""
	}
	return t
}

// Existing is the target in the way that it is set up, if it is.
func (t Target) Existing(p Places) Target {
	if !t.SetUp(p) && t.Other().SetUp(p) {
		return t.Other()
	}
	return t
}

// InAnyScope is the target in the scope that has it, if one has.
func (t Target) InAnyScope(p Places) Target {
	for _, scope := range []mcpconfig.Scope{mcpconfig.Project, mcpconfig.User} {
		one := t
		one.Scope = scope
		if len(t.Client.In(scope)) > 0 && (one.SetUp(p) || one.Other().SetUp(p)) {
			t = one
		}
	}
	return t
}

// Check refuses a target that is set up in the other way, and a home that is taken for a project.
func (t Target) Check(p Places) error {
	if t.Other().SetUp(p) {
		return fmt.Errorf("%s is set up in another way here: run toolhost setup %s --undo first", t.Client.Title, t.Client.Name)
	}
	if t.Scope == mcpconfig.Project && agenttool.Within(p.Project, p.Home) && !t.Server.HasWorkspace() {
		return fmt.Errorf("%s is no project, but has your home directory: go into a project, or give --user where %s has settings for all projects", visible.Text(p.Project), t.Client.Title)
	}
	return nil
}

// Command is the command line that sets a target up.
func (t Target) Command() string {
	command := "toolhost setup " + t.Client.Name
	if t.Hook != "" {
		command += " --hook"
	}
	return command
}

// Notes say what setup cannot do for a client.
func (t Target) Notes() (notes []string) {
	c := t.Client
	if c.Keeps != "" {
		notes = append(notes, c.Title+" keeps "+c.Keeps)
	}
	if c.Asks != "" {
		notes = append(notes, c.Title+" asks about each call itself: "+c.Asks)
	}
	if c.Trust != "" && t.Scope == mcpconfig.Project {
		notes = append(notes, c.Title+" obeys a project that you trust: "+c.Trust+", once")
	}
	return notes
}
