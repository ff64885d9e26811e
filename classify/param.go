package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// simpleParam reports whether an expansion is $name or ${name}.
func simpleParam(x *syntax.ParamExp) bool {
	return plainParam(x) && !x.Excl && !x.Length && x.Index == nil && x.Slice == nil && x.Repl == nil && x.Names == 0 &&
		x.Exp == nil
}

// plainParam reports whether an expansion has nothing that only other shells know.
func plainParam(x *syntax.ParamExp) bool {
	return x.Param != nil && x.Flags == nil && !x.Width && !x.IsSet && x.Split == syntax.OptUnset &&
		x.GlobSubst == syntax.OptUnset && x.RcExpand == syntax.OptUnset && x.NestedParam == nil && len(x.Modifiers) == 0
}

// param expands a parameter. Expansions that may run code in the value of a variable are not understood.
func (w *walk) param(f *field, x *syntax.ParamExp, quoted bool) {
	f.numeric = false
	if simpleParam(x) {
		w.parameter(f, x.Param.Value, quoted)
		return
	}
	many := !quoted
	if x.Param != nil && x.Exp != nil && (x.Exp.Op == syntax.AssignUnset || x.Exp.Op == syntax.AssignUnsetOrNull) {
		w.found.setsUnseen(x.Param.Value)
	}
	switch {
	case !plainParam(x):
		w.unknown("this expansion is not one of bash")
	case x.Excl && x.Names == 0 && !allOf(x.Index):
		w.unknown("${!…} may expand any variable, and run what its name holds")
	case !allOf(x.Index) && !literalNumber(x.Index):
		w.unknown("a subscript that is no number may run what it holds")
	case x.Slice != nil && !(literalNumber(x.Slice.Offset) && literalNumber(x.Slice.Length)):
		w.unknown("an offset that is no number may run what it holds")
	case x.Length:
		f.numeric = true
		many = false
	case x.Repl != nil:
		w.text(x.Repl.Orig)
		w.text(x.Repl.With)
	case x.Exp != nil:
		w.expansion(x)
	}
	if x.Names != 0 || allOf(x.Index) || x.Param != nil && (x.Param.Value == "@" || x.Param.Value == "*") {
		many = !x.Length
	}
	if x.Length && !many {
		f.number(true, false)
		return
	}
	f.unknown(many)
}

// parameter expands $name.
func (w *walk) parameter(f *field, name string, quoted bool) {
	if name == "@" || name == "*" {
		f.unknown(name == "@" || !quoted)
		return
	}
	v := w.variable(name)
	f.bareVariable = !quoted && slices.Contains(w.loopVariables, name)
	if !quoted && v.kind == begins && strings.ContainsAny(v.text, globBytes+splitBytes) {
		v = value{}
	}
	switch v.kind {
	case static:
		if quoted || f.noGlobs || v.text != "" && !strings.ContainsAny(v.text, globBytes+splitBytes) {
			f.add(v.text)
			f.numeric = isInteger(v.text)
			return
		}
		f.unknown(true)
	case number:
		f.numeric = true
		f.number(true, false)
	case count:
		f.printed(oneNumber, quoted)
	case numerals:
		f.printed(numberLines, quoted)
	case tokenText:
		f.printed(oneToken, quoted)
	case begins:
		f.variablePattern, f.variableNames = w.variablePattern(f, v, quoted), w.variableNames(v, quoted)
		f.add(v.text)
		f.unknown(!quoted)
	case local:
		f.variablePattern, f.variableNames = w.variablePattern(f, v, quoted), w.variableNames(v, quoted)
		f.local = quoted && !f.hasUnknown && len(f.text) == 0
		f.unknown(!quoted)
	default:
		f.unknown(!quoted)
	}
}

// variablePattern returns the pattern of a variable that a word begins with, if what it matches is still named from the same directory.
func (w *walk) variablePattern(f *field, v value, quoted bool) string {
	if !quoted && !w.staysWhole(v) || f.hasUnknown || len(f.text) > 0 || !w.scope.at(v.dir) {
		return ""
	}
	return v.pattern
}

// variableNames is the value if it is one of the names that are listed. Without quotes, the names must be such that they stay one word each.
func (w *walk) variableNames(v value, quoted bool) value {
	switch {
	case !v.named || !quoted && !w.staysWhole(v):
		return value{}
	case !quoted:
		v.without += shellBreakers
		v.unquoted = true
	}
	return v
}

// staysWhole reports whether a variable with the name of a file stays one word without quotes, if the names on disk are such. A
// pattern that matches nothing is the value itself, and matches nothing again.
func (w *walk) staysWhole(v value) bool {
	return w.disk != nil && v.named && !strings.ContainsAny(strings.ReplaceAll(v.pattern, "*", ""), shellBreakers)
}

// expansion looks at ${x:-word} and its like.
func (w *walk) expansion(x *syntax.ParamExp) {
	switch x.Exp.Op {
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if x.Index != nil || !w.assignable(x.Param.Value) {
			w.unknown("this assignment is not understood")
		}
		w.text(x.Exp.Word)
		w.scope.set(x.Param.Value, value{})
	case syntax.OtherParamOps:
		switch x.Exp.Word.Lit() {
		case "Q", "U", "u", "L":
		default:
			w.unknown("${…@…} may run what the variable holds")
		}
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
		syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst,
		syntax.LowerAll:
		w.text(x.Exp.Word)
	default:
		w.unknown("this expansion is not one of bash")
	}
}

// disputed reports whether single quotes, or a $ before quotes, stand in an expansion that itself stands in double quotes, in a
// here-document or in arithmetic. Whether they quote there differs with the operator, the parameter and the version of bash:
// "${x:-'$(y)'}" runs y, "${x#'$(y)'}" does not, "${?#$'$(y)'}" does. Substitutions inside have quoting rules of their own and do
// not count.
func disputed(x *syntax.ParamExp) bool {
	found := false
	syntax.Walk(x, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.CmdSubst:
			found = found || x.Backquotes
			return false
		case *syntax.SglQuoted:
			found = found || !plainlyQuoted(x)
		case *syntax.DblQuoted:
			found = found || x.Dollar
		case *syntax.Lit:
			found = found || strings.Contains(x.Value, "'") || strings.Contains(x.Value, `"`) && strings.ContainsAny(x.Value, "$`")
		case *syntax.ExtGlob:
			found = true
		}
		return !found
	})
	return found
}

// plainlyQuoted reports whether the word ends at the same place, and runs the same code, whether single quotes quote or not.
func plainlyQuoted(x *syntax.SglQuoted) bool {
	return !x.Dollar && !strings.ContainsAny(x.Value, "$`\\\"{}<>()\n")
}

// allOf reports whether a subscript is @ or *.
func allOf(index syntax.ArithmExpr) bool {
	word, ok := index.(*syntax.Word)
	return ok && (word.Lit() == "@" || word.Lit() == "*")
}

// literalNumber reports whether an expression, if there is one, is a decimal number with or without a sign.
func literalNumber(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case nil:
		return true
	case *syntax.Word:
		return program.Digits(x.Lit())
	case *syntax.ParenArithm:
		return literalNumber(x.X)
	case *syntax.UnaryArithm:
		return !x.Post && (x.Op == syntax.Minus || x.Op == syntax.Plus) && literalNumber(x.X)
	}
	return false
}
