package main

import (
	"strings"
	"testing"
)

// A row without a passing test prints its reason, and only "not applicable" counts as such.
func TestReasons(t *testing.T) {
	rows := []row{
		{"AT-1", "s", "held", ""}, {"AT-2", "s", "other", "not applicable: no browser"},
		{"AT-3", "s", "large", "not done: large"}, {"AT-4", "s", "open", ""},
	}
	page := string(document(rows, map[string][]string{"AT-1": {"host TestX"}}))
	for _, want := range []string{
		"| AT | 4 | 1 | 1 | 2 |", "| AT-1 | held | host: TestX |", "| AT-2 | other | not applicable: no browser |",
		"| AT-3 | large | not done: large |", "| AT-4 | open | not done |",
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("the page has no line %q:\n%s", want, page)
		}
	}
}
