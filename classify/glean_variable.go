package classify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
)

// variable returns what a variable was last given, as far as it is literal.
func (g *gleaner) variable(name string) (text string, ok bool) {
	text, ok = g.vars[name]
	switch {
	case ok, g.torn[name]:
	case name == "HOME":
		text = g.ctx.Home
	case name == "PWD" && !g.moved:
		text, g.placed = g.ctx.Dir, true
	}
	return text, ok || text != ""
}

// value returns the text that an assignment gives.
func (g *gleaner) value(x *syntax.Assign) string {
	if x.Value == nil {
		return ""
	}
	return g.atHome(x.Value.Parts, g.spelling(x.Value.Parts))
}

// assign takes note of what a variable is given.
func (g *gleaner) assign(x *syntax.Assign) {
	if x.Name == nil || x.Naked {
		return
	}
	if x.Index != nil {
		g.unquoted(x.Index)
	}
	name, text := x.Name.Value, g.value(x)
	g.assigned = append(g.assigned, name)
	if namesCommand(name) {
		g.text(strings.TrimLeft(text, "!| "), x.Pos(), false)
	}
	if name == "IFS" {
		g.loose, g.again = true, g.again || len(g.vars) > 0 // how words are split is not known any more
	}
	g.evaluated(text, x.Pos())
	old, known := g.vars[name]
	if x.Append {
		text = old + text
	}
	switch {
	case x.Index != nil, x.Array != nil, len(text) > maxValue, strings.Contains(text, agenttool.Unread), len(g.vars) >= maxVars && !known:
		g.lose(name)
		return
	case known && old != text:
		g.tear(name)
		g.again = true
	}
	if g.vars == nil {
		g.vars = map[string]string{}
	}
	g.vars[name] = text
}

// enter and leave are called before and behind the children of a node.
func (g *gleaner) enter(n syntax.Node) {
	before := len(g.assigned)
	switch x := n.(type) {
	case *syntax.CallExpr:
		if len(x.Args) == 0 || len(x.Assigns) == 0 {
			before = -1
		}
	case *syntax.Stmt:
		if !x.Background {
			before = -1
		}
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.BinaryCmd, *syntax.CoprocClause, *syntax.IfClause,
		*syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
	default:
		before = -1
	}
	g.nodes = append(g.nodes, before)
}

// leave tears the variables that were assigned in a node, if it may not have run, or only in a process of its own.
func (g *gleaner) leave() {
	last := len(g.nodes) - 1
	before := g.nodes[last]
	g.nodes = g.nodes[:last]
	if before < 0 || before >= len(g.assigned) {
		return
	}
	for _, name := range g.assigned[before:] {
		if !g.torn[name] {
			g.tear(name)
		}
	}
}

// tear takes note that a variable is not always what it was last given.
func (g *gleaner) tear(name string) {
	switch {
	case len(g.torn) >= maxVars:
		g.loose = true
		return
	case g.torn == nil:
		g.torn = map[string]bool{}
	}
	g.torn[name] = true
}

// lose takes note that a variable is given what is not known.
func (g *gleaner) lose(name string) {
	_, known := g.vars[name]
	g.again = g.again || known
	g.tear(name)
	delete(g.vars, name)
}

func (g *gleaner) loop(x *syntax.ForClause) {
	if iter, ok := x.Loop.(*syntax.WordIter); ok {
		g.lose(iter.Name.Value)
	}
}

// sets takes note of the variables that a builtin sets.
func (g *gleaner) sets(argv []string) {
	switch argv[0] {
	case "hash": // -p says what a name runs
		if at := slices.Index(argv, "-p"); at > 0 && at+1 < len(argv) {
			g.mention([]string{argv[at+1], agenttool.Unread})
		}
	case "cd", "pushd", "popd":
		g.moved, g.again = true, g.again || g.placed && !g.moved
	case "read", "mapfile", "readarray", "getopts", "printf", "unset", "wait":
		for _, word := range argv[1:] {
			if _, ok := g.vars[word]; ok {
				g.lose(word)
			}
		}
	}
}

// function takes note of a function that runs its arguments, wherever in it.
func (g *gleaner) function(x *syntax.FuncDecl) {
	if x.Name == nil || g.runners[x.Name.Value] {
		return
	}
	syntax.Walk(x.Body, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		runs := argument(call.Args[0])
		name := path.Base(g.spelling(call.Args[0].Parts))
		runs = runs || (wrappers[name] || takers[name] == shellText) && slices.ContainsFunc(call.Args[1:], argument)
		if runs && len(g.runners) < maxVars {
			if g.runners == nil {
				g.runners = map[string]bool{}
			}
			g.runners[x.Name.Value], g.again = true, true
		}
		return !runs
	})
}

// argument reports whether a word is $@, $* or $1 and its like.
func argument(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	part := word.Parts[0]
	if quoted, ok := part.(*syntax.DblQuoted); ok {
		part = onlyPart(quoted.Parts)
	}
	x, ok := part.(*syntax.ParamExp)
	return ok && x.Param != nil && (x.Param.Value == "@" || x.Param.Value == "*" || isDigits(x.Param.Value))
}
