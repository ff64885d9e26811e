package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// fields expands words the way the arguments of a command are.
func (w *walk) fields(words []*syntax.Word) []program.Word {
	list := w.memory.room(len(words))
	for _, word := range words {
		if !w.enter(word.Pos()) {
			w.leave()
			return append(list, program.Word{Many: true})
		}
		if braced, ok := w.braces(word); ok {
			for _, each := range braced {
				list = w.appendFields(list, each)
			}
		} else {
			list = w.appendFields(list, word)
		}
		w.leave()
	}
	return list
}

// appendFields expands one word without braces.
func (w *walk) appendFields(list []program.Word, word *syntax.Word) []program.Word {
	if text, ok := plainText(word); ok {
		at := word.Pos()
		return append(list, program.Word{Text: text, Static: true, Line: int(at.Line()), Column: int(at.Col())})
	}
	if split, ok := w.splitVariable(word); ok {
		return append(list, split...)
	}
	f := field{}
	w.unquoted(&f, word.Parts)
	f.glob = f.glob && !w.scope.nullGlob
	return append(list, w.namedWord(f, word.Pos()))
}

// namedWord returns the word with its properties as names of files, if it expands to such.
func (w *walk) namedWord(f field, at syntax.Pos) program.Word {
	word := f.word(at)
	word.Unquoted = f.bareVariable && f.parts == 1
	switch {
	case w.disk == nil || word.Static:
	case word.Glob && word.Shape().Pattern != "":
		word.Name = !strings.HasPrefix(word.Text, "-")
	case f.listedNames != nil && f.parts == 1:
		word.Text, word.Local, word.Name, word.Glob, word.Many = f.listedNames.Text, f.listedNames.Local, true, true, true
		shape := f.listedNames.Shape()
		shape.Sample = word.Shape().Sample
		word = word.Shaped(shape)
	case f.variableNames.pattern != "" && f.parts == 1 && word.Shape().Pattern != "":
		word.Name = true
		shape := word.Shape()
		shape.Without, shape.Flat = f.variableNames.without, f.variableNames.flat
		word = word.Shaped(shape)
		if f.variableNames.unquoted {
			word.Many, word.Local = false, f.variableNames.kind == local
			w.requireNames([]program.Word{word}) // wherever it stands
		}
	}
	return word
}

// splitVariable expands a word that is nothing but $x with a known text, which makes one word for each word of it.
func (w *walk) splitVariable(word *syntax.Word) ([]program.Word, bool) {
	if len(word.Parts) != 1 {
		return nil, false
	}
	p, ok := word.Parts[0].(*syntax.ParamExp)
	if !ok || !simpleParam(p) {
		return nil, false
	}
	v := w.variable(p.Param.Value)
	if v.kind != static || strings.ContainsAny(v.text, globBytes) {
		return nil, false
	}
	var list []program.Word
	for _, text := range splitFields(v.text) {
		list = append(list, program.Word{Text: text, Static: true, Line: int(p.Pos().Line()), Column: int(p.Pos().Col())})
	}
	return list, true
}

// single expands a word that stays one word and is no pattern of file names: a value, a here-string, the subject of
// case or [[. The word is Many only if it is a Number that may be empty.
func (w *walk) single(word *syntax.Word) program.Word {
	if word == nil {
		return program.Word{Static: true}
	}
	defer w.leave()
	if !w.enter(word.Pos()) {
		return program.Word{}
	}
	f := field{noGlobs: true}
	w.unquoted(&f, word.Parts)
	f.many = f.mayBeEmpty
	return f.word(word.Pos())
}

// text expands a word only to analyse the code in it.
func (w *walk) text(word *syntax.Word) { w.single(word) }

// unquoted expands the parts of an unquoted word.
func (w *walk) unquoted(f *field, parts []syntax.WordPart) {
	assigns := false
	for i, part := range parts {
		if lit, ok := part.(*syntax.Lit); ok {
			if i == 0 {
				assigns = len(parts) > 1 && assignsLike(lit.Value)
			} else if assigns && strings.Contains(joinedLines(lit.Value), ":~") {
				f.unknown(false)
			}
			w.unquotedLiteral(f, lit, i == 0, parts[i+1:])
			continue
		}
		w.partOf(f, part, false)
	}
}

