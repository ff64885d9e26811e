package match

import (
	"errors"
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
			_, err := Compile(tc.pattern, Options{})
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
