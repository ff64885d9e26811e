package hook

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"toolhost/agenttool/visible"
)

// Printable returns s with everything that would not be seen, or would change how the rest is seen (control
// characters, marks of direction, invisible ones), as \u{…}. Line feeds and tabs stay.
func Printable(s string) string {
	hidden := func(r rune) bool { return r == utf8.RuneError || !visible.Shows(r) && r != '\n' && r != '\t' }
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if hidden(r) {
			fmt.Fprintf(&b, `\u{%x}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cut returns the first max characters of s, with a mark where more was.
func cut(s string, max int) string {
	if len(s) <= max || utf8.RuneCountInString(s) <= max {
		return s
	}
	end := 0
	for range max {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return s[:end] + fmt.Sprintf("[… %d characters left out]", utf8.RuneCountInString(s[end:]))
}
