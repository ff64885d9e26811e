package classify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// ending says when a later part of a pipeline stops reading, which ends the parts before it.
type ending uint8

const (
	endsNever ending = iota
	endsLines        // after so many lines
	endsBytes        // after so many bytes
)

// endlessDevices can be read without end, and reading them changes nothing. The value says whether there are lines among what is read.
var endlessDevices = map[string]bool{"/dev/zero": false, "/dev/full": false, "/dev/random": true, "/dev/urandom": true}

// streaming are programs that copy their input to their output as it comes, and end when their output closes.
var streaming = program.WordSet("cat tr fold cut base64 base32 od xxd hexdump hd rev nl tee dd stdbuf iconv expand unexpand")

// keeping are programs that pass nothing on before their input ends, and keep all of it until then.
var keeping = program.WordSet("sort tac shuf sponge column tsort mapfile readarray jq xargs")

// limits are the options, or beginnings of operands, that bound how much a program reads.
var limits = map[string][]string{
	"head": {"-c", "--bytes"}, "od": {"-N", "--read-bytes"}, "xxd": {"-l", "-len"}, "hexdump": {"-n"}, "hd": {"-n"}, "dd": {"count="},
	"cmp": {"-n", "--bytes"}, "timeout": {""}, "gtimeout": {""},
}

// commandName returns the name of the program of a simple command with its words, as far as that is literal.
func commandName(cmd syntax.Command) (string, []*syntax.Word) {
	call, ok := cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return "", nil
	}
	return path.Base(call.Args[0].Lit()), call.Args[1:]
}

// limitReading notes whether the command itself, or a later part of its pipeline, bounds how much it reads.
func (w *walk) limitReading(cmd syntax.Command) {
	name, words := commandName(cmd)
	w.readEnd = endsNever
	if w.ending != endsNever && streaming[name] {
		w.readEnd = w.ending
	}
	if anyBegins(words, limits[name]) {
		w.readEnd = endsBytes
	}
}

// anyBegins reports whether one of some words begins with one of some texts.
func anyBegins(words []*syntax.Word, texts []string) bool {
	if len(texts) == 0 {
		return false
	}
	return slices.ContainsFunc(words, func(word *syntax.Word) bool {
		literal, _ := plainText(word)
		return slices.ContainsFunc(texts, func(text string) bool { return strings.HasPrefix(literal, text) })
	})
}

// readsEndless judges the reading of a path: a reader of an endless file must end by itself.
func (w *walk) readsEndless(text string, at program.Word) {
	if w.readEnd == endsBytes {
		return
	}
	dirs := w.scope.dirs
	if strings.HasPrefix(text, "/") {
		dirs = []string{"/"}
	}
	for _, dir := range dirs {
		full := path.Clean(text)
		if dir != "/" {
			full = path.Join(dir, text)
		}
		if lines, ok := endlessDevices[full]; ok && !(lines && w.readEnd == endsLines) {
			w.found.note(long)
			w.found.strange(full+" never ends, and nothing here stops reading it", at)
		}
	}
}

// endingOf says when the last part of a pipeline stops reading.
func (w *walk) endingOf(cmd syntax.Command) ending {
	name, words := commandName(cmd)
	switch {
	case name == "head" && anyBegins(words, limits[name]):
		return endsBytes
	case name == "head":
		return endsLines
	case streaming[name]:
		return w.ending
	}
	return endsNever
}

// piped analyses a command and the text that is piped into it. A command that keeps its whole input takes memory without end if the
// input has none.
func (w *walk) piped(from, to *syntax.Stmt) {
	endless := w.runsLong(w.endingOf(to.Cmd), func() { w.stmt(from) })
	if name, _ := commandName(to.Cmd); endless && keeping[name] {
		w.found.keeps(name)
	}
}

// runsLong reports whether commands whose output ends as e says run for long.
func (w *walk) runsLong(e ending, analyse func()) bool {
	outer, before := w.ending, w.found.tally
	w.ending, w.found.tally = e, before&^long
	analyse()
	found := w.found.tally.has(long)
	w.ending, w.found.tally = outer, w.found.tally|before
	return found
}

// endless notes loops whose condition is a constant.
func (w *walk) endless(x *syntax.WhileClause) {
	if len(x.Cond) != 1 || x.Cond[0].Negated {
		return
	}
	call, ok := x.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) != 1 {
		return
	}
	switch name := call.Args[0].Lit(); {
	case !x.Until && (name == "true" || name == ":"), x.Until && name == "false":
		w.found.noteEndless(x.Do)
	}
}

// noteEndless notes a loop that does not end by its condition.
func (rec *record) noteEndless(body []*syntax.Stmt) {
	if leaves(body) {
		rec.note(mayRunLong)
		return
	}
	rec.note(long)
	rec.fact("long_running", "the loop does not end by itself")
}

// leaves reports whether something in the statements may end a loop.
func leaves(body []*syntax.Stmt) bool {
	found := false
	for _, s := range body {
		syntax.Walk(s, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				switch call.Args[0].Lit() {
				case "break", "return", "exit", "exec":
					found = true
				}
			}
			return !found
		})
	}
	return found
}
