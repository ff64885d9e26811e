// Package permissions decides whether a call may run. A decision is a pure function of a policy (mode and rules) and of the call's
// facts: no IO, no clock, never an error, and unknown facts never help a call.
//
//	policy := permissions.Policy{Mode: permissions.Default, Workspace: "/home/me/project"}.With(rules...)
//	decision := policy.Decide(permissions.Request{Tool: "write", Facts: facts})
//
// Rules that deny come first, then those that ask, then those that allow, in any written order. Rules that deny or
// ask match generously: every command that is mentioned, behind any wrapper, and every path by any of its names. Rules that allow
// match exactly: each part of the call needs one, but for parts that only pass a command on. A call that only reads runs unasked.
package permissions

import (
	"path/filepath"
	"slices"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// Policy is one snapshot of the mode, the rules and the workspace. It is a value: With returns a changed copy.
type Policy struct {
	Mode      Mode   // empty: Default
	Workspace string // absolute, without links
	Confines  bool   // commands run in a sandbox that holds all walls
	Fixed     bool   // the administrator chose the mode: no answer loosens it

	// Snapshot numbers the mode and rules of a session: each change has another number. Decisions bear it. 0: they are not numbered.
	Snapshot int

	// Disabled are tools that no surface has, by name, and where settings disable them. Rules are not about them: other tools may
	// have the same effects.
	Disabled map[string]agenttool.Origin

	// Readable returns further paths, besides the roots, that calls may read unasked, each with everything below it: absolute,
	// without links. nil: none.
	Readable func() []string

	// Programs are files that run unasked, such as hooks of settings: absolute, without links. Writing them asks, like every
	// protected path.
	Programs []string

	// Names returns the map of the protected names as of now, with the places outside of the workspace among the paths that a call
	// writes. It is the map that the sandbox holds. A decision asks it once. If it fails, or the map leaves something open, a call that
	// depends on it asks. nil: only the names of the table are known.
	Names func(writes []agenttool.Path) (*protect.Map, error)

	// Home is the user's home directory, absolute, without links; empty: none.
	Home string

	// Secret reports whether an absolute path is a secret: only a rule that allows Read of it lets a call read it. nil: there are
	// none.
	Secret     func(path string) bool
	Cut        func(path string) bool // whether commands of the sandbox see the file without its secrets; nil: none
	SecretName func(path string) bool // whether a file of that name may be a secret, whatever it holds; nil: none

	// Holds reports whether the sandbox keeps commands of the shell tool from running a program that a rule denies, whatever its arguments:
	// such a rule does not ask about a command that may run the program. nil: it keeps them from none.
	Holds func(program string) bool

	set   *ruleset
	names func() (*protect.Map, error) // Names, for one decision
}

// With returns a copy of the policy that has rules as well.
func (p Policy) With(rules ...Rule) Policy {
	p.set = compile(slices.Concat(p.Rules(), rules), p.Workspace)
	return p
}

// Without returns a copy of the policy without the rules that drop selects.
func (p Policy) Without(drop func(Rule) bool) Policy {
	p.set = compile(slices.DeleteFunc(slices.Clone(p.Rules()), drop), p.Workspace)
	return p
}

// For returns the policy for a call of those threads: without the rules that count in other ones.
func (p Policy) For(threads []string) Policy {
	foreign := func(r Rule) bool { return r.Origin.Thread != "" && !slices.Contains(threads, r.Origin.Thread) }
	if !slices.ContainsFunc(p.Rules(), foreign) {
		return p
	}
	return p.Without(foreign)
}

// Rules returns the rules: deny, then ask, then allow. The caller must not change them.
func (p Policy) Rules() []Rule {
	if p.set == nil {
		return nil
	}
	return p.set.rules
}

// Request is the call to decide about.
type Request struct {
	Tool     string // the tool's name
	RunsCode bool   // it starts programs: covering its paths is not enough
	ByPerson bool   // the person of the session asks, at a terminal of their own
	Facts    *agenttool.Facts
}

// The types of reasons (AT-141 … AT-152).
const (
	kindRule        = "rule"
	kindMode        = "mode"
	kindPolicy      = "policy" // a rule of the machine's administrator
	kindClassifier  = "classifier"
	kindWorkingDir  = "working_dir"
	kindSafety      = "safety_check"
	kindSubcommands = "subcommand_results"
)

// verdict is a decision before it is written down.
type verdict struct {
	behavior agenttool.Behavior
	kind     string // of reason
	why      string
	rules    []*Rule // that decided, the first of all first
	path     string  // that is blocked
	grants   []string
	proved   bool             // the classifier proved that the command only reads
	reads    []agenttool.Path // of the call
	dir      *agenttool.Path  // where it starts
	failure  error            // a shortage: nothing was decided, and the call fails with it
	covered  []int            // of each part, the number of the rule that covers it; -1: none, but it only reads; -2: none
}

func because(b agenttool.Behavior, kind, why string) verdict {
	return verdict{behavior: b, kind: kind, why: why}
}

func (v verdict) at(path string) verdict {
	v.path = path
	return v
}

// Reading returns the patterns of the rules of a behaviour that are about reading some paths, absolute.
func (p Policy) Reading(b agenttool.Behavior) []string { return p.globs(b, "read") }

// Writing returns those that are about writing.
func (p Policy) Writing(b agenttool.Behavior) []string { return p.globs(b, "write") }

func (p Policy) globs(b agenttool.Behavior, tool string) []string {
	var globs []string
	for _, r := range p.Rules() {
		if r.Behavior != b || r.tool != tool || r.glob == "" {
			continue
		}
		glob := r.glob
		if !filepath.IsAbs(glob) {
			glob = joinGlob(p.Workspace, glob)
		}
		globs = append(append(globs, glob), r.led...)
	}
	return globs
}

// listed are directories of the system with names that say nothing about the person, and those whose names below say nothing either. What their
// files hold is another matter.
var (
	listed      = []string{"/", "/boot", "/dev", "/media", "/mnt", "/proc", "/run", "/srv", "/sys", "/var", "/var/cache", "/var/lib", "/var/log"}
	listedBelow = []string{"/etc"}
)

// systemName reports whether a path is read by its name alone, and names something of the system.
func systemName(path agenttool.Path) bool {
	below := func(dir string) bool { return agenttool.Within(dir, path.Resolved) }
	return path.Names && (slices.Contains(listed, path.Resolved) || slices.ContainsFunc(listedBelow, below))
}

// outside reports whether reading a path takes a permission.
func (p Policy) outside(path agenttool.Path) bool {
	if path.Own || systemName(path) {
		return false
	}
	if path.Root != "" || p.Readable == nil {
		return path.Root == ""
	}
	return !slices.ContainsFunc(p.Readable(), func(dir string) bool { return agenttool.Within(dir, path.Resolved) })
}

// written returns grants for the paths outside of the workspace that a command writes and that rules about writing allow. A rule that
// allows commands, whatever they write, names no path.
func (p Policy) written(r Request) (grants []string) {
	for _, path := range r.Facts.Writes {
		named := p.set.allowing(path, func(rule *Rule) bool { return rule.takes(path, r.Tool) }) >= 0
		if elsewhere(path) && path.Resolved != "" && !path.Private && !path.Follows && named {
			grants = append(grants, "write:"+path.Resolved)
		}
	}
	return grants
}

func elsewhere(path agenttool.Path) bool { return path.Root == "" }

// confined reports whether the sandbox holds all that a command may do that is not known.
func (p Policy) confined(r Request) bool {
	f := r.Facts
	return r.RunsCode && p.Confines && !f.Unmentioned && losesNothing(f) && !p.reachesOut(r) &&
		p.closedWrite(r) < 0 && p.closedRead(r) < 0
}

// closedWrite returns the index of the first path outside of the workspace that the call writes and no rule about writing allows; -1: none.
func (p Policy) closedWrite(r Request) int {
	return slices.IndexFunc(r.Facts.Writes, func(w agenttool.Path) bool {
		return elsewhere(w) && !p.keeps(w) && p.set.allowing(w, func(rule *Rule) bool { return rule.takes(w, r.Tool) }) < 0
	})
}

// closedRead returns the index of the first path that the call reads and that neither the policy nor a rule about reading lets it read; -1: none.
func (p Policy) closedRead(r Request) int {
	return slices.IndexFunc(r.Facts.Reads, func(path agenttool.Path) bool {
		return p.outside(path) && !p.upstream(path) && p.set.allowing(path, func(rule *Rule) bool { return rule.lends(path) }) < 0
	})
}

// upstream reports whether the call reads the user's repository that the workspace's was cloned from: its commits are those of the
// project. Secrets, and the places of other programs, are none.
func (p Policy) upstream(path agenttool.Path) bool {
	return path.Upstream && path.Cloned && !path.Private && path.Resolved == filepath.Clean(path.Absolute) && (suggester{p: &p}).narrow(path.Resolved) &&
		(p.Secret == nil || !p.Secret(path.Resolved))
}

// losesNothing reports whether the call is not known to destroy anything but files that toolhost copies before, and files in the session's own
// /tmp, which ends with the session.
func losesNothing(f *agenttool.Facts) bool {
	if f.Destructive != agenttool.Yes {
		return true
	}
	scratch := false // or copied
	for i := range f.Parts {
		if f.Parts[i].Destructive != agenttool.Yes {
			continue
		}
		if scratch = f.Parts[i].Copied || losesScratch(f, i); !scratch {
			return false
		}
	}
	return scratch
}

// losesScratch reports whether a simple command names all files that it destroys, and they are in the session's own /tmp.
func losesScratch(f *agenttool.Facts, i int) bool {
	part := &f.Parts[i]
	written := 0
	for _, w := range f.Writes {
		if w.By == i+1 && (w.Loose || w.Seen == "" || w.Seen != filepath.Clean(w.Absolute)) { // a link to it lies elsewhere
			return false
		}
		if w.By == i+1 {
			written++
		}
	}
	return written > 0 && part.Exact && part.PathsComplete == agenttool.Yes
}

// reachesOut reports whether the call names the hosts that it reaches, or sends commits somewhere. Of any other call the sandbox refuses
// each host, or asks about it, when it is reached: no host is open to a call that is known to reach out.
func (p Policy) reachesOut(r Request) bool {
	return p.foreign(r) || slices.ContainsFunc(r.Facts.Remotes, func(to agenttool.GitRemote) bool { return to.Push }) && !pushesHere(r.Facts)
}

// pushesHere reports whether a call pushes to repositories of this machine alone, which its facts list as written, and does nothing beside
// that but read and record commits. Another command of the line could write those repositories as well, and so could a program that the
// settings of another repository name: all that is known of the settings is about the one that is pushed from.
func pushesHere(f *agenttool.Facts) bool {
	known := f.PartsComplete == agenttool.Yes && f.HostsComplete == agenttool.Yes && len(f.Hosts) == 0 && len(f.Globs) == 0
	first := slices.IndexFunc(f.Parts, func(part agenttool.Part) bool { return commits(&part) })
	here := func(part agenttool.Part) bool {
		return commits(&part) && len(part.Dirs) <= 1 && slices.Equal(part.Dirs, f.Parts[first].Dirs)
	}
	return known && first >= 0 && slices.ContainsFunc(f.Writes, func(w agenttool.Path) bool { return w.Upstream }) &&
		!slices.ContainsFunc(f.Parts, func(part agenttool.Part) bool { return !readsOnly(&part) && !here(part) })
}

// commits reports whether a simple command is one of git that records or sends commits, and destroys none: one that an option or a variable
// lets run a program may destroy anything.
func commits(part *agenttool.Part) bool {
	return part.Exact && part.Destructive == agenttool.No && len(part.Argv) > 1 && part.Argv[0] == "git" &&
		slices.Contains([]string{"add", "commit", "push", "tag", "fetch"}, part.Argv[1])
}

// foreign reports whether the call names hosts that are not the session's own: with a full sandbox, the loopback of commands is one that the
// session has to itself.
func (p Policy) foreign(r Request) bool {
	return slices.ContainsFunc(r.Facts.Hosts, func(host string) bool { return !r.RunsCode || !p.Confines || !loopback(host) })
}

// keeps reports whether the sandbox keeps a written path as it is, but for the branches that git's branches follow.
func (p Policy) keeps(w agenttool.Path) bool { return w.Follows && p.Confines }
