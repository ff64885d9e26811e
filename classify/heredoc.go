package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// strayDelimiter returns where a line of a here-document may be its last line to bash although the parser reads on; -1 if nowhere.
// The parser ends a document at the first delimiter line outside all expansions of its body. Bash looks for that line before it
// expands anything, so it compares lines as they are spelt, and joined at their backslashes unless the delimiter is quoted.
func strayDelimiter(text string, stmts []*syntax.Stmt) int {
	stray := -1
	if !strings.Contains(text, "<<") {
		return stray
	}
	for _, s := range stmts {
		syntax.Walk(s, func(n syntax.Node) bool {
			if r, ok := n.(*syntax.Redirect); ok && stray < 0 && (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc) {
				stray = delimiterWithin(text, r)
			}
			return stray < 0
		})
	}
	return stray
}

// delimiterWithin returns where a line of one document, other than its last, begins with the delimiter: in a substitution bash may
// end the document there.
func delimiterWithin(text string, r *syntax.Redirect) int {
	delimiter, _, ok := delimiterOf(r.Word)
	switch {
	case !ok:
		return int(r.OpPos.Offset())
	case r.Hdoc == nil:
		return -1
	}
	from, to := int(r.Hdoc.Pos().Offset()), int(r.Hdoc.End().Offset())
	if to < from || to > len(text) {
		return int(r.OpPos.Offset())
	}
	body := strings.TrimSuffix(text[from:to], "\n")
	body = body[:strings.LastIndexByte(body, '\n')+1]
	if anyLineBegins(body, delimiter) || strings.Contains(body, "\\\n") && anyLineBegins(strings.ReplaceAll(body, "\\\n", ""), delimiter) {
		return from
	}
	return -1
}

func anyLineBegins(text, prefix string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, "\t"), prefix) {
			return true
		}
	}
	return false
}
