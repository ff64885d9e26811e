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
	Danger       // something that destroys, or that nothing holds
	Warning      // a fact that a person should not miss
	Good         // a fact that is harmless
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
	Asks   bool // it is to be seen before the call is allowed
}

// page collects lines.
type page []Line

// add adds a line. Its text is safe already.
func (p *page) add(kind Kind, indent int, text string) {
	*p = append(*p, Line{Kind: kind, Indent: indent, Text: text})
}

// ask adds a line that is to be seen before the call is allowed.
func (p *page) ask(kind Kind, indent int, text string) {
	*p = append(*p, Line{Kind: kind, Indent: indent, Text: text, Asks: true})
}

// section begins a part of the page.
func (p *page) section(name string) {
	if len(*p) > 0 {
		p.add(Plain, 0, "")
	}
	p.add(Heading, 0, name)
}

// diff adds a unified diff. All of it but the lines that stay asks.
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
		*p = append(*p, Line{Kind: kind, Indent: indent, Text: visible.Code(line), Asks: !strings.HasPrefix(line, " ")})
	}
}

// DiffLines are the lines of a unified diff.
func DiffLines(text string) []Line {
	var p page
	p.diff(text, 2)
	return p
}
