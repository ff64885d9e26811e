package classify

import (
	"slices"

	"toolhost/agenttool"
)

// WritesGitConfig is in Facts.Inferred of a command line that changes, or may change, the configuration of a repository.
//
// The text alone does not determine the file: git searches for its directory upward from its working directory, and a linked work
// tree or a submodule keeps its git directory elsewhere. Facts.Writes names the file as if git ran at the top of the repository:
// .git/config in the working directory, as cd and -C moved it, or config in the directory of --git-dir. A caller that checks the
// disk must take a path D/.git/config there for the configuration of the repository that holds D. Other files that git commands
// write in the git directory are named in the same way: hooks, modules, worktrees, config.worktree. Where a word of the place is
// unknown nothing is named, and PathsComplete is unknown in any case.
const WritesGitConfig = "writes_git_config"

// inferred are the facts that are derived from the command line.
var inferred = []string{"read_only", "destructive", "open_world", "concurrency_safe", "interactive", "long_running",
	"observes_host", "paths_complete", "hosts_complete", WritesGitConfig}

func (rec *record) inferred() []string {
	n := len(inferred)
	if !rec.gitConfigChanges {
		n--
	}
	return inferred[:n:n]
}

// report puts the results together.
func (rec *record) report() agenttool.Facts {
	if rec.rejection != nil {
		return rec.rejectedFacts()
	}
	rec.tally |= destroys.when(len(rec.destructive) > 0)
	t := rec.tally
	f := agenttool.Facts{
		Verdicts: agenttool.Verdicts{
			ReadOnly: t.readOnly(), Destructive: t.destructive(), OpenWorld: t.openWorld(),
			ConcurrencySafe: t.concurrencySafe(), Interactive: t.yes(interactive), LongRunning: t.longRunning(),
			ObservesHost: t.yes(observes), PathsComplete: t.pathsComplete(), HostsComplete: t.hostsComplete(),
		},
		Reads: rec.reads.all(), Writes: rec.writes.list, Hosts: rec.hosts, Locks: rec.locks, Inferred: rec.inferred(),
	}
	f.Reasons = rec.reasons
	for _, r := range rec.destructive {
		if !slices.Contains(f.Reasons, r) { // both analyses may have found it
			f.Reasons = append(f.Reasons, r)
		}
	}
	f.Parts = rec.finishedParts()
	f.PartsComplete = rec.partsComplete()
	f.Commands = rec.commands()
	f.Mentions, f.Unmentioned = rec.mentions, rec.unmentioned
	f.MayRun = rec.allMayRun()
	f.Settings = rec.settings
	f.Globs = rec.onlyGlobs(f.Parts)
	f.Git = rec.gitRuns
	if t.has(remotes) && !t.has(unknown|hostless|mayReach) {
		f.Remotes = rec.gitRemotes
	}
	if len(f.Parts) == 0 && len(f.Reasons) == 0 {
		f.Reasons = []agenttool.Reason{{Text: "nothing runs"}}
	}
	return f
}

// rejectedFacts is the report of a command line whose analysis did not finish. Findings up to there are kept if they are warnings.
func (rec *record) rejectedFacts() agenttool.Facts {
	f := agenttool.Facts{
		Reads: rec.reads.all(), Writes: rec.writes.list, Hosts: rec.hosts, Locks: rec.locks, Inferred: rec.inferred(),
		Reasons:  append([]agenttool.Reason{*rec.rejection}, rec.destructive...),
		Mentions: rec.mentions, Unmentioned: rec.unmentioned, Settings: rec.settings, MayRun: rec.rejection.Text,
	}
	if len(rec.destructive) > 0 {
		f.Destructive, f.ReadOnly, f.ConcurrencySafe = agenttool.Yes, agenttool.No, agenttool.No
	}
	for i := range rec.parts {
		rec.parts[i].tally |= unknown
	}
	f.Parts = rec.finishedParts()
	return f
}

