package classify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// takesWords looks at the words of a command that takes text in some language: of a shell, a script, a database, an editor.
func (g *extractor) takesWords(by program.Language, name string, argv []string, at syntax.Pos) {
	switch by {
	case program.ShellText:
		for _, whole := range argv[1:] {
			if word := unglued(whole); !strings.HasPrefix(word, "-") {
				g.text(word, at, false)
			}
		}
	case program.SubscriptText:
		for i, word := range argv[1:] {
			g.subscript(word, at)
			if argv[i] == "-C" { // of mapfile
				g.text(word, at, true)
			}
		}
	case program.AliasText:
		for _, word := range argv[1:] {
			_, value, _ := strings.Cut(word, "=")
			g.text(value, at, false)
		}
	case program.GitText:
		g.gitCode(argv, at)
	case program.FilterText:
		g.filterScript(name, argv, at)
	case program.ScriptText, program.QueryText, program.EditorText:
		for _, word := range argv[1:] {
			g.takesText(by, word, at, false)
		}
	}
}

// takesText looks at text that a program takes, as a word or on stdin.
func (g *extractor) takesText(by program.Language, text string, at syntax.Pos, surely bool) {
	switch by {
	case program.ShellText:
		if surely {
			g.runsText(text, at)
			return
		}
		g.text(text, at, false)
	case program.ScriptText:
		g.script(text, at)
	case program.QueryText:
		g.addDestructive(destroysQuery(text), at)
	case program.EditorText:
		if _, command, ok := strings.Cut(text, "!"); ok {
			g.text(command, at, false)
		}
		g.script(text, at)
	}
}

// destroysQuery returns the destructive statement in the text of a database query.
func destroysQuery(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r != '_' && (r < 'a' || r > 'z') && (r < '0' || r > '9') && r < 0x80
	})
	for i, word := range words {
		after := ""
		if i+1 < len(words) {
			after = words[i+1]
		}
		switch {
		case word == "drop" && after != "", word == "truncate" && after != "", word == "delete" && after == "from",
			word == "flushall", word == "flushdb":
			return "the query removes data: " + word
		}
	}
	return ""
}

// script looks at a program in Python, Perl, JavaScript, Ruby or PHP: for calls that remove files, and if it runs
// commands at all, at its strings.
func (g *extractor) script(text string, at syntax.Pos) {
	for _, call := range removingCalls {
		if strings.Contains(text, call) {
			g.addDestructive("the script removes files: "+call, at)
			break
		}
	}
	for _, call := range runningCalls {
		if strings.Contains(text, call) {
			g.pieces(text, "'\"`{}", at)
			g.stringLists(text, at)
			return
		}
	}
}

// pieces looks at each piece of a text between some bytes.
func (g *extractor) pieces(text, between string, at syntax.Pos) {
	for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(between, r) }) {
		if strings.Trim(piece, " ,;:()[]") != "" {
			g.text(piece, at, false)
		}
	}
}

// stringLists gathers the strings of a script between which there are only commas, as words of a command: ["git", "push"].
func (g *extractor) stringLists(text string, at syntax.Pos) {
	var argv []string
	for {
		open := strings.IndexAny(text, `'"`)
		if open < 0 {
			break
		}
		if strings.Trim(text[:open], " \t\n,") != "" {
			g.argv(argv, at)
			argv = nil
		}
		close := strings.IndexByte(text[open+1:], text[open])
		if close < 0 {
			break
		}
		argv = append(argv, text[open+1:open+1+close])
		text = text[open+1+close+1:]
	}
	g.argv(argv, at)
}

// gitCode looks at settings whose values are commands, and at the commands of subcommands that run some.
func (g *extractor) gitCode(argv []string, at syntax.Pos) {
	sub, rest := program.Subcommand(program.Lookup("git"), argv[1:])
	for i, word := range argv[1:] {
		switch {
		case strings.HasPrefix(word, "!"): // the body of an alias
			g.text(word[1:], at, false)
		case argv[i] == "-c":
			name, value, _ := strings.Cut(word, "=")
			g.gitSetting(name, value, at)
		case sub == "config" && i > 0 && strings.Contains(argv[i], "."):
			g.gitSetting(argv[i], word, at)
		}
	}
	words := argv[len(argv)-len(rest):]
	switch sub {
	case "bisect":
		g.argv(behindWord(words, "run"), at)
	case "submodule":
		g.text(strings.Join(behindWord(words, "foreach"), " "), at, true)
	case "rebase", "difftool", "filter-branch", "for-each-repo":
		g.behindWrapper(argv[len(argv)-len(rest)-1:], at)
	}
}

