// Package gitconfig reads configuration files of git, as git does. It follows no includes.
package gitconfig

import (
	"errors"
	"iter"
	"strconv"
	"strings"
)

// Setting is one variable of a configuration file.
type Setting struct {
	Key   string // section.name in lower case; a subsection stands between the two unchanged
	Value string
	Bare  bool // without "=": true if read as a boolean
}

// Bool parses the value as git parses a boolean; ok is false where git reports an error.
func (s Setting) Bool() (value, ok bool) {
	if s.Bare {
		return true, true
	}
	switch text := lower(s.Value); text {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off", "":
		return false, true
	default:
		n, err := strconv.ParseInt(strings.TrimRight(text, "kmg"), 0, 32)
		return n != 0, err == nil
	}
}

// ErrSyntax means that git refuses a file.
var ErrSyntax = errors.New("is not understood")

// Parse yields the settings of a file in order, and [ErrSyntax] in place of all settings after the first syntax error.
func Parse(text string) iter.Seq2[Setting, error] {
	return func(yield func(Setting, error) bool) {
		p := parser{rest: strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")}
		for {
			p.skip(" \t\n\r\v\f")
			if p.rest == "" {
				return
			}
			var s Setting
			ok, found := true, false
			switch p.head() {
			case '#', ';':
				_, p.rest, _ = strings.Cut(p.rest, "\n")
			case '[':
				ok = p.header()
			default:
				s, ok = p.variable()
				found = ok
			}
			if !ok {
				yield(Setting{}, ErrSyntax)
				return
			}
			if found && !yield(s, nil) {
				return
			}
		}
	}
}

type parser struct {
	rest    string // not yet read
	section string // with a dot at its end
}

// head returns the first unread byte; 0 at the end, and git would refuse a NUL.
func (p *parser) head() byte {
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

func (p *parser) skip(blanks string) { p.rest = strings.TrimLeft(p.rest, blanks) }

// word consumes letters, digits and the other given bytes, and returns them in lower case.
func (p *parser) word(others string) string {
	end := strings.IndexFunc(p.rest, func(r rune) bool {
		return !isLetter(r) && (r < '0' || '9' < r) && !strings.ContainsRune(others, r)
	})
	if end < 0 {
		end = len(p.rest)
	}
	word := lower(p.rest[:end])
	p.rest = p.rest[end:]
	return word
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

// header reads [section], [section.subsection] or [section "subsection"].
func (p *parser) header() bool {
	p.rest = p.rest[1:]
	p.section = p.word("-.") + "."
	if p.head() != ']' {
		before := len(p.rest)
		if p.skip(" \t\r\v\f"); len(p.rest) == before || p.head() != '"' || !p.subsection() {
			return false
		}
	}
	ok := p.head() == ']' && p.section != "."
	p.rest = strings.TrimPrefix(p.rest, "]")
	return ok
}

// subsection adds a quoted name to the section.
func (p *parser) subsection() bool {
	var name strings.Builder
	escaped := false
	for i := 1; i < len(p.rest) && p.rest[i] != '\n'; i++ {
		switch c := p.rest[i]; {
		case !escaped && c == '\\':
			escaped = true // any byte but a newline stands for itself
		case !escaped && c == '"':
			p.section += name.String() + "."
			p.rest = p.rest[i+1:]
			return true
		default:
			name.WriteByte(c)
			escaped = false
		}
	}
	return false
}

// variable reads a key and its value.
func (p *parser) variable() (s Setting, ok bool) {
	if !isLetter(rune(p.head())) {
		return s, false
	}
	s.Key = p.section + p.word("-")
	p.skip(" \t")
	if p.rest == "" || p.head() == '\n' {
		s.Bare = true
		return s, true
	}
	if p.head() == '=' {
		p.rest = p.rest[1:]
		s.Value, ok = p.value()
		s.Value, _, _ = strings.Cut(s.Value, "\x00") // git reads C strings
	}
	return s, ok
}

// value reads to the end of the line. Quotes group, a backslash escapes or joins lines. Surrounding blanks and
// comments after # or ; are dropped.
func (p *parser) value() (value string, ok bool) {
	var b strings.Builder
	quoted, kept := false, 0 // kept is the length up to the last byte that is no trailing blank
	p.skip(" \t\r\v\f")
	for p.rest != "" {
		head := p.head()
		p.rest = p.rest[1:]
		switch {
		case head == '\n':
			return b.String()[:kept], !quoted
		case head == '"':
			quoted = !quoted
		case !quoted && (head == '#' || head == ';'):
			_, p.rest, _ = strings.Cut(p.rest, "\n")
			return b.String()[:kept], true
		case head == '\\':
			if !p.escape(&b) {
				return "", false
			}
		case !quoted && strings.IndexByte(" \t\r\v\f", head) >= 0:
			if b.Len() > 0 {
				b.WriteByte(head)
			}
			continue
		default:
			b.WriteByte(head)
		}
		kept = b.Len()
	}
	return b.String()[:kept], !quoted
}

// escape reads the character after a backslash in a value; it returns false for an unknown escape.
func (p *parser) escape(b *strings.Builder) bool {
	if p.rest == "" {
		return true
	}
	head := p.head()
	p.rest = p.rest[1:]
	switch head {
	case '\n':
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'b':
		b.WriteByte('\b')
	case '\\', '"':
		b.WriteByte(head)
	default:
		return false
	}
	return true
}

// lower makes the ASCII letters of s lower case.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}
