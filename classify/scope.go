package classify

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

// scope is the known state of the shell at one point of a command line.
type scope struct {
	workdir
	bindings
	stdin

	variables []agenttool.Variable // those that the line sets for the commands that run now

	doubt     string // why nothing is proved about later commands: an earlier one is not understood; "" if all are
	given     bool   // programs find a variable that may mean something to them
	vanishing bool   // a glob that matches nothing may become no word
	captured  bool   // stdout surely is no terminal: a pipe or a file
}

// listing is names of files that a command prints and another one reads, as [program.Listing] says. Only what looks at the disk can rely
// on them: a name may hold what parts it, or look like an option.
type listing struct {
	program.Listing
	dir string // the directory that the names are relative to
}

// workdir is the known state of the working directory.
type workdir struct {
	start string   // directory where the command line starts
	dirs  []string // where the working directory is, one of these; nil if unknown
	old   []string // where it was before the last cd, which cd - goes back to; nil if unknown
	fork  bool     // the command just analysed is one that leaves the working directory in alt if it fails
	alt   []string
}

// bindings holds the known variables and functions.
type bindings struct {
	vars   map[string]value
	params []value                     // $1, $2, … of a shell in a shell; nil where they are not known
	funcs  map[string]*syntax.FuncDecl // nil: depends on earlier commands
	void   string                      // why names no longer mean what they say, if so
	plain  bool                        // the shell may not be bash: values of variables are not followed
}

// stdin is the known state of the standard input.
type stdin struct {
	piped bool     // it is not that of the command line
	input *listing // its content, if it is names of files
	lines bool     // a loop reads it line by line
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
	without string // ... as in program.Shape.Without
	flat    bool   // ... as in program.Shape.Flat

	unquoted bool // a word expands to it without quotes
}

func (s *scope) clone() *scope {
	c := *s
	c.own()
	return &c
}

// own gives a copy its own maps.
func (b *bindings) own() { b.vars, b.funcs = maps.Clone(b.vars), maps.Clone(b.funcs) }

func (b *bindings) set(name string, v value) {
	if v.kind == anything || len(v.text) > maxValue || b.plain {
		delete(b.vars, name)
		return
	}
	if b.vars == nil || len(b.vars) >= maxVars {
		b.vars = map[string]value{}
	}
	b.vars[name] = v
}

func (b *bindings) declare(name string, f *syntax.FuncDecl) {
	if b.funcs == nil {
		b.funcs = map[string]*syntax.FuncDecl{}
	}
	b.funcs[name] = f
}

// moved reports whether the working directory may differ from the start directory.
func (d *workdir) moved() bool {
	return len(d.dirs) != 1 || d.dirs[0] != d.start
}

// settle forgets whether the last cd succeeded: from here on both may be.
func (d *workdir) settle() {
	if d.fork {
		d.dirs = eitherDir(d.dirs, d.alt)
		d.fork, d.alt = false, nil
	}
}

// failed returns where the working directory is if the last command failed.
func (d *workdir) failed() []string {
	if d.fork {
		return d.alt
	}
	return d.dirs
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
	j := &scope{workdir: a.workdir.or(&b.workdir), stdin: a.stdin.or(&b.stdin), doubt: cmp.Or(a.doubt, b.doubt), given: a.given || b.given, captured: a.captured,
		vanishing: a.vanishing || b.vanishing, variables: a.variables}
	j.common(&a.bindings, &b.bindings)
	return j
}

// or returns the knowledge that both have in common. Both are settled.
func (d *workdir) or(o *workdir) workdir {
	return workdir{start: d.start, dirs: eitherDir(d.dirs, o.dirs), old: eitherDir(d.old, o.old)}
}

// or returns the knowledge that both have in common.
func (i *stdin) or(o *stdin) stdin {
	both := stdin{piped: i.piped, lines: i.lines || o.lines}
	if i.input == o.input {
		both.input = i.input
	}
	return both
}

