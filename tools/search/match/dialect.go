package match

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"toolhost/agenttool/visible"
)

// Reading is what the writer of a pattern may have meant by it, in RE2's syntax.
type Reading struct {
	Expr       string
	IgnoreCase bool   // whether to compile Expr with Options.IgnoreCase
	Why        string // what the pattern means as it is written, such as "in RE2 `\|` is the character |"

	valid bool // the pattern is correct in the dialect of this reading, and means the same lines there
	guess bool // the pattern is incorrect in every dialect, and other readings are about as likely
}

// Understand compiles a pattern of any dialect. If a pattern is invalid in RE2's syntax, or can never match, and only one
// reading of it is possible, it compiles that reading and returns it as read; otherwise read is nil. The errors are those
// of Compile; they name the possible readings.
func Understand(expr string, o Options) (p *Pattern, read *Reading, err error) {
	p, err = Compile(expr, o)
	if err == nil {
		r, ok := anchorsAsCharacters(expr, o)
		if !ok {
			return p, nil, nil
		}
		if p, err = Compile(r.Expr, o); err != nil {
			return nil, nil, err
		}
		return p, &r, nil
	}
	if _, wrong := syntax.Parse(expr, syntaxFlags); wrong == nil {
		return nil, nil, err // a newline, or too large
	}
	possible := repairs(expr, o)
	decided := possible
	if valid := slices.DeleteFunc(slices.Clone(possible), func(r Reading) bool { return !r.valid }); len(valid) > 0 {
		decided = valid
	}
	if len(decided) == 1 && !decided[0].guess {
		if p, ok := decided[0].compile(o); ok {
			return p, &decided[0], nil
		}
	}
	return nil, nil, suggest(err, possible)
}

// compile compiles a reading.
func (r *Reading) compile(o Options) (*Pattern, bool) {
	o.IgnoreCase = o.IgnoreCase || r.IgnoreCase
	p, err := Compile(r.Expr, o)
	return p, err == nil
}

const (
	maxReadings = 12  // readings of one pattern
	maxRead     = 400 // bytes of a pattern that is read in other ways: compiling takes long for some that are longer
)

// OtherReadings returns other readings of a valid pattern, the likeliest first: those of other dialects, with Unicode
// classes, in the other Unicode form, and as plain text. All of them compile. Letter case is left to Options.
func OtherReadings(expr string, o Options) []Reading {
	if len(expr) > maxRead {
		return nil
	}
	tokens := lex(expr)
	readings := slices.Concat([]Reading{{Expr: expr}}, basic(tokens), vim(tokens), wrapped(expr), unescaped(expr), fromZero(expr))
	if r, ok := anchorsAsCharacters(expr, o); ok {
		readings = append(readings, r)
	}
	for _, r := range slices.Clone(readings) {
		if u, ok := unicodeClasses(lex(r.Expr)); ok {
			readings = append(readings, r.then(u))
		}
	}
	for _, r := range slices.Clone(readings) {
		for _, f := range otherForms(lex(r.Expr)) {
			readings = append(readings, r.then(f))
		}
		if q, ok := quotes(lex(r.Expr)); ok {
			readings = append(readings, r.then(q))
		}
	}
	readings = append(readings, Reading{Expr: regexp.QuoteMeta(expr), Why: "it is a pattern, not plain text"})
	return usable(readings, expr, o)
}

// then returns the reading next, which was made from the pattern of r, with the reasons of both.
func (r Reading) then(next Reading) Reading {
	next.IgnoreCase = r.IgnoreCase
	if r.Why != "" {
		next.Why = r.Why + ", and " + next.Why
	}
	return next
}

// usable removes the readings that do not compile, duplicates, and those that equal the pattern itself.
func usable(readings []Reading, expr string, o Options) (few []Reading) {
	seen := map[Reading]bool{{Expr: expr}: true}
	for _, r := range readings {
		same := Reading{Expr: r.Expr, IgnoreCase: r.IgnoreCase}
		if seen[same] || len(few) == maxReadings {
			continue
		}
		seen[same] = true
		if _, ok := r.compile(o); ok {
			few = append(few, r)
		}
	}
	return few
}

// repairs returns the readings of a pattern that is invalid in RE2, those of whole dialects first.
func repairs(expr string, o Options) []Reading {
	if len(expr) > maxRead {
		return nil
	}
	tokens := lex(expr)
	all := slices.Concat(basic(tokens), vim(tokens), characters(tokens), perl(tokens, o.Multiline), unescaped(expr), backslashes(tokens))
	return usable(all, expr, o)
}

