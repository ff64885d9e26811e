package match

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/tools/search/literal"
)

// maxInstructions bounds a compiled pattern.
const maxInstructions = 20_000

// Options change the meaning of a pattern. The zero value is case-sensitive, with matches within one line.
type Options struct {
	IgnoreCase bool // letters match in either case
	Multiline  bool // a match may span lines: as with (?ms)
}

// Pattern is a compiled regular expression with conditions that every match fulfils. It is immutable and safe for
// concurrent use.
type Pattern struct {
	re        *regexp.Regexp
	prog      *syntax.Prog
	multiline bool
	required  []literal.Clause
	ascii     bool            // there are required clauses, and their needles are ASCII
	exact     literal.Clause  // a line matches if and only if it fulfils this; nil: unknown
	single    *literal.Needle // the only text that the pattern matches; nil: not a single text
	way       way             // the strategy to find lines
	letters   *alphabet       // nil when no automaton is needed
}

// syntaxFlags are the flags of regexp.Compile.
const syntaxFlags = syntax.Perl

// Compile parses and compiles a pattern.
//
// Its errors have class invalid_arguments and code bad_pattern, with the place of the mistake and a remedy, or
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

// learn derives the texts that represent the pattern. A text with a \r may lie in a line end, which no match
// includes.
func (p *Pattern) learn(tree *syntax.Regexp) {
	k := learn(tree)
	p.required = k.all()
	p.ascii = len(p.required) > 0 && !slices.ContainsFunc(p.required, beyondASCII)
	if k.loose || slices.ContainsFunc(k.texts, func(x text) bool { return strings.Contains(x.string, "\r") }) {
		return
	}
	if p.exact = k.texts.clause(); len(k.texts) == 1 && p.exact != nil {
		p.single = &p.exact[0]
	}
}

// beyondASCII reports whether a clause has a needle with other characters than ASCII. Those that differ from k and s only
// in case do not count: no text holds them by chance.
func beyondASCII(c literal.Clause) bool {
	return slices.ContainsFunc(c, func(n literal.Needle) bool {
		return strings.ContainsFunc(string(n.Text()), func(r rune) bool { return r >= utf8.RuneSelf && r != 'ſ' && r != '\u212a' })
	})
}

// holdsNewline reports whether the expression contains a literal line break.
func holdsNewline(re *syntax.Regexp) bool {
	return re.Op == syntax.OpLiteral && slices.Contains(re.Rune, '\n') || slices.ContainsFunc(re.Sub, holdsNewline)
}

// Multiline reports whether matches may span lines.
func (p *Pattern) Multiline() bool { return p.multiline }

// ASCII reports whether every match needs certain ASCII characters, as Required says. Then only lines with their bytes can
// match, whatever the encoding of the text, if it is one in which these bytes stand for themselves.
func (p *Pattern) ASCII() bool { return p.ascii }

// Required returns conditions on every matching line: it holds one needle of each clause. With Multiline the
// conditions apply to every text with a match, whether its lines end in \n or in \r\n. Nil means that none are known.
func (p *Pattern) Required() []literal.Clause { return p.required }

// occurrences is FindAllIndex for a pattern that is a single text.
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
