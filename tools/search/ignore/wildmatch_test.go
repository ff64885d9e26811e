package ignore

import (
	"strings"
	"testing"
)

var wildmatchCases = []struct {
	pattern, name string
	want          bool
}{
	{"*.go", "a.go", true},
	{"*.go", "a/b.go", false},
	{"a?c", "abc", true},
	{"a?c", "a/c", false},
	{"**", "a/b/c", true},
	{"**/c", "c", true},
	{"**/c", "a/b/c", true},
	{"**/c", "a/bc", false},
	{"a/**", "a/b/c", true},
	{"a/**", "a", false},
	{"a/**/b", "a/b", true},
	{"a/**/b", "a/x/y/b", true},
	{"a/**/b", "ab", false},
	{"a**b", "axxb", true},
	{"a**b", "a/b", false},
	{"**/a/**/b/*.c", "x/a/y/a/z/b/q.c", true},
	{"**/a/**/b/*.c", "x/a/y/b/z/q.c", false},
	{`**\/a`, "a", false},
	{`**\/a`, "x/a", true},
	{"[a-c]x", "bx", true},
	{"[!a-c]x", "bx", false},
	{"[^a-c]x", "dx", true},
	{"[]a]", "]", true},
	{"[!]a]", "]", false},
	{"[a-]", "-", true},
	{`[\]]`, "]", true},
	{`[a\-z]`, "b", false},
	{"[[:digit:]]", "7", true},
	{"[[:digit:]x-z]", "y", true},
	{"[[:nope:]]", "n", false},
	{"[[:a]", ":", true},
	{"[a", "a", false},
	{"[a/b]", "/", false},
	{"x[!a]y", "x/y", false},
	{`\*`, "*", true},
	{`\*`, "a", false},
	{`a\`, "a", false},
	{`a\`, `a\`, false},
	{"*a*b*c", "xaybzc", true},
	{"*a*b*c", "xaybz", false},
	{"*/b", "a/b", true},
	{"*/b", "a/a/b", false},
	{"", "", true},
	{"", "a", false},
	{"\xff?", "\xff\xfe", true},
}

// matches is wildmatch with as many steps as it needs.
func matches(pattern, name string, fold bool) bool {
	left := steps(1 << 40)
	return left.wildmatch(pattern, []byte(name), fold)
}

func TestWildmatch(t *testing.T) {
	for _, tc := range wildmatchCases {
		t.Run(tc.pattern+" "+tc.name, func(t *testing.T) {
			if got := matches(tc.pattern, tc.name, false); got != tc.want {
				t.Errorf("wildmatch(%q, %q) = %v", tc.pattern, tc.name, got)
			}
			if got := (definition{tc.pattern, tc.name, false}).matches(0, 0); got != tc.want {
				t.Errorf("the definition says %v", got)
			}
		})
	}
}

// A hostile ignore file must not cost exponential time: this test would not end.
func TestWildmatchIsPolynomial(t *testing.T) {
	name := strings.Repeat("a/", 100) + strings.Repeat("a", 200)
	for _, pattern := range []string{
		strings.Repeat("*a", 100) + "b",
		strings.Repeat("**/", 100) + "b",
		strings.Repeat("**/*a*a*a/", 30) + "b",
		strings.Repeat("a**", 100) + "b",
		strings.Repeat("*[a-z]", 100) + "b",
	} {
		if matches(pattern, name, false) {
			t.Errorf("%.20q… matches", pattern)
		}
	}
}

// wildmatch agrees with the definition, spelt out without regard to time.
func FuzzWildmatch(f *testing.F) {
	for _, tc := range wildmatchCases {
		f.Add(tc.pattern, tc.name, false)
		f.Add(strings.ToUpper(tc.pattern), tc.name, true)
	}
	f.Fuzz(func(t *testing.T, pattern, name string, fold bool) {
		if len(pattern) > 24 || len(name) > 24 {
			return
		}
		if fold {
			name = lowerText(name)
		}
		w := definition{pattern, name, fold}
		if got, want := matches(pattern, name, fold), w.matches(0, 0); got != want {
			t.Errorf("wildmatch(%q, %q, %v) = %v", pattern, name, fold, got)
		}
	})
}

// definition is what matching means.
type definition struct {
	pattern, name string
	fold          bool
}

// matches reports whether the pattern from p on matches the name from n on.
func (w definition) matches(p, n int) bool {
	rest := w.pattern[p:]
	switch {
	case rest == "":
		return n == len(w.name)
	case rest[0] == '*':
		return w.stars(p, n)
	case n == len(w.name):
		return false
	case rest[0] == '[':
		in, width := w.set(p+1, w.name[n])
		return width > 0 && in && w.name[n] != '/' && w.matches(p+width, n+1)
	case rest[0] == '\\':
		return len(rest) > 1 && rest[1] == w.name[n] && w.matches(p+2, n+1)
	case rest[0] == '?':
		return w.name[n] != '/' && w.matches(p+1, n+1)
	}
	same := rest[0] == w.name[n] || w.fold && lowerText(rest[:1]) == w.name[n:n+1]
	return same && w.matches(p+1, n+1)
}

func (w definition) stars(p, n int) bool {
	end := p
	for end < len(w.pattern) && w.pattern[end] == '*' {
		end++
	}
	rest := w.pattern[end:]
	leads, trails := p == 0 || w.pattern[p-1] == '/', rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)
	deep := end-p > 1 && leads && trails
	if deep && (rest == "" || rest[0] == '/' && w.matches(end+1, n)) {
		return true
	}
	for ; ; n++ {
		if w.matches(end, n) {
			return true
		}
		if n == len(w.name) || !deep && w.name[n] == '/' {
			return false
		}
	}
}

// set reports whether the set that begins after the bracket at p-1 holds c, and its width; 0 for a malformed one. It
// collects every byte that the set names.
func (w definition) set(p int, c byte) (in bool, width int) {
	start := p - 1
	negated := p < len(w.pattern) && strings.IndexByte("!^", w.pattern[p]) >= 0
	if negated {
		p++
	}
	var members [256]bool
	from := 0 // what a range may begin with
	for first := true; p < len(w.pattern) && (first || w.pattern[p] != ']'); first = false {
		rest := w.pattern[p:]
		class, _, closed := strings.Cut(strings.TrimPrefix(rest, "[:"), "]")
		switch {
		case strings.HasPrefix(rest, "[:") && closed && strings.HasSuffix(class, ":"):
			for b := range 256 {
				is, known := inClass(class[:len(class)-1], byte(b), w.fold)
				if !known {
					return false, 0
				}
				members[b] = members[b] || is
			}
			p, from = p+len("[:")+len(class)+1, 0
			continue
		case rest[0] == '-' && from > 0 && len(rest) > 1 && rest[1] != ']':
			to, width := literalByte(rest[1:])
			for b := from; b <= to; b++ {
				members[b] = true
				if w.fold {
					members[lowerByte(byte(b))] = true
				}
			}
			p, from = p+1+width, 0
			continue
		}
		b, width := literalByte(rest)
		if b >= 0 {
			members[b] = true
		}
		p, from = p+width, b
	}
	if p >= len(w.pattern) {
		return false, 0
	}
	return members[c] != negated, p + 1 - start
}

// literalByte returns the byte at the head of text, or after a backslash there, and its width; -1 for a lone backslash.
func literalByte(text string) (b, width int) {
	if text[0] != '\\' {
		return int(text[0]), 1
	}
	if len(text) == 1 {
		return -1, 1
	}
	return int(text[1]), 2
}
