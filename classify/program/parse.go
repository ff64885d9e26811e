package program

import (
	"slices"
	"strings"
)

// Parse takes a command line apart as its description says: argv begins with the program's or subcommand's name.
//
// The Args are those of the innermost subcommand. The Use tells what all levels do; it is understood only if every word
// was found in the description, and every word that is not static can only stand where the description has a place for
// it, whatever it becomes.
func Parse(spec *Spec, argv []Word) (*Args, *Use) { return (*Memory)(nil).Parse(spec, argv) }

// Parse is [Parse] in a memory.
func (m *Memory) Parse(spec *Spec, argv []Word) (*Args, *Use) {
	result := m.next()
	result.args.Argv = argv
	p := parser{memory: m, spec: spec, table: spec.table(), args: &result.args, use: &result.use}
	p.effects(p.table.effects, p.word(0), "")
	if spec.Locks != "" {
		p.use.Locks = strings.Fields(spec.Locks)
	}
	p.next = 1
	if spec.Raw {
		p.use.rawWords = !spec.Exact
		p.next = len(argv)
		p.args.Operands = argv[min(1, len(argv)):]
	}
	for p.next < len(argv) {
		w := argv[p.next]
		p.next++
		p.take(w)
	}
	return p.finish()
}

// parser is the state of one Parse.
type parser struct {
	memory *Memory
	spec   *Spec
	table  *table
	args   *Args
	use    *Use
	sub    *Args // of the subcommand

	next           int  // the word after the current one
	onlyOperands   bool // the rest are operands
	mayBeShifted   bool // an unknown number of words stood before: an operand may have any kind from place on
	mayBeAnyOption bool // an unknown word may have been any option
	nextKind       int  // of the next operand in the table
	sureOperands   int  // operands that are there whatever the words become
}

func (p *parser) word(i int) Word {
	if i < len(p.args.Argv) {
		return p.args.Argv[i]
	}
	return Word{}
}

func (p *parser) take(w Word) {
	switch {
	case p.onlyOperands:
		p.operand(w, true)
	case !w.Static:
		p.dynamic(w)
	case p.table.sub[w.Text] != nil:
		p.subcommand(w)
	case w.Text == "--" && (!p.spec.Ungrouped || p.table.options["--"] != nil):
		p.onlyOperands = true
	case len(w.Text) > 1 && w.Text[0] == '-' || p.table.options[w.Text] != nil:
		p.option(w)
	default:
		p.operand(w, true)
	}
}

// option takes a static word that looks like an option.
func (p *parser) option(w Word) {
	if o := p.table.lookup(p.spec, w.Text); o != nil {
		p.given(o, Word{}, false)
		return
	}
	long := strings.HasPrefix(w.Text, "--")
	switch {
	case (long || p.spec.Ungrouped) && p.assigned(w):
	case p.table.number != nil && Digits(w.Text[1:]):
		p.given(p.table.number, part(w, 1), true)
	case !long && !p.spec.Ungrouped && p.group(w):
	default:
		p.use.Unknown("takes the option `"+w.Text+"`, which toolhost does not know", w)
	}
}

// assigned takes --name=value, whose value need not be static, and reports whether it could.
func (p *parser) assigned(w Word) bool {
	name, _, ok := strings.Cut(w.Text, "=")
	if !ok {
		return false
	}
	o := p.table.lookup(p.spec, name)
	if o == nil || o.kind == "" {
		return false
	}
	p.given(o, part(w, len(name)+1), true)
	return true
}

// group reads -abc: letters, the last one possibly with the rest as its value. It reports whether it knows them all; if not, it
// reads nothing.
func (p *parser) group(w Word) bool {
	last := len(w.Text)
	for i := 1; i < last; i++ {
		o := p.letter(w, i)
		if o == nil {
			return false
		}
		if o.kind != "" {
			last = i
		}
	}
	if !w.Static && last >= len(w.Text)-1 {
		return false // its expansion may add letters, or take its value from the next word
	}
	for i := 1; i < len(w.Text); i++ {
		o := p.letter(w, i)
		if o.kind != "" {
			p.given(o, part(w, i+1), i+1 < len(w.Text))
			break
		}
		p.given(o, Word{}, false)
	}
	return true
}

