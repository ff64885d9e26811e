package program

import "toolhost/agenttool"

// because is a reason without a place.
func because(text string) agenttool.Reason { return agenttool.Reason{Text: text} }

// reason is a Judge that only says why a program has the effects of its description.
func reason(text string) func(*Args, *Use) {
	return func(_ *Args, u *Use) { u.Reasons = append(u.Reasons, because(text)) }
}

// effectsAlone is the Judge of a use whose effects say all that matters, whatever its words are.
func effectsAlone(*Args, *Use) {}

// oneOf reports whether any of the options was given, by the last of their spellings.
func (a *Args) oneOf(names ...string) bool {
	for _, name := range names {
		if a.Has(name) {
			return true
		}
	}
	return false
}
