package classify

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
)

// destroyer is the lenient analysis: it finds commands that destroy, wherever they stand and whether or not they run.
// It reads words as they are spelled, and takes what it cannot read for nothing.
type destroyer struct {
	found []agenttool.Reason
	inner *place // of a text inside the command line
	depth int
	steps int
	over  bool // something was not looked at
}

const (
	maxDestroyed = 16
	maxLooks     = 20_000 // words looked at, again behind each wrapper
	maxScanned   = 500    // words of one command
)

func (d *destroyer) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		syntax.Walk(s, func(n syntax.Node) bool {
			switch x := n.(type) {
			case *syntax.CallExpr:
				d.call(x)
			case *syntax.CoprocClause:
				d.coprocess(x)
			case *syntax.Stmt:
				d.redirects(x)
			case *syntax.BinaryCmd:
				d.pipe(x)
			}
			return len(d.found) < maxDestroyed
		})
	}
}

func (d *destroyer) call(x *syntax.CallExpr) {
	if len(x.Args) == 0 {
		return
	}
	d.argv(spellings(x.Args), x.Pos())
}

// coprocess looks at a command whose words of the form a=b the parser takes for assignments, wherever they stand.
func (d *destroyer) coprocess(x *syntax.CoprocClause) {
	call, ok := x.Stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	argv := spellings(call.Args)
	for _, a := range call.Assigns {
		if a.Name != nil && a.Value != nil {
			argv = append(argv, a.Name.Value+"="+spelling(a.Value.Parts))
		}
	}
	d.argv(argv, x.Pos())
}

// spellings returns the texts of words, after their braces, as far as they are literal.
func spellings(words []*syntax.Word) []string {
	argv := make([]string, 0, len(words))
	for _, word := range words {
		split := *word
		if len(argv) < maxFields && hasBrace(word) && syntax.SplitBraces(&split) && hasBraceExp(split.Parts) {
			if each, ok := expandBraces(split.Parts); ok {
				for _, one := range each {
					argv = append(argv, spelling(one.Parts))
				}
				continue
			}
		}
		argv = append(argv, spelling(word.Parts))
	}
	return argv
}

// spelling returns the literal text of a word; what is expanded in it becomes a NUL.
func spelling(parts []syntax.WordPart) string {
	if len(parts) == 1 {
		if lit, ok := parts[0].(*syntax.Lit); ok && strings.IndexByte(lit.Value, '\\') < 0 {
			return lit.Value
		}
	}
	var b strings.Builder
	for _, part := range parts {
		switch x := part.(type) {
		case *syntax.Lit:
			unescape(&b, x.Value, "")
		case *syntax.SglQuoted:
			text, ok := x.Value, true
			if x.Dollar {
				text, ok = ansiC(x.Value)
			}
			if !ok {
				text = "\x00"
			}
			b.WriteString(text)
		case *syntax.DblQuoted:
			for _, inner := range x.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					unescape(&b, lit.Value, "$`\"\\")
				} else {
					b.WriteByte(0)
				}
			}
		default:
			b.WriteByte(0)
		}
	}
	return b.String()
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

// argv looks at the words of one command, and behind it at what it runs.
func (d *destroyer) argv(argv []string, at syntax.Pos) {
	if d.depth++; d.depth < maxDepth {
		d.look(argv, at)
	} else {
		d.over = true
	}
	d.depth--
}

// destroys asks the table about one command, within limits.
func (d *destroyer) destroys(name string, args []string) string {
	if d.steps++; d.steps > maxLooks {
		d.over = true
		return ""
	}
	if len(args) > maxScanned {
		d.over, args = true, args[:maxScanned]
	}
	return destroys(name, args)
}

