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
	pattern := word.Pattern
	if pattern == "" || !cutNowhere(word) || w.toucher() == 0 || w.scope.moved() || len(w.scope.dirs) != 1 || len(w.globs) >= maxGlobs {
		return tally{incomplete: true}
	}
	if !strings.HasPrefix(pattern, "/") {
		pattern = program.QuotePattern(strings.TrimSuffix(w.scope.dirs[0], "/")) + "/" + pattern
	}
	if g := (agenttool.Glob{Pattern: pattern, By: w.toucher(), Names: how == names}); !slices.Contains(w.globs, g) {
		w.globs = append(w.globs, g)
	}
	return tally{matched: true}
}

// cutNowhere reports whether the text of a word is still what its pattern begins with: a program may take the one apart.
func cutNowhere(word program.Word) bool {
	rest, ok := strings.CutPrefix(word.Pattern, program.QuotePattern(word.Text))
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
