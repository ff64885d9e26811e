package classify

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// takes looks at the words of a command that takes text in some language: of a shell, a script, a database, an editor.
func (d *destroyer) takes(name string, argv []string, at syntax.Pos) {
	switch takers[name] {
	case shellText:
		for _, word := range argv[1:] {
			d.text(unglued(word), at)
		}
	case aliasText:
		for _, word := range argv[1:] {
			_, value, _ := strings.Cut(word, "=")
			d.text(value, at)
		}
	case gitText:
		d.git(argv, at)
	case filterText:
		d.filter(name, argv, at)
	case scriptText, queryText, editorText:
		for _, word := range argv[1:] {
			d.fed(takers[name], word, at)
		}
	}
}

// fed looks at text that a program takes, as a word or on stdin.
func (d *destroyer) fed(by taker, text string, at syntax.Pos) {
	switch by {
	case shellText:
		d.text(text, at)
	case scriptText:
		d.script(text, at)
	case queryText:
		d.add(destroysQuery(text), at)
	case editorText:
		if _, command, ok := strings.Cut(text, "!"); ok {
			d.text(command, at)
		}
		d.script(text, at)
	}
}

// script looks at a program in Python, Perl, JavaScript, Ruby or PHP: for calls that remove files, and if it runs
// commands at all, at its strings.
func (d *destroyer) script(text string, at syntax.Pos) {
	for _, call := range removingCalls {
		if strings.Contains(text, call) {
			d.add("the script removes files: "+call, at)
			return
		}
	}
	for _, call := range runningCalls {
		if strings.Contains(text, call) {
			d.pieces(text, "'\"`{}", at)
			return
		}
	}
}

// pieces looks at each piece of a text between some bytes.
func (d *destroyer) pieces(text, between string, at syntax.Pos) {
	for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(between, r) }) {
		if strings.Trim(piece, " ,;:()[]") != "" {
			d.text(piece, at)
		}
	}
}

// git looks at the values of -c, of which some are commands, and at what some subcommands run.
func (d *destroyer) git(argv []string, at syntax.Pos) {
	for i, word := range argv[1:] {
		switch {
		case strings.HasPrefix(word, "!"): // the body of an alias
			d.text(word[1:], at)
		case argv[i] == "-c":
			name, value, _ := strings.Cut(word, "=")
			if command, ok := strings.CutPrefix(value, "!"); ok {
				d.text(command, at)
			} else if strings.HasPrefix(strings.ToLower(name), "alias.") {
				d.text("git "+value, at)
			} else {
				d.text(value, at)
			}
		}
	}
	switch sub, rest := gitSubcommand(argv[1:]); sub {
	case "bisect", "rebase", "submodule", "for-each-repo", "difftool", "mergetool":
		d.wrapped(append([]string{sub}, rest...), at)
	}
}

// filter looks at the commands in a script of sed or awk.
func (d *destroyer) filter(name string, argv []string, at syntax.Pos) {
	spec := program.Lookup(name)
	if spec == nil || len(argv) > maxScanned {
		d.over = true
		return
	}
	words := make([]program.Word, len(argv))
	for i, text := range argv {
		known, _, cut := strings.Cut(text, unknownAt)
		words[i] = program.Word{Text: known, Static: !cut}
	}
	_, use := program.Parse(spec, words)
	for _, c := range use.Runs {
		if c.Shell != nil {
			d.text(c.Shell.Text, at)
		}
	}
	for _, e := range use.Effects {
		if e == program.RunsCode {
			d.generated(argv, at)
			return
		}
	}
}

// generated looks at the strings in a script of sed or awk, whose output may be commands.
func (d *destroyer) generated(argv []string, at syntax.Pos) {
	for _, word := range argv[1:] {
		d.pieces(word, `/"|,#;{}()$`, at)
	}
}

