package approve

import (
	"strings"

	"toolhost/agenttool/visible"
)

// Kind says how a line is meant, for those who can show it.
type Kind uint8

// The kinds of lines. No meaning hangs on how a kind looks: the words say it too.
const (
	Plain   Kind = iota
	Heading      // the title of the lines below it
	Warning      // a fact that a person should not miss
	Faint        // an aside
	Command      // the command of the call
	Added        // of a diff
	Removed
	Hunk // the position in a diff
)

// Line is one line for a person, safe to print, without its end and of any length.
type Line struct {
	Kind   Kind
	Indent int // in columns, of the continuation of a long line
	Text   string
}

// page collects lines.
type page []Line

// add adds a line. Its text is safe already.
func (p *page) add(kind Kind, indent int, text string) { *p = append(*p, Line{kind, indent, text}) }

// section begins a part of the page.
func (p *page) section(name string) {
	if len(*p) > 0 {
		p.add(Plain, 0, "")
	}
	p.add(Heading, 0, name)
}

// diff adds a unified diff.
func (p *page) diff(text string, indent int) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		kind := Plain
		switch {
		case strings.HasPrefix(line, "@@"):
			kind = Hunk
		case strings.HasPrefix(line, "+"):
			kind = Added
		case strings.HasPrefix(line, "-"):
			kind = Removed
		}
		p.add(kind, indent, visible.Code(line))
	}
}

// DiffLines are the lines of a unified diff.
func DiffLines(text string) []Line {
	var p page
	p.diff(text, 2)
	return p
}

// count is a number of things: "1 line", "2 lines".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Thousands(n) + " " + thing + "s"
}
