package search

import (
	"strings"
	"testing"
	"time"
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

func TestWildmatch(t *testing.T) {
	for _, tc := range wildmatchCases {
		t.Run(tc.pattern+" "+tc.name, func(t *testing.T) {
			if got := wildmatch(tc.pattern, tc.name); got != tc.want {
				t.Errorf("wildmatch(%q, %q) = %v", tc.pattern, tc.name, got)
			}
		})
	}
}

// A hostile ignore file must not cost exponential time.
func TestWildmatchIsPolynomial(t *testing.T) {
	name := strings.Repeat("a/", 100) + strings.Repeat("a", 200)
	start := time.Now()
	for _, pattern := range []string{
		strings.Repeat("*a", 100) + "b",
		strings.Repeat("**/", 100) + "b",
		strings.Repeat("**/*a*a*a/", 30) + "b",
		strings.Repeat("a**", 100) + "b",
	} {
		if wildmatch(pattern, name) {
			t.Errorf("%.20q… matches", pattern)
		}
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzWildmatch(f *testing.F) {
	for _, tc := range wildmatchCases {
		f.Add(tc.pattern, tc.name)
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern)+len(name) > 300 {
			return
		}
		got := wildmatch(pattern, name)
		if !strings.ContainsAny(pattern, `*?[\`) && got != (pattern == name) {
			t.Errorf("a pattern without special characters matches itself and nothing else: %q, %q: %v", pattern, name, got)
		}
		if got && !strings.HasSuffix(pattern, `\`) && !wildmatch("**/"+pattern, name) {
			t.Errorf("**/%q does not match %q, as %q does", pattern, name, pattern)
		}
		if quoted := quoteWild(name); !wildmatch(quoted, name) {
			t.Errorf("%q quoted as %q does not match itself", name, quoted)
		}
	})
}

// quoteWild returns a pattern that matches name only.
func quoteWild(name string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(name)
}
