package classify

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// loop analyses head, then body, any number of times. It first runs in silence until the scope at its head no longer changes, then
// once more with the scope that holds at every turn.
func (w *walk) loop(head, body func()) {
	w.found.quiet++
	settled := false
	for turn := 0; !settled && turn < 10 && w.found.rejected == nil; turn++ {
		before := w.scope.clone()
		head()
		body()
		w.scope = join(join(before.clone(), w.scope), w.away)
		settled = same(before, w.scope)
	}
	w.found.quiet--
	if !settled {
		w.scope.vars, w.scope.dirs = variables{}, nil
		w.void("the loop changes variables in a way that is not understood")
	}
	head()
	w.settle()
	exit := w.scope.clone()
	body()
	w.scope = join(join(exit, w.scope), w.away)
}

func (w *walk) while(x *syntax.WhileClause) {
	w.endless(x)
	if name := lineName(x.Cond); name != "" {
		w.eachName = append(w.eachName, name)
	}
	name, line := w.readLine(x.Cond)
	if x.Until || name == "" {
		w.loop(func() { w.stmts(x.Cond) }, func() { w.stmts(x.Do) })
		return
	}
	lines := w.scope.lines
	w.loop(func() { w.stmts(x.Cond) }, func() {
		w.scope.set(name, line)
		w.scope.lines = true
		w.stmts(x.Do)
		w.scope.lines = lines
	})
	w.scope.set(name, value{}) // it is empty when there is no line left
}

// endless notes loops whose condition is a constant.
func (w *walk) endless(x *syntax.WhileClause) {
	if len(x.Cond) != 1 || x.Cond[0].Negated {
		return
	}
	call, ok := x.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 {
		return
	}
	switch name := call.Args[0].Lit(); {
	case !x.Until && (name == "true" || name == ":"), x.Until && name == "false":
		w.noteEndless(x.Do)
	}
}

func (w *walk) noteEndless(body []*syntax.Stmt) {
	if leaves(body) {
		w.found.note(mayRun)
		return
	}
	w.found.note(long)
	w.found.fact("long_running", "the loop does not end by itself")
}

// leaves reports whether something in the statements may end a loop.
func leaves(body []*syntax.Stmt) bool {
	found := false
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				switch call.Args[0].Lit() {
				case "break", "return", "exit", "exec":
					found = true
				}
			}
			return !found
		})
	}
	return found
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
		w.each(x, l)
	default:
		w.unknown("this loop is not understood")
		w.found.mayRun("this loop is not understood")
	}
}

func (w *walk) cStyle(x *syntax.ForClause, l *syntax.CStyleLoop) {
	if !w.startsAt(l.Init) {
		w.arithmetic(l.Init)
	}
	if l.Cond == nil {
		w.noteEndless(x.Do)
	}
	w.loop(func() { w.arithmetic(l.Cond) }, func() {
		w.stmts(x.Do)
		w.scope = join(w.scope, w.away)
		w.arithmetic(l.Post)
	})
}

// each analyses a loop over words: word by word if they or their patterns are known and few, else with one value for all.
func (w *walk) each(x *syntax.ForClause, l *syntax.WordIter) {
	name := l.Name.Value
	w.eachName = append(w.eachName, name)
	w.setsUnseen(name)
	if !w.assignable(name) {
		return
	}
	var items []program.Word
	if l.InPos.IsValid() {
		vanishing := w.scope.vanishing
		w.scope.vanishing = false // then there is no turn
		items = w.fields(l.Items)
		w.scope.vanishing = vanishing
	} else {
		items = []program.Word{{Many: true}} // the positional parameters
	}
	switch {
	case x.Select:
		w.turns(name, value{}, x.Do)
	case len(items) <= maxTurns && allNamed(items):
		w.unrolled(name, items, x.Do)
	default:
		w.turns(name, oneOf(items), x.Do)
	}
}

// turns analyses a loop in which a variable has one value, any number of times.
func (w *walk) turns(name string, v value, body []*syntax.Stmt) {
	none := w.scope.clone()
	w.loop(func() { w.scope.set(name, v) }, func() { w.stmts(body) })
	w.scope = join(none, w.scope)
}

// unrolled analyses a loop word by word: the names that a pattern matches are one value, which the turns of its own have.
func (w *walk) unrolled(name string, items []program.Word, body []*syntax.Stmt) {
	for _, item := range items {
		w.scope = join(w.scope, w.away)
		if !item.Static {
			w.turns(name, w.matchedBy(item), body)
			continue
		}
		w.scope.set(name, value{kind: static, text: item.Text})
		w.stmts(body)
	}
	w.scope = join(w.scope, w.away)
}

// matchedBy is one of the names that the pattern of a word matches.
func (w *walk) matchedBy(item program.Word) value {
	v := oneOf([]program.Word{item})
	if len(w.scope.dirs) == 1 {
		v.pattern, v.dir, v.named, v.without, v.flat = item.Shape().Pattern, w.scope.dirs[0], item.Name, item.Shape().Without, item.Shape().Flat
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
		if v = u; v.kind == anything {
			break
		}
	}
	return v
}

// allNamed reports whether each of the words is known, or is a pattern of names.
func allNamed(words []program.Word) bool {
	return !slices.ContainsFunc(words, func(word program.Word) bool { return !word.Static && !word.Glob })
}
