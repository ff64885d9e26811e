package program

import (
	"slices"
	"strings"
)

// because is a reason for all facts of a use.
func because(text string) Reason { return Reason{Text: text} }

// reason is a Judge that only says why a program has the effects of its description.
func reason(text string) func(*Args, *Use) {
	return func(_ *Args, u *Use) { u.Reasons = append(u.Reasons, because(text)) }
}

// Told returns the reasons of a use, and for each effect that none is about what it means.
func (u *Use) Told() []Reason {
	told := u.Reasons
	effects := u.Effects
	if u.Has(RunsCode) {
		effects = append([]Effect{RunsCode}, effects...) // which says more than that it writes
	}
	for _, e := range effects {
		fact := factOf[e]
		if fact == "" || slices.ContainsFunc(told, func(r Reason) bool { return r.Fact == fact || r.Fact == "" }) {
			continue
		}
		told = append(told[:len(told):len(told)], Reason{Fact: fact, Text: effectPhrase[e]})
	}
	return told
}

// maxShown is how long a command is that a reason quotes as a whole.
const maxShown = 60

// Sentence returns a reason with the command, the program and its subcommand, or those with the option that decides as its subject.
func (u *Use) Sentence(r Reason, argv []Word) string {
	program, text := argv[0].Text, r.Text
	short := strings.TrimSuffix(program+" "+u.Sub, " ")
	shown := short
	if r.Of != "" {
		shown = short + " " + r.Of
	} else if whole, ok := plainly(argv); ok {
		shown = whole
	}
	text, named := strings.CutPrefix(text, short+" ")
	if !named {
		text, named = strings.CutPrefix(text, program+" ")
	}
	explains := false
	if !named {
		text, explains = strings.CutPrefix(text, program+": ")
	}
	if named || !explains && predicate(text) {
		return "`" + shown + "` " + text
	}
	return "`" + shown + "`: " + text
}

// plainly returns the words of a command as they were written, if they are known, short, and need no quotes.
func plainly(argv []Word) (string, bool) {
	size := len(argv)
	for _, w := range argv {
		if size += len(w.Text); size > maxShown || !w.Static || w.Text == "" || strings.ContainsAny(w.Text, " \t\n\"'`$\\|&;<>(){}*?[]#!") {
			return "", false
		}
	}
	return strings.Join(Texts(argv), " "), true
}

// predicate reports whether a text says what its subject does: it begins with a verb.
func predicate(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	return first == "may" || first == "would" || strings.HasSuffix(first, "s") && !nouns[first]
}

// nouns end as verbs do.
var nouns = WordSet("this its options packages letters files programs names")

// effectsAlone is the Judge of a use whose effects say all that matters, whatever its words are.
func effectsAlone(*Args, *Use) {}
