package settings

import (
	"fmt"
	"strings"

	"toolhost/agenttool/visible"
)

// shown escapes characters of s that are invisible or change the text direction as \u, and cuts s to a paragraph.
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

// quoted returns shown(s) cut to part of a line, in quotes.
func quoted(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return `"` + shown(s) + `"`
}

// quoteShell quotes a word for a shell. It escapes nothing for display and does not cut: the user must see all of it.
func quoteShell(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