func (p *parser) letter(w Word, i int) *option {
	var spelling [2]byte
	spelling[0], spelling[1] = '-', w.Text[i]
	return p.table.options[string(spelling[:])]
}

// part returns the rest of a word from byte i on.
func part(w Word, i int) Word {
	w.Text = w.Text[i:]
	return w
}

// given records an option; a value that must be there and is not in the same word is the next one.
func (p *parser) given(o *option, value Word, has bool) {
	at := p.word(p.next - 1)
	if !has && o.kind != "" && !o.optional {
		if p.next >= len(p.args.Argv) {
			p.use.Unknown("has no value for the option `"+o.name+"`", at)
			return
		}
		value, has = p.word(p.next), true
		p.next++
		p.separate(value)
	}
	p.args.Options = append(p.args.Options, GivenOption{Name: o.name, Value: value, Has: has})
	p.effects(o.effects, at, o.name)
	if o.kind == "run" && slices.Contains(o.effects, RunsCode) {
		p.use.knownCodeRuns++ // it is in Runs
	}
	if has {
		p.value(o.kind, value)
	}
}

// separate looks at a value in a word of its own: if it may become none or several, what follows is not where it
// seems to be.
func (p *parser) separate(value Word) {
	if value.Static || !value.Many {
		return
	}
	p.mayBeShifted = true
	p.unsure(value)
}

// dynamic takes a word that is not static where an option may stand.
func (p *parser) dynamic(w Word) {
	one := !w.Many || w.Glob // every word that it becomes begins with Text
	switch {
	case one && w.Text != "" && w.Text[0] != '-' && !p.plus(w.Text), w.Name, w.Token, one && p.numeral(w):
		p.operand(w, true)
	case one && strings.HasPrefix(w.Text, "--") && p.assigned(w):
	case one && p.spec.Ungrouped && strings.HasPrefix(w.Text, "-") && p.assigned(w):
	case one && !p.spec.Ungrouped && strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "--") && p.group(w):
	default:
		p.mayBeShifted = true
		p.unsure(w)
		p.operand(w, false)
	}
}

// numeral reports whether a word that begins with a number, which may have a sign, is no option whatever the number is.
func (p *parser) numeral(w Word) bool {
	sample := w.Shape().Sample
	if sample == "" || w.Text != "" || p.table.number != nil || strings.HasPrefix(strings.TrimLeft(sample, "\n0"), "-") {
		return false
	}
	for spelling := range p.table.options {
		if len(spelling) > 1 && isDigit(spelling[1]) {
			return false
		}
	}
	return true
}

func (p *parser) plus(text string) bool {
	if text[0] != '+' {
		return false
	}
	for spelling := range p.table.options {
		if spelling[0] == '+' {
			return true
		}
	}
	return false
}

// unsure takes note of a word that may become any option, which is well only if no option does harm.
func (p *parser) unsure(w Word) {
	if !p.spec.Harmless {
		if why := "takes a word that is not known, which may be an option: put -- before it"; p.runsNone() {
			p.use.unproved(why, w)
		} else {
			p.use.Unknown(why, w)
		}
		return
	}
	if p.mayBeAnyOption {
		return
	}
	p.mayBeAnyOption = true
	for _, o := range p.table.options {
		for _, e := range o.effects {
			if !slices.Contains(p.use.Effects, e) {
				p.effects([]Effect{e}, w, "")
			}
		}
		if o.kind != "" && nameless[o.kind] == "" {
			p.value(o.kind, w)
		}
	}
}

// runsNone reports whether no option of the program, and no subcommand, names code.
func (p *parser) runsNone() bool {
	if p.table.sub != nil {
		return false
	}
	for _, o := range p.table.options {
		if o.kind == "run" || o.kind != "" && (!plainKind(o.kind) && !dataKinds[o.kind] || slices.Contains(o.effects, RunsCode)) {
			return false
		}
	}
	return true
}

