package ignore

import (
	"bytes"
	"strings"
)

// wildmatch reports whether the whole of name matches pattern, as git's wildmatch does for paths: * and ? stay
// within one name, ** between slashes spans directories, [a-z], [!a] and [[:alpha:]] are sets of bytes, \ escapes. A
// malformed set matches nothing, and so does everything when no steps are left. There are up to
// len(pattern) × len(name) × the number of names in the path.
func (left *steps) wildmatch(pattern string, name []byte, fold bool) bool {
	// After a mismatch the search goes on at the innermost star that can take one more byte, else at the last **,
	// which takes one more directory. An earlier star or ** could only repeat what these have tried.
	star, deep := retry{p: -1}, retry{p: -1}
	p, n := 0, 0
	for left.take(1) {
		if p == len(pattern) && n == len(name) {
			return true
		}
		if p < len(pattern) && pattern[p] == '*' {
			end := p + len(pattern[p:]) - len(strings.TrimLeft(pattern[p:], "*"))
			if !spansDirectories(pattern, p, end) {
				p, star = end, retry{end, n}
				continue
			}
			if end == len(pattern) {
				return true
			}
			star = retry{p: -1}
			if pattern[end] == '/' {
				p, deep = end+1, retry{end + 1, n}
				continue
			}
			deep = retry{end + 2, n} // git lets "**\/" stand for one directory or more
		} else if width := left.matchOne(pattern[p:], name[n:], fold); width > 0 {
			if name[n] == '/' {
				star = retry{p: -1}
			}
			p, n = p+width, n+1
			continue
		}
		if star.p >= 0 && star.n < len(name) && name[star.n] != '/' {
			from := star.n
			star.n = skipTo(pattern[star.p:], name, from+1, fold)
			left.take((star.n - from) / 4)
			p, n = star.p, star.n
			continue
		}
		next := -1
		if deep.p >= 0 {
			next = bytes.IndexByte(name[deep.n:], '/')
		}
		if next < 0 {
			return false
		}
		star = retry{p: -1}
		deep.n += next + 1
		p, n = deep.p, deep.n
	}
	return false
}

// skipTo returns the next position at or after n where a star may end: the next occurrence of the literal byte at the
// head of pattern, or the end of the directory's name.
func skipTo(pattern string, name []byte, n int, fold bool) int {
	if pattern == "" || strings.IndexByte(`*?[\`, pattern[0]) >= 0 {
		return n
	}
	c := pattern[0]
	if fold {
		c = lowerByte(c)
	}
	for n < len(name) && name[n] != c && name[n] != '/' {
		n++
	}
	return n
}

// retry is a state for backtracking: positions in the pattern (-1: none) and in the name.
type retry struct{ p, n int }

// spansDirectories reports whether the stars pattern[p:end] are a ** between slashes or ends.
func spansDirectories(pattern string, p, end int) bool {
	rest := pattern[end:]
	return end-p >= 2 && (p == 0 || pattern[p-1] == '/') &&
		(rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`))
}

// matchOne returns the width of the element at the head of pattern if it matches the first byte of name, else 0.
func (left *steps) matchOne(pattern string, name []byte, fold bool) int {
	if pattern == "" || len(name) == 0 {
		return 0
	}
	width := 1
	ok := pattern[0] == name[0] || fold && lowerByte(pattern[0]) == name[0]
	switch pattern[0] {
	case '?':
		ok = name[0] != '/'
	case '\\':
		width, ok = 2, len(pattern) > 1 && pattern[1] == name[0]
	case '[':
		var in bool
		in, width = matchSet(pattern, name[0], fold)
		left.take(width)
		ok = in && name[0] != '/'
	}
	if !ok {
		return 0
	}
	return width
}

// matchSet reports whether the set at the head of pattern holds c, and the width of the set; 0 for a malformed one.
func matchSet(pattern string, c byte, fold bool) (in bool, width int) {
	i := 1
	negated := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if negated {
		i++
	}
	before := byte(0) // the byte that may begin a range
	end := -1         // where the next bracket closes; kept, so that a set is read in linear time
	for first := true; ; first = false {
		switch {
		case i >= len(pattern):
			return false, 0
		case pattern[i] == ']' && !first:
			return in != negated, i + 1
		case pattern[i] == '-' && before != 0 && i+1 < len(pattern) && pattern[i+1] != ']':
			i++
			if pattern[i] == '\\' {
				i++
			}
			if i >= len(pattern) {
				return false, 0
			}
			in = in || before <= c && c <= pattern[i] ||
				fold && before <= upperByte(c) && upperByte(c) <= pattern[i]
			before = 0
			i++
			continue
		case strings.HasPrefix(pattern[i:], "[:"):
			if end < i+2 {
				next := strings.IndexByte(pattern[i+2:], ']')
				if next < 0 {
					return false, 0
				}
				end = i + 2 + next
			}
			if word := pattern[i+2 : end]; strings.HasSuffix(word, ":") {
				member, known := inClass(strings.TrimSuffix(word, ":"), c, fold)
				if !known {
					return false, 0
				}
				in = in || member
				before = 0
				i = end + 1
				continue
			}
		case pattern[i] == '\\':
			if i++; i >= len(pattern) {
				return false, 0
			}
		}
		in = in || pattern[i] == c
		before = pattern[i]
		i++
	}
}

// inClass reports whether c is in the POSIX class name, and whether there is such a class.
func inClass(name string, c byte, fold bool) (in, known bool) {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	graph := '!' <= c && c <= '~'
	switch name {
	case "alnum":
		return lower || upper || digit, true
	case "alpha":
		return lower || upper, true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	case "digit":
		return digit, true
	case "graph":
		return graph, true
	case "lower":
		return lower, true
	case "print":
		return graph || c == ' ', true
	case "punct":
		return graph && !lower && !upper && !digit, true
	case "space":
		return c == ' ' || c == '\t' || c == '\n' || c == '\r', true // git's own isspace
	case "upper":
		return upper || fold && lower, true
	case "xdigit":
		return digit || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F', true
	}
	return false, false
}

func upperByte(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}
