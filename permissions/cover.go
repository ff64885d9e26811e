package permissions

import (
	"slices"
	"strings"

	"toolhost/agenttool"
)

// cover records which allow rules cover which parts of a call.
type cover struct {
	p *Policy
	r Request

	whole   bool    // all of it
	used    []*Rule // by these, in the order of its parts
	parts   []int   // of each simple command the number of its rule, or one of the values below
	lacking string  // the first part that no rule covers, for the message
}

// In the place of a rule's number.
const (
	onlyReads = -1 // no rule, but the part only reads
	uncovered = -2
)

// coverOf looks for the rules that together cover a call.
func coverOf(p *Policy, r Request) cover {
	c := cover{p: p, r: r}
	if p.set == nil {
		return c
	}
	if i := c.find(func(rule *Rule) bool { return rule.coversTool(r.Tool) }, p.set.allow.whole); i >= 0 {
		c.whole = true
		c.use(&p.set.rules[i])
		return c
	}
	f := r.Facts
	switch {
	case len(f.Parts) > 0 && f.PartsComplete == agenttool.Yes:
		c.whole = c.coverParts()
	case r.RunsCode, f.PathsComplete != agenttool.Yes, f.OpenWorld != agenttool.No:
		return c
	default:
		c.whole = true
	}
	c.whole = c.coverWrites() && c.coverReads() && c.whole && len(c.used) > 0
	return c
}

// find returns the first of the rules that match accepts, -1 for none.
func (c *cover) find(match func(*Rule) bool, among []int) int {
	for _, i := range among {
		if rule := &c.p.set.rules[i]; match(rule) {
			return i
		}
	}
	return -1
}

// use notes a rule.
func (c *cover) use(r *Rule) { c.used = append(c.used, r) }

func (c *cover) lack(what string) bool {
	if c.lacking == "" {
		c.lacking = what
	}
	return false
}

// coverParts looks for a rule for each simple command that does more than read. It looks at all of them, for the record.
func (c *cover) coverParts() bool {
	f := c.r.Facts
	all := true
	networked := c.hostsAllowed()
	for n := range f.Parts {
		part := &f.Parts[n]
		found := uncovered
		if i := c.coversPart(part); i >= 0 {
			found = i
			c.use(&c.p.set.rules[i])
		} else if c.wrappedWhole(part) {
			found = c.parts[part.WrappedBy]
		} else if readsOnly(part) || networked && part.Exact && part.ReadOnly == agenttool.Yes && part.PathsComplete == agenttool.Yes {
			found = onlyReads
		}
		c.parts = append(c.parts, found)
	}
	c.passOn()
	for n := range f.Parts {
		if c.parts[n] == uncovered && !c.passing(n) {
			all = c.lack(strings.Join(f.Parts[n].Argv, " "))
		}
	}
	return all && !slices.Contains(c.parts, uncovered)
}

// passOn covers each simple command that only runs others by what covers all of those. A part stands before those that it runs.
func (c *cover) passOn() {
	for n := range slices.Backward(c.parts) {
		if c.parts[n] != uncovered || !c.r.Facts.Parts[n].Passes {
			continue
		}
		by := uncovered
		for m := n + 1; m < len(c.parts); m++ {
			if c.r.Facts.Parts[m].WrappedBy != n {
				continue
			}
			if c.parts[m] == uncovered {
				by = uncovered
				break
			}
			by = max(by, c.parts[m])
		}
		c.parts[n] = by
	}
}

// passing reports whether a simple command is one whose rule is that of the commands which it runs, and is there only for them.
func (c *cover) passing(n int) bool {
	return c.r.Facts.Parts[n].Passes && slices.ContainsFunc(c.r.Facts.Parts[n+1:], func(part agenttool.Part) bool { return part.WrappedBy == n })
}

// wrappedWhole reports whether the command that runs a simple command, and ends in its words, is covered by a rule without a star:
// that shows all that runs.
func (c *cover) wrappedWhole(part *agenttool.Part) bool {
	by := part.WrappedBy
	if by < 0 || by >= len(c.parts) || c.parts[by] < 0 || !part.Exact || !c.p.set.rules[c.parts[by]].literal() {
		return false
	}
	return endsIn(c.r.Facts.Parts[by].Argv, part.Argv)
}

// readsOnly reports whether a simple command is proved to only read, to stay on this machine, and to touch only the paths that it
// names.
func readsOnly(part *agenttool.Part) bool {
	return part.ReadOnly == agenttool.Yes && part.OpenWorld == agenttool.No && part.PathsComplete == agenttool.Yes
}