// partOf expands a part that is no unquoted literal.
func (w *walk) partOf(f *field, part syntax.WordPart, quoted bool) {
	defer w.leave()
	if !w.enter(part.Pos()) {
		f.unknown(true)
		return
	}
	f.parts++
	switch x := part.(type) {
	case *syntax.Lit:
		f.quotedLiteral(x.Value, `$"\`+"`")
	case *syntax.SglQuoted:
		f.singleQuoted(x)
	case *syntax.DblQuoted:
		w.doubleQuoted(f, x)
	case *syntax.ParamExp:
		w.param(f, x, quoted)
	case *syntax.CmdSubst:
		w.substitution(f, x, quoted)
	case *syntax.ArithmExp:
		w.arithmetic(x.X)
		f.numeric = true
		f.number(true, false)
	case *syntax.ProcSubst:
		if len(x.Stmts) == 0 {
			w.unknown("versions of bash differ in a substitution without a command")
		}
		w.subshell(func() {
			w.scope.stdoutCaptured = x.Op == syntax.CmdIn || w.scope.stdoutCaptured
			w.stmts(x.Stmts)
		})
		f.add("/dev/fd/63")
	default: // ExtGlob, BraceExp
		w.unknown("a pattern that bash has only with extglob is not understood")
		f.unknown(true)
	}
}

func (w *walk) doubleQuoted(f *field, x *syntax.DblQuoted) {
	if x.Dollar {
		w.unknown(`what $"…" becomes depends on a message catalogue`)
		f.unknown(false)
	}
	n := f.parts
	for _, part := range x.Parts {
		w.partOf(f, part, true)
	}
	if len(x.Parts) == 1 {
		f.parts = n // "…" around one part is that part
	}
}

// substitution expands $(…): the commands in it count, their output is unknown.
func (w *walk) substitution(f *field, x *syntax.CmdSubst, quoted bool) {
	endless := w.runsLong(endsNever, func() {
		w.subshell(func() {
			w.scope.stdoutCaptured = true
			w.stmts(x.Stmts)
		})
	})
	if endless {
		w.found.keeps("a substitution")
	}
	if text, ok := w.printedText(x); ok && (quoted || f.noGlobs || text != "" && !strings.ContainsAny(text, globBytes+splitBytes)) {
		f.add(text)
		f.numeric = isInteger(text)
		return
	}
	if !quoted && w.disk != nil && !f.hasUnknown && len(f.text) == 0 && len(x.Stmts) == 1 {
		f.listedNames = w.listedWord()
	}
	f.printed(w.shapeOf(x.Stmts), quoted)
}

// quietly returns a word and records nothing about it.
func (w *walk) quietly(word *syntax.Word) program.Word {
	w.found.quiet++
	defer func() { w.found.quiet-- }()
	return w.single(word)
}

// braces expands {a,b} and {1..3}. It is not ok if there are none.
func (w *walk) braces(word *syntax.Word) (words []*syntax.Word, ok bool) {
	if !hasBrace(word) {
		return nil, false
	}
	split := *word
	if !syntax.SplitBraces(&split) || !hasBraceExp(split.Parts) {
		if mayBrace(word.Parts) {
			w.unknown("these braces are not understood")
		}
		return nil, false
	}
	if namesGrow(split.Parts) {
		w.unknown("braces beside a variable may make it another one")
	}
	if w.braceWords >= maxBraceWords {
		w.unknown("there are too many braces")
		return nil, false
	}
	words, ok = expandBraces(split.Parts)
	w.braceWords += len(words)
	if !ok || len(words) > maxFields {
		w.unknown("these braces are not understood, or make too many words")
		return nil, false
	}
	for _, each := range words {
		if mayBrace(each.Parts) {
			w.unknown("these braces are not understood")
			break
		}
	}
	w.steps += len(words)
	return slices.DeleteFunc(words, isEmpty), true
}

// unquotedLiteral expands unquoted text: backslashes, a tilde, globs. rest holds the later parts of the word.
func (w *walk) unquotedLiteral(f *field, lit *syntax.Lit, first bool, rest []syntax.WordPart) {
	f.parts++
	f.numeric = false
	text := lit.Value
	if first {
		text = w.tilde(f, joinedLines(text), len(rest) > 0)
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			if i+1 == len(text) {
				w.unknown("a backslash at the end is not the same for all")
				break
			}
			i++
			if text[i] != '\n' {
				f.add(text[i : i+1])
			}
		case '*', '?':
			f.special(c)
		case '[':
			switch end := bracketEnd(text[i:]); {
			case end > 0 && !f.noGlobs:
				f.special('?')
				i += end
			case len(rest) > 0 || strings.Contains(text[i:], "]"):
				f.special(c)
			default:
				f.add("[")
			}
		default:
			f.add(text[i : i+1])
		}
	}
}

// bracketEnd returns the end of the bracket expression at the beginning of text, if it always stands for exactly one character;
// else 0.
func bracketEnd(text string) int {
	first := 1 // a ] here is no end
	if strings.HasPrefix(text[1:], "!") || strings.HasPrefix(text[1:], "^") {
		first++
	}
	if len(text) <= first+1 {
		return 0
	}
	end := strings.IndexByte(text[first+1:], ']')
	if end < 0 || strings.ContainsAny(text[first:first+1+end], "/[\\$`") {
		return 0
	}
	return first + 1 + end
}

// tilde expands a tilde at the beginning of a word, or of the value in a word that looks like an assignment, and returns the rest.
// If the word has more parts, a tilde without a slash behind it may not be one.
func (w *walk) tilde(f *field, text string, more bool) string {
	start := 0
	if text == "" || text[0] != '~' {
		eq := strings.IndexByte(text, '=')
		if !assignsLike(text) || !strings.Contains(text[eq:], "~") {
			return text
		}
		if colon := strings.Contains(text[eq:], ":~"); colon || !strings.HasPrefix(text[eq+1:], "~") {
			if colon {
				f.add(text[:eq+1])
				f.unknown(false)
			}
			return text
		}
		start = eq + 1
	}
	f.add(text[:start])
	text = text[start:]
	if text == "~" && !more || strings.HasPrefix(text, "~/") {
		if w.scope.namesChanged == "" && w.ctx.Home != "" {
			f.add(w.ctx.Home)
			return text[1:]
		}
	}
	f.unknown(false)
	return text
}

// assignsLike reports whether a word that begins with this text looks like an assignment: a=, a+=, a[1]=.
func assignsLike(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	name, _, _ = strings.Cut(strings.TrimSuffix(name, "+"), "[")
	return ok && plainName(name)
}

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
