package classify

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"toolhost/classify/program"
)

// endlessDevices are read without end. The value says whether there are lines among what is read.
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

// limit notes whether the command itself, or a later part of its pipeline, bounds how much it reads.
func (w *walk) limit(cmd syntax.Command) {
	name, words := commandName(cmd)
	w.reading = endsNever
	if w.ending != endsNever && streaming[name] {
		w.reading = w.ending
	}
	if anyBegins(words, limits[name]) {
		w.reading = endsBytes
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
	if w.reading == endsBytes {
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
		if lines, ok := endlessDevices[full]; ok && !(lines && w.reading == endsLines) {
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

// ending says when a later part of a pipeline stops reading, which ends the parts before it.
type ending uint8

const (
	endsNever ending = iota
	endsLines        // after so many lines
	endsBytes        // after so many bytes
)
