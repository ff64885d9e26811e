package ignore

import (
	"iter"
	"strconv"
	"strings"
)

// setting is one variable of a git configuration file.
type setting struct {
	name  string // "section.key" in lower case; a subsection stands between the two unchanged
	value string
	bare  bool // without "=": true if read as a boolean
}

// boolean parses the value as git parses a boolean; ok is false where git reports an error.
func (s setting) boolean() (value, ok bool) {
	if s.bare {
		return true, true
	}
	switch text := lowerText(s.value); text {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off", "":
		return false, true
	default:
		n, err := strconv.ParseInt(strings.TrimRight(text, "kmg"), 0, 32)
		return n != 0, err == nil
	}
}

// settings yields the variables of a git configuration file in order, up to the first syntax error of git.
func settings(text []byte) iter.Seq[setting] {
	return func(yield func(setting) bool) {
		c := config{rest: strings.ReplaceAll(strings.TrimPrefix(string(text), "\ufeff"), "\r\n", "\n")}
		for {
			switch c.skip(" \t\n\r\v\f"); c.head() {
			case 0:
				return
			case '#', ';':
				_, c.rest, _ = strings.Cut(c.rest, "\n")
			case '[':
				if !c.header() {
					return
				}
			default:
				if s, ok := c.variable(); !ok || !yield(s) {
					return
				}
			}
		}
	}
}

// config reads a git configuration file.
type config struct {
	rest    string // not yet read
	section string // in lower case, with a dot at its end
}

// head returns the first unread byte; 0 at the end, and git would refuse a NUL.
func (c *config) head() byte {
	if c.rest == "" {
		return 0
	}
	return c.rest[0]
}

func (c *config) skip(blanks string) { c.rest = strings.TrimLeft(c.rest, blanks) }

// word consumes letters, digits and the other given bytes, and returns them in lower case.
func (c *config) word(others string) string {
	end := strings.IndexFunc(c.rest, func(r rune) bool {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		return !letter && !strings.ContainsRune(others, r)
	})
	if end < 0 {
		end = len(c.rest)
	}
	word := lowerText(c.rest[:end])
	c.rest = c.rest[end:]
	return word
}

// header reads [section], [section.subsection] or [section "subsection"].
func (c *config) header() bool {
	c.rest = c.rest[1:]
	c.section = c.word("-.") + "."
	if c.head() != ']' {
		if c.skip(" \t\r\v\f"); c.head() != '"' || !c.subsection() {
			return false
		}
	}
	ok := c.head() == ']' && c.section != "."
	c.rest = strings.TrimPrefix(c.rest, "]")
	return ok
}

// subsection adds a quoted name to the section.
func (c *config) subsection() bool {
	start, escaped := 1, false
	for i := start; i < len(c.rest) && c.rest[i] != '\n'; i++ {
		switch {
		case escaped:
			escaped = false // any byte but a newline stands for itself
		case c.rest[i] == '\\':
			escaped = true
		case c.rest[i] == '"':
			c.section += c.rest[start:i] + "."
			c.rest = c.rest[i+1:]
			return true
		}
	}
	return false
}

// variable reads a key and its value.
func (c *config) variable() (s setting, ok bool) {
	if first := lowerByte(c.head()); first < 'a' || 'z' < first {
		return s, false
	}
	s.name = c.section + c.word("-")
	c.skip(" \t")
	if c.rest == "" || c.head() == '\n' {
		s.bare = true
		return s, true
	}
	if c.head() == '=' {
		c.rest = c.rest[1:]
		s.value, ok = c.value()
		s.value, _, _ = strings.Cut(s.value, "\x00") // git reads C strings
	}
	return s, ok
}

// value reads to the end of the line. Quotes group, a backslash escapes or joins lines. Surrounding blanks and
// comments after # or ; are dropped.
func (c *config) value() (value string, ok bool) {
	var b strings.Builder
	quoted, kept := false, 0 // kept is the length up to the last byte that is no trailing blank
	c.skip(" \t\r\v\f")
	for c.rest != "" {
		head := c.head()
		c.rest = c.rest[1:]
		switch {
		case head == '\n':
			return b.String()[:kept], !quoted
		case head == '"':
			quoted = !quoted
		case !quoted && (head == '#' || head == ';'):
			_, c.rest, _ = strings.Cut(c.rest, "\n")
			return b.String()[:kept], true
		case head == '\\':
			if !c.escape(&b) {
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
func (c *config) escape(b *strings.Builder) bool {
	if c.rest == "" {
		return true
	}
	head := c.head()
	c.rest = c.rest[1:]
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
