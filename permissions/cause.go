package permissions

import (
	"slices"
	"strings"

	"toolhost/agenttool"
)

// cause is the reason why a call does not run unasked: one of its facts, or a path that it touches.
type cause struct {
	kind  string          // of reason
	fact  string          // as in agenttool.Reason
	path  *agenttool.Path // outside the workspace, or written
	hosts bool            // there are hosts

	outside bool // the path is written, and outside
}

// causeOf returns the first condition for running unasked that the call fails. In mode sandboxed the condition is that the sandbox
// confines the call; otherwise that the call only reads, and only readable paths.
func causeOf(p *Policy, r Request) cause {
	if r.RunsCode && p.Mode == Sandboxed && p.Confines {
		return unconfinedBy(p, r)
	}
	f := r.Facts
	switch {
	case f.Destructive == agenttool.Yes && r.RunsCode:
		return cause{kind: kindClassifier, fact: "destructive"}
	case f.ReadOnly == agenttool.No && len(f.Writes) > 0 && r.RunsCode:
		return cause{kind: kindMode, fact: "read_only"}
	case f.ReadOnly != agenttool.Yes && r.RunsCode:
		return cause{kind: kindClassifier, fact: "read_only"}
	case len(f.Writes) > 0:
		return cause{kind: kindMode, path: &f.Writes[0]}
	}
	return unreadable(p, r)
}

// unreadable returns the reason why a call that only reads does not run unasked.
func unreadable(p *Policy, r Request) cause {
	f := r.Facts
	if i := slices.IndexFunc(f.Reads, p.outside); i >= 0 {
		return cause{kind: kindWorkingDir, path: &f.Reads[i]}
	}
	switch {
	case f.OpenWorld != agenttool.No || p.foreign(r):
		return cause{kind: kindClassifier, fact: "open_world", hosts: len(f.Hosts) > 0}
	case f.PathsComplete != agenttool.Yes:
		return cause{kind: kindClassifier, fact: "paths_complete"}
	}
	return cause{kind: kindClassifier, fact: "read_only"}
}

// unconfinedBy returns why the sandbox does not hold all that a command may do, see confined.
func unconfinedBy(p *Policy, r Request) cause {
	f := r.Facts
	switch {
	case !losesNothing(f):
		return cause{kind: kindClassifier, fact: "destructive"}
	case f.Unmentioned:
		return cause{kind: kindClassifier, fact: "read_only"}
	case p.reachesOut(r):
		return cause{kind: kindClassifier, fact: "open_world", hosts: len(f.Hosts) > 0}
	}
	if i := p.closedWrite(r); i >= 0 {
		return cause{kind: kindMode, path: &f.Writes[i], outside: true}
	}
	if i := p.closedRead(r); i >= 0 {
		return cause{kind: kindWorkingDir, path: &f.Reads[i]}
	}
	return unreadable(p, r)
}

// sentence says what the cause is, in the words of the reason for that very fact.
func (c cause) sentence(f *agenttool.Facts) string {
	switch {
	case c.outside:
		return "it writes `" + c.path.Spelling + "`, which is outside the workspace"
	case c.path != nil && c.kind == kindMode:
		return "it writes " + c.path.Spelling
	case c.path != nil:
		return "`" + c.path.Spelling + "` is outside the workspace"
	}
	if why := reasonFor(f, c.fact); why != "" {
		return why + c.named(f.Hosts, why)
	}
	return withoutReason[c.fact] + c.named(f.Hosts, "")
}

// named adds the hosts that a sentence does not have.
func (c cause) named(hosts []string, why string) string {
	hosts = slices.DeleteFunc(slices.Clone(hosts), func(host string) bool { return strings.Contains(why, host) })
	if !c.hosts || len(hosts) == 0 {
		return ""
	}
	return ": " + strings.Join(hosts, ", ")
}

// withoutReason says of a fact that decides, and that has no reason, what it means.
var withoutReason = map[string]string{
	"destructive":    "it deletes or overwrites data",
	"read_only":      "it may change files or state",
	"open_world":     "it may reach beyond this machine",
	"paths_complete": "it may touch files that its words do not name",
}

// reasonFor returns the reason for a fact from the first simple command whose fact is not harmless, "" if there is none.
// Reasons for this fact come before reasons for all facts of a command.
func reasonFor(f *agenttool.Facts, fact string) string {
	for _, name := range [2]string{fact, ""} {
		for i := range f.Parts {
			if part := &f.Parts[i]; !harmless(part, fact) {
				if why := named(part.Reasons, name); why != "" {
					return why
				}
			}
		}
	}
	return pick(f.Reasons, fact)
}

// pick returns the first reason for a fact, else the first one for all facts.
func pick(reasons []agenttool.Reason, fact string) string {
	if why := named(reasons, fact); why != "" {
		return why
	}
	return named(reasons, "")
}

// named returns the first reason that is given for a fact.
func named(reasons []agenttool.Reason, fact string) string {
	for _, r := range reasons {
		if r.Fact == fact {
			return r.Text
		}
	}
	return ""
}

// harmless reports whether a fact of a simple command keeps nothing from running.
func harmless(part *agenttool.Part, fact string) bool {
	switch fact {
	case "destructive":
		return part.Destructive != agenttool.Yes
	case "open_world":
		return part.OpenWorld == agenttool.No
	case "paths_complete":
		return part.PathsComplete == agenttool.Yes
	}
	return part.ReadOnly == agenttool.Yes
}
