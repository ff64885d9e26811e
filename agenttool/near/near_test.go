package near_test

import (
	"strings"
	"testing"

	"toolhost/agenttool/near"
)

func TestWord(t *testing.T) {
	known := []string{"path", "limit", "old_string", "additional_dirs", "rm"}
	for name, want := range map[string]string{
		"pth": "path", "limti": "limit", "oldString": "old_string", "additional-dirs": "additional_dirs", "PATH": "path",
		"colour": "", "": "", "mr": "rm", "sh": "", strings.Repeat("x", 1_000_000): "",
	} {
		if got := near.Word(name, known); got != want {
			t.Errorf("Word(%.20q) = %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"kitten", "sitting", 3}} {
		if got := near.Distance(tt.a, tt.b); got != tt.want || near.Distance(tt.b, tt.a) != got {
			t.Errorf("Distance(%q, %q) = %d, want %d both ways", tt.a, tt.b, got, tt.want)
		}
	}
}
