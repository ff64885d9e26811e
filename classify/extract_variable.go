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
func (sp *speller) variable(name string) (text string, ok bool) {
	text, ok = sp.vars[name]
	switch {
	case ok, sp.torn[name]:
	case name == "HOME":
		text = sp.ctx.Home
	case name == "PWD" && !sp.moved:
		text, sp.placed = sp.ctx.Dir, true
	}
	return text, ok || text != ""
}

// value returns the text that an assignment gives.
func (sp *speller) value(x *syntax.Assign) string {
	if x.Value == nil {
		return ""
	}
	return sp.atHome(x.Value.Parts, sp.spelling(x.Value.Parts))
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
func (sp *speller) computes(n syntax.Node) {
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
		sp.loseKnown(x.Value)
	case *syntax.ParamExp:
		sp.loseKnown(x.Param.Value)
	}
}

// loseKnown is lose for a variable that may be none.
func (sp *speller) loseKnown(name string) {
	if _, ok := sp.vars[name]; ok {
		sp.lose(name)
	}
}

// enter and leave are called before and behind the children of a node.
func (sp *speller) enter(n syntax.Node) {
	before := len(sp.assigned)
	switch x := n.(type) {
	case *syntax.CallExpr:
		if len(x.Args) == 0 || len(x.Assigns) == 0 {
			before = -1
		}
	case *syntax.Stmt:
		if !x.Background && x != sp.piped {
			before = -1
		}
	case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst, *syntax.BinaryCmd, *syntax.CoprocClause, *syntax.IfClause,
		*syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause, *syntax.FuncDecl:
	default:
		before = -1
	}
	sp.nodes = append(sp.nodes, before)
}

// leave tears the variables that were assigned in a node, if it may not have run, or only in a process of its own.
func (sp *speller) leave() {
	last := len(sp.nodes) - 1
	before := sp.nodes[last]
	sp.nodes = sp.nodes[:last]
	if before < 0 || before >= len(sp.assigned) {
		return
	}
	for _, name := range sp.assigned[before:] {
		if !sp.torn[name] {
			sp.tear(name)
		}
	}
}

// tear takes note that a variable is not always what it was last given.
func (sp *speller) tear(name string) {
	switch {
	case len(sp.torn) >= maxVars:
		sp.loose = true
		return
	case sp.torn == nil:
		sp.torn = map[string]bool{}
	}
	sp.torn[name] = true
}

// lose takes note that a variable is given what is not known.
func (sp *speller) lose(name string) {
	_, known := sp.vars[name]
	sp.again = sp.again || known
	sp.tear(name)
	delete(sp.vars, name)
}

func (sp *speller) loop(x *syntax.ForClause) {
	if iter, ok := x.Loop.(*syntax.WordIter); ok {
		sp.lose(iter.Name.Value)
	}
}

// sets takes note of the variables that a builtin sets.
func (sp *speller) sets(argv []string) {
	switch argv[0] {
	case "hash": // -p says what a name runs
		if at := slices.Index(argv, "-p"); at > 0 && at+1 < len(argv) {
			sp.mention([]string{argv[at+1], agenttool.Unread})
		}
	case "cd", "pushd", "popd":
		sp.moved, sp.again = true, sp.again || sp.placed && !sp.moved
	case "read", "mapfile", "readarray", "getopts", "printf", "unset", "wait":
		for _, word := range argv[1:] {
			sp.loseKnown(word)
		}
	}
}

// function takes note of a function that runs its arguments, wherever in it.
func (sp *speller) function(x *syntax.FuncDecl) {
	if x.Name == nil || sp.runners[x.Name.Value] {
		return
	}
	syntax.Walk(x.Body, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		runs := argument(call.Args[0])
		name := path.Base(sp.spelling(call.Args[0].Parts))
		runs = runs || startsOthers(name) && slices.ContainsFunc(call.Args[1:], argument)
		if runs && len(sp.runners) < maxVars {
			if sp.runners == nil {
				sp.runners = map[string]bool{}
			}
			sp.runners[x.Name.Value], sp.again = true, true
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
