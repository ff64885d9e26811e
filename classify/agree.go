package classify

import (
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/outline"
)

// drawing makes the outline of a text from its syntax tree.
type drawing struct {
	text  string
	marks []outline.Mark
	read  *outline.Outline
	lost  bool // the tree has a node that outlines have no mark for, or text that differs from its source
}

// outlines are used again.
type outlines struct {
	read outline.Outline
	tree []outline.Mark
}

var outlinePool = sync.Pool{New: func() any { return new(outlines) }}

// disagrees returns why a text may be another one to bash than to the parser: the outline that the parser's tree gives is not the one
// that is read without it. It is not ok if there is a reason.
func disagrees(text string, stmts []*syntax.Stmt) (reason agenttool.Reason, ok bool) {
	use := outlinePool.Get().(*outlines)
	defer outlinePool.Put(use)
	use.read = outline.Read(text, &use.read)
	if use.read.Doubt != "" {
		return reasonAt(text, use.read.At, "bash may read this in another way: "+use.read.Doubt), false
	}
	if cap(use.tree) <= len(text) {
		use.tree = make([]outline.Mark, len(text)+1)
	}
	d := drawing{text: text, marks: use.tree[:len(text)+1], read: &use.read}
	clear(d.marks)
	for _, s := range stmts {
		d.stmt(s)
	}
	if d.lost {
		return agenttool.Reason{Text: "bash may read this in another way: the parser lost a part of it"}, false
	}
	if slices.Equal(d.marks, use.read.Marks) {
		return reason, true
	}
	at := 0
	for d.marks[at] == use.read.Marks[at] {
		at++
	}
	return reasonAt(text, at, "bash reads this in another way than the parser"), false
}

// mark marks a place. A joined line before it belongs to nothing.
func (d *drawing) mark(at syntax.Pos, m outline.Mark) {
	n := int(at.Offset())
	if !at.IsValid() || n > len(d.text) {
		d.lost = true
		return
	}
	for m&(outline.Word|outline.Keyword) != 0 && strings.HasPrefix(d.text[n:], "\\\n") {
		n += 2
	}
	d.marks[n] |= m
}

// end marks the end of a word, so many bytes on.
func (d *drawing) end(at syntax.Pos, more int) {
	n := int(at.Offset()) + more
	if !at.IsValid() || n > len(d.text) {
		d.lost = true
		return
	}
	for n >= 2 && d.text[n-2:n] == "\\\n" {
		n -= 2
	}
	d.marks[n] |= outline.End
}

func (d *drawing) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		d.stmt(s)
	}
}

func (d *drawing) stmt(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		d.redirect(r)
	}
	if s.Semicolon.IsValid() {
		if s.Background {
			d.mark(s.Semicolon, outline.Background)
		} else {
			d.mark(s.Semicolon, outline.Separator)
		}
	}
	d.lost = d.lost || s.Coprocess || s.Disown
	switch x := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		d.call(x)
	case *syntax.BinaryCmd:
		d.stmt(x.X)
		d.mark(x.OpPos, outline.Operator)
		d.stmt(x.Y)
	case *syntax.Block:
		d.mark(x.Lbrace, outline.Keyword)
		d.stmts(x.Stmts)
		d.mark(x.Rbrace, outline.Keyword)
	case *syntax.Subshell:
		d.mark(x.Lparen, outline.Group)
		d.stmts(x.Stmts)
		d.mark(x.Rparen, outline.Group)
	case *syntax.TimeClause:
		d.mark(x.Time, outline.Keyword)
		if x.Stmt != nil {
			d.stmt(x.Stmt)
		}
	case *syntax.DeclClause:
		d.declares(x)
	case *syntax.LetClause:
		d.let(x)
	default:
		d.compound(s.Cmd)
	}
}

func (d *drawing) compound(c syntax.Command) {
	switch x := c.(type) {
	case *syntax.IfClause:
		d.ifs(x)
	case *syntax.WhileClause:
		d.mark(x.WhilePos, outline.Keyword)
		d.stmts(x.Cond)
		d.loop(x.DoPos, x.Do, x.DonePos)
	case *syntax.ForClause:
		d.mark(x.ForPos, outline.Keyword)
		d.iterates(x.Loop)
		d.loop(x.DoPos, x.Do, x.DonePos)
	case *syntax.CaseClause:
		d.cases(x)
	case *syntax.FuncDecl:
		if x.RsrvWord {
			d.mark(x.Position, outline.Keyword)
		}
		d.lost = d.lost || x.Name == nil
		if !d.lost {
			d.mark(x.Name.ValuePos, outline.Function)
			d.stmt(x.Body)
		}
	case *syntax.ArithmCmd:
		d.mark(x.Left, outline.Open)
		d.arithmetic(x.X)
		d.mark(x.Right, outline.Close)
	case *syntax.TestClause:
		d.mark(x.Left, outline.Keyword)
		d.test(x.X)
		d.mark(x.Right, outline.Keyword)
	case *syntax.CoprocClause:
		d.mark(x.Coproc, outline.Keyword)
		d.lost = d.lost || x.Name != nil
		d.stmt(x.Stmt)
	default: // TestDecl
		d.lost = true
	}
}

