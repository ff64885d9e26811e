package classify

import (
	"strings"

	"toolhost/agenttool/cut"
	"toolhost/classify/program"
)

// maxSpelled is how much of a word a reason quotes.
const maxSpelled = 60

// spelled returns a word as the command line spells it, with its quotes and expansions; of a long one the beginning.
func (c *cursor) spelled(word program.Word) string {
	if word.Static {
		return word.Text
	}
	source := c.source
	for line := 1; line < word.Line; line++ {
		_, rest, ok := strings.Cut(source, "\n")
		if !ok {
			return word.Text + "…"
		}
		source = rest
	}
	if word.Line == 0 || word.Column < 1 || word.Column > len(source) {
		return word.Text + "…"
	}
	source = source[word.Column-1:]
	if end := wordEnd(source); end > maxSpelled {
		return cut.Short(source, maxSpelled)
	} else if end > 0 {
		return source[:end]
	}
	return word.Text + "…"
}

// wordEnd returns where the first word of a text ends, as far as that is worth a reason: quotes and brackets in one another are
// only counted.
func wordEnd(text string) int {
	quote, depth := byte(0), 0
	for i := 0; i < len(text) && i <= maxSpelled; i++ {
		c := text[i]
		switch {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '(' || c == '{':
			depth++
		case depth > 0 && (c == ')' || c == '}'):
			depth--
		case depth == 0 && strings.IndexByte(" \t\n;&|<>)", c) >= 0:
			return i
		}
	}
	return min(len(text), maxSpelled+1)
}
