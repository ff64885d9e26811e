package visible

import "testing"

// TestOnKeyboard: what looks the same to the eye is the same on the keyboard, and no character of a keyboard stands in the list.
func TestOnKeyboard(t *testing.T) {
	for text, want := range map[string]string{
		"it’s “so” — well…": `it's "so" - well...`, "a\u00a0b\u202fc\u2009d": "a b c d", "a\u200bb\ufeff": "ab", "tab\tstays é 日本": "tab\tstays é 日本", "«x»": `"x"`,
	} {
		if got := OnKeyboard(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for r, plain := range keyboard {
		if r < 0x80 || !ASCII(plain) {
			t.Errorf("%q maps to %q", r, plain)
		}
	}
	if got := Typographic(`"`); got != "«»“”„‟″" {
		t.Errorf("double quotes are %s", got)
	}
}
