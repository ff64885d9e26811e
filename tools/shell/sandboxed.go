package shell

import (
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/locale"
	"toolhost/sandbox"
)

// profile returns what the sandbox of the call lets it do: a command that was proved to read only and to reach nobody
// can do no more than that; every other one writes the workspace and what its decision granted. Without a sandbox, and by an
// explicit grant, it runs as the person does.
func (c *call) profile() sandbox.Profile {
	switch {
	case c.tool.o.Sandbox == nil || c.grants.Unconfined:
		return sandbox.Profile{Access: sandbox.Unconfined}
	case c.facts.ReadOnly == agenttool.Yes && c.facts.OpenWorld == agenttool.No && c.grants.Empty():
		return sandbox.Profile{Access: sandbox.ReadOnly, Read: c.shown(), Loopback: len(c.facts.Hosts) > 0}
	}
	p := sandbox.Profile{
		Access: sandbox.Workspace, Write: c.grants.Write, Reveal: c.grants.Reveal, Read: c.shown(),
		Hosts: slices.Concat(c.grants.Hosts, sandbox.Public(c.facts.Hosts)), Unseal: c.grants.Write,
	}
	for _, w := range c.facts.Writes { // the decision showed them
		p.Unseal = append(p.Unseal, w.Resolved)
		if c.removes() {
			p.Remove = append(p.Remove, w.Resolved)
		}
	}
	return p
}

// shown are the places outside the workspace that the decision showed as read. A directory that holds the home directory is
// opened only to a command that is known to do no more than read.
func (c *call) shown() []string {
	known := c.facts.ReadOnly == agenttool.Yes && c.facts.PathsComplete == agenttool.Yes
	var paths []string
	for _, r := range c.facts.Reads {
		if r.Root == "" && r.Resolved != "" && !r.Private && (known || !c.tool.o.Sandbox.HoldsHome(r.Resolved)) {
			paths = append(paths, r.Resolved)
		}
	}
	return paths
}

// removes reports whether the command takes away what it names: with a directory go the protected names in it. Of a move
// that is so only where nothing else of the command is unknown.
func (c *call) removes() bool {
	moves := c.facts.PathsComplete == agenttool.Yes && slices.ContainsFunc(c.facts.Commands, func(argv []string) bool {
		return len(argv) > 0 && argv[0] == "mv"
	})
	return moves || c.facts.Destructive == agenttool.Yes
}

// Profile says what the sandbox of the call lets it do.
func (c *call) Profile() string { return string(c.profile().Access) }

// Confine widens the sandbox of the call by what its decision granted: "write:PATH", "host:NAME[:PORT]", "unconfined".
func (c *call) Confine(grants []string) error {
	g, err := sandbox.ParseGrants(grants)
	if err != nil {
		return agenttool.Failure(agenttool.InvalidArguments, "bad_grant", err.Error())
	}
	if c.grants = g; g.Unconfined && c.tool.o.Unconfined != nil {
		c.tool.o.Unconfined()
	}
	return nil
}

// environ is the command's environment. One that was proved to read only gets what keeps it so. It is an error if git could not be kept
// so where it runs, although it could be when the facts were made.
func (c *call) environ() ([]string, error) {
	env := Environ(c.tool.o.Environ, c.dir())
	if c.input.TTY {
		env = setTerminal(env)
	}
	if c.facts.ReadOnly != agenttool.Yes {
		return c.tool.added(env), nil
	}
	env = slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(readingOnly, func(fixed string) bool { return strings.HasPrefix(fixed, name+"=") })
	})
	git, err := c.neutralGit()
	return slices.Concat(env, readingOnly, git), err
}

// added puts the variables of the person's settings in the place of others of the same names.
func (t *tool) added(env []string) []string {
	if t.o.Added == nil {
		return env
	}
	for _, entry := range t.o.Added() {
		name, _, _ := strings.Cut(entry, "=")
		env = slices.DeleteFunc(env, func(old string) bool { return strings.HasPrefix(old, name+"=") })
		env = append(env, entry)
	}
	return locale.Environ(env)
}

// setTerminal says that there is a terminal, and what it can do.
func setTerminal(env []string) []string {
	return append(slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "TERM=") }), "TERM=xterm-256color")
}
