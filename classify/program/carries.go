package program

import (
	"slices"
	"strings"
)

// The languages.
const (
	ShellText     Language = "shell"
	AliasText     Language = "alias"     // NAME=TEXT, for the shell
	ScriptText    Language = "script"    // one with files, processes and strings
	QueryText     Language = "query"     // that of a database
	EditorText    Language = "editor"    // commands of an editor, ! runs one of the shell
	FilterText    Language = "filter"    // sed or awk
	GitText       Language = "git"       // aliases and settings
	SubscriptText Language = "subscript" // names of variables, whose subscripts are evaluated
)

var languages = []Language{ShellText, AliasText, ScriptText, QueryText, EditorText, FilterText, GitText, SubscriptText}

// FromInput reports whether programs take text in this language from their standard input.
func (l Language) FromInput() bool {
	return l == ShellText || l == ScriptText || l == QueryText || l == EditorText
}

// Carries describes the code that the words of the program with this name may carry. It also knows programs that Lookup does not
// find.
func Carries(name string) CarriedCode {
	if e := registry()[name]; e != nil {
		_, carried := e.read()
		return carried
	}
	return CarriedCode{}
}

// CarriedCode is Carries of a description that is in no table of programs.
func (s *Spec) Carried() CarriedCode { return carriedBy(s) }

// carriedBy takes apart what a description says.
func carriedBy(s *Spec) (c CarriedCode) {
	for token := range strings.FieldsSeq(s.Carries) {
		name, words, _ := strings.Cut(token, "=")
		switch {
		case name == "command":
			c.Command = true
			c.Never = words == "-"
			if words != "" && !c.Never {
				c.Behind = strings.Split(words, ",")
			}
		case name == "input":
			c.Input = true
		case name == "within":
			c.Within = true
		default:
			c.Text = Language(name)
		}
	}
	for kind := range strings.FieldsSeq(s.Operands) {
		c.Command = c.Command || slices.Contains(commandKinds, strings.TrimRight(kind, "*?"))
	}
	c.Destroys = mayDestroy(s)
	c.Option = strings.Contains(s.Options, ":run")
	return c
}

// commandKinds are the kinds of operands that form a command: as it is, as a Judge finds it, and behind variables.
var commandKinds = []string{"command", "inner", "env"}

// SetsVariables reports whether the program with this name sets variables for the command among its words.
func SetsVariables(name string) bool {
	spec := Lookup(name)
	return spec != nil && spec.Operands == "env*"
}

// Subcommand returns the first word behind the options of a program, and the rest.
func Subcommand(spec *Spec, args []string) (sub string, rest []string) {
	for i := 0; i < len(args); i++ {
		if !strings.HasPrefix(args[i], "-") {
			return args[i], args[i+1:]
		}
		if o := spec.table().options[args[i]]; o != nil && o.kind != "" && !o.optional {
			i++
		}
	}
	return "", nil
}
