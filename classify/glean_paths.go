package classify

import "mvdan.cc/sh/v3/syntax"

// code is text for a shell that the strict analysis takes for a program of its own: eval 'cat f', bash <<< 'cat f'.
type code struct {
	text string
	at   place // of the command that runs it
}

const maxCodes = 16

// runsText looks at text that a command at some place surely runs, and keeps it for the paths in it.
func (g *gleaner) runsText(text string, at syntax.Pos) {
	if c := (code{text, place{int(at.Line()), int(at.Col())}}); len(g.codes) < maxCodes {
		if g.inner != nil {
			c.at = *g.inner
		}
		g.codes = append(g.codes, c)
	}
	g.text(text, at, true)
}
