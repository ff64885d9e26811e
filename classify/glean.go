package classify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
)

// gleaner is the lenient analysis: it gathers all that may be a command, wherever it stands and whether or not it would run,
// and finds what destroys among it. It reads words as they are spelled. It may gather too much; where it may have gathered too
// little, it says so.
type gleaner struct {
	*scratch
	mentions [][]string // argv; what is not known in a word is agenttool.Unread
	found    []agenttool.Reason
	over     bool // a limit stopped it: there may be more of both
	skimmed  bool // not all words of a command were searched for what destroys
	codes    []code
	hidden   bool // there is text for a shell that is not known, or cannot be parsed

	ctx    Context
	inner  *place // of a text inside the command line
	steps  int    // words looked at
	depth  int    // commands in one another
	nested int    // programs that run one another, by their descriptions
	texts  int    // texts in one another

	memory
	manner

	assigned []string     // variables, in the order of their assignments
	piped    *syntax.Stmt // the left side of the last pipe: what it assigns holds in a process of its own
	nodes    []int        // around the one that is looked at: how many were assigned before, -1 if they hold behind it
	few      [24]int      // memory for nodes
}

// memory is what was learnt of the shell from what was looked at so far.
type memory struct {
	vars    map[string]string // what variables were last given, as far as it is literal
	torn    map[string]bool   // variables that were given more than that
	loose   bool              // all of them may have been
	runners map[string]bool   // functions that run their arguments
	moved   bool              // the working directory changes
	placed  bool              // it was spelt as the one in which the whole begins
	again   bool              // what was learnt may change what stands before it
}

// manner is how words are spelt.
type manner struct {
	within   int      // substitutions around the word
	expanded int      // words that braces made
	given    int      // bytes that variables gave
	marked   bool     // the text has unknownMark for what is not known
	open     bool     // patterns, and what torn variables hold, are Unread
	unsure   bool     // a torn variable was spelt as what it was last given
	words    []string // those of the command that is looked at
	single   uint64   // which of the first of them are one word each, although they are not known
}

const (
	maxDestroyed = 16
	maxMentions  = 20_000
	maxLooks     = 20_000 // words looked at, again behind each wrapper
	maxScanned   = 500    // words of one command
	maxTexts     = 10     // texts in one another
)

// glean gathers from a text that is parsed; from one that cannot be to its end, by its tree as far as that goes, and from the
// rest as well as can be done without.
func (g *gleaner) glean(text string, tree parsed) {
	g.stmts(tree.stmts)
	if !tree.failed {
		return
	}
	rest := text
	if !tree.doubtful {
		rest = text[parsedTo(tree.stmts, text):]
	}
	g.split(rest)
}

// parsedTo returns where in a text the last of some statements ends.
func parsedTo(stmts []*syntax.Stmt, text string) int {
	if len(stmts) == 0 {
		return 0
	}
	return min(int(stmts[len(stmts)-1].End().Offset()), len(text))
}

func (g *gleaner) stmts(list []*syntax.Stmt) {
	if g.nodes == nil {
		g.nodes = g.few[:0]
	}
	for _, s := range list {
		syntax.Walk(s, g.visit)
	}
}

// visit looks at a node and goes to those in it; nil is behind them.
func (g *gleaner) visit(n syntax.Node) bool {
	switch x := n.(type) {
	case nil:
		g.leave()
		return true
	case *syntax.Lit, *syntax.SglQuoted:
		return false
	case *syntax.Word:
		if len(x.Parts) == 1 {
			switch x.Parts[0].(type) {
			case *syntax.Lit, *syntax.SglQuoted: // in which is nothing
				return false
			}
		}
	}
	g.enter(n)
	g.node(n)
	return true
}

func (g *gleaner) node(n syntax.Node) {
	switch x := n.(type) {
	case *syntax.CallExpr:
		g.call(x)
	case *syntax.Stmt:
		g.redirects(x)
	case *syntax.BinaryCmd:
		g.pipe(x)
	case *syntax.Assign:
		g.assign(x)
	case *syntax.FuncDecl:
		g.function(x)
	case *syntax.ForClause:
		g.loop(x)
	case *syntax.ParamExp:
		g.param(x)
	case *syntax.DblQuoted:
		g.unquotes(x.Parts)
	case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.CStyleLoop:
		g.unquoted(n)
	case *syntax.ExtGlob:
		g.code(x.Pattern.Value, x.Pos())
	case *syntax.DeclClause:
		g.declare(x)
	case *syntax.LetClause:
		g.let(x)
		g.unquoted(x)
	case *syntax.TimeClause:
		g.time(x)
	case *syntax.CoprocClause:
		g.coprocess(x)
	case *syntax.BinaryArithm, *syntax.UnaryArithm:
		g.computes(n)
	case *syntax.TestClause:
		g.test(x)
	}
}

func (g *gleaner) call(x *syntax.CallExpr) {
	if len(x.Args) == 0 {
		return
	}
	s := g.spellings(x.Args)
	g.sets(s.argv)
	g.words, g.single = s.argv, s.single
	g.argv(s.argv, x.Pos())
	g.argv(s.split, x.Pos())
	g.argv(s.open, x.Pos())
	g.substituted(x)
}

