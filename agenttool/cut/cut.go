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
	for back := 1; back < utf8.UTFMax && back <= n; back++ {
		if utf8.RuneStart(s[n-back]) {
			if !utf8.FullRuneInString(s[n-back : n]) {
				return s[:n-back]
			}
			break
		}
	}
	return s[:n]
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
