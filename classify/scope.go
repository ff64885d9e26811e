package classify

import (
	"maps"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// scope is the known state of the shell at one point of a command line.
type scope struct {
	start  string   // directory where the command line starts
	dirs   []string // where the working directory is, one of these; nil if unknown
	old    []string // where it was before the last cd, which cd - goes back to; nil if unknown
	fork   bool     // the command just analysed is one that leaves the working directory in alt if it fails
	alt    []string
	vars   map[string]value
	params []value                     // $1, $2, … of a shell in a shell; nil where they are not known
	funcs  map[string]*syntax.FuncDecl // nil: depends on earlier commands
	void   string                      // why names no longer mean what they say, if so
	doubt  string                      // why nothing is proved about later commands: an earlier one is not understood; "" if all are
	given  bool                        // programs find a variable that may mean something to them
	piped  bool                        // stdin is not that of the command line
	input  *listing                    // the content of stdin, if it is names of files
	lines  bool                        // a loop reads it line by line

	vanishing bool // a glob that matches nothing may become no word
	captured  bool // stdout surely is no terminal: a pipe or a file
	plain     bool // the shell may not be bash: values of variables are not followed
}

// kind orders what is known of a value, from nothing to all.
type kind uint8

const (
	anything  kind = iota
	local          // is not empty and does not begin with a slash
	begins         // begins with text, which is not empty
	tokenText      // is a token, see program.Word, or empty
	numerals       // is decimal integers in lines of their own, or empty
	count          // is a decimal integer or empty
	number         // is a decimal integer
	static         // is text
)

// value is the proved value of a variable. The zero value may be anything.
type value struct {
	kind    kind
	text    string
	pattern string // of a local or begins that is one of the names that a glob matches: the glob, as program.Word.Pattern is
	dir     string // ... and the directory that these names are relative to
	named   bool   // ... as in program.Word.Name
	without string // ... as in program.Word.Without
}

func (s *scope) clone() *scope {
	c := *s
	c.own()
	return &c
}

// own gives a copy its own maps.
func (s *scope) own() { s.vars, s.funcs = maps.Clone(s.vars), maps.Clone(s.funcs) }

func (s *scope) set(name string, v value) {
	if v.kind == anything || len(v.text) > maxValue || s.plain {
		delete(s.vars, name)
		return
	}
	if s.vars == nil || len(s.vars) >= maxVars {
		s.vars = map[string]value{}
	}
	s.vars[name] = v
}

func (s *scope) declare(name string, f *syntax.FuncDecl) {
	if s.funcs == nil {
		s.funcs = map[string]*syntax.FuncDecl{}
	}
	s.funcs[name] = f
}

// moved reports whether the working directory may differ from the start directory.
func (s *scope) moved() bool {
	return len(s.dirs) != 1 || s.dirs[0] != s.start
}

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
	j := &scope{start: a.start, dirs: eitherDir(a.dirs, b.dirs), void: a.void, given: a.given || b.given, piped: a.piped, lines: a.lines || b.lines, captured: a.captured,
		vanishing: a.vanishing || b.vanishing, plain: a.plain}
	j.old = eitherDir(a.old, b.old)
	if len(a.params) == len(b.params) { // they change only by being forgotten
		j.params = a.params
	}
	if a.input == b.input {
		j.input = a.input
	}
	if j.void == "" {
		j.void = b.void
	}
	if j.doubt = a.doubt; j.doubt == "" {
		j.doubt = b.doubt
	}
	for name, v := range a.vars {
		if u, ok := b.vars[name]; ok {
			j.set(name, either(v, u))
		}
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

// either returns the common knowledge about two possible values.
func either(a, b value) value {
	switch {
	case a == b:
		return a
	case a.integer() && b.integer():
		if a.kind == numerals || b.kind == numerals {
			return value{kind: numerals}
		}
		if a.kind == count || b.kind == count {
			return value{kind: count}
		}
		return value{kind: number}
	case (a.kind == begins || a.kind == static) && (b.kind == begins || b.kind == static):
		if n := common(a.text, b.text); n > 0 {
			return value{kind: begins, text: a.text[:n]}
		}
	}
	if a.local() && b.local() {
		return value{kind: local}
	}
	return value{}
}

// local reports whether the value is not empty and does not begin with a slash.
func (v value) local() bool {
	return v.kind == local || v.kind == number || (v.kind == begins || v.kind == static) && v.text != "" && v.text[0] != '/'
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// integer reports whether arithmetic on the value does no more than arithmetic.
func (v value) integer() bool {
	return v.kind == number || v.kind == count || v.kind == numerals || v.kind == static && isInteger(v.text)
}

func isInteger(s string) bool {
	if len(s) > 1 && s[0] == '-' {
		s = s[1:]
	}
	return isDigits(s)
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// same reports whether both scopes know the same.
func same(a, b *scope) bool {
	return a.void == b.void && a.doubt == b.doubt && a.given == b.given && a.lines == b.lines && a.input == b.input && len(a.params) == len(b.params) && a.vanishing == b.vanishing && slices.Equal(a.dirs, b.dirs) && slices.Equal(a.old, b.old) && maps.Equal(a.vars, b.vars) &&
		maps.Equal(a.funcs, b.funcs)
}
