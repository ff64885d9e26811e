package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
)

// speller spells words out, with the values that variables have so far.
type speller struct {
	findings
	ctx Context

	memory
	manner

	assigned []string     // variables, in the order of their assignments
	piped    *syntax.Stmt // the left side of the last pipe: its assignments hold in a process of its own
	nodes    []int        // around the one that is looked at: how many were assigned before, -1 if they hold behind it
}

// memory is the state of the shell, as far as the commands before this one tell it.
type memory struct {
	vars    map[string]string // last values of variables, as far as they are literal
	torn    map[string]bool   // variables that were given more than that
	loose   bool              // all of them may have been
	runners map[string]bool   // functions that run their arguments
	moved   bool              // the working directory changes
	placed  bool              // a word was spelt with the start directory
	again   bool              // later text may change the meaning of earlier text
}

// manner is how words are spelt.
type manner struct {
	within   int      // substitutions around the word
	expanded int      // words that braces made
	given    int      // bytes that variables gave
	marked   bool     // the text has unknownMark for its unknown pieces
	open     bool     // patterns, and values of torn variables, are Unread
	unsure   bool     // a torn variable was spelt with its last value
	words    []string // those of the command that is looked at
	single   uint64   // which of the first of them are one word each, although they are not known
}

const maxSpelt = 3 // substitutions in one another whose text is put together

// spellings are the words of a command as they are spellings, in up to three ways.
type spellings struct {
	argv  []string // each word as it stands
	split []string // the words after tilde expansion and word splitting; nil if the same as argv
	open  []string // with Unread for patterns of names, and for variables that may hold something else; nil if there are none

	single uint64 // of the first words of argv those that are one word each, although they are not known
}

func (s *spellings) add(word string) {
	s.argv = append(s.argv, word)
	if s.split != nil {
		s.split = append(s.split, word)
	}
	if s.open != nil {
		s.open = append(s.open, word)
	}
}

// addSplit adds a word that becomes those instead.
func (s *spellings) addSplit(word string, into []string) {
	if s.split == nil {
		s.split = append(make([]string, 0, cap(s.argv)+len(into)), s.argv...)
	}
	split := s.split
	s.add(word)
	s.split = append(split, into...)
}

// addOpen adds a word with two spellings: the likely one, and one that is Unread where the shell may expand to something else.
func (s *spellings) addOpen(word, open string) {
	if s.open == nil {
		s.open = append(make([]string, 0, cap(s.argv)), s.argv...)
	}
	rest := s.open
	s.add(word)
	s.open = append(rest, open)
}

// reopen says of the last word how much of it is sure.
func (s *spellings) reopen(open string) {
	if s.open == nil {
		s.open = append(make([]string, 0, cap(s.argv)), s.argv...)
	}
	s.open[len(s.open)-1] = open
}

// spellings returns the texts of words, after their braces, as far as they are literal.
func (sp *speller) spellings(words []*syntax.Word) spellings {
	s := spellings{argv: make([]string, 0, len(words))}
	for _, word := range words {
		if text, ok := plainWord(word); ok && !sp.marked {
			s.add(text)
			continue
		}
		if !hasBrace(word) || !sp.braced(&s, word) {
			sp.word(&s, word)
		}
	}
	return s
}

// braced adds the words that braces make, and reports whether there are any. Where bash may find braces that the parser
// does not, {a},b}, what they make is not known.
func (sp *speller) braced(s *spellings, word *syntax.Word) bool {
	split := *word
	found := syntax.SplitBraces(&split) && hasBraceExp(split.Parts)
	if !found && !mayBrace(word.Parts) {
		return false
	}
	var each []*syntax.Word
	ok := found && sp.expanded < maxExpanded && !namesGrow(split.Parts)
	if ok {
		each, ok = expandBraces(split.Parts)
		sp.expanded += len(each)
		ok = ok && !slices.ContainsFunc(each, func(one *syntax.Word) bool { return mayBrace(one.Parts) })
	}
	if !ok {
		sp.over = true
		s.add(agenttool.Unread)
	}
	for _, one := range each {
		if !isEmpty(one) {
			sp.word(s, one)
		}
	}
	return true
}

