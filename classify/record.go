package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/classify/program"
)

// tally is a set of findings about a command. They only accumulate.
type tally uint32

const (
	unknown tally = 1 << iota // something is not understood
	gap                       // it is more than a program or an option of it: there may be commands that no part shows
	writes
	mayDestroy // it may overwrite existing data
	destroys
	reaches
	mayReach
	loopback // it reaches this machine by the network
	long
	mayRunLong // it may run for long, depending on the data that it finds
	interactive
	observes
	notConcurrent
	background
	incomplete // it touches paths that are not named
	byPattern  // it touches paths that are known by patterns only
	hostless   // it reaches hosts that are not named
	remotes    // it reaches hosts that the configuration of git names
)

// has reports whether one of the findings was made.
func (t tally) has(findings tally) bool { return t&findings != 0 }

// when returns the finding if the condition holds, else none.
func (t tally) when(condition bool) tally {
	if condition {
		return t
	}
	return 0
}

// yes returns Yes if one of the findings was made, else No, else Unknown if something was not understood.
func (t tally) yes(findings tally) agenttool.Fact {
	switch {
	case t.has(findings):
		return agenttool.Yes
	case t.has(unknown):
		return agenttool.Unknown
	}
	return agenttool.No
}

// unless answers like yes, but with Unknown if a weaker finding was made instead.
func (t tally) unless(weaker, finding tally) agenttool.Fact {
	if t.has(weaker) && !t.has(finding) {
		return agenttool.Unknown
	}
	return t.yes(finding)
}

func (t tally) readOnly() agenttool.Fact {
	switch t.yes(writes | destroys) {
	case agenttool.Yes:
		return agenttool.No
	case agenttool.No:
		return agenttool.Yes
	}
	return agenttool.Unknown
}

func (t tally) destructive() agenttool.Fact { return t.unless(mayDestroy, destroys) }

func (t tally) openWorld() agenttool.Fact { return t.unless(mayReach, reaches) }

func (t tally) longRunning() agenttool.Fact { return t.unless(mayRunLong, long) }

func (t tally) concurrencySafe() agenttool.Fact {
	switch ro := t.readOnly(); {
	case ro == agenttool.No, t.has(notConcurrent | interactive):
		return agenttool.No
	case ro == agenttool.Yes && !t.has(background):
		return agenttool.Yes
	}
	return agenttool.Unknown
}

func (t tally) pathsComplete() agenttool.Fact { return t.complete(incomplete | byPattern) }

func (t tally) hostsComplete() agenttool.Fact { return t.complete(hostless | remotes | mayReach) }

// complete returns Yes if everything was understood and none of the findings was made.
func (t tally) complete(findings tally) agenttool.Fact {
	if t.has(unknown | findings) {
		return agenttool.Unknown
	}
	return agenttool.Yes
}

// countedPart is a part with its findings.
type countedPart struct {
	agenttool.Part
	tally tally
}

// record is what is found out about a command line. The strict analysis writes it down as it goes, and at the end takes over what the
// lenient one has found.
type record struct {
	// What findings are about now, and the place that reasons without one of their own point to.
	part          int  // the simple command that is looked at, -1 outside any
	inRedirection bool // the current access is a redirection, which the shell makes
	quiet         int  // while positive, nothing is recorded: a loop is tried until its scope settles
	at            syntax.Pos
	textPlace     *place // of the text inside the command line that is looked at, whose own positions mean nothing; nil: it is none

	// The whole.
	rejection        *agenttool.Reason // why nothing of it is understood, if so
	tally            tally
	shellTally       tally // effects of the shell itself, outside all simple commands
	exportsVariables bool  // simple commands run with variables that they would not find otherwise
	reasons          []agenttool.Reason
	shellMayRun      string // why the shell itself may run more than is mentioned

	parts       []countedPart // the simple commands
	wordBytes   int           // bytes of the words of the parts
	reasonBytes int           // bytes of their reasons

	// The paths and hosts that the commands touch, each once.
	pathBytes          int // bytes of the paths and hosts
	reads              pathSet
	writes             pathSet
	hosts              []string
	locks              []agenttool.Lock
	globs              []agenttool.Glob // patterns that they are given
	globOptionsChanged bool             // the meaning of patterns was changed

	gitRuns          []agenttool.GitRun // the places where git runs
	gitRemotes       []agenttool.GitRemote
	gitConfigChanges bool // the configuration of a repository changes

	// What the lenient analysis found.
	destructive []agenttool.Reason
	codes       []code
	mentions    [][]string
	settings    []string
	unmentioned bool
}

