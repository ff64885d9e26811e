package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// field is one word while it is put together.
type field struct {
	text       []byte // known beginning of the word; all of it while hasUnknown is false
	hasUnknown bool   // a piece that is not known was added
	many       bool   // it may become no word or several
	noGlobs    bool   // no glob is looked for: the right side of an assignment, a pattern, a here-string

	// A glob.
	glob           bool   // nothing but a glob is not known
	local          bool   // its unknown beginning has no slash
	pattern        []byte // what the glob matches, as program.Shape.Pattern is
	patternInexact bool   // the glob matches less

	// The first part of the word, which describes it if there is no other one.
	parts           int           // of the word
	numeric         bool          // the only part is a number
	mayBeEmpty      bool          // ... or nothing
	numberPerLine   bool          // the only part is numbers in lines of their own, or nothing
	bareVariable    bool          // it is a variable with the name of a file, without quotes
	variablePattern string        // of a variable: the pattern of the names that it holds one of
	variableNames   value         // of a variable: one of the names that are listed
	listedNames     *program.Word // of a substitution: describes each of the words that it expands to

	// A token, see program.Word.
	token      bool // the word begins with one
	afterToken []byte

	// An example of the word, see program.Shape.
	sample     []byte // all of it, with numbers for its unknown pieces
	notNumeric bool   // something else than numbers is not known
}

// word returns the word that was put together.
func (f *field) word(at syntax.Pos) program.Word {
	word := program.Word{Text: string(f.text), Static: !f.hasUnknown, Line: int(at.Line()), Column: int(at.Col())}
	if !f.hasUnknown {
		return word
	}
	word.Glob, word.Many, word.Local, word.Token = f.glob, f.many, f.local, f.revision()
	word.Number, word.Lines = f.numeric && f.parts == 1, f.numberPerLine && f.parts == 1
	return word.Shaped(program.Shape{Pattern: f.matches(), Sample: f.sampled()})
}

// matches returns the pattern of the names that the word becomes, "" if it is not known.
func (f *field) matches() string {
	switch {
	case f.hasUnknown && f.glob && !f.patternInexact:
		return string(f.pattern)
	case f.hasUnknown && f.parts == 1:
		return f.variablePattern
	}
	return ""
}

// sampled returns the text with numbers for its unknown pieces, "" if those may be more than numbers.
func (f *field) sampled() string {
	if !f.hasUnknown || f.notNumeric {
		return ""
	}
	return string(f.sample)
}

// add appends text that is known.
func (f *field) add(text string) {
	switch {
	case !f.hasUnknown:
		f.text = append(f.text, text...)
		return
	case f.glob:
		f.pattern = append(f.pattern, program.QuotePattern(text)...)
	case f.token:
		f.afterToken = append(f.afterToken, text...)
	}
	if !f.notNumeric {
		f.sample = append(f.sample, text...)
	}
}

// revision reports whether the word is a token, and perhaps more that is part of the name of a revision. If the token is missing, the
// rest is no option either.
func (f *field) revision() bool {
	rest := string(f.afterToken)
	before, _, _ := strings.Cut(rest, ":")
	return f.hasUnknown && f.token && !strings.HasPrefix(rest, "-") && !strings.Contains(before, "/")
}

// number appends a decimal integer; several in lines of their own, or none, if it is not sure.
func (f *field) number(sure, many bool) {
	if !f.hasUnknown {
		f.sample = append(f.sample, f.text...)
	}
	f.sample = append(f.sample, '0')
	if !sure {
		f.sample = append(f.sample[:len(f.sample)-1], '\n', '0')
	}
	odd := f.notNumeric
	f.unknown(many)
	f.notNumeric = odd
}

// unknown appends a part with unknown text; many if it may become no word or several.
func (f *field) unknown(many bool) {
	if !f.hasUnknown {
		f.hasUnknown, f.glob = true, false
	}
	f.glob, f.notNumeric, f.token = false, true, false
	f.many = f.many || many
}

// special appends a glob character.
func (f *field) special(c byte) {
	if f.noGlobs {
		f.add(string(c))
		return
	}
	f.notNumeric, f.token = true, false
	if !f.hasUnknown {
		f.hasUnknown, f.glob = true, true
		f.local = len(f.text) == 0 // no glob character matches a slash
		f.pattern = []byte(program.QuotePattern(string(f.text)))
	}
	f.many = true
	f.patternInexact = f.patternInexact || c == '['
	if n := len(f.pattern); n == 0 || f.pattern[n-1] != '*' || n > 1 && f.pattern[n-2] == '\\' {
		f.pattern = append(f.pattern, '*')
	}
}

func (f *field) singleQuoted(x *syntax.SglQuoted) {
	if !x.Dollar {
		f.add(x.Value)
		return
	}
	text, ok := ansiC(x.Value)
	if !ok {
		f.unknown(false)
		return
	}
	f.add(text)
}

// quotedLiteral expands text in double quotes or in a here-document, where a backslash quotes only the escapable.
func (f *field) quotedLiteral(text, escapable string) {
	f.numeric = false
	if strings.IndexByte(text, '\\') < 0 {
		f.add(text)
		return
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && text[i+1] == '\n':
			i++
		case c == '\\' && i+1 < len(text) && strings.IndexByte(escapable, text[i+1]) >= 0:
			i++
			f.add(text[i : i+1])
		default:
			f.add(text[i : i+1])
		}
	}
}

// ansiC decodes the text of $'…'. It is not ok if that depends on the locale or bash would cut the text short.
func ansiC(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		if at := strings.IndexByte(`abefnrtvE\'"?`, s[i]); at >= 0 {
			b.WriteByte("\a\b\x1b\f\n\r\t\v\x1b\\'\"?"[at])
			continue
		}
		n, c, ok := ansiCode(s[i:])
		switch {
		case !ok:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		case c <= 0 || c > 0x7f:
			return "", false
		default:
			b.WriteByte(byte(c))
			i += n - 1
		}
	}
	return b.String(), true
}

// ansiCode reads an escape that gives a character by its number: n bytes long, c the number.
func ansiCode(s string) (n, c int, ok bool) {
	base, first, limit := 16, 1, 2
	switch s[0] {
	case 'x':
		if len(s) > 1 && s[1] == '{' {
			return 0, -1, true // bash takes \x{41}, and more, for a byte
		}
	case 'u':
		limit = 4
	case 'U':
		limit = 8
	case 'c':
		return 0, -1, true // control characters: their rules differ between versions
	case '0', '1', '2', '3', '4', '5', '6', '7':
		base, first, limit = 8, 0, 3
	default:
		return 0, 0, false
	}
	n = first
	for n < len(s) && n-first < limit {
		d := strings.IndexByte("0123456789abcdef", s[n]|0x20)
		if s[n] >= '0' && s[n] <= '9' {
			d = int(s[n] - '0')
		} else if d < 10 {
			d = -1
		}
		if d < 0 || d >= base {
			break
		}
		c = c*base + d
		n++
	}
	return n, c, n > first || base == 8
}

// printed appends the output of a command, of the given shape. It may be empty.
func (f *field) printed(of shape, quoted bool) {
	f.numeric, f.mayBeEmpty, f.numberPerLine = of == oneNumber, of == oneNumber, of == numberLines
	switch of {
	case oneNumber, numberLines:
		f.number(false, !quoted)
	case oneToken:
		token := f.token || !f.hasUnknown && len(f.text) == 0
		f.unknown(!quoted)
		f.token = token
	default:
		f.unknown(!quoted)
	}
}
