package classify

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
)

// findings are the results of the lenient analysis.
type findings struct {
	mentions [][]string // argv; agenttool.Unread marks unknown text
	settings []string   // as agenttool.Facts.Settings
	found    []agenttool.Reason
	over     bool // a limit stopped it: there may be more of both
	skimmed  bool // not all words of a command were searched for destructive commands
	codes    []code
	hidden   bool   // there is text for a shell that is not known, or cannot be parsed
	inner    *place // of a text inside the command line
	steps    int    // words looked at
}

func (f *findings) mention(argv []string) {
	switch {
	case len(f.mentions) >= maxMentions:
		f.over = true
		return
	case f.mentions == nil:
		f.mentions = make([][]string, 0, 8)
	}
	f.mentions = append(f.mentions, argv)
}

// add records what is destroyed; "" is nothing.
func (f *findings) add(what string, at syntax.Pos) {
	if what == "" {
		return
	}
	r := agenttool.Reason{Fact: "destructive", Text: cut.Short(what, maxReason), Line: int(at.Line()), Column: int(at.Col())}
	if f.inner != nil {
		r.Line, r.Column = f.inner.line, f.inner.column
	}
	if len(f.found) < maxDestroyed {
		f.found = addReason(f.found, r)
	}
}

// code is text for a shell that the strict analysis takes for a program of its own: eval 'cat f', bash <<< 'cat f'.
type code struct {
	text string
	at   place // of the command that runs it
}

const maxCodes = 16

const (
	maxDestroyed = 16
	maxMentions  = 20_000
	maxLooks     = 20_000 // words looked at, again behind each wrapper
	maxScanned   = 500    // words of one command
	maxTexts     = 10     // texts in one another
)

// extraction is the result of the lenient analysis.
type extraction struct {
	destroyed   []agenttool.Reason
	codes       []code
	mentions    [][]string
	settings    []string
	unmentioned bool
}

func addReason(list []agenttool.Reason, r agenttool.Reason) []agenttool.Reason {
	if len(list) >= maxReasons || slices.Contains(list, r) {
		return list
	}
	return append(list, r)
}
