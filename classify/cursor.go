package classify

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/classify/program"
)

// cursor is where an analysis is, and how far it may still go.
type cursor struct {
	steps, depth int
	at           syntax.Pos        // of the innermost node, for reasons that have none
	source       string            // the text that positions refer to: the command line, or a text in it that a shell runs
	inner        *place            // the place of a text inside the command line, whose own positions mean nothing
	rejected     *agenttool.Reason // the whole is not understood
}

type place struct{ line, column int }

func (c *cursor) reason(text string) agenttool.Reason {
	return c.placed(agenttool.Reason{Text: text, Line: int(c.at.Line()), Column: int(c.at.Col())})
}

func (c *cursor) placed(r agenttool.Reason) agenttool.Reason {
	if c.inner != nil {
		r.Line, r.Column = c.inner.line, c.inner.column
	}
	return r
}

// reject makes all facts unknown for one reason.
func (c *cursor) reject(r agenttool.Reason) {
	if c.rejected == nil {
		c.rejected = &r
	}
}

// enter counts one node, and one level until leave. It reports whether the limits allow it.
func (c *cursor) enter(at syntax.Pos) bool {
	c.depth++
	c.steps++
	if c.rejected != nil {
		return false
	}
	c.at = at
	switch {
	case c.steps > maxSteps:
		c.reject(c.reason("the command line is too long to be analysed"))
		return false
	case c.depth > maxDepth:
		c.reject(c.reason("the command line is nested too deeply"))
		return false
	}
	return true
}

func (c *cursor) leave() { c.depth-- }

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