// behindWord returns the words behind one, without the options that follow it.
func behindWord(argv []string, name string) []string {
	at := slices.Index(argv, name) + 1
	for at > 0 && at < len(argv) && strings.HasPrefix(argv[at], "-") {
		at++
	}
	if at == 0 {
		return nil
	}
	return argv[at:]
}

// gitSetting looks at a setting of git, which may be a command or an alias.
func (g *extractor) gitSetting(name, value string, at syntax.Pos) {
	command, isShell := strings.CutPrefix(value, "!")
	if strings.HasPrefix(strings.ToLower(name), "alias.") && !isShell {
		command = "git " + value
	}
	g.text(command, at, false)
}

// filterScript looks at the commands in a script of sed or awk.
func (g *extractor) filterScript(name string, argv []string, at syntax.Pos) {
	spec := program.Lookup(name)
	if spec == nil || len(argv) > maxScanned {
		g.incomplete = true
		return
	}
	defer g.memory.parsing.Free(g.memory.parsing.Mark())
	_, use := g.memory.parsing.Parse(spec, g.asWords(name, argv))
	for _, c := range use.Runs {
		if c.Shell != nil {
			g.text(c.Shell.Text, at, false)
		}
	}
	if use.Has(program.RunsCode) {
		g.generatedCode(argv, at)
	}
}

// generatedCode looks at the strings in a script of sed or awk, whose output may be commands.
func (g *extractor) generatedCode(argv []string, at syntax.Pos) {
	for _, word := range argv[1:] {
		g.pieces(word, `/"|,#;{}()$`, at)
	}
}

// removingCalls are spellings of calls in scripts that remove files or data.
var removingCalls = []string{
	"rmtree", "os.remove", "os.unlink", "os.rmdir", "os.removedirs", ".unlink(", "unlink(", "unlink ", "unlinkSync",
	"fs.rm", "rmSync", "rmdir", "rimraf", "FileUtils.rm", "FileUtils.remove", "File.delete", "Dir.delete", ".rmtree",
	"remove_tree", "Deno.remove", "dropDatabase(", ".drop()", ".deleteMany(", ".deleteOne(",
}

// runningCalls are spellings of calls in scripts that run commands; the commands are among the script's strings.
var runningCalls = []string{
	"system", "popen", "Popen", "subprocess", "exec", "spawn", "`", "%x", "qx", "passthru", "Open3", "do shell script",
	"Deno.Command",
}

// evaluatedText looks at text that may be evaluated, if it holds a substitution, also one that is there when its quotes are taken away.
func (g *extractor) evaluatedText(text string, at syntax.Pos) {
	if bare := withoutQuotes(text); bare != text && strings.Contains(bare, "$(") {
		g.textUnread = true
		g.text(bare, at, false)
	}
	if strings.Contains(text, "$(") || strings.Contains(text, "`") {
		g.text(text, at, false)
	}
}

// subscript looks at a word that may be taken for a variable with a subscript; the shell then runs code in the subscript: a[$(rm
// x)].
func (g *extractor) subscript(word string, at syntax.Pos) {
	if _, subscript, ok := strings.Cut(word, "["); ok {
		g.evaluatedText(subscript, at)
	}
}

// conditionWords looks at the words of [[ … ]] that are evaluated once more: those of -v, and those beside -eq and its like.
func (g *extractor) conditionWords(x *syntax.TestClause) {
	syntax.Walk(x, func(n syntax.Node) bool {
		if word, ok := n.(*syntax.Word); ok && len(word.Parts) == 1 {
			if _, literal := word.Parts[0].(*syntax.Lit); !literal {
				g.evaluatedText(g.spelling(word.Parts), x.Pos())
			}
		}
		return true
	})
}

// singleQuotes looks at the text of single quotes in an expression, where they quote nothing: $((1 + '$(rm x)')).
func (g *extractor) singleQuotes(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		if quoted, ok := n.(*syntax.SglQuoted); ok {
			g.evaluatedText(quoted.Value, quoted.Pos())
		}
		return true
	})
}