// common makes of empty bindings those that hold in both.
func (b *bindings) common(x, y *bindings) {
	b.void, b.plain = cmp.Or(x.void, y.void), x.plain
	if len(x.params) == len(y.params) { // they change only by being forgotten
		b.params = x.params
	}
	for name, v := range x.vars {
		if u, ok := y.vars[name]; ok {
			b.set(name, either(v, u))
		}
	}
	for name, f := range x.funcs {
		if y.funcs[name] != f {
			f = nil
		}
		b.declare(name, f)
	}
	for name := range y.funcs {
		if _, ok := x.funcs[name]; !ok {
			b.declare(name, nil)
		}
	}
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
		if n := program.CommonPrefix(a.text, b.text); n > 0 {
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

// integer reports whether arithmetic on the value does no more than arithmetic.
func (v value) integer() bool {
	return v.kind == number || v.kind == count || v.kind == numerals || v.kind == static && isInteger(v.text)
}

func isInteger(s string) bool {
	if len(s) > 1 && s[0] == '-' {
		s = s[1:]
	}
	return program.Digits(s)
}

// same reports whether both scopes know the same.
func same(a, b *scope) bool {
	return a.void == b.void && a.doubt == b.doubt && a.given == b.given && a.lines == b.lines && a.input == b.input &&
		len(a.params) == len(b.params) && a.vanishing == b.vanishing && slices.Equal(a.dirs, b.dirs) && slices.Equal(a.old, b.old) &&
		maps.Equal(a.vars, b.vars) && maps.Equal(a.funcs, b.funcs)
}

// ownNames are names in capitals that scripts use for variables of their own; no program reads them from the environment.
var ownNames = program.WordSet("FILE FILES DIR DIRS NAME NAMES PATTERN ROOT BASE SRC DEST DST TARGET BRANCH COMMIT SHA REF HEAD COUNT TOTAL VERSION START END FOO BAR BAZ LINE ITEM ITEMS RESULT REPO")

// ownName reports whether a name is one that people give to variables of their own: in small letters, short of those
// that bash and programs know, a single letter, or one of a few words.
func ownName(name string) bool {
	if !plainName(name) {
		return false
	}
	if name == strings.ToUpper(name) && strings.ToLower(name) != name {
		return len(name) == 1 || ownNames[name]
	}
	if name != strings.ToLower(name) || name == "_" {
		return false
	}
	for _, beginning := range []string{"npm_", "pnpm_", "yarn_", "nix_", "cargo_", "git_", "fish_", "bash_"} {
		if strings.HasPrefix(name, beginning) {
			return false
		}
	}
	switch name {
	case "histchars", "auto_resume", "allow_null_glob_expansion", "command_oriented_history", "hostname_completion_file",
		"glob_dot_filenames", "noclobber", "nolinks", "notify", "history_control":
		return false
	}
	return !strings.HasSuffix(name, "_proxy")
}

// known returns the value of a variable that is set to a word.
func known(word program.Word) value {
	switch {
	case word.Static:
		return value{kind: static, text: word.Text}
	case word.Number && !word.Many:
		return value{kind: number}
	case word.Number:
		return value{kind: count}
	case word.Lines:
		return value{kind: numerals}
	case word.Token:
		return value{kind: tokenText}
	case word.Text != "":
		return value{kind: begins, text: word.Text}
	}
	return value{}
}

// inherited are variables that programs are given anyway, or that the shell obeys itself.
var inherited = program.WordSet(`PATH HOME SHELL ENV BASH_ENV CDPATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT PS4 PROMPT_COMMAND EXECIGNORE BASH_LOADABLES_PATH
	XDG_CONFIG_HOME TERMINFO PYTHONPATH NODE_OPTIONS GOFLAGS EDITOR VISUAL PAGER`)

// plainName reports whether a name is one that a variable may have.
func plainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