// plainWord returns the text of a word without special characters.
func plainWord(word *syntax.Word) (string, bool) {
	if len(word.Parts) != 1 {
		return "", false
	}
	lit, ok := word.Parts[0].(*syntax.Lit)
	if !ok {
		return "", false
	}
	for i := range len(lit.Value) {
		switch lit.Value[i] {
		case '\\', '{', '*', '?', '[':
			return "", false
		}
	}
	return lit.Value, !strings.HasPrefix(lit.Value, "~") && !strings.Contains(lit.Value, "=~")
}

// word adds one word without braces.
func (sp *speller) word(s *spellings, word *syntax.Word) {
	sp.unsure = false
	text, bare := sp.spelling(word.Parts), expands(word)
	unsure := sp.unsure || hasPattern(word) || bare && strings.ContainsAny(text, "*?[")
	switch home := sp.atHome(word.Parts, text); {
	case bare && (text == "" || strings.ContainsAny(text, splitBytes)):
		s.addSplit(text, splitFields(text))
		if unsure || text != "" && len(word.Parts) > 1 { // some of its blanks may be quoted
			s.reopen(agenttool.Unread)
		}
		return
	case home != text:
		s.addSplit(text, []string{home})
		if unsure {
			s.reopen(sp.atHome(word.Parts, sp.opened(word)))
		}
		return
	}
	if !bare && strings.Contains(text, agenttool.Unread) && makesOne(word) {
		s.single |= 1 << len(s.argv)
	}
	if unsure {
		if open := sp.opened(word); open != text {
			s.addOpen(text, open)
			return
		}
	}
	s.add(text)
}

// splitFields splits a text into fields like the shell.
func splitFields(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(splitBytes, r) })
}

// opened returns the text of a word with Unread for every piece that may expand to something else.
func (sp *speller) opened(word *syntax.Word) string {
	sp.open = true
	defer func() { sp.open = false }()
	return sp.spelling(word.Parts)
}

// atHome returns the text of a word with the home directory for a tilde at its beginning, or at that of the value in a word that looks
// like an assignment.
func (sp *speller) atHome(parts []syntax.WordPart, text string) string {
	if len(parts) == 0 || sp.ctx.Home == "" {
		return text
	}
	lit, ok := parts[0].(*syntax.Lit)
	if !ok {
		return text
	}
	start := 0
	if assignsLike(lit.Value) {
		start = strings.IndexByte(lit.Value, '=') + 1
	}
	value := lit.Value[start:]
	if strings.HasPrefix(value, "~/") || value == "~" && len(parts) == 1 {
		return text[:start] + sp.ctx.Home + text[start+1:]
	}
	return text
}

// expands reports whether a word holds an unquoted expansion: a variable, a substitution or a pattern of names.
func expands(word *syntax.Word) bool {
	for _, part := range word.Parts {
		switch part.(type) {
		case *syntax.ParamExp, *syntax.CmdSubst, *syntax.ExtGlob:
			return true
		}
	}
	return false
}

// makesOne reports whether a word always expands to one word. The caller has checked that it expands nothing outside quotes.
func makesOne(word *syntax.Word) bool {
	for _, part := range word.Parts {
		quoted, ok := part.(*syntax.DblQuoted)
		if !ok {
			continue
		}
		for _, inner := range quoted.Parts {
			if x, ok := inner.(*syntax.ParamExp); ok && (!simpleParam(x) || x.Param.Value == "@") {
				return false
			}
		}
	}
	return true
}

func hasPattern(word *syntax.Word) bool {
	for _, part := range word.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.ContainsAny(lit.Value, "*?[") {
			return true
		}
	}
	return false
}

