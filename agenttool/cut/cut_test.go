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
