package classify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// redirections looks at text that is fed to a program, and at writes to disks.
func (g *extractor) redirections(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		if r.Word == nil {
			continue
		}
		g.incomplete = g.incomplete || r.Op == syntax.DplOut && !plainTarget(r.Word)
		switch r.Op {
		case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll, syntax.AppOut, syntax.AppAll, syntax.RdrInOut, syntax.DplOut:
			if isDisk(g.spelling(r.Word.Parts)) {
				g.addDestructive("writes over a disk", r.OpPos)
			}
		case syntax.RdrIn:
			for _, inner := range substitution(r.Word) {
				g.printsInto(inner, g.takerIn(s.Cmd))
			}
		case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
			if r.Hdoc != nil {
				g.disputedQuotes(r.Hdoc.Parts)
			}
			if by := g.takerIn(s.Cmd); by != "" {
				g.takesText(by, g.documentText(r), s.Cmd.Pos(), true)
			}
		}
	}
}

// isDisk reports whether a path is a disk.
func isDisk(text string) bool {
	for _, disk := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "dm-", "md", "mapper/"} {
		if strings.HasPrefix(text, "/dev/"+disk) {
			return true
		}
	}
	return false
}

// documentText returns the text of a here-document or a here-string.
func (g *extractor) documentText(r *syntax.Redirect) string {
	switch {
	case r.Op == syntax.WordHdoc:
		return g.spelling(r.Word.Parts)
	case r.Hdoc == nil:
		return ""
	}
	quoted := quotedDelimiter(r.Word)
	var b strings.Builder
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		switch {
		case !ok:
			b.WriteString(g.expandsTo(part))
		case quoted:
			b.WriteString(lit.Value)
		default:
			unescape(&b, lit.Value, "$`\\")
		}
	}
	return g.unmarked(b.String())
}

// pipe looks at text that is printed into a program that takes it, through any number of others.
func (g *extractor) pipe(x *syntax.BinaryCmd) {
	if x.Op != syntax.Pipe && x.Op != syntax.PipeAll {
		return
	}
	g.pipeLeft = x.X
	by := g.takerIn(x.Y.Cmd)
	if by == program.ShellText && g.readsCommands(x.Y.Cmd) && !passesKnown(x.X) {
		g.mention([]string{agenttool.Unread})
	}
	for stage := x.X; by != "" && stage != nil; {
		g.steps++
		if g.steps > maxLooks {
			g.incomplete = true
			return
		}
		next, ok := stage.Cmd.(*syntax.BinaryCmd)
		if !ok || next.Op != syntax.Pipe && next.Op != syntax.PipeAll {
			g.printsInto(stage, by)
			return
		}
		g.printsInto(next.Y, by)
		stage = next.X
	}
}

// printsInto looks at the text that one stage of a pipeline prints or passes on.
func (g *extractor) printsInto(s *syntax.Stmt, by program.Language) {
	if by == "" {
		return
	}
	for _, r := range s.Redirs {
		if r.Hdoc != nil || r.Op == syntax.WordHdoc {
			g.takesText(by, g.documentText(r), r.OpPos, true)
		}
	}
	if s.Cmd == nil {
		return
	}
	syntax.Walk(s.Cmd, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) < 2 {
			return true
		}
		switch name := path.Base(g.spelling(call.Args[0].Parts)); {
		case name == "echo" || name == "printf" || name == "xargs":
			argv := g.spellings(call.Args).argv
			for _, word := range argv[1:] {
				g.takesText(by, word, call.Pos(), false)
			}
			g.takesText(by, echoed(argv), call.Pos(), true)
		case by == program.ShellText && carries(name).Text == program.FilterText:
			g.generatedCode(g.spellings(call.Args).argv, call.Pos())
		}
		return true
	})
}

// substitutedText looks at the text of substitutions among the words of a command that takes text: bash <(echo rm x).
func (g *extractor) substitutedText(x *syntax.CallExpr) {
	for _, word := range x.Args[1:] {
		list := substitution(word)
		if list == nil {
			continue
		}
		by := g.takerIn(x)
		for _, s := range list {
			g.printsInto(s, by)
		}
	}
}

// substitution returns the statements of a word that is one substitution, quoted or not.
func substitution(word *syntax.Word) []*syntax.Stmt {
	part := onlyPart(word.Parts)
	if quoted, ok := part.(*syntax.DblQuoted); ok {
		part = onlyPart(quoted.Parts)
	}
	switch x := part.(type) {
	case *syntax.ProcSubst:
		return x.Stmts
	case *syntax.CmdSubst:
		return x.Stmts
	}
	return nil
}

