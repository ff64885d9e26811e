package classify

import (
	"slices"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/classify/program"
)

// tally is what was seen of a command so far. Nothing ever clears it.
type tally struct {
	unknown       bool // something is not understood
	gap           bool // it is more than a program or an option of it: there may be commands that no part shows
	writes        bool
	mayDestroy    bool // what it writes may have been something else
	destroys      bool
	reaches       bool
	mayReach      bool
	loopback      bool // it reaches this machine by the network
	long          bool
	mayRun        bool // whether it ends by itself depends on what it finds
	interactive   bool
	observes      bool
	notConcurrent bool
	background    bool
	incomplete    bool // it touches paths that are not named
	matched       bool // it touches paths of which patterns are named
	hostless      bool // it reaches hosts that are not named
	remotes       bool // it reaches hosts that the configuration of git names
}

func (t *tally) add(o tally) {
	t.unknown = t.unknown || o.unknown
	t.gap = t.gap || o.gap
	t.writes = t.writes || o.writes
	t.mayDestroy = t.mayDestroy || o.mayDestroy
	t.destroys = t.destroys || o.destroys
	t.reaches = t.reaches || o.reaches
	t.mayReach = t.mayReach || o.mayReach
	t.loopback = t.loopback || o.loopback
	t.long = t.long || o.long
	t.mayRun = t.mayRun || o.mayRun
	t.interactive = t.interactive || o.interactive
	t.observes = t.observes || o.observes
	t.notConcurrent = t.notConcurrent || o.notConcurrent
	t.background = t.background || o.background
	t.incomplete = t.incomplete || o.incomplete
	t.matched = t.matched || o.matched
	t.hostless = t.hostless || o.hostless
	t.remotes = t.remotes || o.remotes
}

// yes returns Yes if it was seen, else No, else Unknown if something was not understood.
func (t *tally) yes(seen bool) agenttool.Fact {
	switch {
	case seen:
		return agenttool.Yes
	case t.unknown:
		return agenttool.Unknown
	}
	return agenttool.No
}

func (t *tally) readOnly() agenttool.Fact {
	switch t.yes(t.writes || t.destroys) {
	case agenttool.Yes:
		return agenttool.No
	case agenttool.No:
		return agenttool.Yes
	}
	return agenttool.Unknown
}

func (t *tally) destructive() agenttool.Fact {
	if t.mayDestroy && !t.destroys {
		return agenttool.Unknown
	}
	return t.yes(t.destroys)
}

func (t *tally) openWorld() agenttool.Fact {
	if t.mayReach && !t.reaches {
		return agenttool.Unknown
	}
	return t.yes(t.reaches)
}

func (t *tally) longRunning() agenttool.Fact {
	if t.mayRun && !t.long {
		return agenttool.Unknown
	}
	return t.yes(t.long)
}

func (t *tally) concurrencySafe() agenttool.Fact {
	switch ro := t.readOnly(); {
	case ro == agenttool.No, t.notConcurrent, t.interactive:
		return agenttool.No
	case ro == agenttool.Yes && !t.background:
		return agenttool.Yes
	}
	return agenttool.Unknown
}

func (t *tally) pathsComplete() agenttool.Fact {
	if t.unknown || t.incomplete || t.matched {
		return agenttool.Unknown
	}
	return agenttool.Yes
}

func (t *tally) hostsComplete() agenttool.Fact {
	if t.unknown || t.hostless || t.remotes || t.mayReach {
		return agenttool.Unknown
	}
	return agenttool.Yes
}

// counted is a part with what was seen of it.
type counted struct {
	agenttool.Part
	tally tally
}

// note records what was seen, for the whole and for the simple command that is looked at.
func (w *walk) note(t tally) {
	if w.quiet > 0 {
		return
	}
	w.tally.add(t)
	if w.toucher() == 0 {
		w.itself.add(t)
	}
	for i := w.part; i >= 0; i = w.parts[i].WrappedBy {
		w.parts[i].tally.add(t)
	}
}

// unknown records that something of the language is not understood, and why. What follows may mean something else then.
func (w *walk) unknown(reason string) {
	w.note(tally{unknown: true, gap: true})
	w.fact("read_only", reason)
	w.doubt(reason, true)
}

// hidden records that something runs, or may run, which is not known, and why. The shell stays as it is.
func (w *walk) hidden(reason string) {
	w.note(tally{unknown: true, gap: true})
	w.fact("read_only", reason)
	w.mayRun(reason)
}

