package shell

import (
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify/program"
	"toolhost/sandbox"
)

// profile returns the sandbox profile of the call. A command that provably only reads and uses no network gets no
// other rights. Every other command can write the workspace and use the grants of its decision. Without a sandbox, or
// with an explicit grant, it has all rights of the user.
func (c *call) profile() sandbox.Profile {
	switch {
	case c.tool.o.Sandbox == nil || c.grants.Unconfined:
		return sandbox.Profile{Access: sandbox.Unconfined}
	case c.facts.ReadOnly == agenttool.Yes && c.facts.OpenWorld == agenttool.No && c.grants.Empty():
		return sandbox.Profile{
			Access: sandbox.ReadOnly, Read: c.shown(), Loopback: len(c.facts.Hosts) > 0, Observes: c.facts.ObservesHost == agenttool.Yes, Denied: c.denied(),
			Elsewhere: c.facts.PathsComplete != agenttool.Yes,
		}
	}
	p := sandbox.Profile{
		Access: sandbox.Workspace, Write: c.grants.Write, Reveal: c.grants.Reveal, Read: c.shown(),
		Hosts: c.grants.Hosts, Public: sandbox.Public(c.facts.Hosts), Unseal: c.agreed.Paths, Known: c.agreed.Names,
		Denied: c.denied(),
	}
	p.Reveal = append(slices.Clip(p.Reveal), c.remoteConfigs()...)
	for _, w := range c.facts.Writes { // the decision listed them
		if w.Follows {
			continue // the sandbox lets git note upstreams, and no more
		}
		p.Real = append(p.Real, w.Resolved)
		if c.removes() {
			p.Remove = append(p.Remove, w.Resolved)
		}
	}
	return p
}

// denied returns the programs that rules keep every command from running.
func (c *call) denied() sandbox.Denied {
	if c.tool.o.Denied == nil {
		return sandbox.Denied{}
	}
	return c.tool.o.Denied()
}

// reaching are the commands of git that use the addresses of remotes or note upstreams, and say no logins.
var reaching = []string{"fetch", "pull", "push", "ls-remote", "branch", "checkout", "switch"}

// remoteConfigs are the configurations of the repositories whose remotes the command reaches, or whose upstreams it notes: it needs the logins
// in them. There are none if it may do anything else, since a variable could have git say more, and a hook is another program.
func (c *call) remoteConfigs() (paths []string) {
	f := &c.facts
	if len(f.Parts) != 1 || f.PartsComplete != agenttool.Yes || f.Unmentioned || !f.Parts[0].Exact || len(f.Parts[0].Variables) > 0 {
		return nil
	}
	argv := f.Parts[0].Argv
	if len(argv) < 2 || argv[0] != "git" || !slices.Contains(reaching, argv[1]) {
		return nil
	}
	for _, r := range f.Remotes {
		if git, found := findGit(filepath.Clean(r.Dir)); found {
			if own, ok := shared(git); ok {
				paths = append(paths, filepath.Join(own, "config"))
			}
		}
	}
	for _, w := range f.Writes {
		if w.Follows {
			paths = append(paths, w.Resolved)
		}
	}
	if slices.Contains([]string{"fetch", "ls-remote", "branch"}, argv[1]) {
		return paths
	}
	return slices.DeleteFunc(paths, func(path string) bool {
		config, ok := readGitConfig(path)
		return !ok || runsHooks(filepath.Dir(path), config, c.home)
	})
}

// shown returns the places outside the workspace that the decision listed as reads, and those that rules let every command read. A directory
// that contains the home directory is opened only to a command that provably only reads.
func (c *call) shown() []string {
	known := c.facts.ReadOnly == agenttool.Yes && c.facts.PathsComplete == agenttool.Yes
	var paths []string
	for _, r := range c.facts.Reads {
		if r.Root == "" && r.Resolved != "" && !r.Private && (known || !c.tool.o.Sandbox.HoldsHome(r.Resolved)) {
			paths = append(paths, r.Resolved)
		}
	}
	if c.tool.o.Shown == nil {
		return paths
	}
	return append(paths, slices.DeleteFunc(c.tool.o.Shown(), func(dir string) bool {
		at := agenttool.Path{Spelling: dir, Absolute: dir}
		return c.tool.w.Locate(&at) != nil || at.Private || at.Resolved != dir || c.tool.o.Sandbox.HoldsHome(dir)
	})...)
}

