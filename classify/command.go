package classify

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// stmts analyses one statement after the other.
func (w *walk) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		w.stmt(s)
		w.scope.settle()
	}
}

// stmt analyses one statement. What runs in the background runs in a process of its own.
func (w *walk) stmt(s *syntax.Stmt) {
	defer w.leave()
	if !w.enter(s.Position) {
		return
	}
	if s.Coprocess || s.Disown {
		w.found.hidden("a coprocess is not understood")
		w.scope.doubtLater("a coprocess is not understood")
	}
	if s.Background {
		w.found.note(background)
		w.subshell(func() { w.command(s) })
		return
	}
	w.command(s)
}

// command analyses a command with its redirections, whose effect on the standard streams ends with it.
func (w *walk) command(s *syntax.Stmt) {
	piped, captured, input, lines := w.scope.stdinPiped, w.scope.stdoutCaptured, w.scope.stdinNames, w.scope.stdinLines
	outer := w.readEnd
	w.limitReading(s.Cmd)
	for _, r := range s.Redirs {
		w.redirect(r)
	}
	w.printedNames = nil
	if _, simple := s.Cmd.(*syntax.CallExpr); len(s.Redirs) > 0 && s.Cmd != nil && !simple {
		skipped := w.memory.copyScope(w.scope) // a redirection that fails skips the whole command
		defer func() {
			w.scope = join(w.scope, skipped)
			w.memory.dropScope(skipped)
		}()
	}
	switch x := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		w.callExpr(x)
	case *syntax.Block:
		w.stmts(x.Stmts)
	case *syntax.Subshell:
		w.subshell(func() { w.stmts(x.Stmts) })
	case *syntax.BinaryCmd:
		w.binary(x)
	case *syntax.IfClause:
		w.ifClause(x)
	case *syntax.WhileClause:
		w.while(x)
	case *syntax.ForClause:
		w.forClause(x)
	case *syntax.CaseClause:
		w.caseClause(x)
	case *syntax.FuncDecl:
		w.funcDecl(x)
	case *syntax.ArithmCmd:
		if x.Unsigned {
			w.unknown("this construct is not one of bash")
		}
		w.arithmetic(x.X)
	case *syntax.TestClause:
		w.test(x.X)
	case *syntax.DeclClause:
		w.declClause(x)
	case *syntax.LetClause:
		w.letClause(x)
	case *syntax.TimeClause:
		if w.scope.otherShell {
			w.unknown("in some shells time is a program, which runs programs alone")
		}
		if x.Stmt != nil {
			w.stmt(x.Stmt)
		}
	default: // CoprocClause, TestDecl
		w.found.hidden("this construct is not understood")
		w.scope.doubtLater("this construct is not understood")
	}
	if s.Negated {
		w.scope.settle()
	}
	w.readEnd = outer
	w.scope.stdinPiped, w.scope.stdoutCaptured, w.scope.stdinNames, w.scope.stdinLines = piped, captured, input, lines
	if w.printedNames != nil && !onlyPrints(s) {
		w.printedNames = nil
	}
}

// subshell analyses commands that cannot change the scope.
func (w *walk) subshell(body func()) {
	outer, away, inner := w.scope, w.exitScope, w.memory.copyScope(w.scope)
	w.scope = inner
	body()
	w.scope, w.exitScope = outer, away
	w.memory.dropScope(inner)
}

// onlyPrints reports whether a statement prints only the output of its last simple command.
func onlyPrints(s *syntax.Stmt) bool {
	for _, r := range s.Redirs {
		if r.N == nil || r.N.Value != "2" || r.Op != syntax.RdrOut {
			return false
		}
	}
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		return true
	case *syntax.BinaryCmd:
		return x.Op == syntax.Pipe
	}
	return false
}

// binary analyses two statements that an operator joins. Each side of a pipe runs in a process of its own.
func (w *walk) binary(x *syntax.BinaryCmd) {
	var last []string
	switch x.Op {
	case syntax.AndStmt:
		w.and(x)
	case syntax.OrStmt:
		w.or(x)
	case syntax.Pipe, syntax.PipeAll:
		w.subshell(func() {
			w.scope.stdoutCaptured = true
			w.piped(x.X, x.Y)
		})
		input := w.printedNames
		w.subshell(func() {
			w.scope.stdinPiped, w.scope.stdinNames, w.scope.stdinLines = true, nil, false
			if x.Op == syntax.Pipe {
				w.scope.stdinNames = input
			}
			w.stmt(x.Y)
			last = w.scope.dirs
		})
		if w.scope.otherShell { // some plain shells run the last part themselves
			w.scope.dirs = eitherDir(w.scope.dirs, last)
		}
	default:
		w.found.hidden("this way to join commands is not understood")
		w.scope.doubtLater("this way to join commands is not understood")
	}
}

