package classify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/classify/program"
)

// extractor is the lenient analysis: it gathers everything that may be a command, anywhere and whether or not it would run, and finds
// destructive ones. It reads words as they are spelled. It may gather too much; where it may have missed something, it says so.
//
// It is no mode of walk, although both go through the same tree. A walk follows the shell: into a function where it is called, round a
// loop until nothing changes, into both ways of an if with a state for each, and it believes nothing any more once it does not
// understand something. An extractor goes through the text from its beginning to its end, with one state; it looks into what never
// runs, into what cannot be parsed and into every text that may be code, and what it does not understand is a reason to look on.
type extractor struct {
	ctx    Context
	memory *memory // of the walk

	mentions     [][]string // argv; agenttool.Unread marks unknown text
	settings     []string   // as agenttool.Facts.Settings
	destructive  []agenttool.Reason
	codes        []code
	incomplete   bool // a limit stopped it: there may be more of all of these
	wordsSkipped bool // not all words of a command were searched for destructive commands
	textUnread   bool // there is text for a shell that is not known, or cannot be parsed

	// The state of the shell, as far as the commands before this one tell it.
	vars          variables
	assigned      []string        // variables, in the order of their assignments
	runners       map[string]bool // functions that run their arguments
	dirChanges    bool            // the working directory changes
	startDirSpelt bool            // a word was spelt with the start directory
	readAgain     bool            // later text may change the meaning of earlier text

	// What is around the word that is spelt.
	pipeLeft          *syntax.Stmt // the left side of the last pipe: its assignments hold in a process of its own
	assignedBefore    []int        // of each node around it: how many were assigned before, -1 if they hold behind it
	nodeMemory        [24]int      // memory for nodes
	words             []string     // of the command that is looked at
	singleWords       uint64       // which of the first of them are one word each, although they are not known
	substitutionDepth int          // substitutions around the word
	braceWords        int          // words that braces made
	variableBytes     int          // bytes that variables gave
	hasMarks          bool         // the text has unknownMark for its unknown pieces
	unreadIfUnsure    bool         // patterns, and variables that may hold something else, are Unread
	unsure            bool         // a variable that may hold something else was spelt with its last value
	textPlace         *place       // of a text inside the command line

	// The work, which is bounded.
	steps        int // words looked at
	commandDepth int // commands in one another
	programDepth int // programs that run one another, by their descriptions
	textDepth    int // texts in one another
}

// code is text for a shell that the strict analysis takes for a program of its own: eval 'cat f', bash <<< 'cat f'.
type code struct {
	text string
	at   place // of the command that runs it
}

const (
	maxCodes     = 16
	maxDestroyed = 16
	maxMentions  = 20_000
	maxLooks     = 20_000 // words looked at, again behind each wrapper
	maxScanned   = 500    // words of one command
	maxTexts     = 10     // texts in one another
)

// extract gathers from a text that is parsed; from one that cannot be to its end, by its tree as far as that goes, and from the
// rest as well as can be done without.
func (g *extractor) extract(text string, tree parseResult) {
	g.stmts(tree.stmts)
	if !tree.failed {
		return
	}
	rest := text
	if n := len(tree.stmts); n > 0 && !tree.doubtful { // those before the fault are what bash takes them for
		rest = text[min(int(tree.stmts[n-1].End().Offset()), len(text)):]
	}
	g.split(rest)
}

func (g *extractor) stmts(list []*syntax.Stmt) {
	if g.assignedBefore == nil {
		g.assignedBefore = g.nodeMemory[:0]
	}
	for _, s := range list {
		syntax.Walk(s, g.visit)
	}
}

// visit looks at a node and goes to those in it; nil is behind them.
func (g *extractor) visit(n syntax.Node) bool {
	switch x := n.(type) {
	case nil:
		g.leave()
		return true
	case *syntax.Lit, *syntax.SglQuoted: // they contain no command
		return false
	case *syntax.Word:
		if len(x.Parts) == 1 {
			switch x.Parts[0].(type) {
			case *syntax.Lit, *syntax.SglQuoted:
				return false
			}
		}
	}
	g.enter(n)
	switch x := n.(type) {
	case *syntax.CallExpr:
		g.call(x)
	case *syntax.Stmt:
		g.redirections(x)
	case *syntax.BinaryCmd:
		g.pipe(x)
	case *syntax.Assign:
		g.assign(x)
	case *syntax.FuncDecl:
		g.functionRunner(x)
	case *syntax.ForClause:
		g.loop(x)
	case *syntax.ParamExp:
		g.param(x)
	case *syntax.DblQuoted:
		g.disputedQuotes(x.Parts)
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.CStyleLoop:
		g.singleQuotes(n)
	case *syntax.ExtGlob:
		g.evaluatedText(x.Pattern.Value, x.Pos())
	case *syntax.DeclClause:
		g.declare(x)
	case *syntax.LetClause:
		g.let(x)
		g.singleQuotes(x)
	case *syntax.TimeClause:
		g.time(x)
	case *syntax.CoprocClause:
		g.coprocess(x)
	case *syntax.BinaryArithm, *syntax.UnaryArithm:
		g.computesVariable(n)
	case *syntax.TestClause:
		g.conditionWords(x)
	}
	return true
}