// removes reports whether the command removes the paths that it names, including protected names inside a directory.
// A move counts only if nothing else about the command is unknown.
func (c *call) removes() bool {
	moves := c.facts.PathsComplete == agenttool.Yes && slices.ContainsFunc(c.facts.Commands, func(argv []string) bool {
		return len(argv) > 0 && argv[0] == "mv"
	})
	return moves || c.facts.Destructive == agenttool.Yes
}

// Profile names the sandbox profile of the call.
func (c *call) Profile() string { return string(c.profile().Access) }

// Confine adds the grants of the decision to the sandbox of the call: "write:PATH", "host:NAME[:PORT]", "unconfined".
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

// Unseal opens the protected names that a person agreed to.
func (c *call) Unseal(agreed agenttool.Protected) { c.agreed = agreed }

// environ returns the command's environment. A command that provably only reads gets variables that keep it
// read-only, and the variables of the user's settings only if it reaches out as well: one that runs unasked was understood without
// them. It fails if git cannot be kept read-only any more, although it could when the facts were computed.
func (c *call) environ() ([]string, error) {
	env := Environ(c.tool.o.Environ, c.dir())
	if access := c.profile().Access; access == sandbox.ReadOnly || access == sandbox.Workspace && c.tool.o.Sandbox.Level() == sandbox.Full {
		env = withoutProxyLogins(env)
	}
	if c.oldDir != "" {
		env = append(env, "OLDPWD="+c.oldDir) // for cd -
	}
	if c.facts.ReadOnly != agenttool.Yes || c.facts.OpenWorld != agenttool.No {
		env = c.tool.added(env)
	}
	if c.signs() && c.profile().Access == sandbox.Workspace {
		env = c.tool.withAgent(env)
	}
	if c.input.TTY {
		env = setTerminal(env)
	}
	if c.facts.ReadOnly != agenttool.Yes {
		return env, nil
	}
	env = slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(readingOnly, func(fixed string) bool { return strings.HasPrefix(fixed, name+"=") })
	})
	git, err := c.neutralGit()
	return slices.Concat(env, readingOnly, git), err
}

// signing are the commands of git that make commits and tags, which git signs if its configuration or an option says so.
var signing = []string{"am", "cherry-pick", "commit", "commit-tree", "merge", "pull", "rebase", "revert", "tag"}

// signs reports whether the command may have git sign something.
func (c *call) signs() bool {
	return c.facts.ReadOnly != agenttool.Yes && slices.ContainsFunc(c.facts.Mentions, func(argv []string) bool {
		if len(argv) == 0 || filepath.Base(argv[0]) != "git" {
			return false
		}
		sub, _ := program.Subcommand(program.Lookup("git"), argv[1:])
		return slices.Contains(signing, sub)
	})
}

// withAgent adds the socket of the user's ssh-agent, unless the settings say another. To know its name gives no right to it: the sandbox asks
// about it when a program connects.
func (t *tool) withAgent(env []string) []string {
	const name = "SSH_AUTH_SOCK="
	named := func(entry string) bool { return strings.HasPrefix(entry, name) }
	i := slices.IndexFunc(t.o.Environ, named)
	if i < 0 || slices.ContainsFunc(env, named) || !filepath.IsAbs(strings.TrimPrefix(t.o.Environ[i], name)) {
		return env
	}
	return append(env, t.o.Environ[i])
}

// setTerminal sets TERM for a command with a terminal.
func setTerminal(env []string) []string {
	return append(slices.DeleteFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "TERM=") }), "TERM=xterm-256color")
}
