package secret

import (
	"bytes"

	"toolhost/agenttool/cut"
)

// form is one kind of secret that can be recognized by its own text.
type form struct {
	kind     string
	literals []string // of at least three bytes; each occurrence is a candidate

	// find returns the secret of a candidate: b[at:at+n] is the literal. The secret may begin before the literal or
	// after it. No secret: end is 0.
	find func(b []byte, at, n int) (start, end int)

	// all replaces find for a candidate that may have several secrets: it calls add for each.
	all func(b []byte, at, n int, add func(start, end int))

	// letters are those of a token behind its literal: see cutOff. Nil: its beginning is not looked for.
	letters *alphabet

	// quick dismisses a candidate in encoded JSON, where strings contain escapes. Nil: it dismisses none.
	quick func(b []byte, at, n int) bool
}

// alphabet is a set of bytes.
type alphabet [256]bool

// set returns the alphabet of the bytes of s, where a-z, A-Z and 0-9 are ranges.
func set(s string) *alphabet {
	var a alphabet
	for i := 0; i < len(s); i++ {
		if i+2 < len(s) && s[i+1] == '-' {
			for c := int(s[i]); c <= int(s[i+2]); c++ {
				a[c] = true
			}
			i += 2
			continue
		}
		a[s[i]] = true
	}
	return &a
}

var (
	letters  = set("0-9A-Za-z")
	words    = set("0-9A-Za-z_")
	dashed   = set("0-9A-Za-z_-")
	base64s  = set("0-9A-Za-z+/=_-")
	lowerHex = set("0-9a-f")
	dotted   = set("0-9A-Za-z_.-")
)

// without returns the alphabet without the bytes of s.
func (a *alphabet) without(s string) *alphabet {
	rest := *a
	for i := range len(s) {
		rest[s[i]] = false
	}
	return &rest
}

// run returns the end of the run of letters of a that begins at i.
func (a *alphabet) run(b []byte, i int) int {
	for i < len(b) && a[b[i]] {
		i++
	}
	return i
}

// back returns the beginning of the run of letters of a that ends at i.
func (a *alphabet) back(b []byte, i int) int {
	for i > 0 && a[b[i-1]] {
		i--
	}
	return i
}

// token returns the form of tokens that begin with one of the prefixes, and have at least least further letters of a.
func token(kind string, a *alphabet, least int, prefixes ...string) form {
	return form{kind: kind, literals: prefixes, letters: a, find: func(b []byte, at, n int) (int, int) {
		end := a.run(b, at+n)
		if end-at-n < least || !Random(b[at+n:end]) {
			return 0, 0
		}
		return at, end
	}}
}

// word returns the form of tokens as token does, if they have exactly size further letters and stand alone: their
// prefixes also occur within other text.
func word(kind string, a *alphabet, size int, prefixes ...string) form {
	return form{kind: kind, literals: prefixes, letters: a, find: func(b []byte, at, n int) (int, int) {
		end := a.run(b, at+n)
		if end-at-n != size || !alone(b, at) || end < len(b) && words[b[end]] || !Random(b[at+n:end]) {
			return 0, 0
		}
		return at, end
	}}
}

// leastCut is how many letters of a token behind its literal count if the rest was cut off.
const leastCut = 10

// cutOff returns the end of a candidate that is too short because a text or a quotation ends within it, 0 if it is none.
func (f *form) cutOff(b []byte, at, n int) (end int) {
	if f.letters == nil || b[at] != ':' && b[at+n-1] != '~' && !alone(b, at) {
		return 0
	}
	end = f.letters.run(b, at+n)
	if end-at-n < leastCut || !Random(b[at+n:end]) || !isCut(b[end:]) {
		return 0
	}
	return end
}

// isCut reports whether the text before rest was cut: nothing follows, or a mark, perhaps behind a quote or a space.
func isCut(rest []byte) bool {
	if len(rest) == 0 {
		return true
	}
	return bytes.HasPrefix(bytes.TrimLeft(rest[:min(len(rest), 8)], "\"\\' "), []byte(cut.Mark))
}

// alone reports whether a word can begin at i: there is no letter before it, or one that ends an escape sequence of JSON,
// of a URL or of a terminal.
func alone(b []byte, i int) bool {
	if i == 0 || !words[b[i-1]] {
		return true
	}
	for back := 2; back <= 12 && back <= i; back++ {
		switch c := b[i-back]; c {
		case '\\':
			return back == 2 || back == 6 && b[i-5] == 'u'
		case '%':
			return back == 3
		case 0x1b:
			return true
		}
	}
	return false
}

// Random reports whether text looks chosen by a generator and not by a person: a placeholder such as xxxx or a name
// such as some_long_option does not.
func Random(b []byte) bool {
	var seen alphabet
	distinct, digit, upper, lower := 0, 0, 0, 0
	for _, c := range b {
		if !seen[c] {
			seen[c] = true
			distinct++
		}
		switch {
		case c >= '0' && c <= '9':
			digit = 1
		case c >= 'A' && c <= 'Z':
			upper = 1
		case c >= 'a' && c <= 'z':
			lower = 1
		}
	}
	return distinct >= min(6, len(b)/2) && digit+upper+lower >= 2
}