// place is where something stands in the command line, both from 1.
type place struct{ line, column int }

// note records a finding, for the whole line and for the current simple command.
func (rec *record) note(t tally) {
	if rec.quiet > 0 {
		return
	}
	rec.tally |= t
	if rec.toucher() == 0 {
		rec.shellTally |= t
	}
	if rec.toucher() > 0 && t.has(notPassed) {
		rec.parts[rec.part].Passes = false
	}
	for i := rec.part; i >= 0; i = rec.parts[i].WrappedBy {
		rec.parts[i].tally |= t
	}
}

// notPassed are the findings that keep a command from counting as one that does nothing but run others.
const notPassed = unknown | gap | writes | mayDestroy | destroys | reaches | mayReach | incomplete | byPattern | hostless | remotes

// passes notes whether the current simple command does nothing but run others. What is found about it before is known to be harmless.
func (rec *record) passes(u *program.Use) {
	if rec.quiet == 0 && rec.part >= 0 {
		rec.parts[rec.part].Passes = u.Passes
	}
}

// strange records that a program, or one of its arguments, is not understood.
func (rec *record) strange(reason string, at program.Word) {
	rec.note(unknown)
	rec.factAt("read_only", reason, at)
}

// fact records what a fact follows from, at the node that is looked at.
func (rec *record) fact(name, reason string) {
	r := rec.reason(reason)
	r.Fact = name
	rec.tell(r)
}

// factAt records what a fact follows from, at a word. Facts are named as in agenttool.Facts; "" is all of them.
func (rec *record) factAt(name, reason string, at program.Word) {
	rec.tell(rec.placed(agenttool.Reason{Fact: name, Text: reason, Line: at.Line, Column: at.Column}))
}

// tell adds a reason to those of the whole and of the current simple command.
func (rec *record) tell(r agenttool.Reason) {
	if rec.quiet > 0 {
		return
	}
	r.Text = cut.Short(r.Text, maxReason)
	rec.reasons = addReason(rec.reasons, r)
	if rec.part >= 0 && rec.reasonBytes < maxReasonBytes {
		rec.reasonBytes += len(r.Text)
		rec.parts[rec.part].Reasons = addReason(rec.parts[rec.part].Reasons, r)
	}
}

// anywhere stands for a directory that is not known.
const anywhere = "…"

