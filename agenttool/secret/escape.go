package secret

import (
	"bytes"
	"strconv"
)

// unescape returns text without the escapes that may hide a secret: the backslashes of a regular expression before a dot and the like, also
// doubled in JSON, and \u00XX for an ASCII character. at[i] is the offset of plain[i] in text, and has the length of text at its end. Both are
// nil for a text that has none of these.
func unescape(text []byte) (plain []byte, at []int) {
	if !bytes.Contains(text, []byte(`\.`)) && !bytes.Contains(text, []byte(`\+`)) && !bytes.Contains(text, []byte(`\u00`)) {
		return nil, nil
	}
	plain, at = make([]byte, 0, len(text)), make([]int, 0, len(text)+1)
	for i := 0; i < len(text); {
		c, n := escape(text[i:])
		plain, at = append(plain, c), append(at, i)
		i += n
	}
	return plain, append(at, len(text))
}

// escape returns the character at the beginning of b, and how many bytes it takes.
func escape(b []byte) (c byte, n int) {
	for n < len(b) && b[n] == '\\' {
		n++
	}
	switch rest := b[n:]; {
	case n == 0 || len(rest) == 0:
		return b[0], 1
	case bytes.IndexByte([]byte(".+-=_/~"), rest[0]) >= 0:
		return rest[0], n + 1
	case len(rest) >= 5 && rest[0] == 'u':
		if code, err := strconv.ParseUint(string(rest[1:5]), 16, 16); err == nil && code < 0x7f {
			return byte(code), n + 5
		}
	}
	return b[0], 1
}