// kind is what a token is.
type kind uint8

const (
	plainChar kind = iota // a character that stands for itself, or a ., a lone { or an unclosed [
	escape
	class
	opening // of a group: (, (?:, (?P<name>, (?i:, and (?=, (?<!, (?>, which RE2 lacks
	whole   // (?i), (?#comment), (?P=name)
	closing
	bar
	repetition // with the ? or + that may follow it
	anchor     // ^ or $
)

// token is a part of a pattern in any dialect.
type token struct {
	kind kind
	text string
}

var (
	countedRepetition = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\{\d+(?:,\d*)?\}`)
	})
	longEscape = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\\(?:[pP](?:\{[^}]*\}|.)|x\{[0-9A-Fa-f]*\}|x[0-9A-Fa-f]{2}|[kg](?:\{[^}]*\}|<[^>]*>|'[^']*')|g\d+|u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]+\}|0[0-7]{1,2})`)
	})
	groupHead = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\((?:\?(?:<?[=!]|[:>|]|P?<\w+>|'\w+'|[imsUxJn]*(?:-[imsUxJn]+)?:))?`)
	})
	wholeGroup = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\(\?(?:#[^)]*|P=\w+|P>\w+|R|[imsUxJn]*(?:-[imsUxJn]+)?)\)`)
	})
)

// lex splits a pattern into tokens, whose texts together are the pattern.
func lex(expr string) (tokens []token) {
	for len(expr) > 0 {
		t := token{plainChar, ""}
		switch c := expr[0]; c {
		case '\\':
			t.kind = escape
			if t.text = longEscape().FindString(expr); t.text == "" {
				t.text = expr[:min(escaped(expr), len(expr))]
				if len(t.text) == 2 {
					_, width := utf8.DecodeRuneInString(expr[1:])
					t.text = expr[:1+width]
				}
			}
		case '[':
			if n, closed := setWidth(expr); closed {
				t = token{class, expr[:n]}
			}
		case '(':
			if t = (token{whole, wholeGroup().FindString(expr)}); t.text == "" {
				t = token{opening, groupHead().FindString(expr)}
			}
		case ')':
			t = token{closing, ")"}
		case '|':
			t = token{bar, "|"}
		case '^', '$':
			t = token{anchor, expr[:1]}
		case '*', '+', '?':
			t = token{repetition, expr[:1]}
		case '{':
			if n := len(countedRepetition().FindString(expr)); n > 0 {
				t = token{repetition, expr[:n]}
			}
		}
		if t.kind == repetition && len(t.text) < len(expr) && (expr[len(t.text)] == '?' || expr[len(t.text)] == '+') {
			t.text = expr[:len(t.text)+1]
		}
		if t.text == "" {
			_, width := utf8.DecodeRuneInString(expr)
			t.text = expr[:width]
		}
		tokens = append(tokens, t)
		expr = expr[len(t.text):]
	}
	return tokens
}

// written returns the pattern of tokens.
func written(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.text)
	}
	return b.String()
}

// begins reports whether token i is the first of the pattern, of a group or of an alternative.
func begins(tokens []token, i int) bool {
	return i == 0 || tokens[i-1].kind == opening || tokens[i-1].kind == bar
}

// ends reports whether token i is the last of the pattern, of a group or of an alternative.
func ends(tokens []token, i int) bool {
	return i == len(tokens)-1 || tokens[i+1].kind == closing || tokens[i+1].kind == bar
}

// basicEscapes are the operators of POSIX's basic expressions, with GNU's, in RE2.
var basicEscapes = map[string]string{
	`\|`: "|", `\(`: "(", `\)`: ")", `\{`: "{", `\}`: "}", `\+`: "+", `\?`: "?", `\<`: `\b`, `\>`: `\b`, "\\`": `\A`, `\'`: `\z`,
}

