package program

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Spec describes one program, or one subcommand of it.
type Spec struct {
	Names       string  // the names it has, separated by spaces
	Options     string  // in the language of the package's comment; only these are understood
	Operands    string  // kinds of operand
	Effects     string  // effects that every use has, separated by spaces
	Abbreviates bool    // GNU long options: a unique beginning is enough
	Ungrouped   bool    // -abc is one option, as in find, go and java
	InOrder     bool    // options end at the first operand
	Locks       string  // files that the program locks while it changes something: relative, absolute or below ~, separated by spaces
	Harmless    bool    // no option of the real program, listed or not, does more than read: unknown words may stand anywhere
	Raw         bool    // no word is taken apart: Args.Operands are all of them, and Judge alone understands them
	Exact       bool    // of a Raw one: Judge understands every word
	Sub         []*Spec // subcommands: the first operand names one; without a match the use is not understood
	Judge       func(*Args, *Use)
	Carries     string // code in its words: a Language, and command, command=WORDS, input, within as in Carried
	Partial     bool   // nothing else is known of it
	Loses       bool   // Judge may find that a use destroys
	Passes      bool   // it only runs its command with another limit of time, priority, buffering, session or environment

	asks     Words    // of a Raw one: one of these words alone is a question, and the program does nothing
	faults   []string // errors in its entry of a table
	compile  sync.Once
	compiled *table
}

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

// nameless are the kinds of values and operands that name no file, and why they cannot. A word that may be taken for a path, in
// any form and by any version of the program, has none of them.
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

// read adds the properties in the lines of an entry. A line belongs to the description above it that stands a tab further out.
func (s *Spec) read(text string) {
	above := []*Spec{s}
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		said := strings.TrimLeft(line, "\t")
		depth := len(line) - len(said)
		word, what, _ := strings.Cut(said, " ")
		switch {
		case said == "", word == "#":
		case depth == 0 && word == "define":
		case depth == 0:
			s.Names = said
		case depth > len(above):
			s.fault("%q stands too far in", said)
		case said[0] == '-' || said[0] == '+':
			of, lines := above[depth-1], optionLines(text, depth)
			of.Options, rest = joinedWords(of.Options, lines), text[len(lines):]
		case word == "sub":
			sub := &Spec{Names: what}
			above[depth-1].Sub = append(above[depth-1].Sub, sub)
			above = append(above[:depth], sub)
		default:
			above[depth-1].say(word, what)
		}
		text = rest
	}
}

// optionLines returns the lines at the beginning of a text that list options, so many tabs in.
func optionLines(text string, depth int) string {
	end := 0
	for end+depth < len(text) && strings.Trim(text[end:end+depth], "\t") == "" && (text[end+depth] == '-' || text[end+depth] == '+') {
		line := strings.IndexByte(text[end:], '\n')
		if line < 0 {
			return text
		}
		end += line + 1
	}
	return text[:end]
}

// joinedWords returns the words of two texts.
func joinedWords(a, b string) string {
	if a == "" {
		return b
	}
	return a + " " + b
}

// say takes one property: its name and its value.
func (s *Spec) say(word, rest string) {
	switch word {
	case "also":
		s.Names = joinedWords(s.Names, rest)
	case "like":
		for name := range strings.FieldsSeq(rest) {
			s.like(name)
		}
	case "is":
		for flag := range strings.FieldsSeq(rest) {
			s.is(flag)
		}
	case "operands":
		s.Operands = rest
	case "effects":
		s.Effects = joinedWords(s.Effects, rest)
	case "locks":
		s.Locks = rest
	case "carries":
		s.Carries = rest
	case "asks":
		s.asks = WordSet(rest)
	case "because":
		s.Judge = reason(rest)
	case "gitfiles":
		s.Judge = inGit(strings.Fields(rest)...)
	case "judge":
		s.Judge = judges()[rest]
		if s.Judge == nil {
			s.fault("there is no judge %q", rest)
		}
	default:
		s.fault("%q says nothing that is known", word)
	}
}

// like adds the properties of a shared part.
func (s *Spec) like(name string) {
	e := registry()["define "+name]
	if e == nil {
		s.fault("there is no part %q", name)
		return
	}
	s.read(e.text)
}

// is sets a flag of the description.
func (s *Spec) is(flag string) {
	for _, known := range [...]struct {
		name string
		is   *bool
	}{
		{"abbreviates", &s.Abbreviates}, {"ungrouped", &s.Ungrouped}, {"inorder", &s.InOrder}, {"harmless", &s.Harmless}, {"raw", &s.Raw},
		{"exact", &s.Exact}, {"partial", &s.Partial}, {"loses", &s.Loses}, {"passes", &s.Passes}, {"any", &s.Raw},
	} {
		if known.name == flag {
			*known.is = true
			if flag == "any" {
				s.Judge = effectsAlone
			}
			return
		}
	}
	s.fault("a program is never %q", flag)
}

// fault records an error of a table. The faulty line describes nothing.
func (s *Spec) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}
