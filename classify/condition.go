package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// testClause analyses [[ … ]].
func (w *walk) testClause(x *syntax.TestClause) { w.test(x.X) }

func (w *walk) test(x syntax.TestExpr) {
	if x == nil {
		return
	}
	defer w.leave()
	if !w.enter(x.Pos()) {
		return
	}
	switch x := x.(type) {
	case *syntax.Word:
		w.text(x)
	case *syntax.ParenTest:
		w.test(x.X)
	case *syntax.UnaryTest:
		w.unaryTest(x)
	case *syntax.BinaryTest:
		w.binaryTest(x)
	default:
		w.unknown("this condition is not understood")
	}
}

func (w *walk) unaryTest(x *syntax.UnaryTest) {
	operand, isWord := x.X.(*syntax.Word)
	switch x.Op {
	case syntax.TsNot, syntax.TsParen:
		w.test(x.X)
	case syntax.TsVarSet, syntax.TsRefVar:
		if !isWord || !plainName(operand.Lit()) {
			w.unknown("-v may run what is in a subscript")
		}
	case syntax.TsEmpStr, syntax.TsNempStr, syntax.TsOptSet, syntax.TsFdTerm:
		w.test(x.X)
	case syntax.TsExists, syntax.TsRegFile, syntax.TsDirect, syntax.TsCharSp, syntax.TsBlckSp, syntax.TsNmPipe,
		syntax.TsSocket, syntax.TsSmbLink, syntax.TsSticky, syntax.TsGIDSet, syntax.TsUIDSet, syntax.TsGrpOwn,
		syntax.TsUsrOwn, syntax.TsModif, syntax.TsRead, syntax.TsWrite, syntax.TsExec, syntax.TsNoEmpty:
		if isWord {
			w.look(w.single(operand))
			return
		}
		w.test(x.X)
	default:
		w.unknown("this condition is not understood")
	}
}

func (w *walk) binaryTest(x *syntax.BinaryTest) {
	switch x.Op {
	case syntax.AndTest, syntax.OrTest:
		w.test(x.X)
		w.test(x.Y)
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		w.compared(x.X)
		w.compared(x.Y)
	case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
		for _, side := range []syntax.TestExpr{x.X, x.Y} {
			if word, ok := side.(*syntax.Word); ok {
				w.look(w.single(word))
			}
		}
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch, syntax.TsReMatch, syntax.TsBefore, syntax.TsAfter:
		w.test(x.X)
		if word, ok := x.Y.(*syntax.Word); ok && x.Op != syntax.TsBefore && x.Op != syntax.TsAfter {
			w.matched(word)
			return
		}
		w.test(x.Y)
	default:
		w.unknown("this condition is not understood")
	}
}

// compared looks at a side of -eq and its like, which [[ evaluates as arithmetic.
func (w *walk) compared(x syntax.TestExpr) {
	word, ok := x.(*syntax.Word)
	if !ok || !w.numericWord(word) && !isInteger(word.Lit()) {
		w.unknown("a word that is no number may run code beside -eq")
	}
}

// matched looks at a pattern of [[, where extended globs are always on.
func (w *walk) matched(word *syntax.Word) {
	f := field{plain: true}
	for i, part := range word.Parts {
		switch x := part.(type) {
		case *syntax.ExtGlob:
			if x.Pattern != nil && strings.ContainsAny(x.Pattern.Value, "$`<>\"'\\") {
				w.unknown("this pattern is not understood")
			}
		case *syntax.Lit:
			w.literal(&f, x, i == 0, word.Parts[i+1:])
		default:
			w.partOf(&f, part, false)
		}
	}
}

// judgeTest looks at the words of test and [. Of their operators only -v and -R evaluate text, where the word after
// them has a subscript. A word that is not static may be such an operator.
func judgeTest(a *program.Args, u *program.Use) {
	words := a.Operands
	if a.Argv[0].Text == "[" && len(words) > 0 && words[len(words)-1].Static && words[len(words)-1].Text == "]" {
		words = words[:len(words)-1]
	}
	for i, word := range words {
		if word.Many && !word.Number && (!word.Glob || word.Text == "" || word.Text[0] == '-') {
			u.Unknown("test: an expansion without quotes may become an operator that runs the code in a subscript", word)
		}
		var next program.Word
		if i+1 < len(words) {
			next = words[i+1]
		} else {
			next = program.Lit("")
		}
		if mayBeOperator(word) && mayHaveSubscript(next) {
			u.Unknown("test: -v may run what is in a subscript", word)
		}
		if fileOperator(word) && i+1 < len(words) {
			u.Reads = append(u.Reads, next)
		}
		if i > 0 && i+1 < len(words) && word.Static && (word.Text == "-nt" || word.Text == "-ot" || word.Text == "-ef") {
			u.Reads = append(u.Reads, words[i-1], next)
		}
	}
}

func mayBeOperator(word program.Word) bool {
	if word.Static {
		return word.Text == "-v" || word.Text == "-R"
	}
	return !word.Number && (word.Text == "" || word.Text == "-" || word.Text == "-v" || word.Text == "-R")
}

func mayHaveSubscript(word program.Word) bool {
	if word.Static {
		return strings.Contains(word.Text, "[")
	}
	return !word.Number
}

func fileOperator(word program.Word) bool {
	return word.Static && len(word.Text) == 2 && word.Text[0] == '-' && strings.IndexByte("abcdefghLprsSuwxkGNO", word.Text[1]) >= 0
}