// spelling returns the literal text of a word; an unknown expansion in it is Unread.
func (sp *speller) spelling(parts []syntax.WordPart) string {
	if len(parts) == 1 {
		switch x := parts[0].(type) {
		case *syntax.Lit:
			if !sp.open && strings.IndexByte(x.Value, '\\') < 0 {
				return sp.unmarked(x.Value)
			}
		case *syntax.SglQuoted:
			if !x.Dollar {
				return sp.unmarked(x.Value)
			}
		}
	}
	var b strings.Builder
	for _, part := range parts {
		switch x := part.(type) {
		case *syntax.Lit:
			sp.literal(&b, x.Value)
		case *syntax.SglQuoted:
			text, ok := x.Value, true
			if x.Dollar {
				text, ok = ansiC(x.Value)
			}
			if !ok {
				text = agenttool.Unread
			}
			b.WriteString(text)
		case *syntax.DblQuoted:
			for _, inner := range x.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					unescape(&b, lit.Value, "$`\"\\")
				} else {
					sp.expansion(&b, inner)
				}
			}
		default:
			sp.expansion(&b, part)
		}
	}
	if b.Len() > maxValue && sp.within > 0 {
		return agenttool.Unread
	}
	return sp.unmarked(b.String())
}

// literal writes unquoted text.
func (sp *speller) literal(b *strings.Builder, text string) {
	if ends := strings.TrimRight(text, `\`); (len(text)-len(ends))%2 == 1 {
		sp.hidden = true // shells differ on a backslash at the end
	}
	for sp.open {
		at := strings.IndexAny(text, "*?[\\")
		if at < 0 {
			break
		}
		b.WriteString(text[:at])
		end := at + 1
		switch close := strings.IndexByte(text[at:], ']'); {
		case text[at] == '\\':
			end = min(at+2, len(text))
			unescape(b, text[at:end], "")
		case text[at] != '[':
			b.WriteString(agenttool.Unread)
		case close > 0:
			b.WriteString(agenttool.Unread)
			end = at + close + 1
		default:
			b.WriteByte('[')
		}
		text = text[end:]
	}
	unescape(b, text, "")
}

// expansion writes the expansion of a part, Unread if it is too long.
func (sp *speller) expansion(b *strings.Builder, part syntax.WordPart) {
	text := sp.expandsTo(part)
	if sp.open && strings.ContainsAny(text, "*?[") {
		text = agenttool.Unread
	}
	if sp.given += len(text); b.Len()+len(text) > maxValue || sp.given > maxRecorded {
		text = agenttool.Unread
	}
	b.WriteString(text)
}

// expandsTo returns the last value of a variable, or the output of echo or printf in a substitution.
func (sp *speller) expandsTo(part syntax.WordPart) string {
	switch x := part.(type) {
	case *syntax.ParamExp:
		if !simpleParam(x) {
			break
		}
		text, ok := sp.variable(x.Param.Value)
		if torn := sp.loose || sp.torn[x.Param.Value]; ok && !(torn && sp.open) {
			sp.unsure = sp.unsure || torn
			return text
		}
	case *syntax.CmdSubst:
		if text, ok := sp.echoes(x); ok {
			return text
		}
	}
	return agenttool.Unread
}

// unescape removes backslashes before the bytes of only, or before any if it is empty.
func unescape(b *strings.Builder, text, only string) {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			switch {
			case text[i+1] == '\n':
				i++
				continue
			case only == "" || strings.IndexByte(only, text[i+1]) >= 0:
				i++
			}
		}
		b.WriteByte(text[i])
	}
}

// unmarked returns a text with Unread for the mark.
func (sp *speller) unmarked(text string) string {
	if !sp.marked {
		return text
	}
	return strings.ReplaceAll(text, unknownMark, agenttool.Unread)
}

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

// literals returns the words of a command that prints them.
func (sp *speller) literals(words []*syntax.Word) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = sp.spelling(word.Parts)
	}
	return list
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

// unknownMark stands for unknown text in a text that is parsed again: a code point that is no character.
const unknownMark = "\U0010FFFF"