// text looks at text that a shell may run.
func (d *destroyer) text(text string, at syntax.Pos) {
	text = strings.ReplaceAll(text, unknownAt, "_")
	if _, ok := unfit(text); !ok || d.depth >= 20 || d.steps > maxLooks {
		d.over = true
		return
	}
	d.steps += 1 + len(text)/8
	inner := d.inner
	if inner == nil {
		d.inner = &place{int(at.Line()), int(at.Col())}
	}
	d.depth++
	d.stmts(parse(text).stmts)
	d.depth--
	d.inner = inner
}

// redirects looks at what is fed to a program that takes text, and at writes to disks.
func (d *destroyer) redirects(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		if r.Word == nil {
			continue
		}
		switch r.Op {
		case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll, syntax.AppOut, syntax.AppAll, syntax.RdrInOut, syntax.DplOut:
			if isDisk(d.spelling(r.Word.Parts)) {
				d.add("writes over a disk", r.OpPos)
			}
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil {
				d.fed(d.takerIn(s.Cmd), d.document(r), r.OpPos)
			}
		case syntax.WordHdoc:
			d.fed(d.takerIn(s.Cmd), d.spelling(r.Word.Parts), r.OpPos)
		}
	}
}

// document returns the text of a here-document.
func (d *destroyer) document(r *syntax.Redirect) string {
	_, quoted, _ := delimiterOf(r.Word)
	var b strings.Builder
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		switch {
		case !ok:
			b.WriteString(d.expanded(part))
		case quoted:
			b.WriteString(lit.Value)
		default:
			unescape(&b, lit.Value, "$`\\")
		}
	}
	return b.String()
}

// pipe looks at text that is printed into a program that takes it, through any number of others.
func (d *destroyer) pipe(x *syntax.BinaryCmd) {
	if x.Op != syntax.Pipe && x.Op != syntax.PipeAll {
		return
	}
	by := d.takerIn(x.Y.Cmd)
	for stage := x.X; by != 0 && stage != nil; {
		if d.steps++; d.steps > maxLooks {
			d.over = true
			return
		}
		next, ok := stage.Cmd.(*syntax.BinaryCmd)
		if !ok || next.Op != syntax.Pipe && next.Op != syntax.PipeAll {
			d.printed(stage, by)
			return
		}
		d.printed(next.Y, by)
		stage = next.X
	}
}

// printed looks at the text that one stage of a pipeline prints or passes on.
func (d *destroyer) printed(s *syntax.Stmt, by taker) {
	if by == 0 {
		return
	}
	for _, r := range s.Redirs {
		if r.Hdoc != nil {
			d.fed(by, d.document(r), r.OpPos)
		} else if r.Op == syntax.WordHdoc {
			d.fed(by, d.spelling(r.Word.Parts), r.OpPos)
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
		argv := d.spellings(call.Args)
		switch name := path.Base(argv[0]); {
		case name == "echo" || name == "printf" || name == "xargs":
			for _, word := range argv[1:] {
				d.fed(by, word, call.Pos())
			}
			d.fed(by, echoed(argv), call.Pos())
		case takers[name] == filterText && by == shellText:
			d.generated(argv, call.Pos())
		}
		return true
	})
}

// substituted looks at the text of substitutions among the words of a command that takes text: bash <(echo rm x).
func (d *destroyer) substituted(x *syntax.CallExpr) {
	for _, word := range x.Args[1:] {
		list := substitution(word)
		if list == nil {
			continue
		}
		by := d.takerIn(x)
		for _, s := range list {
			d.printed(s, by)
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
func (d *destroyer) takerIn(cmd syntax.Command) (by taker) {
	if cmd == nil {
		return 0
	}
	syntax.Walk(cmd, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if ok && len(call.Args) > 0 {
			argv := d.spellings(call.Args)
			for i, word := range argv {
				found := takers[path.Base(word)]
				if by == 0 && found.reads() && (i == 0 || wrappers[path.Base(argv[0])]) {
					by = found
				}
			}
		}
		return by == 0
	})
	return by
}
