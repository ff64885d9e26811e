package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// assignments analyses x=1 y=2 without a command. If one of the values may fail to expand, none of them is sure.
func (w *walk) assignments(list []*syntax.Assign) {
	sure := !slices.ContainsFunc(list, mayFail)
	for _, a := range list {
		w.assign(a, sure && !a.Append)
	}
}

// mayFail reports whether expanding a value can be an error. Bash then drops the whole command and goes on with the next line.
func mayFail(a *syntax.Assign) bool {
	failed := a.Index != nil
	syntax.Walk(a, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.ArithmExp:
			failed = true
		case *syntax.ParamExp:
			failed = failed || x.Exp != nil || x.Slice != nil || x.Index != nil || x.Excl
		}
		return !failed
	})
	return failed
}

// assign analyses one assignment. One that is not sure to happen leaves it open which of two values the variable holds:
// a declaration may be refused, an expression may fail, and a shell in a shell may not know the form.
func (w *walk) assign(a *syntax.Assign, sure bool) {
	defer w.leave()
	if !w.enter(a.Pos()) {
		return
	}
	if a.Name == nil {
		w.unknown("this assignment is not understood")
		return
	}
	name := a.Name.Value
	if a.Index != nil && !literalNumber(a.Index) {
		w.unknown("a subscript that is no number may run what it holds")
	}
	v := w.assigned(a)
	if a.Index != nil || a.Array != nil {
		w.setsUnseen(name)
	}
	if inherited[name] && v.kind != static {
		w.givenVariable(name, program.Word{})
	} else if inherited[name] {
		w.givenVariable(name, program.Lit(v.text))
	}
	if v.kind == static && a.Index == nil && program.HarmlessEnvironment(name, program.Lit(v.text)) {
		return
	}
	if !w.assignable(name) {
		return
	}
	if a.Index != nil || a.Array != nil {
		w.arrays = true
		v = value{}
	}
	if !sure {
		v = either(v, w.variable(name))
	}
	w.scope.set(name, v)
}

// assigned returns the value that an assignment sets.
func (w *walk) assigned(a *syntax.Assign) value {
	if a.Array != nil {
		w.array(a.Array)
		return value{}
	}
	v := known(w.single(a.Value))
	if laterTilde(a.Value) {
		v = value{}
	}
	if a.Append {
		old := w.variable(a.Name.Value)
		switch {
		case old.kind == static && v.kind == static:
			v.text = old.text + v.text
		case old.kind == static && old.text != "" || old.kind == begins:
			v = value{kind: begins, text: old.text}
		default:
			v = value{}
		}
	}
	return v
}

// laterTilde reports whether a value has a tilde after a colon, which bash expands in assignments.
func laterTilde(word *syntax.Word) bool {
	if word == nil {
		return false
	}
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.Contains(lit.Value, ":~") {
			return true
		}
	}
	return false
}

func (w *walk) array(x *syntax.ArrayExpr) {
	for _, e := range x.Elems {
		if e.Index != nil && !literalNumber(e.Index) {
			w.unknown("a subscript that is no number may run what it holds")
		}
		if e.Value != nil {
			w.fields([]*syntax.Word{e.Value})
		}
	}
}

// environment analyses the assignments before a command, which end with it. It returns why nothing is proved of the command then, if so, and
// the variables. Of a command without words the shell keeps them.
func (w *walk) environment(list []*syntax.Assign, argv []program.Word) (doubt string, variables []agenttool.Variable) {
	for _, a := range list {
		if a.Name == nil || a.Index != nil || a.Array != nil || a.Append {
			w.text(a.Value)
			w.unknown("this assignment is not understood")
			w.found.mayRun("an assignment before a command is not understood")
			continue
		}
		name, v := a.Name.Value, w.single(a.Value)
		w.givenVariable(name, v)
		if name == "IFS" && len(argv) > 0 && argv[0].Static && argv[0].Text == "read" {
			continue
		}
		variables = append(variables, variable(name, v))
		if program.HarmlessEnvironment(name, v) {
			continue
		}
		doubt = "the variable " + name + " may change what the command does"
		w.found.fact("read_only", doubt)
		if len(argv) == 0 {
			w.found.note(unknown | gap)
		}
	}
	return doubt, variables
}

// variable describes a variable that is set for a command.
func variable(name string, v program.Word) agenttool.Variable {
	return agenttool.Variable{Name: name, Value: v.Text, Known: v.Static, Influence: program.Influence(name, v)}
}