// argv gathers the words of one command, and behind it what that runs.
func (g *gleaner) argv(argv []string, at syntax.Pos) {
	if len(argv) == 0 {
		return
	}
	g.mention(argv)
	g.behind(argv, at)
}

func (g *gleaner) mention(argv []string) {
	switch {
	case len(g.mentions) >= maxMentions:
		g.over = true
		return
	case g.mentions == nil:
		g.mentions = make([][]string, 0, 8)
	}
	g.mentions = append(g.mentions, argv)
}

// behind looks at what a command destroys, and gathers what it runs.
func (g *gleaner) behind(argv []string, at syntax.Pos) {
	if g.depth++; g.depth < maxDepth {
		if name := path.Base(argv[0]); argv[0] != "" {
			g.add(quotedName(name, g.destroys(name, argv[1:])), at)
			g.runs(name, argv, at)
		}
	} else {
		g.over = true
	}
	g.depth--
}

// quotedName puts the program at the beginning of a sentence into quotes.
func quotedName(name, what string) string {
	if rest, ok := strings.CutPrefix(what, name+" "); ok {
		return "`" + name + "` " + rest
	}
	return what
}

// runs gathers what a program runs: text in some language, commands among its words, or both.
func (g *gleaner) runs(name string, argv []string, at syntax.Pos) {
	by := takers[name]
	wraps := wrappers[name] || g.runners[name] || strings.Contains(name, agenttool.Unread)
	if by == 0 && !wraps {
		return
	}
	if !wraps && by != shellText {
		g.takes(by, name, argv, at)
		return
	}
	g.settings(argv, at)
	from := commandPart(name, argv)
	if from < 0 || g.coded(name, argv, at) || g.plainly(name, argv, at) || g.described(name, argv, at) {
		return
	}
	g.takes(by, name, argv, at)
	g.wrapped(argv[from:], at)
}

// coded gathers from the builtins whose words are code as a whole, and reports whether it is one of them.
func (g *gleaner) coded(name string, argv []string, at syntax.Pos) bool {
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

// destroys asks the table about one command, within limits.
func (g *gleaner) destroys(name string, args []string) string {
	if g.steps++; g.steps > maxLooks {
		g.over = true
		return ""
	}
	if len(args) > maxScanned {
		g.skimmed, args = true, args[:maxScanned]
	}
	return destroys(name, args)
}

// add records what is destroyed; "" is nothing.
func (g *gleaner) add(what string, at syntax.Pos) {
	if what == "" {
		return
	}
	r := agenttool.Reason{Fact: "destructive", Text: cut.Short(what, maxReason), Line: int(at.Line()), Column: int(at.Col())}
	if g.inner != nil {
		r.Line, r.Column = g.inner.line, g.inner.column
	}
	if len(g.found) < maxDestroyed {
		g.found = addReason(g.found, r)
	}
}

// declare gathers export, declare and their like, which the parser takes apart: export A=b.
func (g *gleaner) declare(x *syntax.DeclClause) {
	argv := make([]string, 1, 1+len(x.Args))
	argv[0] = x.Variant.Value
	for _, a := range x.Args {
		word := ""
		switch {
		case a.Name == nil:
			word = g.value(a)
			if strings.HasPrefix(word, "-") && strings.Contains(word, "n") {
				g.loose, g.again = true, true // it gives a variable a second name
			}
		case a.Naked && a.Index == nil:
			word = a.Name.Value
		case a.Index != nil || a.Array != nil:
			word = a.Name.Value + agenttool.Unread
		case a.Append:
			word = a.Name.Value + "+=" + g.value(a)
		default:
			word = a.Name.Value + "=" + g.value(a)
		}
		argv = append(argv, word)
		g.evaluated(word, x.Pos())
	}
	g.mention(argv)
}

func (g *gleaner) let(x *syntax.LetClause) {
	argv := []string{"let"}
	for _, e := range x.Exprs {
		text := agenttool.Unread
		if word, ok := e.(*syntax.Word); ok {
			text = g.spelling(word.Parts)
			g.evaluated(text, x.Pos())
		}
		argv = append(argv, text)
	}
	g.mention(argv)
}

// time gathers the keyword as the wrapper that it is; what it measures is gathered by itself.
func (g *gleaner) time(x *syntax.TimeClause) {
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
func (g *gleaner) coprocess(x *syntax.CoprocClause) {
	argv := []string{"coproc"}
	call, ok := x.Stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		g.mention(argv)
		return
	}
	assigns := call.Assigns
	for _, word := range call.Args {
		for len(assigns) > 0 && assigns[0].Pos().Offset() < word.Pos().Offset() {
			argv, assigns = append(argv, assigns[0].Name.Value+"="+g.value(assigns[0])), assigns[1:]
		}
		argv = append(argv, g.spellings([]*syntax.Word{word}).argv...)
	}
	for _, a := range assigns {
		argv = append(argv, a.Name.Value+"="+g.value(a))
	}
	g.mention(argv)
	g.argv(argv[1:], x.Pos())
}
