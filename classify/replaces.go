package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ReplacesShell reports whether bash -c does nothing with a line but to execute one program in its own place, whose words all stand in the line:
// no bash is left then that would have the line among its arguments. A builtin runs in bash; the answer is false for those that start
// programs. It says nothing about what the program does.
func ReplacesShell(line string) bool {
	if len(line) > maxReplacing {
		return false
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(f.Stmts) != 1 {
		return false
	}
	s := f.Stmts[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(c.Assigns) > 0 || len(c.Args) == 0 {
		return false
	}
	return !slices.ContainsFunc(c.Args, func(w *syntax.Word) bool { return !isText(w.Parts) }) &&
		!slices.Contains(startInShell, c.Args[0].Lit()) && !strings.Contains(c.Args[0].Lit(), `\`)
}

// maxReplacing is the length of the longest line that is parsed for this: what nests deep takes long.
const maxReplacing = 4 << 10

// isText reports whether parts of a word need no expansion that could start a program.
func isText(parts []syntax.WordPart) bool {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			if !isText(part.Parts) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// startInShell are the builtins that start programs and have bash wait for them, or that set what runs later; "" is a word that is not plain.
var startInShell = []string{"", "eval", "command", "builtin", "source", ".", "trap", "exec", "fc", "coproc", "time", "wait"}