// dataKinds are values that only a Judge understands, and that are no code.
var dataKinds = WordSet(`format gitformat refformat gitmerges gitlines number data lines field list digits charset length odd phrase
	replace cookie`)

// operand takes an operand. It is sure if the word cannot be an option.
func (p *parser) operand(w Word, sure bool) {
	if p.table.sub != nil {
		p.use.Unknown("uses the subcommand `"+spelled(w)+"`, which toolhost does not know", w)
		p.onlyOperands = true
		return
	}
	if w.Many && !w.Static {
		p.mayBeShifted = true
		sure = sure && w.Glob
	}
	if p.spec.InOrder && sure {
		p.onlyOperands = true
	}
	p.args.Operands = append(p.args.Operands, w)
	if w.Static || !w.Many {
		p.sureOperands++
	}
	if p.nextKind >= len(p.table.kinds) || p.mayBeShifted && p.sureOperands > len(p.table.kinds) && !p.table.repeats() {
		p.args.Kinds = append(p.args.Kinds, "")
		p.use.Unknown("takes no operand `"+spelled(w)+"` that toolhost knows", w)
		return
	}
	kind := p.table.kinds[p.nextKind]
	p.args.Kinds = append(p.args.Kinds, kind.kind)
	if kind.kind == "command" {
		p.command()
		return
	}
	if p.mayBeShifted {
		p.anywhere(w)
		return
	}
	p.value(kind.kind, w)
	if !kind.repeat {
		p.nextKind++
	}
}

// anywhere gives an operand all the kinds that it may have.
func (p *parser) anywhere(w Word) {
	for i, o := range p.table.kinds[p.nextKind:] {
		if slices.ContainsFunc(p.table.kinds[p.nextKind:p.nextKind+i], func(x operand) bool { return x.kind == o.kind }) {
			continue
		}
		if o.kind == "command" {
			p.use.Unknown("runs a command that depends on words which are not known", w)
			continue
		}
		p.value(o.kind, w)
	}
}

// command takes the current word and the rest as a command line.
func (p *parser) command() {
	if p.mayBeShifted {
		p.use.Unknown("runs a command that depends on words which are not known", p.word(p.next-1))
	}
	rest := p.args.Argv[p.next-1:]
	p.args.Operands = append(p.args.Operands, rest[1:]...)
	for range rest[1:] {
		p.args.Kinds = append(p.args.Kinds, "command")
	}
	p.keep("command", rest...)
	p.use.Runs = append(p.use.Runs, Command{Argv: rest})
	p.next = len(p.args.Argv)
}

// subcommand takes a subcommand with all that follows.
func (p *parser) subcommand(w Word) {
	rest := p.args.Argv[p.next-1:]
	args, use := p.memory.Parse(p.table.sub[w.Text], rest)
	p.use.Sub = w.Text
	if use.Sub != "" {
		p.use.Sub += " " + use.Sub
	}
	p.args.Operands, p.sub = rest, args
	p.next = len(p.args.Argv)
	p.use.absorb(use)
}

// value records what a value or an operand of a kind does.
func (p *parser) value(kind string, w Word) {
	if nameless[kind] != "" {
		return
	}
	p.keep(kind, w)
	u := p.use
	switch kind {
	case "read":
		u.reads([]Word{w})
	case "look":
		u.Looks = append(u.Looks, w)
	case "write":
		if !w.Static || w.Text != "-" && w.Text != "/dev/stdout" {
			u.Writes = append(u.Writes, w)
		}
	case "file":
		if w.Static && w.Text == "-" {
			w.Text = "./-"
		}
		u.Writes = append(u.Writes, w)
	case "host":
		u.Hosts = append(u.Hosts, w)
		p.effects([]Effect{Reaches}, w, spelled(w))
	case "run":
		shell := w
		u.Runs = append(u.Runs, Command{Shell: &shell})
	default:
		if p.spec.Judge == nil {
			u.Unknown("takes `"+spelled(w)+"`, which toolhost does not know", w)
		}
	}
}

