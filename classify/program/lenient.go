package program

import (
	"slices"
	"strings"
)

// CarriedCode describes the code that the words of a program may carry, even if they are not understood: Spec.Carries, parsed. A
// program whose operands are a command carries one without an entry there.
type CarriedCode struct {
	Text    Language // "": none
	Input   bool     // without a script among its words it runs commands of its standard input
	Command bool     // a command, or variables that hold one
	Behind  []string // ... which begins behind one of these words; empty: behind any, if Command and not Never
	Never   bool     // ... only in variables
	Within  bool     // ... which is not simply all the words from some one on
	Option  bool     // a command as the value of an option

	Destroys bool // a use may destroy
}

// Language is the language of code in the words or the input of a program.
type Language string

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

// Carried describes the code that the words of a program may carry, as [Carries] does, for a description that is in no table.
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

// Destroyer returns the description of the program with this name if it may destroy with these words, nil if it does not or nothing is
// known. It finds programs that Lookup does not.
func Destroyer(name string, words []string) *Spec {
	if strings.HasPrefix(name, "mkfs") {
		name = "mkfs" // mkfs.ext4
	}
	e := registry()[name]
	if e == nil {
		return nil
	}
	spec, carried := e.read()
	switch {
	case !carried.Destroys:
		return nil
	case destroysItself(spec):
		return spec
	}
	for _, word := range words {
		if sub := spec.table().sub[word]; sub != nil && mayDestroy(sub) {
			return spec
		}
	}
	return nil
}

// mayDestroy reports whether a use of a program may destroy.
func mayDestroy(s *Spec) bool { return destroysItself(s) || slices.ContainsFunc(s.Sub, mayDestroy) }

// destroysItself reports whether it may whatever its subcommand is.
func destroysItself(s *Spec) bool {
	return s.Loses || strings.Contains(s.Effects, "destroys") || strings.Contains(s.Options, "destroys")
}

// Destroys says what a command destroys, "" if it is not known to destroy. Not all of its words need be known: where they are not
// understood, it looks for a subcommand behind any of them.
func (m *Memory) Destroys(spec *Spec, argv []Word) string {
	_, use := m.Parse(spec, argv)
	switch {
	case use.Has(Destroys):
		told := use.AllReasons()
		at := slices.IndexFunc(told, func(r Reason) bool { return r.Fact == factOf[Destroys] })
		if at < 0 { // one reason is that of all facts
			at = slices.IndexFunc(told, func(r Reason) bool { return r.Fact == "" })
		}
		return use.Sentence(told[at], argv)
	case !use.Understood && m.subDestroys(spec, argv):
		return use.Sentence(because(effectPhrase[Destroys]), argv)
	}
	return ""
}

// maxSubcommands is how many words are taken for a subcommand of a command that is not understood.
const maxSubcommands = 4

func (m *Memory) subDestroys(spec *Spec, argv []Word) bool {
	subs, tried := spec.table().sub, 0
	for i := 1; i < len(argv) && subs != nil && tried < maxSubcommands; i++ {
		sub := subs[argv[i].Text]
		if sub == nil || !argv[i].Static {
			continue
		}
		tried++
		if !mayDestroy(sub) {
			continue
		}
		if _, use := m.Parse(sub, argv[i:]); use.Has(Destroys) || m.subDestroys(sub, argv[i:]) {
			return true
		}
	}
	return false
}

// judgeWords is a Judge of programs that destroy where one of some words stands, in capitals or not, wherever that is. A word that ends
// in a dash is the beginning of one.
func judgeWords(what string, words ...string) func(*Args, *Use) {
	return func(a *Args, u *Use) {
		for _, w := range a.Argv[1:] {
			for _, each := range words {
				text := w.Text
				if strings.HasSuffix(each, "-") {
					text = text[:min(len(text), len(each))]
				}
				if strings.EqualFold(text, each) {
					u.Add(Destroys, what)
					return
				}
			}
		}
	}
}
