// Package cut shortens text without breaking its characters.
package cut

import "unicode/utf8"

// Mark stands where a text goes on.
const Mark = "…"

// Head returns the first characters of s that fit into n bytes.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Whole(s[:n])
}

// Whole returns s without a character that was cut off at its end.
func Whole[T string | []byte](s T) T {
	for n := len(s) - 1; n >= 0 && n > len(s)-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			if !utf8.FullRune([]byte(s[n:])) {
				return s[:n]
			}
			break
		}
	}
	return s
}

// Common returns the length in bytes of the characters that a and b both begin with.
func Common[T string | []byte](a, b T) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && (n < len(a) && !utf8.RuneStart(a[n]) || n < len(b) && !utf8.RuneStart(b[n])) {
		n--
	}
	return n
}

// Tail returns the last characters of s that fit into n bytes.
func Tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for skip := range min(len(s), utf8.UTFMax) {
		if utf8.RuneStart(s[skip]) {
			return s[skip:]
		}
	}
	return s
}

// Short is Head, followed by a Mark if it cut anything. It keeps words whole, except for the first.
func Short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return words(s, Head(s, n)) + Mark
}

// Characters returns the first n characters of s, with a Mark after them if there are more. It keeps words whole, except for the first.
func Characters(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return words(s, string(r[:n])) + Mark
	}
	return s
}

// words returns a head of s without the word that it ends within, unless it has no other.
func words(s, head string) string {
	if whole := Before(s, len(head)); whole > 0 && len(head) <= len(s) {
		return head[:whole]
	}
	return head
}

// maxWord is the length of the words that Before and After keep whole.
const maxWord = 4 << 10

// inWord reports whether a byte may belong to a word such as a token, a path, a digest or base64.
func inWord(c byte) bool {
	switch c {
	case '_', '+', '/', '=', '.', '~', '%', '-', ':':
		return true
	}
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// Before returns the last place in s, up to n, that is within no word. A part of a token does not look like one. Within words of more
// than 4 KiB it returns n.
func Before[T string | []byte](s T, n int) int {
	i := n
	for i > 0 && i < len(s) && inWord(s[i-1]) && inWord(s[n]) && n-i < maxWord {
		i--
	}
	if n-i == maxWord {
		return n
	}
	return i
}

// After is Before for the first place from n on.
func After[T string | []byte](s T, n int) int {
	i := n
	for i > 0 && i < len(s) && inWord(s[n-1]) && inWord(s[i]) && i-n < maxWord {
		i++
	}
	if i-n == maxWord {
		return n
	}
	return i
}
