package classify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// variable returns the last literal value of a variable.
func (g *extractor) variable(name string) (text string, ok bool) {
	dir := ""
	if !g.moved {
		dir = g.ctx.Dir
	}
	if _, set := g.vars.values[name]; name == "PWD" && !set && !g.moved {
		g.placed = true
	}
	v := g.vars.lookup(name, g.ctx.Home, dir)
	return v.text, v.kind == static
}

// value returns the text that an assignment gives.
func (g *extractor) value(x *syntax.Assign) string {
	if x.Value == nil {
		return ""
	}
	return g.atHome(x.Value.Parts, g.spelling(x.Value.Parts))
}

// setByBash reports whether bash itself gives a variable what it holds.
func setByBash(name string) bool {
	switch name {
	case "_", "REPLY", "MAPFILE", "COPROC", "OPTARG", "OPTIND", "PWD", "OLDPWD", "DIRSTACK", "RANDOM", "SRANDOM", "SECONDS", "LINENO",
		"FUNCNAME", "PIPESTATUS", "GROUPS", "UID", "EUID", "PPID", "SHELLOPTS", "HOSTNAME", "COLUMNS", "LINES", "READLINE_LINE":
		return true
	}
	return strings.HasPrefix(name, "BASH") || strings.HasPrefix(name, "EPOCH") || strings.HasPrefix(name, "COMP_")
}

// computes takes note of a variable that an expression gives a value.
func (g *extractor) computes(n syntax.Node) {
	var target syntax.ArithmExpr
	switch x := n.(type) {
	case *syntax.BinaryArithm:
		switch x.Op {
		case syntax.Eql, syntax.Neq, syntax.Leq, syntax.Geq:
		default:
			if strings.HasSuffix(x.Op.String(), "=") {
				target = x.X
			}
		}
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			target = x.X
		}
	}
	word, ok := target.(*syntax.Word)
	if !ok || len(word.Parts) != 1 {
		return
	}
	switch x := word.Parts[0].(type) {
	case *syntax.Lit:
		g.loseKnown(x.Value)
	case *syntax.ParamExp:
		g.loseKnown(x.Param.Value)
	}
}

// loseKnown is lose for a variable that may be none.
func (g *extractor) loseKnown(name string) {
	if g.vars.values[name].kind == static {
		g.lose(name)
	}
}

// enter and leave are called before and behind the children of a node.
func (g *extractor) enter(n syntax.Node) {
	before := len(g.assigned)
	switch x := n.(type) {
	case *syntax.CallExpr:
		if len(x.Args) == 0 || len(x.Assigns) == 0 {
			before = -1
		}
	case *syntax.Stmt:
		if !x.Background && x != g.piped {
			before = -1
		}
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.BinaryCmd, *syntax.CoprocClause, *syntax.IfClause,
		*syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.FuncDecl:
	default:
		before = -1
	}
	g.nodes = append(g.nodes, before)
}

// leave tears the variables that were assigned in a node, if it may not have run, or only in a process of its own.
func (g *extractor) leave() {
	last := len(g.nodes) - 1
	before := g.nodes[last]
	g.nodes = g.nodes[:last]
	if before < 0 || before >= len(g.assigned) {
		return
	}
	for _, name := range g.assigned[before:] {
		g.tear(name)
	}
}

// tear takes note that a variable is not always what it was last given.
func (g *extractor) tear(name string) {
	v := g.vars.values[name]
	v.others = true
	g.vars.keep(name, v)
}

// lose takes note that a variable is given what is not known.
func (g *extractor) lose(name string) {
	g.again = g.again || g.vars.values[name].kind == static
	g.vars.keep(name, value{others: true})
}

func (g *extractor) loop(x *syntax.ForClause) {
	if iter, ok := x.Loop.(*syntax.WordIter); ok {
		g.lose(iter.Name.Value)
	}
}

// sets takes note of the variables that a builtin sets.
func (g *extractor) sets(argv []string) {
	switch argv[0] {
	case "hash": // -p says what a name runs
		if at := slices.Index(argv, "-p"); at > 0 && at+1 < len(argv) {
			g.mention([]string{argv[at+1], agenttool.Unread})
		}
	case "cd", "pushd", "popd":
		g.moved, g.again = true, g.again || g.placed && !g.moved
	case "read", "mapfile", "readarray", "getopts", "printf", "unset", "wait":
		for _, word := range argv[1:] {
			g.loseKnown(word)
		}
	}
}

// function takes note of a function that runs its arguments, wherever in it.
func (g *extractor) function(x *syntax.FuncDecl) {
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
		runs = runs || startsOthers(name) && slices.ContainsFunc(call.Args[1:], argument)
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
	return ok && x.Param != nil && (x.Param.Value == "@" || x.Param.Value == "*" || program.Digits(x.Param.Value))
}