// disputedQuotes looks in double quotes, or in a here-document, for inner quotes that bash versions treat differently: the end of the
// word, as the parser sees it, may then be wrong. All text in such an expansion is taken for text that runs, with its quotes and without.
func (g *extractor) disputedQuotes(parts []syntax.WordPart) {
	for _, part := range parts {
		x, ok := part.(*syntax.ParamExp)
		if !ok || simpleParam(x) || !disputed(x) {
			continue
		}
		g.textUnread = true
		syntax.Walk(x, func(n syntax.Node) bool {
			var text string
			switch x := n.(type) {
			case *syntax.SglQuoted:
				text = x.Value
			case *syntax.Lit:
				text = x.Value
			default:
				_, substitution := n.(*syntax.CmdSubst)
				return !substitution
			}
			g.text(text, n.Pos(), false)
			if bare := withoutQuotes(text); bare != text {
				g.text(bare, n.Pos(), false)
			}
			return true
		})
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
		g.singleQuotes(x.Index)
	}
	if x.Slice != nil {
		g.singleQuotes(x)
	}
	if x.Exp != nil && x.Param != nil && (x.Exp.Op == syntax.AssignUnset || x.Exp.Op == syntax.AssignUnsetOrNull) {
		g.loseIfKnown(x.Param.Value)
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

// splitter splits a text that cannot be parsed, without a grammar. It treats every byte that may separate commands as a separator,
// quoted or not, and drops quotes.
type splitter struct {
	g    *extractor
	text string
	at   int

	argv  []string
	word  []byte
	begun bool // there is a word, perhaps an empty one
	skips bool // the next word is the target of a redirection
}

// split gathers from a text that cannot be parsed.
func (g *extractor) split(text string) {
	s := splitter{g: g, text: text}
	for s.at < len(text) && len(g.mentions) < maxMentions {
		s.next()
	}
	s.endCommand()
	g.incomplete = g.incomplete || s.at < len(text)
}

// next takes one byte, and those that belong to it.
func (s *splitter) next() {
	c := s.text[s.at]
	s.at++
	switch c {
	case '\'', '"':
		s.begun = true
		s.word = trimByte(s.word, '$')
	case '\\':
		s.escaped()
	case ' ', '\t', '\r':
		s.endWord()
	case ';', '&', '|', '\n', '(', ')', '{', '}', '`':
		s.word = trimByte(s.word, '$')
		s.endCommand()
	case '<', '>':
		s.redirect()
	case '$':
		s.expansion()
	case '#':
		if !s.begun {
			s.endCommand()
			break
		}
		s.put(c)
	default:
		s.put(c)
	}
}

func (s *splitter) put(c byte) {
	s.word, s.begun = append(s.word, c), true
}

func (s *splitter) escaped() {
	if s.at == len(s.text) {
		return
	}
	if c := s.text[s.at]; c != '\n' {
		s.put(c)
	}
	s.at++
}

// redirect drops the descriptor before < and >, and the target behind them.
func (s *splitter) redirect() {
	if program.Digits(string(s.word)) {
		s.word, s.begun = s.word[:0], false
	}
	s.endWord()
	for s.at < len(s.text) && strings.IndexByte("<>&|-", s.text[s.at]) >= 0 {
		s.at++
	}
	s.skips = s.text[s.at-1] != '-' // >&- is all of it
}

// expansion takes $name and ${name}.
func (s *splitter) expansion() {
	rest := strings.TrimPrefix(s.text[s.at:], "{")
	n := 0
	for n < len(rest) && (isNameByte(rest[n]) || n == 0 && strings.IndexByte("@*#?$!-", rest[n]) >= 0) {
		n++
	}
	braced := len(rest) < len(s.text)-s.at
	switch {
	case n == 0 || braced && (n == len(rest) || rest[n] != '}'):
		s.put('$')
		return
	case braced:
		n += len("{}")
	}
	s.at += n
	s.word, s.begun = append(s.word, agenttool.Unread...), true
}

func trimByte(word []byte, c byte) []byte {
	if n := len(word); n > 0 && word[n-1] == c {
		return word[:n-1]
	}
	return word
}

// endWord ends a word. Keywords and assignments before a command are no words of it.
func (s *splitter) endWord() {
	if !s.begun {
		return
	}
	word := string(s.word[:min(len(s.word), maxValue)])
	s.word, s.begun = s.word[:0], false
	name, _, assigns := strings.Cut(word, "=")
	switch {
	case s.skips:
		s.skips = false
	case len(s.argv) == 0 && (beforeCommand[word] || assigns && plainName(name)):
	case len(s.argv) < maxSplit:
		s.argv = append(s.argv, word)
	}
}

// beforeCommand are the keywords behind which a command begins.
var beforeCommand = program.WordSet("then do else elif if while until ! in function")

// endCommand gathers the words since the last end. Behind what may run a command each suffix may be one.
func (s *splitter) endCommand() {
	s.endWord()
	s.skips = false
	if len(s.argv) == 0 {
		return
	}
	argv, g := s.argv, s.g
	s.argv = nil
	g.mention(argv)
	name := path.Base(argv[0])
	g.destroys(name, argv, syntax.Pos{})
	if startsOthers(name) || g.runners[name] || strings.Contains(name, agenttool.Unread) {
		for i := 1; i < len(argv); i++ {
			if rest := suffix(argv, i); rest != nil {
				g.mention(rest)
				g.destroys(path.Base(rest[0]), rest, syntax.Pos{})
			}
		}
	}
}
