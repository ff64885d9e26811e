package classify

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// Stateless reports whether a line that is typed into a running shell leaves the shell unchanged except for its directory: proofs
// about the next line still hold then. This is so for lines that only join plain calls of programs, and of builtins without lasting
// effect, by pipes, && and ||. Lines with assignments, functions, aliases, options, substitutions, here-documents or background
// jobs are not stateless, nor are lines that are not understood.
func Stateless(line string) bool {
	if _, ok := unfit(line); !ok || strings.ContainsAny(line, "\n\r\\!") || strings.HasPrefix(strings.TrimSpace(line), "^") {
		return false
	}
	tree := understood(line)
	return !tree.failed && len(tree.stmts) > 0 && !slices.ContainsFunc(tree.stmts, keeps)
}

// Plain reports whether a line is one call of a program without assignments and redirections.
func Plain(line string) bool {
	if _, ok := unfit(line); !ok {
		return false
	}
	tree := understood(line)
	if tree.failed || len(tree.stmts) != 1 || len(tree.stmts[0].Redirs) > 0 || keeps(tree.stmts[0]) {
		return false
	}
	_, call := tree.stmts[0].Cmd.(*syntax.CallExpr)
	return call
}

// keeps reports whether a statement may leave something behind.
func keeps(s *syntax.Stmt) bool {
	if s.Background || s.Coprocess || s.Disown || slices.ContainsFunc(s.Redirs, redirectKeeps) {
		return true
	}
	switch x := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		return keeps(x.X) || keeps(x.Y)
	case *syntax.CallExpr:
		return len(x.Assigns) > 0 || len(x.Args) == 0 || slices.ContainsFunc(x.Args, wordKeeps) || callKeeps(x.Args)
	}
	return true
}

// redirectKeeps reports whether a redirection is more than one to or from a file.
func redirectKeeps(r *syntax.Redirect) bool {
	heredoc := r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc
	named := r.N != nil && strings.Trim(r.N.Value, "0123456789") != ""
	return heredoc || named || r.Word == nil || wordKeeps(r.Word)
}

// wordKeeps reports whether expanding a word may do more than look a variable up.
func wordKeeps(w *syntax.Word) bool { return slices.ContainsFunc(w.Parts, partKeeps) }

func partKeeps(part syntax.WordPart) bool {
	switch x := part.(type) {
	case *syntax.Lit, *syntax.SglQuoted:
		return false
	case *syntax.DblQuoted:
		return slices.ContainsFunc(x.Parts, partKeeps)
	case *syntax.ParamExp:
		return x.Exp != nil || x.Repl != nil || x.Slice != nil || x.Index != nil || x.Excl || x.Flags != nil
	}
	return true
}

// callKeeps reports whether a call is more than one of a program, or of a builtin that keeps nothing.
func callKeeps(args []*syntax.Word) bool {
	name := args[0].Lit()
	switch {
	case name == "" || name[0] == '%':
		return true
	case name == "printf": // -v assigns
		return len(args) < 2 || !literal(args[1]) || strings.HasPrefix(firstText(args[1]), "-")
	}
	return builtinNames[name] && !keepsNothing[name]
}

// literal reports whether a word is text and nothing else, quoted or not.
func literal(w *syntax.Word) bool {
	return !slices.ContainsFunc(w.Parts, func(part syntax.WordPart) bool {
		switch x := part.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
			return false
		case *syntax.DblQuoted:
			return !literal(&syntax.Word{Parts: x.Parts})
		}
		return true
	})
}

// firstText returns the first text of a literal word; "-" where there is none.
func firstText(w *syntax.Word) string {
	for _, part := range w.Parts {
		text := ""
		switch x := part.(type) {
		case *syntax.Lit:
			text = x.Value
		case *syntax.SglQuoted:
			text = x.Value
		case *syntax.DblQuoted:
			text = firstText(&syntax.Word{Parts: x.Parts})
		}
		if text != "" {
			return text
		}
	}
	return "-"
}

// keepsNothing are the builtins that leave a shell as it was. Where cd leaves it can be seen.
var keepsNothing = program.WordSet(": cd echo false pwd times true type")

// builtinNames are the builtins of bash and dash.
var builtinNames = program.WordSet(`
	. : [ alias bg bind break builtin caller cd chdir command compgen complete compopt continue coproc declare dirs disown
	echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd pushd
	pwd read readarray readonly return select set shift shopt source suspend test time times trap true type typeset ulimit
	umask unalias unset wait`)

// ReplacesShell reports whether bash -c does nothing with a line but to execute one program in its own place, whose words all
// stand in the line: no bash is left then that would have the line among its arguments. A builtin runs in bash; the answer is
// false for those that start programs. It says nothing about what the program does.
func ReplacesShell(line string) bool {
	if len(line) > maxReplacing {
		return false
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil || len(f.Stmts) != 1 {
		return false
	}
	s := f.Stmts[0]
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(c.Assigns) > 0 || len(c.Args) == 0 {
		return false
	}
	return !slices.ContainsFunc(c.Args, func(w *syntax.Word) bool { return !isText(w.Parts) }) &&
		!slices.Contains(startInShell, c.Args[0].Lit()) && !strings.Contains(c.Args[0].Lit(), `\`)
}

// maxReplacing is the length of the longest line that is parsed for this: what nests deep takes long.
const maxReplacing = 4 << 10

// isText reports whether parts of a word need no expansion that could start a program.
func isText(parts []syntax.WordPart) bool {
	for _, part := range parts {
		switch part := part.(type) {
		case *syntax.Lit, *syntax.SglQuoted:
		case *syntax.DblQuoted:
			if !isText(part.Parts) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// startInShell are the builtins that start programs and have bash wait for them, or that set what runs later; "" is a word that
// is not plain.
var startInShell = []string{"", "eval", "command", "builtin", "source", ".", "trap", "exec", "fc", "coproc", "time", "wait"}
