package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// plainText returns the text of a word without quotes and expansions.
func plainText(word *syntax.Word) (string, bool) {
	if len(word.Parts) != 1 {
		return "", false
	}
	switch x := word.Parts[0].(type) {
	case *syntax.Lit:
		return x.Value, !strings.ContainsAny(x.Value, globBytes+"~$`")
	case *syntax.SglQuoted:
		return x.Value, !x.Dollar
	}
	return "", false
}
