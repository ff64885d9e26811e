package search

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"toolhost/agenttool"
)

func TestBadPattern(t *testing.T) {
	tests := []struct{ name, pattern, code, want string }{
		{"missing )", "func main(", "bad_pattern", "pattern `func main(`: missing closing ) at character 10, `(`; for the character itself write \\( or \\)"},
		{"unexpected )", "é)", "bad_pattern", "unexpected ) at character 2, `)`"},
		{"parentheses in a class do not count", "[(]a(", "bad_pattern", "at character 5, `(`"},
		{"escaped ones neither", `\(a\Q((\E(`, "bad_pattern", "at character 10, `(`"},
		{"missing ]", "a[b", "bad_pattern", "missing closing ] at character 2, `[b`; for the character itself write \\["},
		{"repetition of nothing", "*a", "bad_pattern", "missing argument to repetition operator at character 1, `*`; for the character itself write \\*"},
		{"repeated repetition", "a**", "bad_pattern", "at character 2, `**`"},
		{"too many", "a{1001}", "bad_pattern", "1000 at most"},
		{"look-ahead", "a(?=b)", "bad_pattern", "at character 2, `(?=`; look-around is not supported"},
		{"negative look-behind", "(?<!a)b", "bad_pattern", "look-around is not supported"},
		{"back-reference", `(a)\1`, "bad_pattern", "at character 4, `\\1`; back-references are not supported"},
		{"escape", `a\y`, "bad_pattern", "at character 2, `\\y`; for a backslash write"},
		{"class range", `[z-a]`, "bad_pattern", "at character 2, `z-a`"},
		{"newline", `a\nb`, "bad_pattern", `set "multiline" to true`},
		{"too large", strings.Repeat("(abcdefghij){900}", 3), "pattern_too_large", "smaller repetitions"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			_, err := compile(tc.pattern, false, false)
			var e *agenttool.Error
			if !errors.As(err, &e) || !errors.Is(err, agenttool.InvalidArguments) {
				t.Fatalf("error %v", err)
			}
			if e.Code != tc.code || !strings.Contains(e.Message, tc.want) {
				t.Errorf("got  %s: %s\nwant %s: %s", e.Code, e.Message, tc.code, tc.want)
			}
		})
	}
}

func TestRequired(t *testing.T) {
	tests := []struct {
		pattern string
		fold    bool
		want    string // needles, with | between them
	}{
		{"foo", false, "foo"},
		{"foo.*barbaz", false, "barbaz"},
		{"(foo)+x?", false, "foo"},
		{"(foo)*", false, ""},
		{"(foo){2,}", false, "foo"},
		{"TODO|FIXME", false, "TODO|FIXME"},
		{`(a\w+|\w+)`, false, ""},
		{"^func\\s", false, "func"},
		{"Error", true, "error"},
		{"task", true, "ta"},
		{"sk", true, ""},
		{"İstanbul", true, "tanbul"},
		{"\ufffd", false, ""},
		{"a|b|c|dd|ee|ff|gg|hh|ii|jj", false, ""},
	}
	for _, tc := range tests {
		t.Run(tc.pattern, func(t *testing.T) {
			p, err := compile(tc.pattern, tc.fold, false)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, n := range p.needles {
				got = append(got, string(n.text))
			}
			if strings.Join(got, "|") != tc.want {
				t.Errorf("needles %q, want %q", got, tc.want)
			}
		})
	}
}

// FuzzNeedles: whatever the pattern matches holds one of its needles, and the seeker finds the first of them.
func FuzzNeedles(f *testing.F) {
	for _, pattern := range []string{"foo", "a|bc", "(x+y){2}", "K", "\ufffd", "straße", `\w+_id`} {
		f.Add(pattern, "xyxxy foo bc a_id K \xff STRASSE", true)
		f.Add(pattern, "xyxxy foo bc a_id \u212a \xff straſse", false)
	}
	f.Fuzz(func(t *testing.T, pattern, text string, fold bool) {
		if len(pattern) > 50 {
			return
		}
		p, err := compile(pattern, fold, true)
		if err != nil || p.needles == nil {
			return
		}
		s := newSeeker(p.needles)
		s.reset()
		for _, loc := range p.re.FindAllStringIndex(text, 20) {
			if at := s.next([]byte(text), loc[0]); at >= loc[1] {
				t.Errorf("%q matches %q but no needle of %v is there", pattern, text[loc[0]:loc[1]], p.needles)
			}
		}
		s.reset()
		if at := s.next([]byte(text), 0); at < len(text) {
			found := false
			for _, n := range p.needles {
				expr := regexp.QuoteMeta(string(n.text))
				if n.fold {
					expr = "(?i)" + expr
				}
				loc := regexp.MustCompile(expr).FindStringIndex(text)
				found = found || loc != nil && loc[0] == at
			}
			if !found {
				t.Errorf("no needle of %v at %d in %q", p.needles, at, text)
			}
		}
	})
}