// and analyses X && Y: Y runs where X left for if it succeeded, and the whole ends in either place.
func (w *walk) and(x *syntax.BinaryCmd) {
	w.stmt(x.X)
	failed := w.scope.failed()
	w.scope.afterCd, w.scope.ifCdFailed = false, nil
	first := w.memory.copyScope(w.scope)
	w.stmt(x.Y)
	dirs, alt := w.scope.dirs, eitherDir(failed, w.scope.failed())
	w.scope = join(first, w.scope)
	w.memory.dropScope(first)
	w.scope.dirs = dirs
	if !slices.Equal(dirs, alt) {
		w.scope.afterCd, w.scope.ifCdFailed = true, alt
	}
}

// or analyses X || Y: Y runs where X left for if it failed.
func (w *walk) or(x *syntax.BinaryCmd) {
	w.stmt(x.X)
	succeeded := w.scope.clone()
	succeeded.afterCd, succeeded.ifCdFailed = false, nil
	w.scope.dirs = w.scope.failed()
	w.scope.afterCd, w.scope.ifCdFailed = false, nil
	w.stmt(x.Y)
	w.scope = join(succeeded, w.scope)
}

func (w *walk) ifClause(x *syntax.IfClause) {
	defer w.leave()
	if !w.enter(x.Position) {
		return
	}
	w.stmts(x.Cond)
	otherwise := w.scope.clone()
	w.stmts(x.Then)
	then := w.scope
	w.scope = otherwise
	if x.Else != nil {
		w.ifClause(x.Else)
	}
	w.scope = join(then, w.scope)
}

// caseClause analyses each case from the state before them all, since only one runs, or none.
func (w *walk) caseClause(x *syntax.CaseClause) {
	w.text(x.Word)
	before := w.scope
	after := before.clone()
	for _, item := range x.Items {
		w.scope = before.clone()
		for _, p := range item.Patterns {
			w.text(p)
		}
		if item.Op != syntax.Break {
			w.unknown("a case that goes on in the next is not understood")
		}
		w.stmts(item.Stmts)
		after = join(after, w.scope)
	}
	w.scope = after
}

// funcDecl analyses a function where it is defined, with all variables unknown: its faults count even if nothing calls it.
func (w *walk) funcDecl(x *syntax.FuncDecl) {
	if x.Name == nil || len(x.Names) > 0 {
		w.unknown("a function without a name is not understood")
		return
	}
	name := x.Name.Value
	if !plainName(name) || otherBuiltins[name] || builtins()[name] != nil || program.Lookup(name) != nil {
		w.changeNames("the function " + name + " takes the name of something else")
	}
	w.subshell(func() {
		w.scope.declare(name, nil)
		w.scope.vars = variables{}
		w.stmt(x.Body)
	})
	w.scope.declare(name, x)
	if len(w.scope.funcs) > maxFuncs {
		w.scope.funcs = nil
		w.changeNames("there are too many functions to follow")
	}
}

// callFunction analyses a function where it is called.
func (w *walk) callFunction(name string) {
	f := w.scope.funcs[name]
	if f == nil || slices.Contains(w.calls, f) {
		w.unknown("what the function " + name + " does is not known")
		w.found.mayRun("what the function " + name + " does is not known")
		return
	}
	away, local := w.exitScope, w.localNames
	w.exitScope, w.localNames = nil, nil
	w.scope.params = nil // the body has its own, and may have changed them for later commands
	w.calls = append(w.calls, f)
	w.stmt(f.Body)
	w.calls = w.calls[:len(w.calls)-1]
	w.scope = join(w.scope, w.exitScope)
	for _, v := range w.localNames {
		w.scope.set(v, value{})
	}
	w.exitScope, w.localNames = away, local
}

// loop analyses head, then body, any number of times. It first runs in silence until the scope at its head no longer changes, then
// once more with the scope that holds at every turn.
func (w *walk) loop(head, body func()) {
	w.found.quiet++
	settled := false
	for turn := 0; !settled && turn < 10 && w.found.rejection == nil; turn++ {
		before := w.scope.clone()
		head()
		body()
		w.scope = join(join(before.clone(), w.scope), w.exitScope)
		settled = same(before, w.scope)
	}
	w.found.quiet--
	if !settled {
		w.scope.vars, w.scope.dirs = variables{}, nil
		w.changeNames("the loop changes variables in a way that is not understood")
	}
	head()
	w.scope.settle()
	exit := w.scope.clone()
	body()
	w.scope = join(join(exit, w.scope), w.exitScope)
}