// finishedParts returns the parts with their verdicts.
func (rec *record) finishedParts() []agenttool.Part {
	parts := make([]agenttool.Part, len(rec.parts))
	for i := range rec.parts {
		c := &rec.parts[i]
		c.ReadOnly = c.tally.readOnly()
		c.Destructive = c.tally.destructive()
		c.OpenWorld = c.tally.openWorld()
		c.PathsComplete = c.tally.pathsComplete()
		if c.tally.has(loopback) && c.OpenWorld == agenttool.No {
			c.OpenWorld = agenttool.Unknown // a rule about paths and words alone does not cover that
		}
		parts[i] = c.Part
	}
	return parts
}

// partsComplete returns Yes if the parts are everything that runs, and the shell itself only reads and writes the named paths. A
// redirection to an unknown target, or to another machine, belongs to no part, and no rule for a part covers it; nor does a rule
// for the words of a command cover variables that it inherits.
func (w *record) partsComplete() agenttool.Fact {
	if w.tally.has(gap) || w.exportsVariables || w.shellTally.has(unknown|incomplete|byPattern|reaches|mayReach) {
		return agenttool.Unknown
	}
	return agenttool.Yes
}

// commands returns the words of the simple commands. It is nil if a word of one is not known, if what the words mean is not
// known, as with a variable that may change it, or if there may be more commands than were seen: then no list would be the whole
// truth.
func (rec *record) commands() [][]string {
	if rec.tally.has(gap) {
		return nil
	}
	all := make([][]string, 0, len(rec.parts))
	for i := range rec.parts {
		if !rec.parts[i].Exact || slices.ContainsFunc(rec.parts[i].Variables, changesMeaning) {
			return nil
		}
		all = append(all, rec.parts[i].Argv)
	}
	return all
}

func changesMeaning(v agenttool.Variable) bool { return v.Influence != agenttool.ShowsOther }

// mentionParts adds the commands that the strict analysis found in the words of others: rules that forbid see no less than rules that
// allow.
func (rec *record) mentionParts() {
	for i := range rec.parts {
		if p := &rec.parts[i]; p.WrappedBy >= 0 && p.Exact {
			rec.mentions = append(rec.mentions, p.Argv)
		}
	}
}

// merge adds what another one gathered from the same command line, read in another way.
func (rec *record) merge(g *extractor) {
	for _, r := range g.destructive {
		rec.destructive = addReason(rec.destructive, r)
	}
	if g.incomplete || g.wordsSkipped {
		rec.tally |= mayDestroy
	}
	rec.codes = append(rec.codes, g.codes...)
	rec.settings = append(rec.settings, g.settings...)
	rec.unmentioned = rec.unmentioned || g.incomplete || g.textUnread
	switch {
	case rec.mentions == nil && g.mentions == nil:
		rec.mentions = [][]string{}
	case rec.mentions == nil:
		rec.mentions = g.mentions
	case !slices.EqualFunc(rec.mentions, g.mentions, slices.Equal[[]string]):
		rec.mentions = append(rec.mentions, g.mentions...)
	}
}

// partAt returns the simple command that begins at a place, -1 if none does.
func (rec *record) partAt(at place) int {
	for i := range rec.parts {
		if rec.parts[i].Line == at.line && rec.parts[i].Column == at.column {
			return i
		}
	}
	return -1
}

// onlyGlobs returns the patterns, if they are all that is missing and every command reads alone: another could make what they match.
func (rec *record) onlyGlobs(parts []agenttool.Part) []agenttool.Glob {
	if t := rec.tally; !t.has(byPattern) || t.has(incomplete|unknown) || rec.globOptionsChanged {
		return nil
	}
	for i := range parts {
		if parts[i].ReadOnly != agenttool.Yes {
			return nil
		}
	}
	return rec.globs
}

// allMayRun returns the reason why the whole may run more code. The shell's own effects come first, because no rule about a command
// covers them.
func (rec *record) allMayRun() string {
	if rec.shellMayRun != "" {
		return rec.shellMayRun
	}
	for i := range rec.parts {
		if rec.parts[i].MayRun != "" {
			return rec.parts[i].MayRun
		}
	}
	return ""
}