// hostsAllowed reports whether the call names hosts and rules allow all of them.
func (c *cover) hostsAllowed() bool {
	var used []*Rule
	for _, host := range c.r.Facts.Hosts {
		i := c.find(func(rule *Rule) bool { return rule.host.match(host) }, c.p.set.allow.hosts)
		if i < 0 {
			return false
		}
		used = append(used, &c.p.set.rules[i])
	}
	c.used = append(c.used, used...)
	return len(used) > 0
}

// coversPart returns the number of a rule that covers a simple command, -1 for none. Words mean what they say only inside the roots.
func (c *cover) coversPart(part *agenttool.Part) int {
	if len(part.Argv) == 0 || !inRoots(c.r.Facts, part) {
		return -1
	}
	return c.find(func(rule *Rule) bool { return rule.covers(c.r.Facts, part) }, c.p.set.allow.firstWords(part.Argv[0]))
}

// meansInRoots reports whether the directories to which the words of a simple command lead, besides what it means, are inside the roots.
func meansInRoots(f *agenttool.Facts, part *agenttool.Part) bool {
	return f.Dir != nil && !slices.ContainsFunc(part.MeansIn, func(dir string) bool { return !dirInRoots(f, dir) })
}

// inRoots reports whether a simple command starts inside a root of the workspace, wherever it may start.
func inRoots(f *agenttool.Facts, part *agenttool.Part) bool {
	if f.Dir == nil || f.Dir.Root == "" {
		return false
	}
	return !slices.ContainsFunc(part.Dirs, func(dir string) bool { return !dirInRoots(f, dir) })
}

// dirInRoots reports whether a directory that a command changes to leads into a root. The classifier lists such directories among
// the reads.
func dirInRoots(f *agenttool.Facts, dir string) bool {
	if dir == f.Dir.Absolute || dir == f.Dir.Resolved {
		return true
	}
	return slices.ContainsFunc(f.Reads, func(p agenttool.Path) bool {
		return p.Root != "" && (p.Resolved == dir || strings.TrimSuffix(p.Absolute, "/") == dir)
	})
}

// coverWrites looks for a rule for each path that the call writes.
func (c *cover) coverWrites() bool {
	all := true
	for _, path := range c.r.Facts.Writes {
		if c.p.keeps(path) {
			continue
		}
		all = c.allowed("writing ", path, func(rule *Rule) bool { return rule.takes(path, c.r.Tool) }) && all
	}
	return all
}

// coverReads looks for a rule for each path outside the readable area that is read and not written.
func (c *cover) coverReads() bool {
	all := true
	for _, path := range c.r.Facts.Reads {
		written := slices.ContainsFunc(c.r.Facts.Writes, func(w agenttool.Path) bool { return w.Resolved == path.Resolved })
		if written || !c.p.outside(path) {
			continue
		}
		all = c.allowed("reading ", path, func(rule *Rule) bool { return rule.lends(path) }) && all
	}
	return all
}

// allowed uses the rule that allows an access to a path, and reports whether there is one.
func (c *cover) allowed(doing string, path agenttool.Path, fits func(*Rule) bool) bool {
	i := c.p.set.allowing(path, fits)
	if i < 0 {
		return c.lack(doing + path.Spelling)
	}
	c.use(&c.p.set.rules[i])
	return true
}

// verdict is that of a call which rules cover whole.
func (c *cover) verdict() verdict {
	v := verdict{behavior: agenttool.Allow, kind: kindRule, rules: c.used, covered: c.parts, grants: c.grants()}
	var refs []string
	for _, rule := range c.used {
		if ref := describe(rule); !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	v.why = "allowed by " + strings.Join(refs, ", ")
	return v
}

// grants returns the grants that every covered command of a line has. The commands share one sandbox, so a grant of one command
// alone must not reach the others. Commands that only read do not count.
func (c *cover) grants() []string {
	if len(c.parts) == 0 && len(c.used) == 1 { // of a tool as a whole
		return slices.Clone(c.used[0].Grants)
	}
	var grants []string
	first := true
	for _, i := range c.parts {
		if i < 0 {
			continue
		}
		rule := &c.p.set.rules[i]
		if first {
			grants, first = slices.Clone(rule.Grants), false
			continue
		}
		grants = slices.DeleteFunc(grants, func(g string) bool { return !slices.Contains(rule.Grants, g) })
	}
	return grants
}

// whyNot says, as a reason type and a sentence, why the call does not run unasked.
func (c *cover) whyNot() (kind, detail string) {
	if c.r.RunsCode && c.lacking != "" && len(c.used) > 0 {
		return kindSubcommands, "no rule covers `" + c.lacking + "`"
	}
	found := causeOf(c.p, c.r)
	return found.kind, found.sentence(c.r.Facts)
}

func endsIn(outer, inner []string) bool {
	return len(inner) < len(outer) && slices.Equal(outer[len(outer)-len(inner):], inner)
}