// basic reads a pattern as a basic expression: first by the book, where ( ) { } + ? and | without a backslash are
// characters, then with these as the operators that they are elsewhere.
func basic(tokens []token) (readings []Reading) {
	var strict, mixed strings.Builder
	first := ""
	for i, t := range tokens {
		operator, ok := basicEscapes[t.text]
		if (t.text == `\'` && i < len(tokens)-1) || (t.text == "\\`" && i > 0) {
			ok = false // an escaped quote
		}
		switch {
		case t.kind == escape && ok:
			if first == "" {
				first = t.text
			}
			strict.WriteString(operator)
			mixed.WriteString(operator)
			continue
		case t.kind == repetition && t.text[0] == '*':
			leads := i == 0 || tokens[i-1].text == `\(` || tokens[i-1].text == `\|`
			if leads {
				strict.WriteString(`\*`)
			} else {
				strict.WriteString("*")
			}
			strict.WriteString(regexp.QuoteMeta(t.text[1:]))
		case t.kind == opening || t.kind == closing || t.kind == bar || t.kind == repetition || t.kind == whole:
			strict.WriteString(regexp.QuoteMeta(t.text))
		case t.text == "{" || t.text == "}":
			strict.WriteString(`\` + t.text)
		default:
			strict.WriteString(t.text)
		}
		mixed.WriteString(t.text)
	}
	if first == "" {
		return nil
	}
	why := "in RE2 `" + first + "` is the character " + first[1:]
	return []Reading{{Expr: strict.String(), Why: why, valid: true}, {Expr: mixed.String(), Why: why, guess: true}}
}

// vim reads the atoms that only vim has: \v, \zs, \ze, \c and \C.
func vim(tokens []token) []Reading {
	var b strings.Builder
	magic := len(tokens) > 0 && tokens[0].text == `\v`
	r := Reading{valid: true}
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case i == 0 && magic:
			r.Why = "`\\v` is a vertical tab in RE2"
		case magic && (t.text == "<" || t.text == ">"):
			b.WriteString(`\b`)
		case t.text == `\z` && i+1 < len(tokens) && (tokens[i+1].text == "s" || tokens[i+1].text == "e"):
			r.Why = "`\\z` is the end of the text in RE2"
			i++
		case t.text == `\c` && (i == 0 || i == len(tokens)-1):
			r.IgnoreCase, r.Why = true, "RE2 has no `\\c`"
		case t.text == `\C` && (i == 0 || i == len(tokens)-1):
			r.Why = "RE2 has no `\\C`"
		default:
			b.WriteString(t.text)
		}
	}
	if r.Why == "" {
		return nil
	}
	r.Expr = b.String()
	return []Reading{r}
}

var slashed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/(.+)/([a-z]*)$`)
})

// wrapped reads /x/i as JavaScript and Perl do.
func wrapped(expr string) []Reading {
	found := slashed().FindStringSubmatch(expr)
	if found == nil {
		return nil
	}
	return []Reading{{Expr: found[1], IgnoreCase: strings.Contains(found[2], "i"), Why: "the slashes are characters of the pattern"}}
}

// unescaped reads a pattern whose backslashes were doubled once too often.
func unescaped(expr string) []Reading {
	if !strings.Contains(expr, `\\`) {
		return nil
	}
	return []Reading{{Expr: strings.ReplaceAll(expr, `\\`, `\`), Why: "`\\\\` is one backslash character", guess: true}}
}

var upTo = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^\\])\{,(\d+)\}`)
})

// fromZero reads x{,3} as Perl and Python do.
func fromZero(expr string) []Reading {
	if !upTo().MatchString(expr) {
		return nil
	}
	return []Reading{{Expr: upTo().ReplaceAllString(expr, "$1{0,$2}"), Why: "in RE2 `{,n}` is plain text"}}
}

// anchorsAsCharacters reads $ and ^ as characters in a pattern that can never match because text follows a $ or precedes
// a ^: $x, ${x}, a^b.
func anchorsAsCharacters(expr string, o Options) (Reading, bool) {
	if o.Multiline || !strings.ContainsAny(expr, "$^") {
		return Reading{}, false
	}
	if tree, err := syntax.Parse(expr, syntaxFlags); err != nil || !neverMatches(tree) {
		return Reading{}, false
	}
	tokens := lex(expr)
	which := ""
	for i, t := range tokens {
		if t.text == "$" && !ends(tokens, i) || t.text == "^" && !begins(tokens, i) {
			tokens[i] = token{escape, `\` + t.text}
			which = t.text
		}
	}
	r := Reading{Expr: written(tokens), valid: true}
	if which == "$" {
		r.Why = "`$` is the end of a line, where nothing can follow"
	} else {
		r.Why = "`^` is the beginning of a line, where nothing can precede"
	}
	tree, err := syntax.Parse(r.Expr, syntaxFlags)
	return r, which != "" && err == nil && !neverMatches(tree)
}

// neverMatches reports whether an expression that matches within one line demands text after its end or before its
// beginning.
func neverMatches(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpNoMatch:
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return neverMatches(re.Sub[0])
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !neverMatches(sub) })
	case syntax.OpConcat:
		before, ended := false, false
		for _, sub := range re.Sub {
			switch sub.Op {
			case syntax.OpEndText, syntax.OpEndLine:
				ended = true
			case syntax.OpBeginText, syntax.OpBeginLine:
				if before {
					return true
				}
			default:
				if neverMatches(sub) || ended && consumes(sub) {
					return true
				}
				before = before || consumes(sub)
			}
		}
	}
	return false
}

// consumes reports whether every match of an expression has at least one character.
func consumes(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return consumes(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && consumes(re.Sub[0])
	case syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, consumes)
	case syntax.OpAlternate:
		return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !consumes(sub) })
	}
	return false
}

// Classes of RE2 that are ASCII, and what other engines take for them in Unicode.
const unicodeWord = `\pL\pM\pN_`

var (
	unicodeEscapes = map[string]string{
		`\w`: `[` + unicodeWord + `]`, `\W`: `[^` + unicodeWord + `]`, `\d`: `\p{Nd}`, `\D`: `\P{Nd}`, `\s`: `[\s\pZ]`, `\S`: `[^\s\pZ]`,
	}
	unicodeMembers = strings.NewReplacer(`\\`, `\\`, `\w`, unicodeWord, `\d`, `\p{Nd}`, `\s`, `\s\pZ`,
		"[:word:]", unicodeWord, "[:alpha:]", `\pL\pM`, "[:alnum:]", `\pL\pM\pN`, "[:upper:]", `\p{Lu}`, "[:lower:]", `\p{Ll}`, "[:space:]", `\s\pZ`, "[:digit:]", `\p{Nd}`)
)

// unicodeClasses reads \w, \d, \s and \b for the letters, digits, spaces and words of all languages. A \b counts only
// at the ends of a pattern, of a group or of an alternative.
func unicodeClasses(tokens []token) (Reading, bool) {
	tokens = slices.Clone(tokens)
	first := ""
	for i, t := range tokens {
		other := t.text
		switch {
		case t.text == `\b` && begins(tokens, i) && !ends(tokens, i):
			other = `(?:^|[^` + unicodeWord + `])`
		case t.text == `\b` && ends(tokens, i) && !begins(tokens, i):
			other = `(?:[^` + unicodeWord + `]|$)`
		case t.kind == escape && unicodeEscapes[t.text] != "":
			other = unicodeEscapes[t.text]
		case t.kind == class:
			other = unicodeMembers.Replace(t.text)
		}
		if other != t.text && first == "" {
			first = t.text
		}
		tokens[i].text = other
	}
	return Reading{Expr: written(tokens), Why: "in RE2 `" + first + "` is ASCII"}, first != ""
}

// otherForms returns the pattern in the Unicode forms NFD and NFC, if they differ from its own. Letters beyond ASCII are
// written by number, because the forms look the same.
func otherForms(tokens []token) (readings []Reading) {
	for _, form := range []struct {
		norm.Form
		why string
	}{
		{norm.NFD, "it is in Unicode form NFC, the text in NFD"},
		{norm.NFC, "it is in Unicode form NFD, the text in NFC"},
	} {
		var b strings.Builder
		changed := false
		for i := 0; i < len(tokens); {
			t := tokens[i]
			if t.kind == class {
				other := classInForm(t.text, form.Form)
				changed = changed || other != t.text
				b.WriteString(other)
				i++
				continue
			}
			if t.kind != plainChar || t.text[0] < utf8.RuneSelf && !followedByMark(tokens, i) {
				b.WriteString(t.text)
				i++
				continue
			}
			end := i + 1
			for end < len(tokens) && tokens[end].kind == plainChar && !norm.NFC.PropertiesString(tokens[end].text).BoundaryBefore() {
				end++
			}
			before := written(tokens[i:end])
			after := form.String(before)
			changed = changed || after != before
			repeated := end < len(tokens) && tokens[end].kind == repetition && utf8.RuneCountInString(after) > 1
			if repeated {
				b.WriteString("(?:")
			}
			writeByNumber(&b, after)
			if repeated {
				b.WriteString(")")
			}
			i = end
		}
		if changed {
			readings = append(readings, Reading{Expr: b.String(), Why: form.why})
		}
	}
	return readings
}

// followedByMark reports whether the characters i and i+1 are one letter.
func followedByMark(tokens []token, i int) bool {
	return i+1 < len(tokens) && tokens[i+1].kind == plainChar && !norm.NFC.PropertiesString(tokens[i+1].text).BoundaryBefore()
}

// classInForm returns a class with the members that have several characters in the form beside it.
func classInForm(text string, form norm.Form) string {
	if strings.HasPrefix(text, "[^") {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if other := form.String(string(r)); utf8.RuneCountInString(other) > 1 {
			b.WriteString("|")
			writeByNumber(&b, other)
		}
	}
	if b.Len() == 0 {
		return text
	}
	return "(?:" + text + b.String() + ")"
}

func writeByNumber(b *strings.Builder, s string) {
	for _, r := range s {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			b.WriteString(`\x{` + strconv.FormatInt(int64(r), 16) + `}`)
		}
	}
}

// quotesLike returns the class of the quotes that are used for one; "" if text is none.
func quotesLike(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	plain, typographic := visible.Keyboard(r)
	if !typographic {
		plain = text
	}
	if size != len(text) || plain != "'" && plain != `"` {
		return ""
	}
	return "[" + plain + visible.Typographic(plain) + "]"
}

// quotes reads straight and curly quotes for each other.
func quotes(tokens []token) (Reading, bool) {
	tokens = slices.Clone(tokens)
	changed := false
	for i, t := range tokens {
		if set := quotesLike(strings.TrimPrefix(t.text, `\`)); set != "" && (t.kind == plainChar || t.kind == escape) {
			tokens[i] = token{class, set}
			changed = true
		}
	}
	return Reading{Expr: written(tokens), Why: "straight and curly quotes differ"}, changed
}

// characters reads operators as characters where they are invalid: parentheses and brackets without their partners, and
// repetitions of nothing or of repetitions.
func characters(tokens []token) []Reading {
	expr := written(tokens)
	tokens = slices.Clone(tokens)
	literal := make([]bool, len(tokens))
	var open []int
	nested := false
	for i, t := range tokens {
		switch {
		case t.kind == opening:
			open = append(open, i)
		case t.kind == closing && len(open) == 0:
			literal[i] = true
		case t.kind == closing:
			start := open[len(open)-1]
			open = open[:len(open)-1]
			literal[i] = literal[start]
		case t.kind == repetition && i > 0 && tokens[i-1].kind == repetition:
			nested = nested || !literal[i-1]
			literal[i-1], literal[i] = true, true
		case t.kind == repetition && len(t.text) == 2 && t.text[1] == '+':
			literal[i], nested = true, true
		case t.kind == repetition && i > 0 && tokens[i-1].kind == opening: // (*x)
			literal[i-1], literal[i] = true, true
		case t.kind == repetition && begins(tokens, i):
			literal[i] = true
		case t.text == "[":
			literal[i] = true
		case t.text == `\`:
			literal[i] = true
		}
	}
	for _, i := range open {
		literal[i] = true
	}
	first, several := "", false
	for i, t := range tokens {
		if literal[i] {
			if first == "" {
				first = t.text
			}
			tokens[i].text = regexp.QuoteMeta(t.text)
		}
		several = several || t.kind == bar
	}
	if first == "" {
		return nil
	}
	readings := []Reading{{Expr: written(tokens), Why: "`" + first + "` for the character", guess: several || nested}}
	if several && len(open) > 0 {
		readings = append(readings, Reading{Expr: expr + strings.Repeat(")", len(open)), Why: "closed at the end", guess: true})
	}
	return readings
}

// backslashes reads every backslash before a letter as a character, as in C:\Users.
func backslashes(tokens []token) []Reading {
	tokens = slices.Clone(tokens)
	unknown := false
	for i, t := range tokens {
		if t.kind != escape || len(t.text) < 2 || !isWordByte(t.text[1]) {
			continue
		}
		if _, err := syntax.Parse(t.text, syntaxFlags); err != nil {
			unknown = true
		}
		tokens[i].text = `\` + t.text
	}
	if !unknown {
		return nil
	}
	return []Reading{{Expr: written(tokens), Why: "`\\` for the character", guess: true}}
}

func isWordByte(c byte) bool {
	return c < utf8.RuneSelf && (c == '_' || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c)))
}
