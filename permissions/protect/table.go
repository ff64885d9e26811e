package protect

import (
	_ "embed"
	"iter"
	"strings"
)

// The first lines of each list explain it.
var (
	//go:embed lists/names.txt
	namesList string
	//go:embed lists/home_names.txt
	homeNamesList string
	//go:embed lists/secrets.txt
	secretsList string
	//go:embed lists/home_shown.txt
	homeShownList string
	//go:embed lists/hooks.txt
	hooksList string
)

// linesOf yields the lines of a list that are no comments.
func linesOf(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(list) {
			if !strings.HasPrefix(line, "#") && !yield(line) {
				return
			}
		}
	}
}

// wordsOf yields the words of a list.
func wordsOf(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range linesOf(list) {
			for word := range strings.FieldsSeq(line) {
				if !yield(word) {
					return
				}
			}
		}
	}
}

// listed reads the names of a list, each with the properties at the head of its entry.
func listed(list string) []Name {
	var names []Name
	var entry Name
	for line := range linesOf(list) {
		if !strings.HasPrefix(line, "\t") {
			entry = headOf(strings.TrimSpace(line))
			continue
		}
		for entry.Path = range strings.FieldsSeq(line) {
			names = append(names, entry)
		}
	}
	return names
}

// headOf reads the head of an entry: RULE HOLD SHAPE: PROGRAMS.
func headOf(line string) (entry Name) {
	head, runs, _ := strings.Cut(line, ": ")
	rule, head, _ := strings.Cut(head, " ")
	hold, shape, _ := strings.Cut(head, " ")
	entry = Name{Rule: Rule(rule), Hold: Seals, Dir: shape == "dirs", Runs: runs}
	switch hold {
	case "asks":
		entry.Hold = OnlyAsks
	case "reports":
		entry.Hold = Reports
	}
	return entry
}
