package edit

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// statement is a header or a pair of a TOML file.
type statement struct {
	start, end int      // whole lines
	path       []string // of the table, or of the value from the root
	table      []string // of a pair; nil for a header
	header     bool
	array      bool   // a header with two brackets
	spelled    string // the key of a pair as it is written
	from, to   int    // the value of a pair
}

// scanner finds the statements of TOML 1.0. It knows where values begin and end, and nothing of dates and numbers.
type scanner struct {
	text string
	at   int
	all  []statement
}

// scanTOML returns the statements of a file, or a [*LineError].
func scanTOML(text string) ([]statement, error) {
	s := scanner{text: text}
	var table []string
	for s.at < len(s.text) {
		start := s.at
		s.blanks()
		one := statement{start: start, header: s.begins("[")}
		var err error
		switch {
		case s.ended():
			if err := s.lineEnd(); err != nil {
				return nil, err
			}
			continue
		case one.header:
			one.array = s.begins("[[")
			one.path, err = s.headerLine(one.array)
			table = one.path
		default:
			err = s.pair(&one)
			one.table, one.path = table, slices.Concat(table, one.path)
		}
		if err == nil {
			err = s.lineEnd()
		}
		if err != nil {
			return nil, err
		}
		one.end = s.at
		s.all = append(s.all, one)
	}
	return s.all, nil
}

func (s *scanner) begins(mark string) bool { return strings.HasPrefix(s.text[s.at:], mark) }

func (s *scanner) errorf(format string, args ...any) error {
	return &LineError{1 + strings.Count(s.text[:min(s.at, len(s.text))], "\n"), "not TOML: " + fmt.Sprintf(format, args...)}
}

func (s *scanner) blanks() {
	for s.at < len(s.text) && (s.text[s.at] == ' ' || s.text[s.at] == '\t') {
		s.at++
	}
}

// ended reports whether nothing but a comment follows on the line.
func (s *scanner) ended() bool {
	return s.at >= len(s.text) || s.begins("#") || s.begins("\n") || s.begins("\r\n")
}

// lineEnd goes to the next line.
func (s *scanner) lineEnd() error {
	s.blanks()
	if !s.ended() {
		return s.errorf("%q is not expected here", s.rest())
	}
	if i := strings.IndexByte(s.text[s.at:], '\n'); i >= 0 {
		s.at += i + 1
	} else {
		s.at = len(s.text)
	}
	return nil
}

// rest is the beginning of the rest of the line.
func (s *scanner) rest() string {
	line, _, _ := strings.Cut(s.text[s.at:], "\n")
	return line[:min(len(line), 20)]
}

func (s *scanner) headerLine(array bool) (path []string, err error) {
	open, end := "[", "]"
	if array {
		open, end = "[[", "]]"
	}
	s.at += len(open)
	if path, err = s.key(); err != nil {
		return nil, err
	}
	if !s.begins(end) {
		return nil, s.errorf("the table has no %s", end)
	}
	s.at += len(end)
	return path, nil
}

func (s *scanner) pair(one *statement) (err error) {
	from := s.at
	if one.path, err = s.key(); err != nil {
		return err
	}
	one.spelled = strings.TrimSpace(s.text[from:s.at])
	if !s.begins("=") {
		return s.errorf("= is missing after %s", one.spelled)
	}
	s.at++
	s.blanks()
	one.from = s.at
	err = s.value()
	one.to = s.at
	return err
}

// key reads a key with dots, and the blanks after it.
func (s *scanner) key() (path []string, err error) {
	for {
		s.blanks()
		from := s.at
		switch {
		case s.begins(`"`), s.begins("'"):
			if err := s.quoted(); err != nil {
				return nil, err
			}
			path = append(path, unquoteTOML(s.text[from:s.at]))
		default:
			for s.at < len(s.text) && isBare(s.text[s.at]) {
				s.at++
			}
			if s.at == from {
				return nil, s.errorf("a key is missing before %q", s.rest())
			}
			path = append(path, s.text[from:s.at])
		}
		if s.blanks(); !s.begins(".") {
			return path, nil
		}
		s.at++
	}
}

func isBare(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// quoted goes to the end of a string.
func (s *scanner) quoted() error {
	mark := s.text[s.at : s.at+1]
	long := strings.Repeat(mark, 3)
	isLong := s.begins(long)
	if isLong {
		mark = long
	}
	from := s.at
	for s.at += len(mark); s.at < len(s.text); s.at++ {
		switch {
		case s.begins(mark):
			s.at += len(mark)
			for isLong && s.begins(long[:1]) { // the string may end with quotes of its own
				s.at++
			}
			return nil
		case long[0] == '"' && s.begins(`\`):
			s.at++
		case !isLong && s.begins("\n"):
			s.at = from
			return s.errorf("the string has no end: %s", s.rest())
		}
	}
	s.at = from
	return s.errorf("the string has no end: %s", s.rest())
}

// value goes to the end of a value.
func (s *scanner) value() error {
	switch {
	case s.begins(`"`), s.begins("'"):
		return s.quoted()
	case s.begins("["):
		return s.nested("]")
	case s.begins("{"):
		return s.nested("}")
	}
	from := s.at
	for !s.ended() && !strings.ContainsRune(",]}", rune(s.text[s.at])) {
		s.at++
	}
	word := strings.TrimRight(s.text[from:s.at], " \t")
	s.at = from + len(word)
	if !plainValue.MatchString(word) {
		s.at = from
		return s.errorf("%q is not a value", s.rest())
	}
	return nil
}

// nested goes to the end of an array or an inline table.
func (s *scanner) nested(end string) error {
	from := s.at
	for s.at++; s.at < len(s.text); {
		switch {
		case s.begins(end):
			s.at++
			return nil
		case s.ended():
			if err := s.lineEnd(); err != nil {
				return err
			}
		case s.begins(" "), s.begins("\t"), s.begins(","):
			s.at++
		case end == "}":
			if err := s.pair(&statement{}); err != nil {
				return err
			}
		default:
			if err := s.value(); err != nil {
				return err
			}
		}
	}
	s.at = from
	return s.errorf("there is no %s for %q", end, s.rest())
}

// plainValue is a boolean, a number or a time.
var plainValue = regexp.MustCompile(`^(true|false|[+-]?(inf|nan|[0-9][0-9A-Za-z_.:+-]*)|[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9][0-9:.Z+-]*)$`)

// unquoteTOML reads a string on one line. One that Go does not read stays as it is.
func unquoteTOML(s string) string {
	if strings.HasPrefix(s, "'") {
		return strings.Trim(s, "'")
	}
	if text, err := strconv.Unquote(s); err == nil {
		return text
	}
	return s
}