func (d *drawing) call(x *syntax.CallExpr) {
	for _, a := range x.Assigns {
		d.assign(a)
	}
	for i, word := range x.Args {
		if i == 0 {
			d.mark(word.Pos(), outline.Word|outline.Name)
		}
		d.word(word)
	}
}

func (d *drawing) declares(x *syntax.DeclClause) {
	d.mark(x.Variant.ValuePos, outline.Word|outline.Name)
	d.end(x.Variant.ValueEnd, 0)
	for _, a := range x.Args {
		d.assign(a)
	}
}

func (d *drawing) let(x *syntax.LetClause) {
	d.mark(x.Let, outline.Word|outline.Name)
	d.end(x.Let, len("let"))
	for _, e := range x.Exprs {
		d.mark(e.Pos(), outline.Word)
		d.arithmetic(e)
		d.end(e.End(), 0)
	}
}

func (d *drawing) ifs(x *syntax.IfClause) {
	d.mark(x.Position, outline.Keyword)
	d.stmts(x.Cond)
	if x.ThenPos.IsValid() {
		d.mark(x.ThenPos, outline.Keyword)
	}
	d.stmts(x.Then)
	if x.Else != nil {
		d.ifs(x.Else)
	}
	d.mark(x.FiPos, outline.Keyword)
}

func (d *drawing) loop(do syntax.Pos, body []*syntax.Stmt, done syntax.Pos) {
	d.mark(do, outline.Keyword)
	d.stmts(body)
	d.mark(done, outline.Keyword)
}

func (d *drawing) iterates(loop syntax.Loop) {
	switch x := loop.(type) {
	case *syntax.WordIter:
		d.mark(x.Name.ValuePos, outline.Word)
		d.end(x.Name.ValueEnd, 0)
		if x.InPos.IsValid() {
			d.mark(x.InPos, outline.Keyword)
		}
		for _, word := range x.Items {
			d.word(word)
		}
	case *syntax.CStyleLoop:
		d.mark(x.Lparen, outline.Open)
		d.arithmetic(x.Init)
		d.arithmetic(x.Cond)
		d.arithmetic(x.Post)
		d.mark(x.Rparen, outline.Close)
	}
}

func (d *drawing) cases(x *syntax.CaseClause) {
	d.mark(x.Case, outline.Keyword)
	d.word(x.Word)
	d.mark(x.In, outline.Keyword)
	for _, item := range x.Items {
		for _, pattern := range item.Patterns {
			d.word(pattern)
		}
		d.stmts(item.Stmts)
		if item.OpPos.IsValid() && item.OpPos != x.Esac {
			d.mark(item.OpPos, outline.Operator)
		}
	}
	d.mark(x.Esac, outline.Keyword)
}

func (d *drawing) redirect(r *syntax.Redirect) {
	d.mark(r.OpPos, outline.Redirect)
	d.word(r.Word)
	if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc {
		d.document(r)
	}
}

// document compares the body of a here-document with the one that was read for its operator.
func (d *drawing) document(r *syntax.Redirect) {
	at := slices.IndexFunc(d.read.Documents, func(x outline.Document) bool { return x.Operator == int(r.OpPos.Offset()) })
	if at < 0 {
		d.lost = true
		return
	}
	is := d.read.Documents[at]
	if r.Hdoc == nil {
		d.lost = d.lost || is.Begin < is.End && strings.Trim(d.text[is.Begin:is.End], "\t\n") != ""
		return
	}
	if first := int(r.Hdoc.Pos().Offset()); first < is.Begin || first > is.End {
		d.lost = true
	}
	last := r.Hdoc.Parts[len(r.Hdoc.Parts)-1]
	lit, ok := last.(*syntax.Lit)
	if ok && is.Quoted && r.Op == syntax.Hdoc {
		d.lost = d.lost || lit.Value != d.text[is.Begin:is.End]
	} else if ok {
		d.lost = d.lost || int(lit.ValuePos.Offset())+len(strings.Trim(lit.Value, "\t")) > is.End
	}
	for _, part := range r.Hdoc.Parts {
		if _, isLit := part.(*syntax.Lit); !isLit {
			d.part(part)
		}
	}
}

func (d *drawing) assign(a *syntax.Assign) {
	switch {
	case a.Name == nil:
		d.word(a.Value)
		return
	case a.Value == nil && a.Array == nil && a.Append && !a.Naked:
		d.end(a.End(), len("+"))
	default:
		d.end(a.End(), 0)
	}
	d.mark(a.Name.ValuePos, outline.Word)
	if a.Index != nil {
		d.arithmetic(a.Index)
	}
	if a.Value != nil {
		d.parts(a.Value.Parts)
	}
	if a.Array != nil {
		d.array(a.Array)
	}
}

