package classify

import (
	"path"
	"slices"
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

	vars    map[string]string // what variables were last given, as far as it is literal
	runners map[string]bool   // functions that run their arguments
	within  int               // substitutions around the word that is spelt
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
			case *syntax.Assign:
				d.assign(x)
			case *syntax.FuncDecl:
				d.function(x)
			}
			return len(d.found) < maxDestroyed
		})
	}
}

func (d *destroyer) call(x *syntax.CallExpr) {
	if len(x.Args) == 0 {
		return
	}
	argv := d.spellings(x.Args)
	if expands(x.Args[0]) && strings.ContainsAny(argv[0], splitBytes) {
		d.text(strings.Join(argv, " "), x.Pos())
	}
	d.argv(argv, x.Pos())
	d.substituted(x)
}

// coprocess looks at a command whose words of the form a=b the parser takes for assignments, wherever they stand.
func (d *destroyer) coprocess(x *syntax.CoprocClause) {
	call, ok := x.Stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return
	}
	argv := d.spellings(call.Args)
	for _, a := range call.Assigns {
		if a.Name != nil && a.Value != nil {
			argv = append(argv, a.Name.Value+"="+d.spelling(a.Value.Parts))
		}
	}
	d.argv(argv, x.Pos())
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
	d.takes(name, argv, at)
	if wrappers[name] || d.runners[name] {
		d.wrapped(argv[commandPart(name, argv):], at)
	}
}

// wrapped looks at what follows the first word, in which a command begins somewhere.
func (d *destroyer) wrapped(argv []string, at syntax.Pos) {
	for i, whole := range argv[1:] {
		if d.over && d.steps > maxLooks {
			return
		}
		word := unglued(whole)
		if strings.ContainsAny(word, " \n;|&") {
			d.text(word, at)
			continue
		}
		base, rest := path.Base(word), argv[i+2:]
		if what := d.destroys(base, rest); what != "" {
			d.add(what, at)
			return
		} else if takers[base] != 0 || base == "find" || d.runners[base] {
			if word != whole {
				argv = slices.Concat(argv[:i+1], []string{word}, rest)
			}
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

// add records what is destroyed; "" is nothing.
func (d *destroyer) add(what string, at syntax.Pos) {
	if what == "" {
		return
	}
	r := agenttool.Reason{Fact: "destructive", Text: short(what), Line: int(at.Line()), Column: int(at.Col())}
	if d.inner != nil {
		r.Line, r.Column = d.inner.line, d.inner.column
	}
	if len(d.found) < maxDestroyed {
		d.found = addReason(d.found, r)
	}
}