// call gathers a simple command, in each reading of its words.
func (g *extractor) call(x *syntax.CallExpr) {
	if len(x.Args) == 0 {
		return
	}
	s := g.spellings(x.Args)
	g.setsVariables(s.argv)
	g.words, g.singleWords = s.argv, s.singleWords
	g.argv(s.argv, x.Pos())
	g.argv(s.split, x.Pos())
	g.argv(s.open, x.Pos())
	g.substitutedText(x)
}

// argv gathers the words of one command, and behind it what that runs.
func (g *extractor) argv(argv []string, at syntax.Pos) {
	if len(argv) == 0 {
		return
	}
	g.mention(argv)
	g.behind(argv, at)
}

// behind records data that a command destroys, and gathers the commands that it runs.
func (g *extractor) behind(argv []string, at syntax.Pos) {
	g.commandDepth++
	if g.commandDepth < maxDepth {
		if name := path.Base(argv[0]); argv[0] != "" {
			g.destroys(name, argv, at)
			g.runs(name, argv, at)
		}
	} else {
		g.incomplete = true
	}
	g.commandDepth--
}

// destroys asks what is known of a program whether one command destroys, within limits.
func (g *extractor) destroys(name string, argv []string, at syntax.Pos) {
	g.steps++
	if g.steps > maxLooks {
		g.incomplete = true
		return
	}
	spec := program.Destroyer(name, argv[1:])
	if spec == nil {
		return
	}
	if len(argv) > maxScanned {
		g.wordsSkipped, argv = true, argv[:maxScanned]
	}
	defer g.memory.parsing.Free(g.memory.parsing.Mark())
	g.addDestructive(g.memory.parsing.Destroys(spec, g.asWords(name, argv)), at)
}

// runs gathers what a program runs: text in some language, commands among its words, or both.
func (g *extractor) runs(name string, argv []string, at syntax.Pos) {
	carried := carries(name)
	by := carried.Text
	wraps := carried.Command || g.runners[name] || strings.Contains(name, agenttool.Unread)
	if by == "" && !wraps {
		if carried.Option && slices.ContainsFunc(argv[1:], func(word string) bool { return strings.HasPrefix(word, "-") }) {
			g.byDescription(name, argv, at)
		}
		return
	}
	if !wraps && by != program.ShellText {
		g.takesWords(by, name, argv, at)
		return
	}
	g.settingsAmong(argv, at)
	from := commandPart(carried, argv)
	if from < 0 || g.codeWords(name, argv, at) || g.byDescription(name, argv, at) {
		return
	}
	g.takesWords(by, name, argv, at)
	g.behindWrapper(argv[from:], at)
}

// codeWords gathers from the builtins whose words are code as a whole, and reports whether it is one of them.
func (g *extractor) codeWords(name string, argv []string, at syntax.Pos) bool {
	words := argv[1:]
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	switch {
	case name != "eval" && name != "trap":
		return false
	case name == "eval":
		g.runsText(strings.Join(words, " "), at)
	case len(words) > 1:
		g.runsText(words[0], at)
	}
	return true
}

// declare gathers export, declare and their like, which the parser takes apart: export A=b.
func (g *extractor) declare(x *syntax.DeclClause) {
	argv := make([]string, 1, 1+len(x.Args))
	argv[0] = x.Variant.Value
	for _, a := range x.Args {
		word := ""
		switch {
		case a.Name == nil:
			word = g.assignedText(a)
			if strings.HasPrefix(word, "-") && strings.Contains(word, "n") {
				g.vars.unsure, g.readAgain = true, true // it gives a variable a second name
			}
		case a.Naked && a.Index == nil:
			word = a.Name.Value
		case a.Index != nil || a.Array != nil:
			word = a.Name.Value + agenttool.Unread
		case a.Append:
			word = a.Name.Value + "+=" + g.assignedText(a)
		default:
			word = a.Name.Value + "=" + g.assignedText(a)
		}
		argv = append(argv, word)
		g.subscript(word, x.Pos())
	}
	g.mention(argv)
}

func (g *extractor) let(x *syntax.LetClause) {
	argv := []string{"let"}
	for _, e := range x.Exprs {
		text := agenttool.Unread
		if word, ok := e.(*syntax.Word); ok {
			text = g.spelling(word.Parts)
			g.subscript(text, x.Pos())
		}
		argv = append(argv, text)
	}
	g.mention(argv)
}

// time gathers the keyword as a wrapper; the measured command is gathered by itself.
func (g *extractor) time(x *syntax.TimeClause) {
	argv := []string{"time"}
	if x.PosixFormat {
		argv = append(argv, "-p")
	}
	if x.Stmt != nil {
		if call, ok := x.Stmt.Cmd.(*syntax.CallExpr); ok {
			argv = append(argv, g.spellings(call.Args).argv...)
		}
	}
	g.mention(argv)
	if at := slices.Index(argv, "--"); at == 1 || at == 2 && x.PosixFormat {
		g.argv(argv[at+1:], x.Pos())
	}
}

