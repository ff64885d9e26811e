package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
)

// code looks at text that may be evaluated, if it holds a substitution, also one that is there when its quotes are taken away.
func (g *extractor) code(text string, at syntax.Pos) {
	if bare := withoutQuotes(text); bare != text && strings.Contains(bare, "$(") {
		g.hidden = true
		g.text(bare, at, false)
	}
	if strings.Contains(text, "$(") || strings.Contains(text, "`") {
		g.text(text, at, false)
	}
}

// evaluated looks at a word that may be taken for a variable with a subscript; the shell then runs code in the subscript: a[$(rm
// x)].
func (g *extractor) evaluated(word string, at syntax.Pos) {
	if _, subscript, ok := strings.Cut(word, "["); ok {
		g.code(subscript, at)
	}
}

// test looks at the words of [[ … ]] that are evaluated once more: those of -v, and those beside -eq and its like.
func (g *extractor) test(x *syntax.TestClause) {
	syntax.Walk(x, func(n syntax.Node) bool {
		if word, ok := n.(*syntax.Word); ok && len(word.Parts) == 1 {
			if _, literal := word.Parts[0].(*syntax.Lit); !literal {
				g.code(g.spelling(word.Parts), x.Pos())
			}
		}
		return true
	})
}

// unquoted looks at the text of single quotes in an expression, where they quote nothing: $((1 + '$(rm x)')).
func (g *extractor) unquoted(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if quoted, ok := n.(*syntax.SglQuoted); ok {
			g.code(quoted.Value, quoted.Pos())
		}
		return true
	})
}

// unquotes looks in double quotes, or in a here-document, for inner quotes that bash versions treat differently: the end of the
// word, as the parser sees it, may then be wrong.
func (g *extractor) unquotes(parts []syntax.WordPart) {
	for _, part := range parts {
		if x, ok := part.(*syntax.ParamExp); ok && !simpleParam(x) && disputed(x) {
			g.hidden = true
			g.raw(x)
		}
	}
}

// raw looks at all text in an expansion as at text that runs.
func (g *extractor) raw(x *syntax.ParamExp) {
	syntax.Walk(x, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.CmdSubst:
			return false
		case *syntax.SglQuoted:
			g.loud(x.Value, x.Pos())
		case *syntax.Lit:
			g.loud(x.Value, x.Pos())
		}
		return true
	})
}

// loud looks at text whose quotes may be none as at text that runs, with them and without.
func (g *extractor) loud(text string, at syntax.Pos) {
	g.text(text, at, false)
	if bare := withoutQuotes(text); bare != text {
		g.text(bare, at, false)
	}
}

// withoutQuotes returns a text without its quotes and backslashes.
func withoutQuotes(text string) string {
	if !strings.ContainsAny(text, "\"'\\") {
		return text
	}
	return strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(text)
}

// param looks at an expansion that runs code in the value of a variable: ${x@P}, and ${!x} where x is a[$(rm x)].
func (g *extractor) param(x *syntax.ParamExp) {
	if x.Index != nil && !allOf(x.Index) {
		g.unquoted(x.Index)
	}
	if x.Slice != nil {
		g.unquoted(x)
	}
	if x.Exp != nil && x.Param != nil && (x.Exp.Op == syntax.AssignUnset || x.Exp.Op == syntax.AssignUnsetOrNull) {
		g.loseKnown(x.Param.Value)
	}
	again := x.Exp != nil && x.Exp.Op == syntax.OtherParamOps && x.Exp.Word.Lit() == "P"
	if x.Excl && x.Names == 0 && !allOf(x.Index) && x.Param != nil {
		name, _ := g.variable(x.Param.Value)
		again = again || !plainName(name)
	}
	if again {
		g.mention([]string{agenttool.Unread})
	}
}
