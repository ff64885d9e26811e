package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// echoes returns the approximate output of echo or printf in a substitution; it sets g.unsure if the output may differ.
func (sp *speller) echoes(x *syntax.CmdSubst) (text string, ok bool) {
	if len(x.Stmts) != 1 || len(x.Stmts[0].Redirs) > 0 || sp.within >= maxSpelt {
		return "", false
	}
	call, ok := x.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || !prints(call) {
		return "", false
	}
	sp.within++
	defer func() { sp.within-- }()
	argv := sp.literals(call.Args)
	if !asSpelt(call.Args, argv) {
		if sp.open {
			return "", false
		}
		sp.unsure = true
	}
	return strings.TrimRight(echoed(argv), "\n"), true
}

// asSpelt reports whether echo or printf print their words as they are spelled, with a blank between them.
func asSpelt(words []*syntax.Word, argv []string) bool {
	for i, word := range words[1:] {
		text := argv[i+1]
		if hasPattern(word) || hasBrace(word) || strings.HasPrefix(text, "~") || strings.IndexByte(text, '\\') >= 0 ||
			expands(word) && (text == "" || strings.ContainsAny(text, "*?[")) || i == 0 && strings.HasPrefix(text, "-") && text != "-n" {
			return false
		}
	}
	return argv[0] == "echo" || len(argv) == 2 && !strings.Contains(argv[1], "%") || len(argv) == 3 && argv[1] == "%s"
}

// literals returns the words of a command that prints them.
func (sp *speller) literals(words []*syntax.Word) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = sp.spelling(word.Parts)
	}
	return list
}

// prints reports whether a command prints its arguments.
func prints(call *syntax.CallExpr) bool {
	if len(call.Args) < 2 {
		return false
	}
	name := call.Args[0].Lit()
	return name == "echo" || name == "printf"
}

// echoed returns the approximate output of echo or printf.
func echoed(argv []string) string {
	args := argv[1:]
	for len(args) > 1 && (strings.HasPrefix(args[0], "-") || argv[0] == "printf" && strings.HasPrefix(args[0], "%")) {
		args = args[1:]
	}
	return strings.ReplaceAll(strings.Join(args, " "), `\n`, "\n")
}