// keep records values for Judge.
func (p *parser) keep(kind string, words ...Word) {
	if p.spec.Judge == nil {
		return
	}
	for _, w := range words {
		p.args.values, p.args.kinds = append(p.args.values, w), append(p.args.kinds, kind)
	}
}

// effects records the effects of an option or an operand; of is "" for the effects of every use.
func (p *parser) effects(list []Effect, at Word, of string) {
	for _, e := range list {
		if e == RunsCode && of == "" {
			p.use.knownCodeRuns++
		}
		p.use.Effects = append(p.use.Effects, e)
		if of != "" && factOf[e] != "" {
			p.use.Reasons = append(p.use.Reasons, Reason{Fact: factOf[e], Of: of, Text: effectPhrase[e], Line: at.Line, Column: at.Column})
		}
	}
}

// finish asks for the missing and lets Judge have its word, which cannot make understood what was not.
func (p *parser) finish() (*Args, *Use) {
	if p.table.sub != nil && p.sub == nil && !p.onlyOperands && !slices.Contains(strings.Fields(p.spec.Operands), "sub?") {
		p.use.Unknown("has no subcommand", p.word(0))
	}
	if p.spec.Raw && p.spec.Judge == nil {
		p.use.Unknown("takes words that toolhost does not know", p.word(0))
	}
	p.use.Passes = p.spec.Passes && !slices.ContainsFunc(p.use.Effects[len(p.table.effects):], func(e Effect) bool { return e != Writes })
	if p.spec.Judge != nil && !p.asks() {
		understood := p.use.Understood
		p.spec.Judge(p.args, p.use)
		p.use.Understood = p.use.Understood && understood
	}
	p.use.Passes = p.use.Passes && p.use.Understood && len(p.use.Runs) > 0 && p.use.Dir == nil &&
		len(p.use.Reads)+len(p.use.Looks)+len(p.use.Writes)+len(p.use.Hosts) == 0
	if p.sub != nil {
		return p.sub, p.use
	}
	return p.args, p.use
}

// asks reports whether the only word is a question, which the program answers.
func (p *parser) asks() bool {
	words := p.args.Operands
	return len(words) == 1 && words[0].Static && p.spec.asks[words[0].Text]
}

func spelled(w Word) string {
	if w.Static {
		return w.Text
	}
	return w.Text + "…"
}

// Digits reports whether a text is decimal digits alone, and not empty.
func Digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Memory is reusable memory for callers that parse often. A result of its Parse is valid until Free.
type Memory struct {
	results []*result
	used    int
}

// result is the result of one Parse, with room for the lists of most commands.
type result struct {
	args Args
	use  Use
	room *room
}

// room is for the lists of one result.
type room struct {
	options  [8]GivenOption
	operands [8]Word
	values   [8]Word
	kinds    [16]string // of the operands, and of the values
	reads    [8]Word
	writes   [4]Word
	effects  [8]Effect
	reasons  [4]Reason
	runs     [2]Command
}

// Mark returns the argument that makes Free free every later result.
func (m *Memory) Mark() int { return m.used }

// Free frees what was parsed since a mark.
func (m *Memory) Free(mark int) { m.used = mark }

// next returns an empty result. Without a memory its lists have no room yet.
func (m *Memory) next() *result {
	if m == nil {
		return &result{use: Use{Understood: true}}
	}
	if m.used == len(m.results) {
		m.results = append(m.results, &result{room: new(room)})
	}
	r := m.results[m.used]
	m.used++
	x := r.room
	r.args = Args{
		Options: x.options[:0], Operands: x.operands[:0], Kinds: x.kinds[:0:8],
		values: x.values[:0], kinds: x.kinds[8:8],
	}
	r.use = Use{
		Understood: true, Reads: x.reads[:0], Writes: x.writes[:0], Effects: x.effects[:0], Reasons: x.reasons[:0], Runs: x.runs[:0],
	}
	return r
}
