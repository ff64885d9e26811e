package persist

import "bytes"

// maxDepth is how deep the values of an event may be nested, as in encoding/json.
const maxDepth = 10_000

// validJSON is json.Valid, several times faster for objects that consist of strings, as events do.
func validJSON(b []byte) bool {
	s := jsonScanner{b: b}
	return s.value(0) && s.space() == 0 && s.i == len(b)
}

// jsonScanner checks JSON from the byte i on. Its methods report whether the text is right, and stand behind it then.
type jsonScanner struct {
	b []byte
	i int
}

// space skips blanks and returns the byte that follows, 0 at the end.
func (s *jsonScanner) space() byte {
	for ; s.i < len(s.b); s.i++ {
		if c := s.b[s.i]; c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

func (s *jsonScanner) value(depth int) bool {
	switch c := s.space(); c {
	case '{':
		return depth < maxDepth && s.members('}', func() bool {
			return s.space() == '"' && s.text() && s.space() == ':' && s.skip() && s.value(depth+1)
		})
	case '[':
		return depth < maxDepth && s.members(']', func() bool { return s.value(depth + 1) })
	case '"':
		return s.text()
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	}
	return s.number()
}

func (s *jsonScanner) skip() bool {
	s.i++
	return true
}

// members reads the members of an object or an array up to end.
func (s *jsonScanner) members(end byte, member func() bool) bool {
	s.i++
	if s.space() == end {
		return s.skip()
	}
	for member() {
		switch s.space() {
		case ',':
			s.i++
		case end:
			return s.skip()
		default:
			return false
		}
	}
	return false
}

// plainText marks the bytes that stand for themselves in a string.
var plainText = func() (plain [256]bool) {
	for c := range plain {
		plain[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return plain
}()

func (s *jsonScanner) text() bool {
	s.i++
	for {
		for s.i < len(s.b) && plainText[s.b[s.i]] {
			s.i++
		}
		switch {
		case s.i == len(s.b) || s.b[s.i] < ' ':
			return false
		case s.b[s.i] == '"':
			return s.skip()
		case !s.escape():
			return false
		}
	}
}

func (s *jsonScanner) escape() bool {
	s.i++
	if s.i == len(s.b) {
		return false
	}
	c := s.b[s.i]
	s.i++
	if c != 'u' {
		return bytes.IndexByte([]byte(`"\/bfnrt`), c) >= 0
	}
	for range 4 {
		if s.i == len(s.b) || bytes.IndexByte([]byte("0123456789abcdefABCDEF"), s.b[s.i]) < 0 {
			return false
		}
		s.i++
	}
	return true
}

func (s *jsonScanner) word(w string) bool {
	if !bytes.HasPrefix(s.b[s.i:], []byte(w)) {
		return false
	}
	s.i += len(w)
	return true
}

func (s *jsonScanner) number() bool {
	s.one("-")
	if !s.one("0") && !s.digits() {
		return false
	}
	if s.one(".") && !s.digits() {
		return false
	}
	if !s.one("eE") {
		return true
	}
	s.one("+-")
	return s.digits()
}

// one skips a byte if it is one of set.
func (s *jsonScanner) one(set string) bool {
	if s.i == len(s.b) || bytes.IndexByte([]byte(set), s.b[s.i]) < 0 {
		return false
	}
	return s.skip()
}

func (s *jsonScanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && s.b[s.i] >= '0' && s.b[s.i] <= '9' {
		s.i++
	}
	return s.i > start
}
