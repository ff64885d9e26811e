package search

import (
	"strings"
	"testing"
)

// The context of a page's matches is theirs, not that of the matches before.
func TestContextAtPageBorders(t *testing.T) {
	lines := make([]string, 30)
	for i := range lines {
		lines[i] = "."
	}
	for _, number := range []int{10, 20, 23} {
		lines[number-1] = "needle"
	}
	tr := plant(t, map[string]string{"f": strings.Join(lines, "\n") + "\n"})
	tests := []struct{ input, want string }{
		{`{"pattern":"needle","after":2,"offset":1}`, "f:20:needle\nf-21-.\nf-22-.\nf:23:needle\nf-24-.\nf-25-.\n[showing 2 to 3 of 3 matching lines]\n"},
		{`{"pattern":"needle","before":1,"after":2,"offset":1,"limit":1}`, "f-19-.\nf:20:needle\nf-21-.\nf-22-.\n[showing 2 to 2 of at least 3 matching lines; next offset 2]\n"},
		{`{"pattern":"needle","before":3,"offset":2}`, "f-20-needle\nf-21-.\nf-22-.\nf:23:needle\n[showing 3 to 3 of 3 matching lines]\n"},
	}
	for _, tc := range tests {
		if got, _ := tr.grep(t, tc.input); got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.input, got, tc.want)
		}
	}
}
