package neutral

import (
	"errors"
	"strings"
)

// entry is one setting of a configuration file.
type entry struct {
	key   string // section.subsection.name: section and name in lower case, the subsection unchanged
	value string
}

// errSyntax means that a file is not a configuration, or that git may read it differently.
var errSyntax = errors.New("is not understood")

// parseConfig parses a git configuration file as git does. Text that git refuses or may read differently is an error.
func parseConfig(text string) ([]entry, error) {
	if strings.ContainsRune(text, 0) {
		return nil, errSyntax
	}
	p := configParser{rest: strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")}
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\n\r")
		if p.rest == "" {
			return p.entries, nil
		}
		var err error
		switch c := p.rest[0]; {
		case c == '#' || c == ';':
			_, p.rest, _ = strings.Cut(p.rest, "\n")
		case c == '[':
			err = p.header()
		case letter(c):
			err = p.variable()
		default:
			err = errSyntax
		}
		if err != nil {
			return nil, err
		}
	}
}

type configParser struct {
	rest    string
	section string // in front of each key, with its dot; "" before the first header
	entries []entry
}

// header takes [section], [section.subsection] and [section "subsection"].
func (p *configParser) header() error {
	end := strings.IndexFunc(p.rest[1:], func(r rune) bool { return r >= 0x80 || !letterOrDigit(byte(r)) && r != '.' }) + 1
	if end == 0 {
		return errSyntax
	}
	name := strings.ToLower(p.rest[1:end])
	p.rest = p.rest[end:]
	if p.rest[0] != ']' {
		sub, err := p.subsection()
		if err != nil {
			return err
		}
		name += "." + sub
	}
	p.section, p.rest = name+".", p.rest[1:]
	return nil
}

// subsection consumes the quoted text before the closing bracket, but not the bracket.
func (p *configParser) subsection() (string, error) {
	blanks := len(p.rest) - len(strings.TrimLeft(p.rest, " \t\r"))
	if blanks == 0 || !strings.HasPrefix(p.rest[blanks:], `"`) {
		return "", errSyntax
	}
	var b strings.Builder
	for i := blanks + 1; i < len(p.rest); i++ {
		c := p.rest[i]
		if c == '\\' {
			if i++; i >= len(p.rest) {
				break
			}
			c = p.rest[i]
		} else if c == '"' {
			if p.rest = p.rest[i+1:]; !strings.HasPrefix(p.rest, "]") {
				break
			}
			return b.String(), nil
		}
		if c == '\n' {
			break
		}
		b.WriteByte(c)
	}
	return "", errSyntax
}

// variable takes NAME, and NAME = VALUE.
func (p *configParser) variable() error {
	end := 0
	for end < len(p.rest) && letterOrDigit(p.rest[end]) {
		end++
	}
	e := entry{key: p.section + strings.ToLower(p.rest[:end])}
	p.rest = strings.TrimLeft(p.rest[end:], " \t")
	switch {
	case p.section == "":
		return errSyntax
	case p.rest == "":
	case p.rest[0] == '\n':
	case p.rest[0] == '=':
		var err error
		if e.value, err = p.value(); err != nil {
			return err
		}
	default:
		return errSyntax
	}
	p.entries = append(p.entries, e)
	return nil
}

// value consumes the text from = to the end of the line: quotes group, a backslash escapes and joins lines.
func (p *configParser) value() (string, error) {
	var b strings.Builder
	quoted, blanks := false, 0
	for i := 1; ; i++ {
		if i >= len(p.rest) || p.rest[i] == '\n' {
			p.rest = p.rest[min(i, len(p.rest)):]
			if quoted {
				return "", errSyntax
			}
			return b.String(), nil
		}
		c := p.rest[i]
		switch {
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			if b.Len() > 0 {
				blanks++
			}
			continue
		case !quoted && (c == '#' || c == ';'):
			_, rest, _ := strings.Cut(p.rest[i:], "\n")
			p.rest = rest
			return b.String(), nil
		}
		for ; blanks > 0; blanks-- {
			b.WriteByte(' ')
		}
		switch c {
		case '"':
			quoted = !quoted
		case '\\':
			if i++; i >= len(p.rest) {
				return "", errSyntax
			}
			if c = p.rest[i]; c == '\n' {
				continue
			}
			at := strings.IndexByte(`ntb\"`, c)
			if at < 0 {
				return "", errSyntax
			}
			b.WriteByte("\n\t\b\\\""[at])
		default:
			b.WriteByte(c)
		}
	}
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// letterOrDigit reports whether a name may contain a byte.
func letterOrDigit(c byte) bool { return letter(c) || c >= '0' && c <= '9' || c == '-' }

// splitKey splits a key; the subsection may contain dots.
func splitKey(key string) (section, sub, name string) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return "", "", key
	}
	if first == last {
		return key[:first], "", key[last+1:]
	}
	return key[:first], key[first+1 : last], key[last+1:]
}
