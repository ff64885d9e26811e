// Package classify says what a bash command line does before it runs, from its syntax tree alone.
//
// Two analyses look at the same tree. The strict one is a proof: a command is read-only only if every node, word, program and
// option of it is understood and writes nothing. Anything else makes the facts unknown, and unknown is unsafe. The lenient one
// gathers everything that may be a command, and everything destructive among it, anywhere: behind wrappers, in substitutions, in
// text that is fed to a shell, an interpreter, a database or an editor, in code that the strict one gave up on, in code that cannot
// be parsed. It may find too much and never clears anything. Rules that forbid use the lenient analysis; rules that allow use the
// simple commands of the strict one.
//
//	f := classify.Command("git diff | head -5", classify.Context{Dir: "/w"})
//	f.ReadOnly // yes
//
// This is the way of a line, with the file for each step:
//
//	parse.go        may the text be parsed at all? its syntax tree
//	agree.go        does bash read the same? the tree against an outline that is read without the parser
//	extract*.go     the lenient analysis: what may run, what may be destroyed, what text may be code
//	walk.go         the strict analysis: its state
//	command.go        control flow; the state of the shell in scope.go, of its variables in variable.go
//	redirect.go       what the shell opens; assign.go, what it sets
//	word.go           what words become: field.go, param.go, brace.go, expression.go, printed.go
//	call.go           a simple command: builtin.go, or a program by its description, and what that runs
//	effects.go        what a program does: path.go its paths, listed.go names that it hands on, endless.go input without end
//	mayrun.go         why it may run more than was seen
//	record.go       what both find
//	report.go       the facts
//
// The language is bash as `bash -c` runs it, without start-up files, with default options and with an environment whose variables
// hold no code. Programs are described in [toolhost/classify/program].
package classify

import (
	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// Context is where a command line would run. Both paths are absolute and clean; an empty one is unknown.
type Context struct {
	Dir  string // the working directory, against which paths are resolved as cd moves it
	Home string // the value of ~ and $HOME

	// Git holds the result of checking the disk at places where git runs as a reader: "" if git runs no program there that
	// configuration names, else the reason. Of the places that are missing here, only Dir itself is taken to be fine.
	Git map[agenttool.GitRun]string
}

// Disk is the caller's knowledge of the disk besides names of files.
type Disk struct {
	// Prints maps commands, their words joined by blanks, to their output in Context.Dir, without the newline.
	Prints map[string]string
	// PlainTags says that the name of each tag of the repository in Context.Dir is made of letters, digits, dots, dashes inside,
	// and slashes.
	PlainTags bool
	// Absent reports whether a directory has none of the files that decide how a program behaves there. nil: that is not known.
	Absent func(dir string, of program.ConditionalUse) bool
}

// Looked is [Command] for a caller who can check the disk. Command assumes nothing about names of files that are not in the text.
// Looked assumes about them the conditions in Facts.Globs, and the facts hold only if the caller checks these on disk. It is not ok
// if no check could help.
func Looked(text string, in Context, disk Disk) (facts agenttool.Facts, ok bool) {
	w := newWalk(in)
	defer w.free()
	w.disk, w.source = &disk, text
	if _, fits := unfit(text); !fits {
		return facts, false
	}
	w.run(text)
	facts = w.facts()
	return facts, len(w.found.globs) == 0 || len(facts.Globs) > 0
}

// Command returns the facts of a bash command line. It never fails, runs nothing and reads no disk: a line that cannot be parsed or
// is too large has unknown facts and a reason that says so, with the position. The empty command line runs nothing and is
// read-only.
//
// Parts are in the order of the analysis, each after the part that runs it; a loop over known words has one for each of them. A
// part that is proved to only read stays proved beside any other part, as long as nothing before it may change its meaning.
// Mentions is never nil.
//
// Agent Tool v0.2.0, "Per-call facts" (AT-190 … AT-196).
func Command(text string, in Context) agenttool.Facts {
	w := newWalk(in)
	defer w.free()
	w.source = text
	if reason, ok := unfit(text); !ok {
		w.found.reject(reason)
		if part := fit(text); tooDeep(part) < 0 {
			w.lenient(part, parse(part))
		}
		w.lenient(text, parseResult{failed: true})
		return w.facts()
	}
	w.run(text)
	return w.facts()
}

// run analyses the whole text both ways.
func (w *walk) run(text string) {
	tree := understood(text)
	w.lenient(text, tree)
	if joined := joinedLines(text); tree.failed && joined != text { // the parser does not join them everywhere as bash does
		w.lenient(joined, understood(joined))
	}
	if tree.failed && !tree.doubtful {
		w.found.reject(tree.reason)
		return
	}
	if tree.doubtful {
		w.found.note(unknown | gap)
		w.found.tell(tree.reason)
		w.scope.doubtLater(tree.reason.Text)
	}
	w.strict(tree.stmts)
}

// strict analyses statements and records which facts about them are proved and which are not.
func (w *walk) strict(stmts []*syntax.Stmt) {
	defer func() {
		if recover() != nil {
			w.found.reject(agenttool.Reason{Text: "the analysis failed, which is a fault of it"})
		}
	}()
	w.found.part = -1
	w.stmts(stmts)
}

// lenient gathers from a text and from its tree, which may be missing. It may run twice: later commands can change the meaning of
// earlier ones.
func (w *walk) lenient(text string, tree parseResult) {
	g := &w.extractor
	*g = extractor{ctx: w.ctx, memory: &w.memory, textUnread: tree.failed}
	defer func() {
		if recover() != nil {
			g.incomplete = true
		}
		w.found.merge(g)
	}()
	g.extract(text, tree)
	if g.readAgain && !g.incomplete {
		g.extract(text, tree)
	}
}

// facts are the findings of both analyses.
func (w *walk) facts() agenttool.Facts {
	rec := &w.found
	rec.mentionParts()
	if rec.rejection == nil && rec.tally.readOnly() == agenttool.Yes {
		rec.destructive = nil // the strict analysis is a proof; the lenient one takes a word for a command
		rec.tally &^= mayDestroy
		return rec.report()
	}
	for _, c := range rec.codes {
		w.touches(c)
	}
	return rec.report()
}

// touches adds the paths that code names, so that rules that forbid them match. It takes nothing else from that code.
func (w *walk) touches(c code) {
	if _, ok := unfit(c.text); !ok {
		return
	}
	inner := newWalk(w.ctx)
	defer inner.free()
	inner.strict(parse(c.text).stmts)
	w.found.part = w.found.partAt(c.at)
	for _, p := range inner.found.reads.list {
		how := contents
		if p.Names {
			how = names
		}
		w.found.add(how, program.Word{Text: p.Spelling, Static: true, Top: p.Top}, p.Absolute)
	}
	for _, p := range inner.found.writes.list {
		w.found.add(written, program.Lit(p.Spelling), p.Absolute)
	}
}
