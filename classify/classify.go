// Package classify says what a bash command line does before it runs, from its syntax tree alone.
//
// Two analyses look at the same tree. The strict one is a proof: a command is read-only only if every node, word,
// program and option of it is understood, and nothing of it writes. What it does not understand makes the facts
// unknown, and unknown is unsafe. The lenient one finds what destroys, anywhere: behind wrappers, in substitutions, in
// text that is fed to a shell, an interpreter, a database or an editor, in what the strict one gave up on. It may find too much and never clears anything.
//
//	r := classify.Command("git diff | head -5", classify.Context{Dir: "/w"})
//	r.Facts.ReadOnly // yes
//
// The language is bash as `bash -c` runs it, without start-up files, with default options and with an environment
// whose variables hold no code. Programs are described in [toolhost/classify/program].
package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
)

// Context is where a command line would run. Both paths are absolute and clean; an empty one is unknown.
type Context struct {
	Dir  string // the working directory, against which paths are resolved as cd moves it
	Home string // what ~ and $HOME stand for
}

// Report is what is known of a command line.
type Report struct {
	Facts agenttool.Facts
	Parts []Part // the simple commands in the order in which they were met, each after the one that runs it
}

// Part is one simple command of a command line, in a loop over known words one for each of them.
type Part struct {
	Argv      []string // the words, with … where one is not known to its end
	Line      int      // where it stands, both from 1
	Column    int
	WrappedBy int // the index of the part that runs it, -1 if the shell does

	ReadOnly    agenttool.Fact
	Destructive agenttool.Fact
	OpenWorld   agenttool.Fact
	Reasons     []agenttool.Reason
}

// Command returns what is known of a bash command line. It never fails, runs nothing and reads no disk: what cannot be
// parsed or is too large has unknown facts and a reason that says so, with the position. The empty command line runs
// nothing and is read-only.
//
// Agent Tool v0.2.0, "Per-call facts" (AT-190 … AT-196).
func Command(text string, in Context) Report {
	w := &walk{ctx: in, scope: newScope(in), part: -1}
	if reason, ok := unfit(text); !ok {
		w.reject(reason)
		if text = fit(text); tooDeep(text) < 0 {
			w.lenient(parse(text).stmts)
		}
		return w.report()
	}
	w.run(text)
	return w.report()
}

// run analyses the whole text both ways.
func (w *walk) run(text string) {
	tree := parse(text)
	w.lenient(tree.stmts)
	if joined := joinedLines(text); joined != text { // which the parser does not join everywhere as bash does
		w.lenient(parse(joined).stmts)
	}
	switch {
	case tree.failed:
		w.reject(tree.reason)
	case carriageReturn(text, tree.stmts):
		w.reject(reasonAt(text, strings.IndexByte(text, '\r'), "there is a carriage return outside quotes"))
	default:
		w.strict(text, tree.stmts)
	}
}

// joinedLines joins lines at a backslash that no other one escapes.
func joinedLines(text string) string {
	if !strings.Contains(text, "\\\n") {
		return text
	}
	var b strings.Builder
	rest := text
	for rest != "" {
		at := strings.IndexByte(rest, '\\')
		if at < 0 || at+1 >= len(rest) {
			break
		}
		b.WriteString(rest[:at])
		if pair := rest[at : at+2]; pair != "\\\n" {
			b.WriteString(pair)
		}
		rest = rest[at+2:]
	}
	b.WriteString(rest)
	return b.String()
}

func (w *walk) strict(text string, stmts []*syntax.Stmt) {
	defer func() {
		if recover() != nil {
			w.reject(agenttool.Reason{Text: "the analysis failed, which is a fault of it"})
		}
	}()
	w.source, w.part = text, -1
	w.stmts(stmts)
}

func (w *walk) lenient(stmts []*syntax.Stmt) {
	d := destroyer{}
	defer func() {
		for _, r := range d.found {
			w.destroyed = addReason(w.destroyed, r)
		}
		if recover() != nil || d.over {
			w.tally.mayDestroy = true
		}
	}()
	d.stmts(stmts)
}
