package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
