package classify

import (
	"slices"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// started analyses the commands that a program runs. Of one that is not understood, or changes what its commands find, nothing is
// proved of them; one that goes to another directory takes them there.
func (w *walk) started(name string, u *program.Use) {
	altered := !u.Understood || name == "env" && slices.Contains(u.Effects, program.RunsCode)
	if altered || u.Dir != nil {
		outer := w.scope
		defer func() { w.scope = outer }()
		w.scope = outer.clone()
		w.doubt(name+" is not understood, or changes the environment", altered)
		w.goTo(u.Dir)
	}
	for _, c := range u.Runs {
		w.runs(c)
	}
}

// goTo takes the scope to the directory of a word, if there is one.
func (w *walk) goTo(dir *program.Word) {
	switch {
	case dir == nil:
	case !dir.Static || dir.Text == "":
		w.scope.dirs = nil
	default:
		w.scope.dirs = w.relative(dir.Text)
	}
}

// runs analyses what a program runs in turn.
func (w *walk) runs(c program.Command) {
	if c.Away {
		w.remote++
		defer func() { w.remote-- }()
	}
	if c.Shell != nil {
		w.shell(*c.Shell, c)
		return
	}
	argv := c.Argv
	if c.More {
		argv = append(argv[:len(argv):len(argv)], program.Word{Many: true})
	}
	if len(argv) == 0 {
		w.hidden("what it runs is not known")
		return
	}
	w.simple(argv, byProgram)
}

// shell analyses text that a new shell runs: it has the directory of this one, and none of its variables. If it need
// not be bash, what other shells read in another way is not understood.
func (w *walk) shell(text program.Word, c program.Command) {
	bash := c.Bash
	if !text.Static {
		w.hidden("what the shell runs is not known")
		return
	}
	if _, ok := unfit(text.Text); !ok {
		w.hidden("what the shell runs cannot be parsed")
		return
	}
	if form := program.OnlyBash(text.Text); form != "" && !bash {
		w.strange("shells other than bash may read this in another way: "+form, text)
	}
	tree := understood(text.Text)
	if tree.failed {
		w.hidden("what the shell runs is not understood: " + tree.reason.Text)
		return
	}
	outer, inner, away, source := w.scope, w.inner, w.away, w.source
	w.source = text.Text
	w.scope = outer.clone()
	w.scope.vars, w.scope.funcs, w.scope.plain, w.scope.params = nil, nil, !bash, outer.paramValues(c.Params)
	w.away = nil
	if inner == nil {
		at := w.placed(agenttool.Reason{Line: text.Line, Column: text.Column})
		w.inner = &place{at.Line, at.Column}
	}
	w.stmts(tree.stmts)
	w.scope, w.inner, w.away, w.source = outer, inner, away, source
}
