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
		w.settle()
	}
}

func (w *walk) stmt(s *syntax.Stmt) {
	defer w.leave()
	if !w.enter(s.Position) {
		return
	}
	if s.Coprocess || s.Disown {
		w.hidden("a coprocess is not understood")
		w.doubt("a coprocess is not understood", true)
	}
	if s.Background {
		w.found.note(background)
		w.subshell(func() { w.command(s) })
		return
	}
	w.command(s)
}

func (w *walk) command(s *syntax.Stmt) {
	piped, captured, input, lines := w.scope.piped, w.scope.captured, w.scope.input, w.scope.lines
	outer := w.reading
	w.limit(s.Cmd)
	for _, r := range s.Redirs {
		w.redirect(r)
	}
	w.lists = nil
	if _, simple := s.Cmd.(*syntax.CallExpr); len(s.Redirs) > 0 && s.Cmd != nil && !simple {
		skipped := w.memory.copied(w.scope) // a redirection that fails skips the whole command
		defer func() {
			w.scope = join(w.scope, skipped)
			w.memory.dropped(skipped)
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
		w.arithmCmd(x)
	case *syntax.TestClause:
		w.testClause(x)
	case *syntax.DeclClause:
		w.declClause(x)
	case *syntax.LetClause:
		w.letClause(x)
	case *syntax.TimeClause:
		if w.scope.plain {
			w.unknown("in some shells time is a program, which runs programs alone")
		}
		if x.Stmt != nil {
			w.stmt(x.Stmt)
		}
	default: // CoprocClause, TestDecl
		w.hidden("this construct is not understood")
		w.doubt("this construct is not understood", true)
	}
	if s.Negated {
		w.scope.settle()
	}
	w.reading = outer
	w.scope.piped, w.scope.captured, w.scope.input, w.scope.lines = piped, captured, input, lines
	if w.lists != nil && !onlyPrints(s) {
		w.lists = nil
	}
}

// subshell analyses commands that cannot change the scope.
func (w *walk) subshell(body func()) {
	outer, away, inner := w.scope, w.away, w.memory.copied(w.scope)
	w.scope = inner
	body()
	w.scope, w.away = outer, away
	w.memory.dropped(inner)
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

func (w *walk) binary(x *syntax.BinaryCmd) {
	var last []string
	switch x.Op {
	case syntax.AndStmt:
		w.and(x)
	case syntax.OrStmt:
		w.or(x)
	case syntax.Pipe, syntax.PipeAll:
		w.subshell(func() {
			w.scope.captured = true
			w.piped(x.X, x.Y)
		})
		input := w.lists
		w.subshell(func() {
			w.scope.piped, w.scope.input, w.scope.lines = true, nil, false
			if x.Op == syntax.Pipe {
				w.scope.input = input
			}
			w.stmt(x.Y)
			last = w.scope.dirs
		})
		if w.scope.plain { // some plain shells run the last part themselves
			w.scope.dirs = eitherDir(w.scope.dirs, last)
		}
	default:
		w.hidden("this way to join commands is not understood")
		w.doubt("this way to join commands is not understood", true)
	}
}

// and analyses X && Y: Y runs where X left for if it succeeded, and the whole ends in either place.
func (w *walk) and(x *syntax.BinaryCmd) {
	w.stmt(x.X)
	failed := w.scope.failed()
	w.scope.fork, w.scope.alt = false, nil
	first := w.memory.copied(w.scope)
	w.stmt(x.Y)
	dirs, alt := w.scope.dirs, eitherDir(failed, w.scope.failed())
	w.scope = join(first, w.scope)
	w.memory.dropped(first)
	w.scope.dirs = dirs
	if !slices.Equal(dirs, alt) {
		w.scope.fork, w.scope.alt = true, alt
	}
}

// or analyses X || Y: Y runs where X left for if it failed.
func (w *walk) or(x *syntax.BinaryCmd) {
	w.stmt(x.X)
	succeeded := w.scope.clone()
	succeeded.fork, succeeded.alt = false, nil
	w.scope.dirs = w.scope.failed()
	w.scope.fork, w.scope.alt = false, nil
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

func (w *walk) caseClause(x *syntax.CaseClause) {
	w.text(x.Word)
	before := w.scope
	after := before.clone()
	for _, item := range x.Items {
		w.scope = before.clone()
		for _, p := range item.Patterns {
			w.pattern(p)
		}
		if item.Op != syntax.Break {
			w.unknown("a case that goes on in the next is not understood")
		}
		w.stmts(item.Stmts)
		after = join(after, w.scope)
	}
	w.scope = after
}

func (w *walk) funcDecl(x *syntax.FuncDecl) {
	if x.Name == nil || len(x.Names) > 0 {
		w.unknown("a function without a name is not understood")
		return
	}
	name := x.Name.Value
	if !plainName(name) || otherBuiltins[name] || builtins()[name] != nil || program.Lookup(name) != nil {
		w.void("the function " + name + " takes the name of something else")
	}
	w.subshell(func() {
		w.scope.declare(name, nil)
		w.scope.vars = variables{}
		w.stmt(x.Body)
	})
	w.scope.declare(name, x)
	if len(w.scope.funcs) > maxFuncs {
		w.scope.funcs = nil
		w.void("there are too many functions to follow")
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
	away, local := w.away, w.local
	w.away, w.local = nil, nil
	w.scope.params = nil // the body has its own, and may have changed them for later commands
	w.calls = append(w.calls, f)
	w.stmt(f.Body)
	w.calls = w.calls[:len(w.calls)-1]
	w.scope = join(w.scope, w.away)
	for _, v := range w.local {
		w.scope.set(v, value{})
	}
	w.away, w.local = away, local
}

// piped analyses a command and the text that is piped into it. A command that keeps its whole input takes memory without end if the
// input has none.
func (w *walk) piped(from, to *syntax.Stmt) {
	endless := w.runsLong(w.endingOf(to.Cmd), func() { w.stmt(from) })
	if name, _ := commandName(to.Cmd); endless && keeping[name] {
		w.found.keeps(name)
	}
}

// runsLong reports whether commands whose output ends as e says run for long.
func (w *walk) runsLong(e ending, analyse func()) bool {
	outer, before := w.ending, w.found.tally
	w.ending, w.found.tally = e, before&^long
	analyse()
	found := w.found.tally.has(long)
	w.ending, w.found.tally = outer, w.found.tally|before
	return found
}
