package classify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

const maxSpelt = 3 // substitutions in one another whose text is put together

// spellings holds up to three readings of the words of a command.
type spellings struct {
	argv  []string // each word as it stands
	split []string // the words after tilde expansion and word splitting; nil if the same as argv
	open  []string // with Unread for patterns of names, and for variables that may hold something else; nil if there are none

	singleWords uint64 // of the first words of argv those that are one word each, although they are not known
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
func (g *extractor) spellings(words []*syntax.Word) spellings {
	s := spellings{argv: make([]string, 0, len(words))}
	for _, word := range words {
		if text, ok := plainWord(word); ok && !g.hasMarks {
			s.add(text)
			continue
		}
		if !hasBrace(word) || !g.braced(&s, word) {
			g.word(&s, word)
		}
	}
	return s
}

// braced adds the words that braces make, and reports whether there are any. Where bash may find braces that the parser
// does not, {a},b}, what they make is not known.
func (g *extractor) braced(s *spellings, word *syntax.Word) bool {
	split := *word
	found := syntax.SplitBraces(&split) && hasBraceExp(split.Parts)
	if !found && !mayBrace(word.Parts) {
		return false
	}
	var each []*syntax.Word
	ok := found && g.braceWords < maxBraceWords && !namesGrow(split.Parts)
	if ok {
		each, ok = expandBraces(split.Parts)
		g.braceWords += len(each)
		ok = ok && !slices.ContainsFunc(each, func(one *syntax.Word) bool { return mayBrace(one.Parts) })
	}
	if !ok {
		g.incomplete = true
		s.add(agenttool.Unread)
	}
	for _, one := range each {
		if !isEmpty(one) {
			g.word(s, one)
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
func (g *extractor) word(s *spellings, word *syntax.Word) {
	g.unsure = false
	text, bare := g.spelling(word.Parts), expands(word)
	unsure := g.unsure || hasPattern(word) || bare && strings.ContainsAny(text, "*?[")
	switch home := g.atHome(word.Parts, text); {
	case bare && (text == "" || strings.ContainsAny(text, splitBytes)):
		s.addSplit(text, splitFields(text))
		if unsure || text != "" && len(word.Parts) > 1 { // some of its blanks may be quoted
			s.reopen(agenttool.Unread)
		}
		return
	case home != text:
		s.addSplit(text, []string{home})
		if unsure {
			s.reopen(g.atHome(word.Parts, g.opened(word)))
		}
		return
	}
	if !bare && strings.Contains(text, agenttool.Unread) && makesOne(word) {
		s.singleWords |= 1 << len(s.argv)
	}
	if unsure {
		if open := g.opened(word); open != text {
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
func (g *extractor) opened(word *syntax.Word) string {
	g.unreadIfUnsure = true
	defer func() { g.unreadIfUnsure = false }()
	return g.spelling(word.Parts)
}

// atHome returns the text of a word with the home directory for a tilde at its beginning, or at that of the value in a word that looks
// like an assignment.
func (g *extractor) atHome(parts []syntax.WordPart, text string) string {
	if len(parts) == 0 || g.ctx.Home == "" {
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
		return text[:start] + g.ctx.Home + text[start+1:]
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
func (g *extractor) spelling(parts []syntax.WordPart) string {
	if len(parts) == 1 {
		switch x := parts[0].(type) {
		case *syntax.Lit:
			if !g.unreadIfUnsure && strings.IndexByte(x.Value, '\\') < 0 {
				return g.unmarked(x.Value)
			}
		case *syntax.SglQuoted:
			if !x.Dollar {
				return g.unmarked(x.Value)
			}
		}
	}
	var b strings.Builder
	for _, part := range parts {
		switch x := part.(type) {
		case *syntax.Lit:
			g.literal(&b, x.Value)
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
					g.expansion(&b, inner)
				}
			}
		default:
			g.expansion(&b, part)
		}
	}
	if b.Len() > maxValue && g.substitutionDepth > 0 {
		return agenttool.Unread
	}
	return g.unmarked(b.String())
}

// literal writes unquoted text.
func (g *extractor) literal(b *strings.Builder, text string) {
	if ends := strings.TrimRight(text, `\`); (len(text)-len(ends))%2 == 1 {
		g.textUnread = true // shells differ on a backslash at the end
	}
	for g.unreadIfUnsure {
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
func (g *extractor) expansion(b *strings.Builder, part syntax.WordPart) {
	text := g.expandsTo(part)
	if g.unreadIfUnsure && strings.ContainsAny(text, "*?[") {
		text = agenttool.Unread
	}
	g.variableBytes += len(text)
	if b.Len()+len(text) > maxValue || g.variableBytes > maxWordBytes {
		text = agenttool.Unread
	}
	b.WriteString(text)
}

// expandsTo returns the last value of a variable, or the output of echo or printf in a substitution.
func (g *extractor) expandsTo(part syntax.WordPart) string {
	switch x := part.(type) {
	case *syntax.ParamExp:
		if !simpleParam(x) {
			break
		}
		text, ok := g.variable(x.Param.Value)
		others := g.vars.unsure || g.vars.values[x.Param.Value].others
		if ok && !(others && g.unreadIfUnsure) {
			g.unsure = g.unsure || others
			return text
		}
	case *syntax.CmdSubst:
		if text, ok := g.echoes(x); ok {
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
func (g *extractor) unmarked(text string) string {
	if !g.hasMarks {
		return text
	}
	return strings.ReplaceAll(text, unknownMark, agenttool.Unread)
}

// echoes returns the approximate output of echo or printf in a substitution; it sets g.unsure if the output may differ.
func (g *extractor) echoes(x *syntax.CmdSubst) (text string, ok bool) {
	if len(x.Stmts) != 1 || len(x.Stmts[0].Redirs) > 0 || g.substitutionDepth >= maxSpelt {
		return "", false
	}
	call, ok := x.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || !prints(call) {
		return "", false
	}
	g.substitutionDepth++
	defer func() { g.substitutionDepth-- }()
	argv := g.literals(call.Args)
	if !asSpelt(call.Args, argv) {
		if g.unreadIfUnsure {
			return "", false
		}
		g.unsure = true
	}
	return strings.TrimRight(echoed(argv), "\n"), true
}

// literals returns the words of a command that prints them.
func (g *extractor) literals(words []*syntax.Word) []string {
	list := make([]string, len(words))
	for i, word := range words {
		list[i] = g.spelling(word.Parts)
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

// variable returns the last literal value of a variable.
func (g *extractor) variable(name string) (text string, ok bool) {
	dir := ""
	if !g.dirChanges {
		dir = g.ctx.Dir
	}
	if _, set := g.vars.values[name]; name == "PWD" && !set && !g.dirChanges {
		g.startDirSpelt = true
	}
	v := g.vars.lookup(name, g.ctx.Home, dir)
	return v.text, v.kind == static
}

// assignedText returns the text that an assignment gives.
func (g *extractor) assignedText(x *syntax.Assign) string {
	if x.Value == nil {
		return ""
	}
	return g.atHome(x.Value.Parts, g.spelling(x.Value.Parts))
}

// setByBash reports whether bash itself gives a variable what it holds.
func setByBash(name string) bool {
	switch name {
	case "_", "REPLY", "MAPFILE", "COPROC", "OPTARG", "OPTIND", "PWD", "OLDPWD", "DIRSTACK", "RANDOM", "SRANDOM", "SECONDS", "LINENO",
		"FUNCNAME", "PIPESTATUS", "GROUPS", "UID", "EUID", "PPID", "SHELLOPTS", "HOSTNAME", "COLUMNS", "LINES", "READLINE_LINE":
		return true
	}
	return strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "EPOCH") || strings.HasPrefix(name, "COMP_")
}

// computesVariable takes note of a variable that an expression gives a value.
func (g *extractor) computesVariable(n syntax.Node) {
	var target syntax.ArithmExpr
	switch x := n.(type) {
	case *syntax.BinaryArithm:
		switch x.Op {
		case syntax.Eql, syntax.Neq, syntax.Leq, syntax.Geq:
		default:
			if strings.HasSuffix(x.Op.String(), "=") {
				target = x.X
			}
		}
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			target = x.X
		}
	}
	word, ok := target.(*syntax.Word)
	if !ok || len(word.Parts) != 1 {
		return
	}
	switch x := word.Parts[0].(type) {
	case *syntax.Lit:
		g.loseIfKnown(x.Value)
	case *syntax.ParamExp:
		g.loseIfKnown(x.Param.Value)
	}
}

// loseIfKnown is lose for a variable that may be none.
func (g *extractor) loseIfKnown(name string) {
	if g.vars.values[name].kind == static {
		g.loseValue(name)
	}
}

// enter and leave are called before and behind the children of a node.
func (g *extractor) enter(n syntax.Node) {
	before := len(g.assigned)
	switch x := n.(type) {
	case *syntax.CallExpr:
		if len(x.Args) == 0 || len(x.Assigns) == 0 {
			before = -1
		}
	case *syntax.Stmt:
		if !x.Background && x != g.pipeLeft {
			before = -1
		}
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.BinaryCmd, *syntax.CoprocClause, *syntax.IfClause,
		*syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.FuncDecl:
	default:
		before = -1
	}
	g.assignedBefore = append(g.assignedBefore, before)
}

// leave notes of the variables that were assigned in a node that they may hold something else, if it may not have run, or only in a
// process of its own.
func (g *extractor) leave() {
	last := len(g.assignedBefore) - 1
	before := g.assignedBefore[last]
	g.assignedBefore = g.assignedBefore[:last]
	if before < 0 || before >= len(g.assigned) {
		return
	}
	for _, name := range g.assigned[before:] {
		g.mayHoldOther(name)
	}
}

// mayHoldOther records that a variable may hold another value than the last one.
func (g *extractor) mayHoldOther(name string) {
	v := g.vars.values[name]
	v.others = true
	g.vars.keep(name, v)
}

// loseValue records that a variable gets an unknown value.
func (g *extractor) loseValue(name string) {
	g.readAgain = g.readAgain || g.vars.values[name].kind == static
	g.vars.keep(name, value{others: true})
}

func (g *extractor) loop(x *syntax.ForClause) {
	if iter, ok := x.Loop.(*syntax.WordIter); ok {
		g.loseValue(iter.Name.Value)
	}
}

// setsVariables takes note of the variables that a builtin sets.
func (g *extractor) setsVariables(argv []string) {
	switch argv[0] {
	case "hash": // -p says what a name runs
		if at := slices.Index(argv, "-p"); at > 0 && at+1 < len(argv) {
			g.mention([]string{argv[at+1], agenttool.Unread})
		}
	case "cd", "pushd", "popd":
		g.dirChanges, g.readAgain = true, g.readAgain || g.startDirSpelt && !g.dirChanges
	case "read", "mapfile", "readarray", "getopts", "printf", "unset", "wait":
		for _, word := range argv[1:] {
			g.loseIfKnown(word)
		}
	}
}

// functionRunner takes note of a function that runs its arguments, wherever in it.
func (g *extractor) functionRunner(x *syntax.FuncDecl) {
	if x.Name == nil || g.runners[x.Name.Value] {
		return
	}
	syntax.Walk(x.Body, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		runs := argument(call.Args[0])
		name := path.Base(g.spelling(call.Args[0].Parts))
		runs = runs || startsOthers(name) && slices.ContainsFunc(call.Args[1:], argument)
		if runs && len(g.runners) < maxVars {
			if g.runners == nil {
				g.runners = map[string]bool{}
			}
			g.runners[x.Name.Value], g.readAgain = true, true
		}
		return !runs
	})
}

// argument reports whether a word is $@, $* or $1 and its like.
func argument(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	part := word.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok {
		part = onlyPart(quoted.Parts)
	}
	x, ok := part.(*syntax.ParamExp)
	return ok && x.Param != nil && (x.Param.Value == "@" || x.Param.Value == "*" || program.Digits(x.Param.Value))
}
