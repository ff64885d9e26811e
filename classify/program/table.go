package program

import (
	"fmt"
	"slices"
	"strings"
)

// table is the text of a Spec, parsed for lookups.
type table struct {
	options map[string]*option // by spelling
	long    []string           // the spellings with two dashes, for abbreviations
	number  *option            // -num
	kinds   []operand
	effects []Effect
	sub     map[string]*Spec
	faults  []string // errors in the text; a token with an error describes nothing
}

// option is one token of Spec.Options.
type option struct {
	name     string
	kind     string // "" without a value
	optional bool   // a value only in the same word
	effects  []Effect
}

// operand is one word of Spec.Operands.
type operand struct {
	kind   string
	repeat bool
}

const numberOption = "-num"

var effectNames = []Effect{
	Writes, Destroys, GitConfig, GitUpstream, GitGlobal, Reaches, MayReach, LongRunning, Interactive, Pages, ObservesHost, NotConcurrent,
	WritesElsewhere, ReadsElsewhere, ReadsTree, RunsCode, RunsHooks, Adds, HostsUnknown,
}

// table returns the compiled form, made at the first use.
func (s *Spec) table() *table {
	s.compile.Do(func() { s.compiled = compileSpec(s) })
	return s.compiled
}

func compileSpec(s *Spec) *table {
	t := &table{options: map[string]*option{}, faults: s.faults}
	for token := range strings.FieldsSeq(s.Options) {
		t.addOption(token)
	}
	for token := range strings.FieldsSeq(s.Operands) {
		if token != "sub?" {
			t.addOperand(token)
		}
	}
	t.effects = t.effectList(strings.Fields(s.Effects))
	if text := s.Carried().Text; text != "" && !slices.Contains(languages, text) {
		t.fault("there is no language %q that words may be in", text)
	}
	t.addSubcommands(s.Sub)
	if s.Judge == nil {
		t.needNoJudge()
	}
	return t
}

func (t *table) fault(format string, args ...any) {
	t.faults = append(t.faults, fmt.Sprintf(format, args...))
}

func (t *table) addOption(token string) {
	rest, effects, _ := strings.Cut(token, "!")
	o := &option{}
	if effects != "" {
		o.effects = t.effectList(strings.Split(effects, ","))
	}
	spellings, kind, valued := strings.Cut(rest, ":")
	if valued {
		o.kind = kind
		spellings, o.optional = strings.CutSuffix(spellings, "?")
		if kind == "" {
			t.fault("option %q: no kind of value", token)
			return
		}
	}
	if spellings == numberOption {
		o.name, o.kind, t.number = numberOption, "count", o
		return
	}
	for spelling := range strings.SplitSeq(spellings, ",") {
		t.addSpelling(spelling, o)
	}
}

func (t *table) addSpelling(spelling string, o *option) {
	if len(spelling) < 2 || spelling[0] != '-' && spelling[0] != '+' {
		t.fault("option %q: want a name that begins with -", spelling)
		return
	}
	if t.options[spelling] != nil {
		t.fault("option %q is there twice", spelling)
		return
	}
	o.name = spelling
	t.options[spelling] = o
	if strings.HasPrefix(spelling, "--") {
		t.long = append(t.long, spelling)
	}
}

func (t *table) effectList(names []string) []Effect {
	var list []Effect
	for _, name := range names {
		if !slices.Contains(effectNames, Effect(name)) {
			t.fault("effect %q does not exist", name)
		}
		list = append(list, Effect(name))
	}
	return list
}

func (t *table) addOperand(token string) {
	o := operand{}
	o.kind, o.repeat = strings.CutSuffix(token, "*")
	if !o.repeat {
		o.kind = strings.TrimSuffix(token, "?")
	}
	if n := len(t.kinds); n > 0 && (t.kinds[n-1].repeat || t.kinds[n-1].kind == "command") {
		t.fault("operand %q follows one that takes all the rest", token)
		return
	}
	t.kinds = append(t.kinds, o)
}

// repeats reports whether there may be any number of operands.
func (t *table) repeats() bool {
	n := len(t.kinds)
	return n > 0 && (t.kinds[n-1].repeat || t.kinds[n-1].kind == "command")
}

func (t *table) addSubcommands(list []*Spec) {
	if len(list) == 0 {
		return
	}
	t.sub = map[string]*Spec{}
	for _, sub := range list {
		for name := range strings.FieldsSeq(sub.Names) {
			if t.sub[name] != nil {
				t.fault("subcommand %q is there twice", name)
				continue
			}
			t.sub[name] = sub
		}
	}
}

// needNoJudge finds kinds that only a Judge could understand.
func (t *table) needNoJudge() {
	for spelling, o := range t.options {
		if o.kind != "" && !plainKind(o.kind) {
			t.fault("option %q: nobody judges a %q", spelling, o.kind)
		}
	}
	for _, o := range t.kinds {
		if !plainKind(o.kind) {
			t.fault("operand %q: nobody judges it", o.kind)
		}
	}
}

// plainKind reports whether a value of the kind means the same for every program.
func plainKind(kind string) bool {
	switch kind {
	case "read", "look", "write", "file", "host", "run", "command":
		return true
	}
	return nameless[kind] != ""
}

// nameless are the kinds of values and operands that name no file, and why they cannot. A word that may be taken for a path, in any form and by
// any version of the program, has none of them.
var nameless = map[string]string{
	"count":  "it is read as a number, a size, a mode or a range, and anything else is an error",
	"date":   "it is read as a point of time or a span",
	"choice": "it is one of the words that the program has for this, and anything else is an error",
	"match":  "it is compared with names or content, and never opened",
	"label":  "it is printed, recorded or sent as it is",
	"id":     "it is looked up in a table that is no directory: users, processes, devices, packages, encodings, columns, variables, hosts",
	"ref":    "git looks it up in its repository and its work tree, and leaves neither",
	"away":   "it is a path or an address of another machine, of a container or of a service",
}

// lookup finds a spelling; a long one may be abbreviated if the program allows that.
func (t *table) lookup(s *Spec, spelling string) *option {
	if o := t.options[spelling]; o != nil {
		return o
	}
	if !s.Abbreviates || len(spelling) < 3 || !strings.HasPrefix(spelling, "--") {
		return nil
	}
	var found *option
	for _, long := range t.long {
		if !strings.HasPrefix(long, spelling) {
			continue
		}
		if o := t.options[long]; found != nil && found != o {
			return nil
		} else {
			found = o
		}
	}
	return found
}
