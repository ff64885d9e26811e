package classify

import (
	"maps"
	"strings"

	"toolhost/classify/program"
)

// variables are what is known of the variables of a shell.
//
// Both analyses keep what they know in one, but not in the same one. The strict analysis has one for each way that the line may take; it
// holds what is proved, and what is in doubt is forgotten. The lenient analysis has a single one for all of a text; it holds the
// last value that each variable was given, in the order of the text, and whether it may hold something else as well, and forgets
// none: a command that was run with an old value is to be found, too.
type variables struct {
	values map[string]value
	unsure bool // each of them may hold something else as well
}

func (vs *variables) clone() variables {
	return variables{values: maps.Clone(vs.values), unsure: vs.unsure}
}

// set notes what is proved of a variable. Beyond maxVars, what is known of the others is forgotten.
func (vs *variables) set(name string, v value) {
	if v.kind == anything || len(v.text) > maxValue {
		delete(vs.values, name)
		return
	}
	if vs.values == nil || len(vs.values) >= maxVars {
		vs.values = map[string]value{}
	}
	vs.values[name] = v
}

// keep notes what a variable may hold. Beyond maxVars, each may hold something else.
func (vs *variables) keep(name string, v value) {
	if _, known := vs.values[name]; !known && len(vs.values) >= maxVars {
		vs.unsure = true
		return
	}
	if vs.values == nil {
		vs.values = map[string]value{}
	}
	vs.values[name] = v
}

// hasText reports whether the text of one of them is known.
func (vs *variables) hasText() bool {
	for _, v := range vs.values {
		if v.kind == static {
			return true
		}
	}
	return false
}

// lookup returns what is known of a variable: the value that the line gave it, or the one that it has from the beginning. Home and the
// working directory are "" where they are not known.
func (vs *variables) lookup(name, home, dir string) value {
	v, ok := vs.values[name]
	switch {
	case ok:
		return v
	case name == "HOME" && home != "":
		return value{kind: static, text: home}
	case name == "PWD" && dir != "":
		return value{kind: static, text: dir}
	}
	return value{}
}

// common keeps what holds in both of two states of the variables.
func (vs *variables) common(other *variables) variables {
	var both variables
	for name, v := range vs.values {
		if u, ok := other.values[name]; ok {
			both.set(name, either(v, u))
		}
	}
	return both
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

// value is what is known of the value of a variable. The zero value may be anything.
type value struct {
	kind    kind
	text    string
	pattern string // of a local or begins that is one of the names that a glob matches: the glob, as program.Word.Pattern is
	dir     string // ... and the directory that these names are relative to
	named   bool   // ... as in program.Word.Name
	without string // ... as in program.Shape.Without
	flat    bool   // ... as in program.Shape.Flat

	unquoted bool // a word expands to it without quotes

	others bool // in the lenient analysis: it may hold something else as well
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

// variable returns what is proved of a variable.
func (w *walk) variable(name string) value {
	switch name {
	case "?", "#", "$":
		return value{kind: number}
	}
	if len(name) == 1 && name[0] >= '1' && name[0] <= '9' {
		if at := int(name[0] - '1'); at < len(w.scope.params) {
			return w.scope.params[at]
		}
		return value{}
	}
	dir := ""
	if len(w.scope.dirs) == 1 && !w.scope.moved() {
		dir = w.scope.start
	}
	return w.scope.vars.lookup(name, w.ctx.Home, dir)
}

// assignable reports whether the shell gives a variable no meaning of its own and no program is likely to have it in
// its environment. If not, names no longer mean what they say.
func (w *walk) assignable(name string) bool {
	if ownName(name) {
		return true
	}
	w.changeNames("the variable " + name + " may change what commands do")
	return false
}

// ownNames are names in capitals that scripts use for variables of their own; no program reads them from the environment.
var ownNames = program.WordSet(`FILE FILES DIR DIRS NAME NAMES PATTERN ROOT BASE SRC DEST DST TARGET BRANCH COMMIT SHA REF HEAD COUNT TOTAL
	VERSION START END FOO BAR BAZ LINE ITEM ITEMS RESULT REPO`)

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
var inherited = program.WordSet(`PATH HOME SHELL ENV BASH_ENV CDPATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT PS4 PROMPT_COMMAND EXECIGNORE
	BASH_LOADABLES_PATH XDG_CONFIG_HOME TERMINFO PYTHONPATH NODE_OPTIONS GOFLAGS EDITOR VISUAL PAGER`)

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
