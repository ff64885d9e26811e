package classify

import (
	"cmp"
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
)

// scope is the known state of the shell at one point of a command line.
type scope struct {
	// The working directory.
	start string   // where the command line starts
	dirs  []string // where it is, one of these; nil if unknown
	old   []string // where it was before the last cd, which cd - goes back to; nil if unknown
	fork  bool     // the command just analysed is a cd, which leaves it in alt if it fails
	alt   []string

	// What names mean.
	vars   variables
	params []value                     // $1, $2, … of a shell in a shell; nil where they are not known
	funcs  map[string]*syntax.FuncDecl // nil: depends on earlier commands
	void   string                      // why they no longer mean what they say; "" if they do
	plain  bool                        // the shell may not be bash: values of variables are not followed

	// The standard streams.
	piped    bool     // stdin is not that of the command line
	input    *listing // the content of stdin, if it is names of files
	lines    bool     // a loop reads stdin line by line
	captured bool     // stdout surely is no terminal: a pipe or a file

	variables []agenttool.Variable // those that the line sets for the commands that run now
	given     bool                 // programs find a variable that may mean something to them
	vanishing bool                 // a glob that matches nothing may become no word
	doubt     string               // why nothing is proved about later commands: an earlier one is not understood; "" if all are
}

func (s *scope) clone() *scope {
	c := *s
	c.own()
	return &c
}

// own gives a copy its own maps.
func (s *scope) own() { s.vars, s.funcs = s.vars.clone(), maps.Clone(s.funcs) }

// set notes the value of a variable.
func (s *scope) set(name string, v value) {
	if s.plain {
		v = value{}
	}
	s.vars.set(name, v)
}

func (s *scope) declare(name string, f *syntax.FuncDecl) {
	if s.funcs == nil {
		s.funcs = map[string]*syntax.FuncDecl{}
	}
	s.funcs[name] = f
}

// moved reports whether the working directory may differ from the start directory.
func (s *scope) moved() bool { return len(s.dirs) != 1 || s.dirs[0] != s.start }

// at reports whether the working directory surely is this one.
func (s *scope) at(dir string) bool { return len(s.dirs) == 1 && s.dirs[0] == dir }

// settle forgets whether the last cd succeeded: from here on both may be.
func (s *scope) settle() {
	if s.fork {
		s.dirs = eitherDir(s.dirs, s.alt)
		s.fork, s.alt = false, nil
	}
}

// failed returns where the working directory is if the last command failed.
func (s *scope) failed() []string {
	if s.fork {
		return s.alt
	}
	return s.dirs
}

// eitherDir returns both lists, nil if one of them is unknown or there are too many to follow.
func eitherDir(a, b []string) []string {
	if a == nil || b == nil {
		return nil
	}
	all := slices.Clone(a)
	for _, d := range b {
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	if len(all) > 4 {
		return nil
	}
	return all
}

// join returns the state that holds in both scopes. Either may be nil, for a point that is not reached.
func join(a, b *scope) *scope {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	a.settle()
	b.settle()
	j := &scope{
		start: a.start, dirs: eitherDir(a.dirs, b.dirs), old: eitherDir(a.old, b.old),
		vars: a.vars.common(&b.vars), void: cmp.Or(a.void, b.void), plain: a.plain,
		piped: a.piped, lines: a.lines || b.lines, captured: a.captured,
		variables: a.variables, given: a.given || b.given, vanishing: a.vanishing || b.vanishing, doubt: cmp.Or(a.doubt, b.doubt),
	}
	if a.input == b.input {
		j.input = a.input
	}
	if len(a.params) == len(b.params) { // they change only by being forgotten
		j.params = a.params
	}
	for name, f := range a.funcs {
		if b.funcs[name] != f {
			f = nil
		}
		j.declare(name, f)
	}
	for name := range b.funcs {
		if _, ok := a.funcs[name]; !ok {
			j.declare(name, nil)
		}
	}
	return j
}

// same reports whether both scopes know the same.
func same(a, b *scope) bool {
	return a.void == b.void && a.doubt == b.doubt && a.given == b.given && a.lines == b.lines && a.input == b.input &&
		len(a.params) == len(b.params) && a.vanishing == b.vanishing && slices.Equal(a.dirs, b.dirs) && slices.Equal(a.old, b.old) &&
		maps.Equal(a.vars.values, b.vars.values) && maps.Equal(a.funcs, b.funcs)
}
