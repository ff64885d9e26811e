package visible

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// keyboard maps the quotes, dashes and dots that word processors and systems write to what a keyboard has in their place.
var keyboard = map[rune]string{
	'‘': "'", '’': "'", '‚': "'", '‛': "'", '′': "'", 'ʼ': "'", '´': "'",
	'“': `"`, '”': `"`, '„': `"`, '‟': `"`, '″': `"`, '«': `"`, '»': `"`,
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '―': "-", '−': "-", '…': "...",
}

// Keyboard returns what a keyboard has in the place of a typographic quote, dash or ellipsis. ok is false for other characters; for blanks there
// is [Blank].
func Keyboard(r rune) (plain string, ok bool) {
	plain, ok = keyboard[r]
	return plain, ok
}

// Typographic returns the characters, in order, for which a keyboard has plain.
func Typographic(plain string) string {
	var b strings.Builder
	for _, r := range slices.Sorted(maps.Keys(keyboard)) {
		if keyboard[r] == plain {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Blank reports whether r is white space within a line: a blank, a tab, or one of Unicode's.
func Blank(r rune) bool {
	return r == ' ' || r == '\t' || r >= utf8.RuneSelf && (unicode.Is(unicode.Zs, r) || r == '\u0085' || r == '\u2028' || r == '\u2029')
}

// Invisible reports whether r takes no place where it stands.
func Invisible(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.Is(unicode.Cf, r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector))
}

// OnKeyboard returns s as a keyboard has it: with its quotes, dashes and blanks, and without what takes no place.
func OnKeyboard(s string) string {
	var b strings.Builder
	for _, r := range s {
		plain, typographic := keyboard[r]
		switch {
		case typographic:
			b.WriteString(plain)
		case r != '\t' && Blank(r):
			b.WriteByte(' ')
		case !Invisible(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}
