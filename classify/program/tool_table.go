package program

import (
	_ "embed"
	"maps"
	"strings"
	"sync"
)

//go:embed tools.txt
var toolTable string

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
