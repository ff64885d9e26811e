package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// arithmetic analyses an expression. Bash evaluates the value of every variable that it names as an expression again,
// which may run commands in a subscript: only numbers, and variables that surely hold one, are understood.
func (w *walk) arithmetic(x syntax.ArithmExpr) {
	if x != nil {
		w.arith(x)
	}
}

// letClause analyses let, whose words are expressions.
func (w *walk) letClause(x *syntax.LetClause) {
	for _, e := range x.Exprs {
		if word, ok := e.(*syntax.Word); ok { // a quoted one may be any expression
			w.found.setsByExpression(w.quietly(word))
		}
		w.arithmetic(e)
	}
}

// arith analyses one level of an expression.
func (w *walk) arith(x syntax.ArithmExpr) {
	defer w.leave()
	if !w.enter(x.Pos()) {
		return
	}
	switch x := x.(type) {
	case *syntax.Word:
		if !w.numericWord(x) {
			w.unknown("a word that is no number may run code in arithmetic")
		}
	case *syntax.ParenArithm:
		w.arith(x.X)
	case *syntax.UnaryArithm:
		w.arith(x.X)
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			w.assignNumber(x.X)
		}
	case *syntax.BinaryArithm:
		w.binaryArith(x)
	default: // FlagsArithm
		w.unknown("this expression is not one of bash")
	}
}

func (w *walk) binaryArith(x *syntax.BinaryArithm) {
	switch x.Op {
	case syntax.AndArit, syntax.OrArit, syntax.TernQuest, syntax.TernColon, syntax.Add, syntax.Sub, syntax.Mul, syntax.Quo, syntax.Rem,
		syntax.Pow, syntax.Eql, syntax.Gtr, syntax.Lss, syntax.Neq, syntax.Leq, syntax.Geq, syntax.And, syntax.Or, syntax.Xor, syntax.Shr,
		syntax.Shl, syntax.Comma:
		w.arith(x.X)
		w.arith(x.Y)
	case syntax.Assgn:
		w.arith(x.Y)
		w.assignNumber(x.X)
	case syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn, syntax.AndAssgn,
		syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		w.arith(x.X)
		w.arith(x.Y)
		w.assignNumber(x.X)
	default:
		w.unknown("this operator is not one of bash")
	}
}

// startsAt handles the one expression whose assignment cannot fail: a variable that gets a literal number, alone.
func (w *walk) startsAt(e syntax.ArithmExpr) bool {
	x, ok := e.(*syntax.BinaryArithm)
	if !ok || x.Op != syntax.Assgn {
		return false
	}
	target, ok := x.X.(*syntax.Word)
	if ok {
		w.found.setsUnseen(target.Lit())
	}
	if !ok || !plainName(target.Lit()) || !soundNumber(x.Y) || !w.assignable(target.Lit()) {
		return false
	}
	w.scope.set(target.Lit(), value{kind: number})
	return true
}

// soundNumber reports whether an expression is a decimal number that bash reads without fault: 08 is none.
func soundNumber(e syntax.ArithmExpr) bool {
	word, ok := e.(*syntax.Word)
	if !ok {
		return false
	}
	text := word.Lit()
	return program.Digits(text) && len(text) <= 18 && (text == "0" || text[0] != '0')
}

// assignNumber takes note that an expression gives a number to a variable.
func (w *walk) assignNumber(target syntax.ArithmExpr) {
	word, ok := target.(*syntax.Word)
	if !ok || !plainName(word.Lit()) {
		w.found.setsTarget(target)
		w.unknown("this assignment is not understood")
		return
	}
	name := word.Lit()
	w.found.setsUnseen(name)
	if !w.assignable(name) {
		return
	}
	// An expression can fail before it assigns, and then the variable keeps its old value.
	w.scope.set(name, either(value{kind: number}, w.variable(name)))
}

// numericWord reports whether a word in arithmetic is a number and nothing else.
func (w *walk) numericWord(word *syntax.Word) bool {
	if len(word.Parts) == 1 {
		if q, ok := word.Parts[0].(*syntax.DblQuoted); ok && !q.Dollar && len(q.Parts) == 1 {
			return w.numericPart(q.Parts[0])
		}
		return w.numericPart(word.Parts[0])
	}
	w.text(word)
	return false
}

func (w *walk) numericPart(part syntax.WordPart) bool {
	if lit, ok := part.(*syntax.Lit); ok {
		return literalInteger(lit.Value) || plainName(lit.Value) && w.variable(lit.Value).integer()
	}
	f := field{noGlobs: true}
	w.partOf(&f, part, true)
	return f.numeric || f.numberPerLine
}

// literalInteger reports whether text is a number as arithmetic writes it: 10, 0x1f, 2#101.
func literalInteger(s string) bool {
	if program.Digits(s) {
		return true
	}
	base, rest, ok := strings.Cut(s, "#")
	if !ok {
		base, rest, ok = strings.Cut(strings.ToLower(s), "x")
		return ok && base == "0" && isHex(rest)
	}
	return program.Digits(base) && isHex(strings.ToLower(rest))
}

func isHex(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && (s[i] < 'a' || s[i] > 'f') {
			return false
		}
	}
	return s != ""
}

// test analyses the operands of [[ … ]].
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
		w.arithmeticOperand(x.X)
		w.arithmeticOperand(x.Y)
	case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
		for _, side := range []syntax.TestExpr{x.X, x.Y} {
			if word, ok := side.(*syntax.Word); ok {
				w.look(w.single(word))
			}
		}
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch, syntax.TsReMatch, syntax.TsBefore, syntax.TsAfter:
		w.test(x.X)
		if word, ok := x.Y.(*syntax.Word); ok && x.Op != syntax.TsBefore && x.Op != syntax.TsAfter {
			w.conditionPattern(word)
			return
		}
		w.test(x.Y)
	default:
		w.unknown("this condition is not understood")
	}
}

// arithmeticOperand looks at a side of -eq and its like, which [[ evaluates as arithmetic.
func (w *walk) arithmeticOperand(x syntax.TestExpr) {
	word, ok := x.(*syntax.Word)
	if !ok || !w.numericWord(word) && !isInteger(word.Lit()) {
		w.unknown("a word that is no number may run code beside -eq")
	}
}

// conditionPattern looks at a pattern of [[, where extended globs are always on.
func (w *walk) conditionPattern(word *syntax.Word) {
	f := field{noGlobs: true}
	for i, part := range word.Parts {
		switch x := part.(type) {
		case *syntax.ExtGlob:
			if x.Pattern != nil && strings.ContainsAny(x.Pattern.Value, "$`<>\"'\\") {
				w.unknown("this pattern is not understood")
			}
		case *syntax.Lit:
			w.unquotedLiteral(&f, x, i == 0, word.Parts[i+1:])
		default:
			w.partOf(&f, part, false)
		}
	}
}
