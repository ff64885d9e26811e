package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literal expands unquoted text: backslashes, a tilde, globs. rest holds the later parts of the word.
func (w expander) literal(f *field, lit *syntax.Lit, first bool, rest []syntax.WordPart) {
	f.parts++
	f.numeric = false
	text := lit.Value
	if first {
		text = w.tilde(f, joinedLines(text), len(rest) > 0)
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			if i+1 == len(text) {
				w.unknown("a backslash at the end is not the same for all")
				break
			}
			if i++; text[i] != '\n' {
				f.add(text[i : i+1])
			}
		case '*', '?':
			f.special(c)
		case '[':
			switch end := bracketEnd(text[i:]); {
			case end > 0 && !f.plain:
				f.special('?')
				i += end
			case len(rest) > 0 || strings.Contains(text[i:], "]"):
				f.special(c)
			default:
				f.add("[")
			}
		default:
			f.add(text[i : i+1])
		}
	}
}

// bracketEnd returns the end of the bracket expression at the beginning of text, if it always stands for exactly one character;
// else 0.
func bracketEnd(text string) int {
	first := 1 // a ] here is no end
	if strings.HasPrefix(text[1:], "!") || strings.HasPrefix(text[1:], "^") {
		first++
	}
	if len(text) <= first+1 {
		return 0
	}
	end := strings.IndexByte(text[first+1:], ']')
	if end < 0 || strings.ContainsAny(text[first:first+1+end], "/[\\$`") {
		return 0
	}
	return first + 1 + end
}

// tilde expands a tilde at the beginning of a word, or of the value in a word that looks like an assignment, and returns the rest.
// If the word has more parts, a tilde without a slash behind it may not be one.
func (w expander) tilde(f *field, text string, more bool) string {
	start := 0
	if text == "" || text[0] != '~' {
		eq := strings.IndexByte(text, '=')
		if !assignsLike(text) || !strings.Contains(text[eq:], "~") {
			return text
		}
		if colon := strings.Contains(text[eq:], ":~"); colon || !strings.HasPrefix(text[eq+1:], "~") {
			if colon {
				f.add(text[:eq+1])
				f.unknown(false)
			}
			return text
		}
		start = eq + 1
	}
	f.add(text[:start])
	text = text[start:]
	if text == "~" && !more || strings.HasPrefix(text, "~/") {
		if w.scope.void == "" && w.ctx.Home != "" {
			f.add(w.ctx.Home)
			return text[1:]
		}
	}
	f.unknown(false)
	return text
}

// assignsLike reports whether a word that begins with this text looks like an assignment: a=, a+=, a[1]=.
func assignsLike(text string) bool {
	name, _, ok := strings.Cut(text, "=")
	name, _, _ = strings.Cut(strings.TrimSuffix(name, "+"), "[")
	return ok && plainName(name)
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
