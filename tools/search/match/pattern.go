package match

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/tools/search/literal"
)

// maxInstructions bounds a compiled pattern.
const maxInstructions = 20_000

// Options say how a pattern is meant. The zero value: case matters, and a match lies within one line.
type Options struct {
	IgnoreCase bool // letters match in either case
	Multiline  bool // a match may span lines: as with (?ms)
}

// Pattern is a compiled regular expression and what is known of every match. It is immutable and safe for concurrent
// use.
type Pattern struct {
	re        *regexp.Regexp
	prog      *syntax.Prog
	multiline bool
	required  []literal.Clause
	exact     literal.Clause  // a line matches if it fulfils this; nil when that is not known
	single    *literal.Needle // the whole pattern, when it stands for exactly this text; else nil
	way       way             // how lines are found
	letters   *alphabet       // nil when no automaton is needed
}

// syntaxFlags are those of regexp.Compile.
const syntaxFlags = syntax.Perl

// Compile checks and compiles a pattern.
//
// Its errors have class invalid_arguments: bad_pattern, with the place of the mistake and what to write instead, or
// pattern_too_large.
func Compile(expr string, o Options) (*Pattern, error) {
	if _, err := syntax.Parse(expr, syntaxFlags); err != nil {
		return nil, badPattern(expr, err)
	}
	full := expr
	if o.IgnoreCase {
		full = "(?i)" + full
	}
	if o.Multiline {
		full = "(?ms)" + full
	}
	tree, err := syntax.Parse(full, syntaxFlags)
	if err != nil {
		return nil, badPattern(expr, err)
	}
	tree = tree.Simplify()
	if !o.Multiline && holdsNewline(tree) {
		return nil, patternError(expr, `a match lies within one line, so \n cannot match: set "multiline" to true`)
	}
	prog, err := syntax.Compile(tree)
	if err != nil || len(prog.Inst) > maxInstructions {
		return nil, agenttool.Failure(agenttool.InvalidArguments, "pattern_too_large",
			fmt.Sprintf("pattern %s compiles to too large a program: use fewer or smaller repetitions", quote(expr)))
	}
	p := &Pattern{prog: prog, multiline: o.Multiline}
	if p.re, err = regexp.Compile(full); err != nil {
		return nil, badPattern(expr, err)
	}
	p.learn(tree)
	if p.way = p.choose(); !p.way.sure {
		p.letters = newAlphabet(prog)
	}
	return p, nil
}

// learn finds out which texts stand for the pattern. A text with a \r may be in a line end, which is in no match.
func (p *Pattern) learn(tree *syntax.Regexp) {
	k := learn(tree)
	p.required = k.all()
	if k.loose || slices.ContainsFunc(k.texts, func(x text) bool { return strings.Contains(x.string, "\r") }) {
		return
	}
	if p.exact = k.texts.clause(); len(k.texts) == 1 && p.exact != nil {
		p.single = &p.exact[0]
	}
}

// holdsNewline reports whether the expression spells a line break.
func holdsNewline(re *syntax.Regexp) bool {
	return re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n') || slices.ContainsFunc(re.Sub, holdsNewline)
}

// Multiline reports whether matches may span lines.
func (p *Pattern) Multiline() bool { return p.multiline }

// Required returns what every matching line holds: one needle of each clause. With Multiline it is what every text with
// a match holds, whether its lines end in \n or in \r\n. Nil means that nothing is known.
func (p *Pattern) Required() []literal.Clause { return p.required }

// occurrences is FindAllIndex for a pattern that is one text.
func occurrences(dst [][2]int, n *literal.Needle, line []byte, max int) [][2]int {
	for at, found := 0, 0; found != max; found++ {
		i := n.Index(line[at:])
		if i < 0 {
			break
		}
		dst = append(dst, [2]int{at + i, at + i + len(n.Text())})
		at += i + len(n.Text())
	}
	return dst
}