func (d *destroyer) look(argv []string, at syntax.Pos) {
	if len(argv) == 0 {
		return
	}
	name := path.Base(argv[0])
	if what := d.destroys(name, argv[1:]); what != "" {
		d.add(what, at)
		return
	}
	if shells[name] {
		for _, text := range argv[1:] {
			d.text(text, at)
		}
	}
	if !wrappers[name] {
		return
	}
	argv = argv[commandPart(name, argv):]
	for i, word := range argv[1:] {
		if d.over && d.steps > maxLooks {
			return
		}
		base := path.Base(word)
		if strings.ContainsAny(word, " \n;|&") {
			d.text(word, at)
		} else if what := d.destroys(base, argv[i+2:]); what != "" && !strings.HasPrefix(word, "-") {
			d.add(what, at)
			return
		} else if shells[base] || base == "find" || base == "git" {
			d.argv(argv[i+1:], at)
		}
	}
}

// commandPart returns the index of the word before the first that may be a part of a command.
func commandPart(name string, argv []string) int {
	switch name {
	case "find":
		return indexOf(argv, "-exec", "-execdir", "-ok", "-okdir")
	case "fd", "fdfind":
		return indexOf(argv, "-x", "-X", "--exec", "--exec-batch")
	}
	return 0
}

// indexOf returns the index of the first word that is one of those, or begins with one and =, or the last index.
func indexOf(argv []string, names ...string) int {
	for i, word := range argv {
		for _, name := range names {
			if word == name || strings.HasPrefix(word, name+"=") {
				return i
			}
		}
	}
	return len(argv) - 1
}

// text looks at text that a shell may run.
func (d *destroyer) text(text string, at syntax.Pos) {
	text = strings.ReplaceAll(text, "\x00", "_")
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

// redirects looks at what is fed to a shell, and at writes to disks.
func (d *destroyer) redirects(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		if r.Word == nil {
			continue
		}
		switch r.Op {
		case syntax.RdrOut, syntax.RdrClob, syntax.RdrAll, syntax.AppOut, syntax.AppAll, syntax.RdrInOut, syntax.DplOut:
			if isDisk(spelling(r.Word.Parts)) {
				d.add("writes over a disk", r.OpPos)
			}
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil && feedsShell(s.Cmd) {
				d.text(document(r), r.OpPos)
			}
		case syntax.WordHdoc:
			if feedsShell(s.Cmd) {
				d.text(spelling(r.Word.Parts), r.OpPos)
			}
		}
	}
}

// document returns the text of a here-document.
func document(r *syntax.Redirect) string {
	_, quoted, _ := delimiterOf(r.Word)
	var b strings.Builder
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		switch {
		case !ok:
			b.WriteByte(0)
		case quoted:
			b.WriteString(lit.Value)
		default:
			unescape(&b, lit.Value, "$`\\")
		}
	}
	return b.String()
}

// pipe looks at text that is printed into a shell.
func (d *destroyer) pipe(x *syntax.BinaryCmd) {
	if x.Op != syntax.Pipe && x.Op != syntax.PipeAll || !feedsShell(x.Y.Cmd) {
		return
	}
	for _, r := range x.X.Redirs {
		if r.Hdoc != nil {
			d.text(document(r), r.OpPos)
		}
	}
	call, ok := x.X.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) < 2 {
		return
	}
	switch spelling(call.Args[0].Parts) {
	case "echo", "printf", "xargs":
		for _, word := range call.Args[1:] {
			d.text(spelling(word.Parts), word.Pos())
		}
		d.text(strings.Join(spellings(call.Args[1:]), " "), call.Pos())
	}
}

// feedsShell reports whether a shell, perhaps behind wrappers, is in a command and so may read its stdin.
func feedsShell(cmd syntax.Command) bool {
	found := false
	if cmd == nil {
		return false
	}
	syntax.Walk(cmd, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if ok && len(call.Args) > 0 {
			argv := spellings(call.Args)
			for i, word := range argv {
				name := path.Base(word)
				found = found || shells[name] && (i == 0 || wrappers[path.Base(argv[0])])
			}
		}
		return !found
	})
	return found
}

func (d *destroyer) add(what string, at syntax.Pos) {
	r := agenttool.Reason{Fact: "destructive", Text: what, Line: int(at.Line()), Column: int(at.Col())}
	if d.inner != nil {
		r.Line, r.Column = d.inner.line, d.inner.column
	}
	if len(d.found) < maxDestroyed {
		d.found = addReason(d.found, r)
	}
}
