package settings

import (
	"fmt"
	"strings"

	"toolhost/agenttool/visible"
)

// shown returns s with what a person cannot see, or what would turn other text around, written as \u escapes, and
// no more than a paragraph of it.
func shown(s string) string {
	const most = 1000
	var b strings.Builder
	for i, r := range s {
		if i > most {
			return b.String() + "…"
		}
		if visible.Shows(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// quoted returns what a line can hold of shown text, between quotes.
func quoted(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return `"` + shown(s) + `"`
}

// quoteShell writes a word so that a shell reads it as it is. It is not shown: a person must see all of it.
func quoteShell(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
