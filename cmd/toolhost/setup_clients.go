package main

import (
	"fmt"
	"io"
	"strings"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/mcpconfig"
	"toolhost/cmd/toolhost/internal/setup"
)

// clientStates are those of all clients.
func clientStates(p setup.Places) []setup.State {
	return p.States(mcpconfig.Server{Command: []string{"toolhost", "serve"}, Tools: toolList()})
}

// clientsHere are the states for the current directory; none without a home.
func clientsHere() []setup.State {
	p, err := setup.Here(".")
	if err != nil {
		return nil
	}
	return clientStates(p)
}

func listClients(out io.Writer, p setup.Places) (err error) {
	for _, s := range clientStates(p) {
		if _, err = fmt.Fprintf(out, "%-15s %-16s %s\n", s.Client.Name, s.Client.Title, describeState(s)); err != nil {
			return exitf(exitFailed, "%v", err)
		}
	}
	return nil
}

// describeState says in a line how far a client is set up.
func describeState(s setup.State) string {
	var words []string
	for _, one := range s.Scopes {
		words = append(words, describeScope(s.Client, one))
	}
	if len(words) == 0 && s.Installed {
		words = append(words, "installed, not set up: toolhost setup "+s.Client.Name)
	}
	if len(words) == 0 {
		words = append(words, "not installed")
	}
	return strings.Join(words, "; ")
}

func describeScope(c mcpconfig.Client, s setup.ScopeState) string {
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

// printClients prints the clients that are here, for doctor.
func printClients(out io.Writer, states []setup.State) (err error) {
	head := "clients:\n"
	for _, s := range states {
		if !s.Installed && len(s.Scopes) == 0 {
			continue
		}
		if err == nil {
			_, err = fmt.Fprintf(out, "%s  %-15s %s\n", head, s.Client.Name, describeState(s))
		}
		head = ""
	}
	return err
}

// clientRecords are the clients that are here, for programs.
func clientRecords(states []setup.State) []map[string]any {
	records := []map[string]any{}
	for _, s := range states {
		if s.Installed || len(s.Scopes) > 0 {
			records = append(records, map[string]any{"name": s.Client.Name, "installed": s.Installed, "set_up": len(s.Scopes) > 0, "state": describeState(s)})
		}
	}
	return records
}
