package program

import (
	"slices"
	"strings"
)

// Reason explains a fact of a use. Its text is a predicate whose subject is the program ("runs code of this project"), or a
// sentence of its own ("the script is not static"). Either may begin with the program's name.
type Reason struct {
	Fact   string // the fact, as in agenttool.Reason; "": all facts of the use
	Of     string // the option or operand that decides; "": the use as a whole
	Text   string
	Line   int // 0: that of the program's name
	Column int
}

// factOf is the fact that an effect decides; other effects give no reason.
var factOf = map[Effect]string{
	Writes:         "read_only",
	GitConfig:      "read_only",
	GitUpstream:    "read_only",
	GitGlobal:      "read_only",
	RunsCode:       "read_only",
	Destroys:       "destructive",
	Reaches:        "open_world",
	LongRunning:    "long_running",
	Interactive:    "interactive",
	Pages:          "interactive",
	ObservesHost:   "observes_host",
	NotConcurrent:  "concurrency_safe",
	ReadsElsewhere: "paths_complete",
	RunsHooks:      "paths_complete",
}

// effectPhrase describes an effect where no reason says more.
var effectPhrase = map[Effect]string{
	Writes:          "changes files or state",
	Destroys:        "deletes or overwrites data",
	GitConfig:       "changes the configuration of the repository",
	GitUpstream:     "notes which branch a branch follows",
	GitGlobal:       "changes git's configuration of the person",
	Reaches:         "reaches another machine, or a service that may",
	LongRunning:     "does not end by itself",
	Interactive:     "waits for input at a terminal",
	Pages:           "waits for input at a terminal",
	ObservesHost:    "shows processes, memory, sockets or users of the machine",
	NotConcurrent:   "writes a cache, so that it does not run beside others",
	ReadsElsewhere:  "reads files that its words do not name",
	RunsCode:        "runs code that toolhost does not read",
	RunsHooks:       "runs the hooks of the repository",
	WritesElsewhere: "writes files that its words do not name",
	MayReach:        "asks for the names of hosts, where it can",
}

// because is a reason for all facts of a use.
func because(text string) Reason { return Reason{Text: text} }

// reason is a Judge that only says why a program has the effects of its description.
func reason(text string) func(*Args, *Use) {
	return func(_ *Args, u *Use) { u.Reasons = append(u.Reasons, because(text)) }
}

// AllReasons returns the reasons of a use, and for each effect that none is about what it means.
func (u *Use) AllReasons() []Reason {
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
		size += len(w.Text)
		if size > maxShown || !w.Static || w.Text == "" || strings.ContainsAny(w.Text, " \t\n\"'`$\\|&;<>(){}*?[]#!") {
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