// doubtWithin doubts what follows for a reason, if there is one, until the result is called.
func (w *walk) doubtWithin(reason string) (end func()) {
	if reason == "" || w.scope.doubt != "" {
		return func() {}
	}
	w.scope.doubt = reason
	return func() {
		if w.scope.doubt == reason {
			w.scope.doubt = ""
		}
	}
}

// doubt says why nothing is proved any more of what follows, if that is so.
func (w *walk) doubt(reason string, is bool) {
	if is && w.scope.doubt == "" {
		w.scope.doubt = reason
	}
}

// strange records that a program, or what it is given, is not understood.
func (w *walk) strange(reason string, at program.Word) {
	w.note(tally{unknown: true})
	w.factAt("read_only", reason, at)
}

// fact records what a fact follows from, at the node that is looked at.
func (w *walk) fact(name, reason string) {
	r := w.reason(reason)
	r.Fact = name
	w.record(r)
}

// factAt records what a fact follows from, at a word. Facts are named as in agenttool.Facts; "" is all of them.
func (w *walk) factAt(name, reason string, at program.Word) {
	w.record(w.placed(agenttool.Reason{Fact: name, Text: reason, Line: at.Line, Column: at.Column}))
}

func (w *walk) reason(text string) agenttool.Reason {
	return w.placed(agenttool.Reason{Text: text, Line: int(w.at.Line()), Column: int(w.at.Col())})
}

func (w *walk) placed(r agenttool.Reason) agenttool.Reason {
	if w.inner != nil {
		r.Line, r.Column = w.inner.line, w.inner.column
	}
	return r
}

func (w *walk) record(r agenttool.Reason) {
	if w.quiet > 0 {
		return
	}
	r.Text = cut.Short(r.Text, maxReason)
	w.reasons = addReason(w.reasons, r)
	if w.part >= 0 && w.told < maxTold {
		w.told += len(r.Text)
		w.parts[w.part].Reasons = addReason(w.parts[w.part].Reasons, r)
	}
}

func addReason(list []agenttool.Reason, r agenttool.Reason) []agenttool.Reason {
	if len(list) >= maxReasons || slices.Contains(list, r) {
		return list
	}
	return append(list, r)
}

// begin opens a simple command; the result is what end closes it with.
func (w *walk) begin(argv []program.Word) (outer int) {
	outer = w.part
	if w.quiet > 0 {
		return outer
	}
	c := w.recorded(argv)
	c.WrappedBy, c.Dirs = outer, w.startDirs()
	w.altered = w.altered || w.scope.given
	at := w.placed(agenttool.Reason{Line: argv[0].Line, Column: argv[0].Column})
	c.Line, c.Column = at.Line, at.Column
	w.parts = append(w.parts, c)
	w.part = len(w.parts) - 1
	if w.scope.doubt != "" && w.scope.void == "" {
		w.note(tally{unknown: true})
		w.parts[w.part].Reasons = []agenttool.Reason{w.placed(agenttool.Reason{
			Fact: "read_only", Text: cut.Short("what stands before it may change what it means: "+w.scope.doubt, maxReason), Line: at.Line, Column: at.Column})}
	}
	return outer
}

// startDirs returns where a simple command may start, if that is not where the whole does.
func (w *walk) startDirs() []string {
	switch {
	case !w.scope.moved():
		return nil
	case len(w.scope.dirs) == 0:
		return []string{anywhere}
	}
	return w.scope.dirs
}

// anywhere stands for a directory that is not known.
const anywhere = "…"

// recorded returns the words of a simple command as a part. Programs that run one another say the same words again, so
// beyond a limit only the name is kept, and the words are not known.
func (w *walk) recorded(argv []program.Word) counted {
	for _, word := range argv {
		w.words += len(word.Text) + 8
	}
	var c counted
	if c.Exact = w.words <= maxRecorded; !c.Exact {
		c.Argv = []string{argv[0].Text[:min(len(argv[0].Text), maxReason)] + "…"}
		return c
	}
	c.Argv = make([]string, len(argv))
	for i, word := range argv {
		c.Argv[i] = word.Text
		if !word.Static {
			c.Argv[i] += "…"
			c.Exact = false
		}
	}
	return c
}

// WritesGitConfig is in Facts.Inferred of a command line that changes, or may change, the configuration of a repository.
//
// Which file that is takes the disk to know: git looks for its directory from the one in which it runs upward, and that of
// a linked work tree or a submodule is elsewhere. Facts.Writes names the file as it is if git runs at the top of the
// repository: .git/config in the working directory, as cd and -C moved it, or config in what --git-dir named. Whoever looks at
// the disk takes a path D/.git/config there for the configuration of the repository that holds D. Other files that git
// commands write in the git directory are named in the same way: hooks, modules, worktrees, config.worktree. Where a word of
// the place is not known nothing is named, and PathsComplete is unknown in any case.
const WritesGitConfig = "writes_git_config"

