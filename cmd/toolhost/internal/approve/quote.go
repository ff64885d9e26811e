package approve

import "strings"

// Quote returns the words of a command in shell quotes, so that their boundaries are visible.
func Quote(argv []string) string {
	quoted := make([]string, len(argv))
	for i, word := range argv {
		quoted[i] = quoteWord(word)
	}
	return strings.Join(quoted, " ")
}

func quoteWord(word string) string {
	if word != "" && !strings.ContainsFunc(word, special) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// special reports whether the shell takes r for something else than a letter of a word.
func special(r rune) bool {
	return r <= ' ' || r == 0x7f || strings.ContainsRune("|&;()<>$`\\\"'*?[]#!{}", r)
}
