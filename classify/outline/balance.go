package outline

import "strings"

// balanced reports whether the parentheses of an expression are pairs outside quotes. If they are not, bash runs $((…)) as a substitution
// with a subshell: it finds the end of the expression with the grammar of the substitutions in it, and counts parentheses without.
func balanced(text string) bool {
	if strings.Contains(text, "$'") {
		return false // another quotation without its $
	}
	if strings.IndexByte(text, '(') < 0 && strings.IndexByte(text, ')') < 0 {
		return true
	}
	bare, ok := unquoted(text)
	return ok && pairs(bare) || !ok && pairs(text)
}

// pairs reports whether each parenthesis has its other one.
func pairs(text string) bool {
	open := 0
	for i := 0; i < len(text) && open >= 0; i++ {
		switch text[i] {
		case '(':
			open++
		case ')':
			open--
		}
	}
	return open == 0
}

// unquoted returns a text without quotations and escapes. It is not ok if there are substitutions in double quotes, which may have
// quotations of their own.
func unquoted(text string) (bare string, ok bool) {
	if !strings.ContainsAny(text, "\\'\"") {
		return text, true
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			i++
		case '\'', '"':
			start := i + 1
			for i++; i < len(text) && text[i] != c; i++ {
				if c == '"' && text[i] == '\\' {
					i++
				}
			}
			if c == '"' && strings.ContainsAny(text[start:min(i, len(text))], "$`") {
				return "", false
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}
