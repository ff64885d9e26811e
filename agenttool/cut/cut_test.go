package cut_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"toolhost/agenttool/cut"
)

// A valid text stays valid wherever it is cut, and loses less than one character more than it must.
func TestCharactersStayWhole(t *testing.T) {
	text := "aé€😀z"
	for n := range len(text) + 2 {
		head, tail := cut.Head(text, n), cut.Tail(text, n)
		for _, got := range []string{head, tail} {
			if !utf8.ValidString(got) || len(got) > n || len(got) <= min(n, len(text))-utf8.UTFMax {
				t.Errorf("at %d: %q", n, got)
			}
		}
		if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
			t.Errorf("at %d: %q and %q are no ends of %q", n, head, tail, text)
		}
	}
}

func TestBytesThatAreNoText(t *testing.T) {
	if got := cut.Head("\x80\x80\x80\x80\x80", 3); len(got) != 3 {
		t.Errorf("Head is %q", got)
	}
	if got := cut.Tail("\x80\x80\x80\x80\x80", 3); len(got) != 3 {
		t.Errorf("Tail is %q", got)
	}
}

func TestShort(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{cut.Short("abc", 3), "abc"}, {cut.Short("abcd", 3), "abc…"}, {cut.Short("aé", 2), "a…"},
		{cut.Characters("äöü", 3), "äöü"}, {cut.Characters("äöüß", 3), "äöü…"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

// TestWordsStayWhole: no part of a token is left at a cut, unless it is longer than any.
func TestWordsStayWhole(t *testing.T) {
	text := `{"a": "x-y_1.2", b` + "\n" + `c/d "ghp_0123456789" end`
	for n := range len(text) + 1 {
		before, after := text[:cut.Before(text, n)], text[cut.After(text, n):]
		for _, word := range []string{"x-y_1.2", "c/d", "ghp_0123456789", "end"} {
			for _, part := range []string{before, after} {
				if left := strings.Contains(part, word[:1]) && strings.Contains(part, word[1:2]); left && !strings.Contains(part, word) && strings.Contains(word, "_0") {
					t.Errorf("at %d: %q", n, part)
				}
			}
		}
		if len(before) > n || len(text)-len(after) < n {
			t.Errorf("at %d: %q and %q", n, before, after)
		}
	}
	long := strings.Repeat("a", 10_000)
	if cut.Before(long, 5000) != 5000 || cut.After(long, 5000) != 5000 {
		t.Error("a long word is not cut")
	}
	if got := cut.Characters("see ghp_0123456789", 10); got != "see …" {
		t.Errorf("%q", got)
	}
	if got := cut.Short("see ghp_0123456789", 10); got != "see …" {
		t.Errorf("%q", got)
	}
}

func TestCommonKeepsCharactersWhole(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"abc", "abd", 2}, {"abc", "abc", 3}, {"ab", "abc", 2}, {"é", "è", 0}, {"xé", "xè", 1}, {"€", "€uro", 3}, {"日本", "日木", 3},
		{"e\u0301", "e", 1}, {"\xc3", "é", 0},
	} {
		if got, back := cut.Common(c.a, c.b), cut.Common([]byte(c.b), []byte(c.a)); got != c.want || back != c.want {
			t.Errorf("%q and %q: %d and %d instead of %d", c.a, c.b, got, back, c.want)
		}
	}
}