func (w *walk) while(x *syntax.WhileClause) {
	w.endless(x)
	if name := lineName(x.Cond); name != "" {
		w.loopVariables = append(w.loopVariables, name)
	}
	name, line := w.lineVariable(x.Cond)
	if x.Until || name == "" {
		w.loop(func() { w.stmts(x.Cond) }, func() { w.stmts(x.Do) })
		return
	}
	lines := w.scope.stdinLines
	w.loop(func() { w.stmts(x.Cond) }, func() {
		w.scope.set(name, line)
		w.scope.stdinLines = true
		w.stmts(x.Do)
		w.scope.stdinLines = lines
	})
	w.scope.set(name, value{}) // it is empty when there is no line left
}

func (w *walk) forClause(x *syntax.ForClause) {
	if x.Select {
		w.found.note(interactive)
		w.found.fact("interactive", "`select` waits for an answer")
	}
	switch l := x.Loop.(type) {
	case *syntax.CStyleLoop:
		w.cStyle(x, l)
	case *syntax.WordIter:
		w.forWords(x, l)
	default:
		w.unknown("this loop is not understood")
		w.found.mayRun("this loop is not understood")
	}
}

// cStyle analyses for ((…)).
func (w *walk) cStyle(x *syntax.ForClause, l *syntax.CStyleLoop) {
	if !w.startsAt(l.Init) {
		w.arithmetic(l.Init)
	}
	if l.Cond == nil {
		w.found.noteEndless(x.Do)
	}
	w.loop(func() { w.arithmetic(l.Cond) }, func() {
		w.stmts(x.Do)
		w.scope = join(w.scope, w.exitScope)
		w.arithmetic(l.Post)
	})
}

// forWords analyses a loop over words: word by word if they or their patterns are known and few, else with one value for all.
func (w *walk) forWords(x *syntax.ForClause, l *syntax.WordIter) {
	name := l.Name.Value
	w.loopVariables = append(w.loopVariables, name)
	w.found.setsUnseen(name)
	if !w.assignable(name) {
		return
	}
	var items []program.Word
	if l.InPos.IsValid() {
		vanishing := w.scope.nullGlob
		w.scope.nullGlob = false // then there is no turn
		items = w.fields(l.Items)
		w.scope.nullGlob = vanishing
	} else {
		items = []program.Word{{Many: true}} // the positional parameters
	}
	switch {
	case x.Select:
		w.anyTurns(name, value{}, x.Do)
	case len(items) <= maxTurns && !slices.ContainsFunc(items, func(word program.Word) bool { return !word.Static && !word.Glob }):
		w.turnByTurn(name, items, x.Do)
	default:
		w.anyTurns(name, oneOf(items), x.Do)
	}
}

// anyTurns analyses a loop in which a variable has one value, any number of times.
func (w *walk) anyTurns(name string, v value, body []*syntax.Stmt) {
	none := w.scope.clone()
	w.loop(func() { w.scope.set(name, v) }, func() { w.stmts(body) })
	w.scope = join(none, w.scope)
}

// turnByTurn analyses a loop word by word: the names that a pattern matches are one value, which the turns of its own have.
func (w *walk) turnByTurn(name string, items []program.Word, body []*syntax.Stmt) {
	for _, item := range items {
		w.scope = join(w.scope, w.exitScope)
		if !item.Static {
			w.anyTurns(name, w.scope.matchedBy(item), body)
			continue
		}
		w.scope.set(name, value{kind: static, text: item.Text})
		w.stmts(body)
	}
	w.scope = join(w.scope, w.exitScope)
}

// matchedBy is one of the names that the pattern of a word matches.
func (s *scope) matchedBy(item program.Word) value {
	v := oneOf([]program.Word{item})
	if len(s.dirs) == 1 {
		shape := item.Shape()
		v.dir, v.named = s.dirs[0], item.Name
		v.pattern, v.without, v.flat = shape.Pattern, shape.Without, shape.Flat
	}
	return v
}

// oneOf returns the value of a variable that is set to one of the fields of the words.
func oneOf(items []program.Word) value {
	var v value
	for i, item := range items {
		u := value{}
		switch {
		case item.Static:
			u = value{kind: static, text: item.Text}
		case item.Token:
			u = value{kind: tokenText}
		case item.Text != "" && (item.Glob || !item.Many):
			u = value{kind: begins, text: item.Text}
		case item.Local && (item.Glob || !item.Many):
			u = value{kind: local}
		}
		if i > 0 {
			u = either(v, u)
		}
		v = u
		if v.kind == anything {
			break
		}
	}
	return v
}
