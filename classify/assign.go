package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

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
	v := w.assignedValue(a)
	if a.Index != nil || a.Array != nil {
		w.found.setsUnseen(name)
	}
	if inherited[name] && v.kind != static {
		w.found.givenVariable(name, program.Word{})
	} else if inherited[name] {
		w.found.givenVariable(name, program.Lit(v.text))
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

// assignedValue returns the value that an assignment sets.
func (w *walk) assignedValue(a *syntax.Assign) value {
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

// environment analyses the assignments before a command, which end with it. It returns why nothing is proved of the command then,
// if so, and the variables. Of a command without words the shell keeps them.
func (w *walk) environment(list []*syntax.Assign, argv []program.Word) (doubt string, variables []agenttool.Variable) {
	for _, a := range list {
		if a.Name == nil || a.Index != nil || a.Array != nil || a.Append {
			w.text(a.Value)
			w.unknown("this assignment is not understood")
			w.found.mayRun("an assignment before a command is not understood")
			continue
		}
		name, v := a.Name.Value, w.single(a.Value)
		w.found.givenVariable(name, v)
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

// declClause analyses declare, local, export and their like as far as they print, or set variables without attributes
// that change what an assignment means.
func (w *walk) declClause(x *syntax.DeclClause) {
	outer := w.begin(declaredWords(x))
	defer func() { w.found.part = outer }()
	if w.scope.namesChanged != "" {
		w.unknown("its meaning is not known: " + w.scope.namesChanged)
	}
	switch x.Variant.Value {
	case "local", "export":
	case "declare", "typeset":
		if w.scope.otherShell {
			w.unknown(x.Variant.Value + " is not a part of all shells")
		}
	default:
		w.unknown(x.Variant.Value + " is not understood")
	}
	w.setsByClause(x)
	prints, exports := false, x.Variant.Value == "export"
	for _, a := range x.Args {
		if a.Name != nil {
			continue
		}
		option := w.single(a.Value)
		if !option.Static || !declareOption(x.Variant.Value, option.Text) {
			w.found.strange(x.Variant.Value+": "+option.Text+" is not understood", option)
			w.found.note(gap)
		}
		prints = prints || strings.ContainsAny(option.Text, "pfF")
		exports = exports || strings.Contains(option.Text, "x")
		w.arrays = w.arrays || strings.ContainsAny(option.Text, "aA")
	}
	if prints && exports && len(x.Args) > 1 {
		w.unknown(x.Variant.Value + ": these options are not understood together")
	}
	for _, a := range x.Args {
		if a.Name != nil {
			w.declareName(x.Variant.Value, a, prints)
			w.scope.exportsVariable = w.scope.exportsVariable || exports && !prints && !harmlessGift(a)
			if exports && !prints {
				w.judgeExport(a)
			}
		}
	}
}

// harmlessGift reports whether exporting a variable leaves the behaviour of later programs unchanged.
func harmlessGift(a *syntax.Assign) bool {
	if a.Naked || a.Index != nil || a.Array != nil {
		return false
	}
	text, static := literalText(a.Value)
	return program.HarmlessEnvironment(a.Name.Value, program.Word{Text: text, Static: static && !a.Append})
}

// declareOption reports whether an option prints, or changes nothing about what an assignment means.
func declareOption(variant, option string) bool {
	if variant == "export" {
		return option == "-p"
	}
	switch option {
	case "-p", "-a", "-A", "-x", "-f", "-F":
		return true
	}
	return false
}

// declareName analyses one name of a declaration, with its value if it has one.
func (w *walk) declareName(variant string, a *syntax.Assign, prints bool) {
	name := a.Name.Value
	if a.Naked && a.Index == nil && prints {
		return
	}
	if !a.Naked {
		if _, static := literalText(a.Value); w.scope.otherShell && !static {
			w.unknown("some shells make several variables of one value that is not known")
		}
		if variant != "export" && a.Array == nil && w.mayBeList(a.Value) {
			w.unknown(variant + " runs the code in a value that begins with (, if the variable is an array")
		}
		w.assign(a, false)
		if variant == "local" || len(w.calls) > 0 && variant != "export" {
			w.localNames = append(w.localNames, name)
		}
		return
	}
	if a.Index != nil {
		w.unknown("a subscript may run what it holds")
	}
	if !w.assignable(name) || variant == "export" {
		return
	}
	w.scope.set(name, value{})
	w.localNames = append(w.localNames, name)
}

// mayBeList reports whether a value may be taken for a list in brackets, which is expanded once more. That needs an array, made by
// an option of the clause or by an earlier command.
func (w *walk) mayBeList(value *syntax.Word) bool {
	if !w.arrays {
		return false
	}
	word := w.quietly(value)
	text := strings.TrimLeft(word.Text, splitBytes)
	return strings.HasPrefix(text, "(") || text == "" && !word.Static && !word.Number
}

// declaredWords returns the words of the clause for the list of parts.
func declaredWords(x *syntax.DeclClause) []program.Word {
	at := x.Variant.Pos()
	list := []program.Word{{Text: x.Variant.Value, Static: true, Line: int(at.Line()), Column: int(at.Col())}}
	for _, a := range x.Args {
		word := program.Word{Line: int(a.Pos().Line()), Column: int(a.Pos().Col())}
		switch {
		case a.Name == nil:
			word.Text, word.Static = literalText(a.Value)
		case a.Index != nil || a.Array != nil:
			word.Text = a.Name.Value
		case a.Naked:
			word.Text, word.Static = a.Name.Value, true
		default:
			text, static := literalText(a.Value)
			word.Text, word.Static = a.Name.Value+"="+text, static && !a.Append
		}
		list = append(list, word)
	}
	return list
}

// literalText returns the text of a word that is nothing but a literal.
func literalText(word *syntax.Word) (string, bool) {
	if word == nil {
		return "", true
	}
	text := word.Lit()
	return text, len(word.Parts) == 0 || text != "" && !strings.ContainsAny(text, `\`+globBytes+"~{$")
}

// judgeExport judges a variable that export or declare -x gives to all programs.
func (w *walk) judgeExport(a *syntax.Assign) {
	switch {
	case a.Index != nil, a.Array != nil, a.Append:
		w.found.givenVariable(a.Name.Value, program.Word{})
		return
	case a.Naked:
		v := w.variable(a.Name.Value)
		w.found.givenVariable(a.Name.Value, program.Word{Text: v.text, Static: v.kind == static})
		return
	}
	if w.found.quiet == 0 {
		w.found.givenVariable(a.Name.Value, w.quietly(a.Value))
	}
}
