package classify

import (
	"toolhost/agenttool"
	"toolhost/classify/program"
)

// runs analyses what a program runs in turn.
func (w *walk) runs(c program.Command) {
	if c.Shell != nil {
		w.shell(*c.Shell, c.Bash)
		return
	}
	argv := c.Argv
	if c.More {
		argv = append(argv[:len(argv):len(argv)], program.Word{Many: true})
	}
	if len(argv) == 0 {
		w.unknown("what it runs is not known")
		return
	}
	w.simple(argv, byProgram)
}

// shell analyses text that a new shell runs: it has the directory of this one, and none of its variables. If it need
// not be bash, what other shells read in another way is not understood.
func (w *walk) shell(text program.Word, bash bool) {
	if !text.Static {
		w.unknown("what the shell runs is not known")
		return
	}
	if _, ok := unfit(text.Text); !ok {
		w.unknown("what the shell runs cannot be parsed")
		return
	}
	if form := program.OnlyBash(text.Text); form != "" && !bash {
		w.strange("shells other than bash may read this in another way: "+form, text)
	}
	tree := parse(text.Text)
	if tree.failed || carriageReturn(text.Text, tree.stmts) {
		w.unknown("what the shell runs cannot be parsed")
		return
	}
	outer, inner, away, source := w.scope, w.inner, w.away, w.source
	w.scope = outer.clone()
	w.scope.vars, w.scope.funcs, w.scope.plain = nil, nil, !bash
	w.away, w.source = nil, text.Text
	if inner == nil {
		at := w.placed(agenttool.Reason{Line: text.Line, Column: text.Column})
		w.inner = &place{at.Line, at.Column}
	}
	w.stmts(tree.stmts)
	w.scope, w.inner, w.away, w.source = outer, inner, away, source
}
