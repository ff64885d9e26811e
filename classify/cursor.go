package classify

import (
	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
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
