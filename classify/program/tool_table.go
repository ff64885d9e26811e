package program

import (
	_ "embed"
	"maps"
	"strings"
	"sync"
)

//go:embed tools.txt
var toolTable string

// tool describes a program that runs code of the project (a build, the tests, a linter with plugins): the words that can make it
// run other code. The project's own code is not judged here; code that the line names itself is.
//
// Words can name code in three ways. Text that is code has blanks, quotes or other bytes that plain words do not have. Files
// outside the project have an absolute path, or one that begins with ~ or leads up. Programs have plain names: they are passed on
// as commands, for rules that forbid. Options and subcommands whose purpose is to name code do so with any value.
type tool struct {
	code     Words  // options that name code, and subcommands and operands that do
	config   Words  // options whose value is a file of settings
	text     Words  // options whose value is text that runs nothing: a message, a pattern
	data     Words  // options whose value is a path of data, wherever it is
	commands Words  // words after whose options a command stands, to the end: exec
	known    Words  // subcommands; nil: any plain word is fine
	modules  Words  // of -m, each a tool of that name
	scripts  bool   // a subcommand that is not known is a script of the project, or a program of it
	alone    bool   // without words it reads code from its input
	files    bool   // operands name files with code
	runs     bool   // operands are a command
	inner    Words  // operands of the subcommand tool
	foreign  string // there are operands that name code of others, NAME@VERSION or A:B:C, and with this subcommand by any address
	sql      bool   // operands behind the first are text for a database
	defines  bool   // -DNAME=VALUE sets a variable
}

// tools are the entries of the table by name, and their common parts by "define NAME". They are read at the first use.
var tools = sync.OnceValue(func() map[string]*tool {
	byName := map[string]*tool{}
	for text := range strings.SplitSeq(toolTable, "\n\n") {
		t, names := &tool{}, entryNames(text)
		for line := range strings.Lines(text) {
			if line[0] == '\t' {
				word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				t.say(word, rest, byName)
			}
		}
		if strings.HasPrefix(names, "define ") {
			byName[names] = t
			continue
		}
		for name := range strings.FieldsSeq(names) {
			byName[name] = t
		}
	}
	return byName
})

// say takes one line of the table.
func (t *tool) say(word, rest string, parts map[string]*tool) {
	switch word {
	case "also":
	case "foreign":
		t.foreign = rest
	case "like":
		for name, set := range parts["define "+rest].sets() {
			t.add(name, *set)
		}
	case "is":
		flags := map[string]*bool{"scripts": &t.scripts, "alone": &t.alone, "files": &t.files, "runs": &t.runs, "sql": &t.sql, "defines": &t.defines}
		for flag := range strings.FieldsSeq(rest) {
			*flags[flag] = true
		}
	default:
		t.add(word, WordSet(rest))
	}
}

// sets are the lists of words by the names that the table gives them.
func (t *tool) sets() map[string]*Words {
	return map[string]*Words{"code": &t.code, "config": &t.config, "text": &t.text, "data": &t.data, "commands": &t.commands, "known": &t.known,
		"modules": &t.modules, "inner": &t.inner}
}

func (t *tool) add(name string, words Words) {
	if len(words) == 0 {
		return
	}
	set := t.sets()[name]
	if *set == nil {
		*set = Words{}
	}
	maps.Copy(*set, words)
}
