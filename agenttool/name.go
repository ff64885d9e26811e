package agenttool

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"toolhost/agenttool/json"
)

// A path is bytes, and JSON has no form for those that are not UTF-8. Such a path is written as bash writes it, $'caf\xe9.txt', in
// records and in the output of tools, and ParsePath takes exactly that form back. A path that happens to look so is written in the form
// too, so that no two paths share a spelling.

// SpellPath returns a path as it is written into JSON: the path itself, or [QuotePath] of one that is not UTF-8 or looks quoted.
func SpellPath(path string) string {
	if utf8.ValidString(path) && !isQuotedPath(path) {
		return path
	}
	return QuotePath(path)
}

// PrintPath returns a path as it is written into text, on one line: SpellPath, which quotes paths with unprintable characters, too.
func PrintPath(path string) string {
	odd := func(r rune) bool {
		return !unicode.IsPrint(r) || r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r)
	}
	if strings.ContainsFunc(path, odd) {
		return QuotePath(path)
	}
	return SpellPath(path)
}

// QuotePath returns $'…', with each byte that does not print as \xHH. Bash reads it as the same path.
func QuotePath(path string) string {
	return quotePath(path, func(r rune) bool { return !unicode.IsPrint(r) || unicode.Is(unicode.Bidi_Control, r) })
}

// EscapePath returns a path in ASCII alone: itself, or $'…' with each other byte as \xHH. It tells paths apart that look the same.
func EscapePath(path string) string {
	beyond := func(r rune) bool { return r >= utf8.RuneSelf || !unicode.IsPrint(r) }
	if !strings.ContainsFunc(path, beyond) {
		return SpellPath(path)
	}
	return quotePath(path, beyond)
}

// quotePath returns $'…', with each byte that is not UTF-8 or of a character that is escaped as \xHH.
func quotePath(path string, escaped func(rune) bool) string {
	const hex = "0123456789abcdef"
	b := append(make([]byte, 0, len(path)+8), "$'"...)
	for len(path) > 0 {
		r, size := utf8.DecodeRuneInString(path)
		switch {
		case r == '\'' || r == '\\':
			b = append(b, '\\', path[0])
		case r == '\n':
			b = append(b, `\n`...)
		case r == utf8.RuneError || escaped(r):
			for i := range size {
				b = append(b, '\\', 'x', hex[path[i]>>4], hex[path[i]&15])
			}
		default:
			b = append(b, path[:size]...)
		}
		path = path[size:]
	}
	return string(append(b, '\''))
}

// ParsePath is the inverse of SpellPath: it returns the path behind a quoted spelling, and any other spelling as it is.
func ParsePath(spelling string) string {
	if path, ok := parseQuoted(spelling); ok {
		return path
	}
	return spelling
}

func isQuotedPath(s string) bool {
	_, ok := parseQuoted(s)
	return ok
}

func parseQuoted(s string) (path string, ok bool) {
	if len(s) < len("$''") || !strings.HasPrefix(s, "$'") || s[len(s)-1] != '\'' {
		return "", false
	}
	var b strings.Builder
	for s = s[2 : len(s)-1]; len(s) > 0; {
		switch {
		case s[0] == '\'':
			return "", false
		case s[0] != '\\':
			b.WriteByte(s[0])
			s = s[1:]
			continue
		case len(s) < 2:
			return "", false
		}
		switch s[1] {
		case '\\', '\'':
			b.WriteByte(s[1])
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'x':
			if len(s) < 4 || !isHex(s[2]) || !isHex(s[3]) {
				return "", false
			}
			b.WriteByte(hexDigit(s[2])<<4 | hexDigit(s[3]))
			s = s[2:]
		default:
			return "", false
		}
		s = s[2:]
	}
	return b.String(), true
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func hexDigit(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// MarshalJSON writes paths that are not UTF-8 as SpellPath does.
func (p Path) MarshalJSON() ([]byte, error) {
	type plain Path
	for _, s := range p.names() {
		*s = SpellPath(*s)
	}
	return json.Marshal(plain(p))
}

// UnmarshalJSON reads the form of MarshalJSON.
func (p *Path) UnmarshalJSON(b []byte) error {
	type plain Path
	if err := json.Unmarshal(b, (*plain)(p)); err != nil {
		return err
	}
	for _, s := range p.names() {
		*s = ParsePath(*s)
	}
	return nil
}

// names are the paths of p itself, without its spelling, which is that of an input.
func (p *Path) names() []*string { return []*string{&p.Absolute, &p.Resolved, &p.Root} }
