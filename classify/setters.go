package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// naming are the variables that decide which program a word runs, or hold code that the shell runs.
var naming = program.WordSet(`BASH_ALIASES BASH_CMDS IFS`)

// setsUnseen records that something other than a plain assignment sets a variable, whose value is not followed: if the shell uses
// that variable to find programs, later words may run anything. The name may have a subscript.
func (w *walk) setsUnseen(name string) {
	name, _, _ = strings.Cut(name, "[")
	if naming[name] || inherited[name] {
		w.found.mayRun("the variable " + name + " decides what commands run, and its value here is not known")
	}
}

// setsWord is setsUnseen for a name that is a word of a command.
func (w *walk) setsWord(name program.Word) {
	if !name.Static {
		w.found.mayRun("a variable is set whose name is not known")
		return
	}
	w.setsUnseen(name.Text)
}

// setsByBuiltin judges the variables that the words of a builtin name.
func (w *walk) setsByBuiltin(builtin string, words []program.Word) {
	switch builtin {
	case "printf":
		w.setsByPrintf(words)
	case "let":
		for _, word := range words {
			w.setsByExpression(word)
		}
	case "local", "readonly", "typeset": // after command
		for _, word := range words {
			if strings.HasPrefix(word.Text, "-") && strings.Contains(word.Text, "n") {
				word.Static = false
			}
			word.Text, _, _ = strings.Cut(word.Text, "=")
			w.setsWord(word)
		}
	case "getopts":
		if len(words) > 1 {
			w.setsWord(words[1])
		}
	case "read", "mapfile", "readarray", "wait":
		for i, word := range words {
			valued := i > 0 && valueOption(builtin, words[i-1])
			if !valued || word.Many {
				w.setsWord(word)
			}
		}
	}
}

// valueOption reports whether the next word is the value of an option, which names no variable.
func valueOption(builtin string, option program.Word) bool {
	if !option.Static || len(option.Text) < 2 || option.Text[0] != '-' {
		return false
	}
	values := map[string]string{"read": "dinNptu", "mapfile": "dnOsuCc", "readarray": "dnOsuCc"}[builtin]
	return strings.IndexAny(option.Text, values) == len(option.Text)-1
}

// setsByPrintf judges what follows -v. Words that are not known may be the option, too.
func (w *walk) setsByPrintf(words []program.Word) {
	first := words[0]
	name, option := strings.CutPrefix(first.Text, "-v")
	switch {
	case first.Static && !option, first.Text != "" && !option && first.Text != "-":
	case !first.Static && len(words) == 1 && !first.Many: // a format or an option alone
	case name != "" || !first.Static:
		w.setsWord(program.Word{Text: name, Static: first.Static})
	case len(words) > 1:
		w.setsWord(words[1])
	}
}

// setsByExpression judges the names in the text of an expression.
func (w *walk) setsByExpression(word program.Word) {
	if !word.Static {
		w.found.mayRun("an expression is not known, and may set any variable")
		return
	}
	for _, name := range strings.FieldsFunc(word.Text, func(r rune) bool { return !nameRune(r) }) {
		w.setsUnseen(name)
	}
}

func nameRune(r rune) bool {
	return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// setsByClause judges the words of declare and its like that are no plain assignments: one may be so after it is expanded, and with -n
// a name stands for another.
func (w *walk) setsByClause(x *syntax.DeclClause) {
	stands := false
	for _, a := range x.Args {
		if a.Name != nil {
			continue
		}
		word := w.quietly(a.Value)
		switch {
		case word.Static && strings.HasPrefix(word.Text, "-"):
			stands = stands || strings.Contains(word.Text, "n") && x.Variant.Value != "export"
		case !word.Static || !strings.HasPrefix(word.Text, "+"):
			name, _, _ := strings.Cut(word.Text, "=")
			w.setsWord(program.Word{Text: strings.TrimSuffix(name, "+"), Static: word.Static})
		}
	}
	for _, a := range x.Args {
		switch {
		case a.Name == nil || !stands:
		case a.Naked || a.Array != nil || a.Append:
			w.found.mayRun("a name stands for a variable that is not known")
		default:
			w.setsWord(w.quietly(a.Value))
		}
	}
}

// setsTarget judges the target of an assignment in an expression if it is no plain name: a[i], or one made of expansions.
func (w *walk) setsTarget(target syntax.ArithmExpr) {
	word, ok := target.(*syntax.Word)
	if !ok || len(word.Parts) != 1 {
		w.found.mayRun("an expression sets a variable whose name is not known")
		return
	}
	switch part := word.Parts[0].(type) {
	case *syntax.ParamExp:
		if !part.Short || part.Index == nil {
			w.found.mayRun("an expression sets a variable whose name is not known")
			return
		}
		w.setsUnseen(part.Param.Value)
	default:
		w.found.mayRun("an expression sets a variable whose name is not known")
	}
}
