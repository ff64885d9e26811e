package approve

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
)

// passage is some lines of a command that follow each other.
type passage struct {
	line int // the number of the first, from 1
	text string
}

// excerpt returns the lines of a command that are to be seen before it is allowed. Only lines with statements that are all proved to run
// nothing but allowed commands are left out. It is nil if no line is.
func excerpt(command string, reason *agenttool.DecisionReason) []passage {
	if reason == nil || len(reason.Subcommands) == 0 || !strings.Contains(command, "\n") {
		return nil
	}
	file, err := syntax.NewParser().Parse(strings.NewReader(command), "")
	if err != nil {
		return nil
	}
	lines := strings.Split(command, "\n")
	quiet := make([]bool, len(lines))
	for i, line := range lines {
		quiet[i] = strings.TrimSpace(line) == ""
	}
	v := verdicts{subs: reason.Subcommands}
	for _, stmt := range file.Stmts {
		if v.allows(stmt) {
			mark(quiet, stmt, true)
		}
	}
	for _, stmt := range file.Stmts { // last: a line may hold parts of both
		if !v.allows(stmt) {
			mark(quiet, stmt, false)
		}
	}
	if !v.placed(file.Stmts) {
		return nil
	}
	return passages(lines, quiet)
}

// mark says of the lines of a statement whether they are quiet.
func mark(quiet []bool, stmt *syntax.Stmt, as bool) {
	for n := int(stmt.Pos().Line()); n <= int(stmt.End().Line()) && n <= len(quiet); n++ {
		quiet[n-1] = as
	}
}

// passages are the lines that are not quiet; nil if that is all of them, or none.
func passages(lines []string, quiet []bool) (all []passage) {
	some := false
	for i, line := range lines {
		switch {
		case quiet[i]:
			some = some || strings.TrimSpace(line) != ""
		case len(all) > 0 && !quiet[i-1]:
			all[len(all)-1].text += "\n" + line
		default:
			all = append(all, passage{i + 1, line})
		}
	}
	if !some {
		return nil
	}
	return all
}

// verdicts are the decisions about the simple commands of a text.
type verdicts struct{ subs []agenttool.Subcommand }

// allows reports whether a statement holds nothing but simple commands that are allowed: no assignments, no redirections, nothing else.
func (v verdicts) allows(stmt *syntax.Stmt) bool {
	plain := true
	syntax.Walk(stmt, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CallExpr:
			plain = plain && len(n.Args) > 0 && len(n.Assigns) == 0 && v.allowed(n.Pos())
		case nil, *syntax.Stmt, *syntax.BinaryCmd, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		default:
			plain = false
		}
		return plain
	})
	return plain && !slices.ContainsFunc(v.subs, func(sub agenttool.Subcommand) bool { return sub.Behavior != agenttool.Allow && within(sub, stmt) })
}

// allowed reports whether the simple command at a position is allowed.
func (v verdicts) allowed(at syntax.Pos) bool {
	return slices.ContainsFunc(v.subs, func(sub agenttool.Subcommand) bool {
		return sub.Behavior == agenttool.Allow && sub.Line == int(at.Line()) && sub.Column == int(at.Col())
	})
}

// placed reports whether every command that is not allowed stands in one of the statements, so that its lines are known.
func (v verdicts) placed(stmts []*syntax.Stmt) bool {
	return !slices.ContainsFunc(v.subs, func(sub agenttool.Subcommand) bool {
		return sub.Behavior != agenttool.Allow && !slices.ContainsFunc(stmts, func(stmt *syntax.Stmt) bool { return within(sub, stmt) })
	})
}

// within reports whether a command stands in a statement.
func within(sub agenttool.Subcommand, stmt *syntax.Stmt) bool {
	at := []int{sub.Line, sub.Column}
	begin, end := stmt.Pos(), stmt.End()
	return slices.Compare(at, []int{int(begin.Line()), int(begin.Col())}) >= 0 && slices.Compare(at, []int{int(end.Line()), int(end.Col())}) <= 0
}
