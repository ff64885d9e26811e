package classify

import (
	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

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

// touches adds the paths that code names, so that rules which forbid them are asked. Nothing else is believed of it.
func (w *walk) touches(codes []code) {
	for _, c := range codes {
		if _, ok := unfit(c.text); !ok {
			continue
		}
		inner := newWalk(w.ctx)
		inner.strict(parse(c.text).stmts)
		w.part = w.partAt(c.at)
		for _, p := range inner.reads.list {
			word := program.Word{Text: p.Spelling, Static: true, Top: p.Top}
			w.add(map[bool]access{true: names, false: contents}[p.Names], word, p.Absolute)
		}
		for _, p := range inner.writes.list {
			w.add(written, program.Lit(p.Spelling), p.Absolute)
		}
		inner.free()
	}
}

// partAt returns the simple command that begins at a place, -1 if none does.
func (w *walk) partAt(at place) int {
	for i := range w.parts {
		if w.parts[i].Line == at.line && w.parts[i].Column == at.column {
			return i
		}
	}
	return -1
}