func (d *drawing) array(x *syntax.ArrayExpr) {
	d.mark(x.Lparen, outline.Group)
	for _, e := range x.Elems {
		switch {
		case e.Index == nil:
			d.word(e.Value)
		case e.Value == nil:
			d.lost = true
		default:
			d.marks[max(int(e.Index.Pos().Offset()), 1)-1] |= outline.Word
			d.arithmetic(e.Index)
			d.parts(e.Value.Parts)
			d.end(e.Value.End(), 0)
		}
	}
	d.mark(x.Rparen, outline.Group)
}

// word marks a word and its parts.
func (d *drawing) word(w *syntax.Word) {
	if w == nil || len(w.Parts) == 0 {
		d.lost = true
		return
	}
	d.mark(w.Pos(), outline.Word)
	d.parts(w.Parts)
	d.end(w.End(), 0)
}

func (d *drawing) parts(list []syntax.WordPart) {
	for _, part := range list {
		d.part(part)
	}
}

func (d *drawing) part(part syntax.WordPart) {
	switch x := part.(type) {
	case *syntax.Lit:
		d.same(x.Value, x.ValuePos, x.ValueEnd)
	case *syntax.SglQuoted:
		d.mark(x.Left, outline.Quote)
		d.mark(x.Right, outline.Quote)
		if from, to := int(x.Left.Offset())+1, int(x.Right.Offset()); !x.Dollar {
			d.lost = d.lost || from > to || to > len(d.text) || d.text[from:to] != x.Value
		}
	case *syntax.DblQuoted:
		d.mark(x.Left, outline.Quote)
		d.parts(x.Parts)
		d.mark(x.Right, outline.Quote)
	case *syntax.ParamExp:
		d.param(x)
	case *syntax.CmdSubst:
		d.mark(x.Left, outline.Open)
		d.stmts(x.Stmts)
		d.mark(x.Right, outline.Close)
	case *syntax.ProcSubst:
		d.mark(x.OpPos, outline.Open)
		d.stmts(x.Stmts)
		d.mark(x.Rparen, outline.Close)
	case *syntax.ArithmExp:
		d.mark(x.Left, outline.Open)
		d.arithmetic(x.X)
		d.mark(x.Right, outline.Close)
	default: // ExtGlob, BraceExp
		d.lost = true
	}
}

// same compares the value of a literal with its source text.
func (d *drawing) same(value string, from, to syntax.Pos) {
	first, last := int(from.Offset()), int(to.Offset())
	if first > last || last > len(d.text) {
		d.lost = true
		return
	}
	text := d.text[first:last]
	d.lost = d.lost || text != value && unjoined(text) != unjoined(value)
}

// unjoined returns a text without joined lines.
func unjoined(text string) string {
	if !strings.Contains(text, "\\\n") {
		return text
	}
	return joinedLines(text)
}

func (d *drawing) param(x *syntax.ParamExp) {
	if x.Short {
		d.mark(x.Dollar, outline.Parameter)
	} else {
		d.mark(x.Dollar, outline.Open)
		d.mark(x.Rbrace, outline.Close)
	}
	d.arithmetic(x.Index)
	if x.Slice != nil {
		d.arithmetic(x.Slice.Offset)
		d.arithmetic(x.Slice.Length)
	}
	if x.Repl != nil {
		d.inner(x.Repl.Orig)
		d.inner(x.Repl.With)
	}
	if x.Exp != nil {
		d.inner(x.Exp.Word)
	}
	d.lost = d.lost || x.NestedParam != nil
}

// inner marks what is in a word that is none of a command.
func (d *drawing) inner(w *syntax.Word) {
	if w != nil {
		d.parts(w.Parts)
	}
}

func (d *drawing) arithmetic(e syntax.ArithmExpr) {
	switch x := e.(type) {
	case nil:
	case *syntax.Word:
		d.inner(x)
	case *syntax.BinaryArithm:
		d.arithmetic(x.X)
		d.arithmetic(x.Y)
	case *syntax.UnaryArithm:
		d.arithmetic(x.X)
	case *syntax.ParenArithm:
		d.arithmetic(x.X)
	default:
		d.lost = true
	}
}

func (d *drawing) test(e syntax.TestExpr) {
	switch x := e.(type) {
	case *syntax.Word:
		d.inner(x)
	case *syntax.BinaryTest:
		d.test(x.X)
		d.test(x.Y)
	case *syntax.UnaryTest:
		d.test(x.X)
	case *syntax.ParenTest:
		d.test(x.X)
	default:
		d.lost = true
	}
}