// inferred are the facts that are derived from the command line.
var inferred = []string{"read_only", "destructive", "open_world", "concurrency_safe", "interactive", "long_running",
	"observes_host", "paths_complete", "hosts_complete", WritesGitConfig}

func (w *walk) inferred() []string {
	n := len(inferred)
	if !w.gitConfig {
		n--
	}
	return inferred[:n:n]
}

// report puts together what was seen.
func (w *walk) report() agenttool.Facts {
	w.seen()
	if w.rejected != nil {
		return w.rejection()
	}
	t := &w.tally
	if t.readOnly() == agenttool.Yes {
		w.destroyed, t.mayDestroy = nil, false // the strict analysis is a proof; the lenient one takes a word for a command
	} else {
		w.touches(w.codes)
	}
	t.destroys = t.destroys || len(w.destroyed) > 0
	f := agenttool.Facts{
		ReadOnly: t.readOnly(), Destructive: t.destructive(), OpenWorld: t.openWorld(),
		ConcurrencySafe: t.concurrencySafe(), Interactive: t.yes(t.interactive), LongRunning: t.longRunning(),
		ObservesHost: t.yes(t.observes), PathsComplete: t.pathsComplete(),
		HostsComplete: t.hostsComplete(), Locks: w.locks, Reads: w.reads.all(), Writes: w.writes.list, Hosts: w.hosts, Inferred: w.inferred(),
	}
	f.Reasons = append(w.reasons, w.destroyed...)
	f.Parts, f.PartsComplete, f.Commands = w.finished(), w.partsComplete(), w.commands()
	f.Mentions, f.Unmentioned, f.MayRun = w.mentions, w.unmentioned, w.allMayRun()
	f.Globs, f.Git = w.matches(f.Parts), w.git
	if t.remotes && !t.unknown && !t.hostless && !t.mayReach {
		f.Remotes = w.remotes
	}
	if len(f.Parts) == 0 && len(f.Reasons) == 0 {
		f.Reasons = []agenttool.Reason{{Text: "nothing runs"}}
	}
	return f
}

// rejection is the report of what was not analysed to its end. What was seen until then is kept where it is a warning.
func (w *walk) rejection() agenttool.Facts {
	w.touches(w.codes)
	f := agenttool.Facts{Reads: w.reads.all(), Writes: w.writes.list, Hosts: w.hosts, Locks: w.locks, Inferred: w.inferred(),
		Reasons:  append([]agenttool.Reason{*w.rejected}, w.destroyed...),
		Mentions: w.mentions, Unmentioned: w.unmentioned, MayRun: w.rejected.Text}
	if len(w.destroyed) > 0 {
		f.Destructive, f.ReadOnly, f.ConcurrencySafe = agenttool.Yes, agenttool.No, agenttool.No
	}
	for i := range w.parts {
		w.parts[i].tally.unknown = true
	}
	f.Parts = w.finished()
	return f
}

func (w *walk) finished() []agenttool.Part {
	parts := make([]agenttool.Part, len(w.parts))
	for i := range w.parts {
		c := &w.parts[i]
		c.ReadOnly, c.Destructive, c.OpenWorld = c.tally.readOnly(), c.tally.destructive(), c.tally.openWorld()
		if c.PathsComplete = c.tally.pathsComplete(); c.tally.loopback && c.OpenWorld == agenttool.No {
			c.OpenWorld = agenttool.Unknown // a rule about paths and words alone does not cover that
		}
		parts[i] = c.Part
	}
	return parts
}

// partsComplete returns Yes if the parts are all that runs, and what the shell does besides is to read and write the paths that
// are named. A redirection into what is not known, or to another machine, is no part, and no rule for a part covers it; nor does
// one for the words of a command cover the variables that it is given.
func (w *walk) partsComplete() agenttool.Fact {
	if s := &w.itself; w.tally.gap || w.altered || s.unknown || s.incomplete || s.matched || s.reaches || s.mayReach {
		return agenttool.Unknown
	}
	return agenttool.Yes
}

// commands returns the words of the simple commands. It is nil if a word of one is not known, if what the words mean
// is not known, or if there may be more commands than were seen: then no list would be the whole truth.
func (w *walk) commands() [][]string {
	if w.tally.gap {
		return nil
	}
	all := make([][]string, 0, len(w.parts))
	for i := range w.parts {
		if !w.parts[i].Exact {
			return nil
		}
		all = append(all, w.parts[i].Argv)
	}
	return all
}