// takerIn returns how the first program in a command that takes text, perhaps behind wrappers, takes it from stdin.
func (g *extractor) takerIn(cmd syntax.Command) program.Language {
	switch x := cmd.(type) {
	case nil:
		return ""
	case *syntax.CallExpr:
		if by := g.takerOf(x); by != "" || len(x.Assigns) == 0 && !slices.ContainsFunc(x.Args, nests) {
			return by
		}
	}
	var by program.Language
	syntax.Walk(cmd, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && by == "" {
			by = g.takerOf(call)
		}
		return by == ""
	})
	return by
}

// readsCommands reports whether a shell in a command takes its commands from stdin.
func (g *extractor) readsCommands(cmd syntax.Command) bool {
	found := false
	syntax.Walk(cmd, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && !found {
			for i, word := range call.Args {
				name := path.Base(g.spelling(word.Parts))
				found = found || carries(name).Input && takesStdin(g.literals(call.Args[i+1:]))
			}
		}
		return !found
	})
	return found
}

// takesStdin reports whether a shell with these words takes commands from stdin: there is no text and no script among them.
func takesStdin(args []string) bool {
	for i, word := range args {
		switch {
		case word == "-" || word == "-s" || word == "/dev/stdin":
			return true
		case len(word) > 1 && (word[0] == '-' || word[0] == '+'):
			if word[1] != '-' && strings.Contains(word, "c") {
				return false
			}
		case i == 0 || args[i-1] != "-o" && args[i-1] != "-O" && args[i-1] != "+o" && args[i-1] != "+O":
			return false
		}
	}
	return true
}

// passesKnown reports whether a pipeline prints only text that stands in it.
func passesKnown(s *syntax.Stmt) bool {
	switch x := s.Cmd.(type) {
	case *syntax.CallExpr:
		return printsAsSpelled(x) || passes(x) && slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool {
			return r.Hdoc != nil || r.Op == syntax.WordHdoc
		})
	case *syntax.BinaryCmd:
		last, ok := x.Y.Cmd.(*syntax.CallExpr)
		return ok && passes(last) && (x.Op == syntax.Pipe || x.Op == syntax.PipeAll) && passesKnown(x.X)
	}
	return false
}

// passes reports whether a command prints what it reads.
func passes(call *syntax.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	name := call.Args[0].Lit()
	return name == "cat" && len(call.Args) == 1 || name == "tee"
}

// printsAsSpelled reports whether echo or printf prints its words with blanks between them, and makes nothing else of them.
func printsAsSpelled(call *syntax.CallExpr) bool {
	if !prints(call) {
		return false
	}
	var g extractor
	words := g.literals(call.Args[1:])
	for _, word := range words {
		if strings.Contains(strings.ReplaceAll(word, `\n`, ""), `\`) {
			return false
		}
	}
	format := strings.TrimSuffix(words[0], `\n`)
	return call.Args[0].Lit() == "echo" || !strings.Contains(format, "%") || format == "%s" && len(words) < 3
}

// nests reports whether a word may hold commands.
func nests(word *syntax.Word) bool {
	_, plain := plainText(word)
	return !plain
}

// takerOf returns how a program takes text from stdin, or one that it runs.
func (g *extractor) takerOf(call *syntax.CallExpr) program.Language {
	if len(call.Args) == 0 {
		return ""
	}
	name := path.Base(g.spelling(call.Args[0].Parts))
	carried := carries(name)
	if carried.Text.FromInput() {
		return carried.Text
	}
	if !carried.Command {
		return ""
	}
	for _, word := range call.Args[1:] {
		if by := carries(path.Base(g.spelling(word.Parts))).Text; by.FromInput() {
			return by
		}
	}
	return ""
}

// prints reports whether a command prints its arguments.
func prints(call *syntax.CallExpr) bool {
	if len(call.Args) < 2 {
		return false
	}
	name := call.Args[0].Lit()
	return name == "echo" || name == "printf"
}

// echoed returns the approximate output of echo or printf.
func echoed(argv []string) string {
	args := argv[1:]
	for len(args) > 1 && (strings.HasPrefix(args[0], "-") || argv[0] == "printf" && strings.HasPrefix(args[0], "%")) {
		args = args[1:]
	}
	return strings.ReplaceAll(strings.Join(args, " "), `\n`, "\n")
}