// coprocess gathers a command whose words of the form a=b the parser takes for assignments, wherever they stand.
func (g *extractor) coprocess(x *syntax.CoprocClause) {
	argv := []string{"coproc"}
	call, ok := x.Stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		g.mention(argv)
		return
	}
	assigns := call.Assigns
	for _, word := range call.Args {
		for len(assigns) > 0 && assigns[0].Pos().Offset() < word.Pos().Offset() {
			argv, assigns = append(argv, assigns[0].Name.Value+"="+g.assignedText(assigns[0])), assigns[1:]
		}
		argv = append(argv, g.spellings([]*syntax.Word{word}).argv...)
	}
	for _, a := range assigns {
		argv = append(argv, a.Name.Value+"="+g.assignedText(a))
	}
	g.mention(argv)
	g.argv(argv[1:], x.Pos())
}

// setting notes a variable that is set for some command. Beyond a limit it may be any.
func (g *extractor) setting(name, value string) {
	switch text := name + "=" + value; {
	case slices.Contains(g.settings, text):
	case len(g.settings) < maxVars:
		g.settings = append(g.settings, text)
	case len(g.settings) == maxVars:
		g.settings = append(g.settings, agenttool.Unread)
	}
}

// runsText looks at text that a command at some place surely runs, and keeps it for the paths in it.
func (g *extractor) runsText(text string, at syntax.Pos) {
	if c := (code{text, place{int(at.Line()), int(at.Col())}}); len(g.codes) < maxCodes {
		if g.textPlace != nil {
			c.at = *g.textPlace
		}
		g.codes = append(g.codes, c)
	}
	g.text(text, at, true)
}

// text looks at text that a shell may run, or surely does.
func (g *extractor) text(text string, at syntax.Pos, surely bool) {
	if strings.Trim(text, splitBytes) == "" || text == agenttool.Unread && !surely {
		return
	}
	if marked := strings.ReplaceAll(text, agenttool.Unread, unknownMark); marked != text {
		defer func(was bool) { g.hasMarks = was }(g.hasMarks)
		text, g.hasMarks = marked, true
		if surely {
			g.mention([]string{agenttool.Unread}) // it may hold any command
		}
	}
	if _, ok := unfit(text); !ok || g.textDepth >= maxTexts || g.steps > maxLooks {
		g.incomplete = true
		g.split(g.unmarked(text))
		return
	}
	g.steps += 1 + len(text)/8
	inner := g.textPlace
	if inner == nil {
		g.textPlace = &place{int(at.Line()), int(at.Col())}
	}
	g.textDepth++
	tree, before := understood(text), len(g.assigned)
	g.textUnread = g.textUnread || surely && tree.failed
	g.extract(text, tree)
	for _, name := range g.assigned[before:] {
		g.mayHoldOther(name) // it may run in another process, or not at all
	}
	g.textDepth--
	g.textPlace = inner
}

// assign notes the value that an assignment sets.
func (g *extractor) assign(x *syntax.Assign) {
	if x.Name == nil || x.Naked {
		return
	}
	if x.Index != nil {
		g.singleQuotes(x.Index)
	}
	g.unsure = false
	name, text := x.Name.Value, g.assignedText(x)
	g.setting(name, text)
	torn := g.unsure || setByBash(name)
	g.assigned = append(g.assigned, name)
	if program.CommandVariable(name) {
		g.text(strings.TrimLeft(text, "!| "), x.Pos(), false)
	}
	if name == "IFS" {
		g.vars.unsure = true // how words are split is not known any more
		g.readAgain = g.readAgain || g.vars.hasText()
	}
	g.subscript(text, x.Pos())
	v := value{kind: static, text: text, others: torn}
	old, known := g.vars.values[name]
	if x.Append {
		v.text = old.text + text
	}
	switch {
	case x.Index != nil, x.Array != nil, len(v.text) > maxValue, strings.Contains(v.text, agenttool.Unread),
		len(g.vars.values) >= maxVars && !known:
		g.loseValue(name)
		return
	case old.kind == static && old.text != v.text:
		v.others = true
		g.readAgain = true
	}
	v.others = v.others || old.others
	g.vars.keep(name, v)
}

// mention adds the words of a command.
func (g *extractor) mention(argv []string) {
	switch {
	case len(g.mentions) >= maxMentions:
		g.incomplete = true
		return
	case g.mentions == nil:
		g.mentions = make([][]string, 0, 8)
	}
	g.mentions = append(g.mentions, argv)
}

// addDestructive records a path that is destroyed; an empty one is ignored.
func (g *extractor) addDestructive(what string, at syntax.Pos) {
	if what == "" {
		return
	}
	r := agenttool.Reason{Fact: "destructive", Text: cut.Short(what, maxReason), Line: int(at.Line()), Column: int(at.Col())}
	if g.textPlace != nil {
		r.Line, r.Column = g.textPlace.line, g.textPlace.column
	}
	if len(g.destructive) < maxDestroyed {
		g.destructive = addReason(g.destructive, r)
	}
}
