package classify

import (
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/classify/program"
)

const maxGlobs = 16

// match records the pattern of a word of which no more is known than what it matches, and returns what that makes of the facts.
func (w *walk) match(how access, word program.Word) tally {
	shape := word.Shape()
	if shape.Pattern == "" || !cutNowhere(word) || w.toucher() == 0 && w.disk == nil || len(w.scope.dirs) == 0 {
		return tally{incomplete: true}
	}
	g := agenttool.Glob{Pattern: shape.Pattern, By: w.toucher(), Names: how == names, Without: shape.Without, Index: w.indexed}
	if word.Name && word.Text == "" {
		g.First = w.notFirst()
	}
	dirs := w.scope.dirs
	if strings.HasPrefix(g.Pattern, "/") {
		dirs = dirs[:1]
	}
	for _, dir := range dirs {
		at := g
		if !strings.HasPrefix(g.Pattern, "/") {
			at.Pattern = program.QuotePattern(strings.TrimSuffix(dir, "/")) + "/" + g.Pattern
		}
		switch {
		case slices.Contains(w.globs, at):
		case len(w.globs) >= maxGlobs:
			return tally{incomplete: true}
		default:
			w.globs = append(w.globs, at)
		}
	}
	return tally{matched: true}
}

// notFirst is what a name must not begin with to be no more than an operand of the simple command that is looked at.
func (w *walk) notFirst() string {
	if w.part >= 0 && len(w.parts[w.part].Argv) > 0 && w.parts[w.part].Argv[0] == "find" {
		return "-(),!"
	}
	return "-"
}

// cutNowhere reports whether the text of a word is still what its pattern begins with: a program may take the one apart.
func cutNowhere(word program.Word) bool {
	rest, ok := strings.CutPrefix(word.Shape().Pattern, program.QuotePattern(word.Text))
	return ok && (strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, "/**/"))
}

// matches returns the patterns, if they are all that is missing and every command reads alone: another could make what they match.
func (w *walk) matches(parts []agenttool.Part) []agenttool.Glob {
	t := &w.tally
	if !t.matched || t.incomplete || t.unknown || w.reglobs {
		return nil
	}
	for i := range parts {
		if parts[i].ReadOnly != agenttool.Yes {
			return nil
		}
	}
	return w.globs
}
