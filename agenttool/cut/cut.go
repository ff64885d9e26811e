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

// Short is Head, followed by a Mark if it cut anything.
func Short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Head(s, n) + Mark
}

// Characters returns the first n characters of s, with a Mark after them if there are more.
func Characters(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + Mark
	}
	return s
}