// newPart returns a simple command as a part. Programs that run one another say the same words again, so
// beyond a limit only the name is kept, and the words are not known.
func (rec *record) newPart(argv []program.Word) countedPart {
	for _, word := range argv {
		rec.wordBytes += len(word.Text) + 8
	}
	var c countedPart
	c.Exact = rec.wordBytes <= maxWordBytes
	if !c.Exact {
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

// keeps records that a command keeps an input without end.
func (rec *record) keeps(what string) {
	rec.note(unknown | long)
	rec.fact("long_running", what+" keeps all its input, and its input does not end")
}

// mayRun records that a simple command may run more than the parts and mentions say, because its words name it, and why.
func (rec *record) mayRun(why string) {
	if why == "" || rec.quiet > 0 {
		return
	}
	switch {
	case rec.part < 0 && rec.shellMayRun == "":
		rec.shellMayRun = cut.Short(why, maxReason)
	case rec.part >= 0 && rec.parts[rec.part].MayRun == "":
		rec.parts[rec.part].MayRun = cut.Short(why, maxReason)
	}
}

// reason returns a reason with the place of the node that is looked at.
func (rec *record) reason(text string) agenttool.Reason {
	return rec.placed(agenttool.Reason{Text: text, Line: int(rec.at.Line()), Column: int(rec.at.Col())})
}

// placed gives a reason from a text inside the command line the place of that text.
func (rec *record) placed(r agenttool.Reason) agenttool.Reason {
	if rec.textPlace != nil {
		r.Line, r.Column = rec.textPlace.line, rec.textPlace.column
	}
	return r
}

// reject makes all facts unknown for one reason.
func (rec *record) reject(r agenttool.Reason) {
	if rec.rejection == nil {
		rec.rejection = &r
	}
}

// access is the kind of use of a path.
type access uint8

const (
	contents access = iota // it is read
	names                  // its name and its attributes are read
	written                // it is made or changed
	follows                // git notes in it which branches its branches follow
)

// pathSet is a list of paths without duplicates.
type pathSet struct {
	list []agenttool.Path
	seen map[agenttool.Path]int // where each is, of a long list
}

// all returns the paths in a list of their own; nil if there are none.
func (s *pathSet) all() []agenttool.Path { return append([]agenttool.Path(nil), s.list...) }

// find returns where a path is, -1 if it is not there.
func (s *pathSet) find(p agenttool.Path, key func(agenttool.Path) agenttool.Path) int {
	if s.seen == nil {
		p = key(p)
		return slices.IndexFunc(s.list, func(each agenttool.Path) bool { return key(each) == p })
	}
	if i, ok := s.seen[key(p)]; ok {
		return i
	}
	return -1
}

// append appends a path that is not there.
func (s *pathSet) append(p agenttool.Path, key func(agenttool.Path) agenttool.Path) {
	s.list = append(s.list, p)
	switch {
	case s.seen != nil:
		s.seen[key(p)] = len(s.list) - 1
	case len(s.list) > 32:
		s.seen = make(map[agenttool.Path]int, 64)
		for i, each := range s.list {
			s.seen[key(each)] = i
		}
	}
}

// nameOf is the key of a path that is read, with any reader.
func nameOf(p agenttool.Path) agenttool.Path {
	return agenttool.Path{Spelling: p.Spelling, Absolute: p.Absolute}
}

// nameAndWriter is the key of a path that is written: rules for it differ with the writer.
func nameAndWriter(p agenttool.Path) agenttool.Path {
	return agenttool.Path{Spelling: p.Spelling, Absolute: p.Absolute, By: p.By}
}

func (rec *record) addLock(path string) {
	l := agenttool.Lock{Path: path, Write: true}
	if len(rec.locks) < maxPaths && !slices.Contains(rec.locks, l) {
		rec.locks = append(rec.locks, l)
	}
}

// host records a host that is named by itself, in a URL, or before a path: user@host:path.
func (rec *record) host(text string) {
	_, rest, isURL := strings.Cut(text, "://")
	if !isURL {
		rest = text
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	if name, port, ok := strings.Cut(rest, ":"); ok && !strings.Contains(port, ":") && !program.Digits(port) {
		rest = name
	}
	if rest == "" || rec.quiet > 0 || slices.Contains(rec.hosts, rest) {
		return
	}
	rec.pathBytes += len(rest)
	if len(rec.hosts) >= maxHosts || rec.pathBytes > maxPathBytes {
		rec.note(incomplete | reaches)
		return
	}
	rec.hosts = append(rec.hosts, rest)
}

// add appends a path; of those that are too many it is only known that they are there.
func (rec *record) add(how access, word program.Word, full string) {
	s, key := &rec.reads, nameOf
	if how == written || how == follows {
		s, key = &rec.writes, nameAndWriter
	}
	p := agenttool.Path{
		Spelling: word.Text, Absolute: full, Names: how == names, Follows: how == follows,
		Top: word.Top, Makes: word.Makes, By: rec.toucher(), Own: ownProcess(full, full),
	}
	if i := s.find(p, key); i >= 0 {
		was := &s.list[i]
		was.Names = was.Names && p.Names
		was.Follows = was.Follows && p.Follows
		was.Top = was.Top || p.Top
		was.Makes = was.Makes || p.Makes
		return
	}
	if len(s.list) >= maxPaths || rec.pathBytes > maxPathBytes {
		rec.note(incomplete)
		return
	}
	rec.pathBytes += len(word.Text) + len(full)
	s.append(p, key)
}

// toucher returns the simple command of the current access, as an index plus 1; 0 for the shell itself.
func (rec *record) toucher() int {
	if rec.inRedirection {
		return 0
	}
	return rec.part + 1
}

// notFirst returns the characters that must not begin a name, or the current command would not take it for an operand.
func (rec *record) notFirst() string {
	if rec.part >= 0 && len(rec.parts[rec.part].Argv) > 0 && rec.parts[rec.part].Argv[0] == "find" {
		return "-(),!"
	}
	return "-"
}

// addReason adds a reason once, within limits.
func addReason(list []agenttool.Reason, r agenttool.Reason) []agenttool.Reason {
	if len(list) >= maxReasons || slices.Contains(list, r) {
		return list
	}
	return append(list, r)
}

// hidden records that something runs, or may run, which is not known, and why. The shell stays as it is.
func (rec *record) hidden(reason string) {
	rec.note(unknown | gap)
	rec.fact("read_only", reason)
	rec.mayRun(reason)
}
