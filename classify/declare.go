package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// declClause analyses declare, local, export and their like as far as they print, or set variables without attributes
// that change what an assignment means.
func (w *walk) declClause(x *syntax.DeclClause) {
	outer := w.begin(w.declared(x))
	defer func() { w.found.part = outer }()
	if w.scope.void != "" {
		w.unknown("its meaning is not known: " + w.scope.void)
	}
	switch x.Variant.Value {
	case "local", "export":
	case "declare", "typeset":
		if w.scope.plain {
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
			w.scope.given = w.scope.given || exports && !prints && !harmlessGift(a)
			if exports && !prints {
				w.exported(a)
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

func (w *walk) declareName(variant string, a *syntax.Assign, prints bool) {
	name := a.Name.Value
	if a.Naked && a.Index == nil && prints {
		return
	}
	if !a.Naked {
		if _, static := literalText(a.Value); w.scope.plain && !static {
			w.unknown("some shells make several variables of one value that is not known")
		}
		if variant != "export" && a.Array == nil && w.mayBeList(a.Value) {
			w.unknown(variant + " runs the code in a value that begins with (, if the variable is an array")
		}
		w.assign(a, false)
		if variant == "local" || len(w.calls) > 0 && variant != "export" {
			w.local = append(w.local, name)
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
	w.local = append(w.local, name)
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

// declared returns the words of the clause for the list of parts.
func (w *walk) declared(x *syntax.DeclClause) []program.Word {
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

// exported judges a variable that export or declare -x gives to all programs.
func (w *walk) exported(a *syntax.Assign) {
	switch {
	case a.Index != nil, a.Array != nil, a.Append:
		w.givenVariable(a.Name.Value, program.Word{})
		return
	case a.Naked:
		v := w.variable(a.Name.Value)
		w.givenVariable(a.Name.Value, program.Word{Text: v.text, Static: v.kind == static})
		return
	}
	if w.found.quiet == 0 {
		w.givenVariable(a.Name.Value, w.quietly(a.Value))
	}
}
