package program

import "strings"

// Words is a set of words: names of programs, options, keys. The zero value is empty.
type Words map[string]bool

// WordSet returns the words of a text, which blanks and line ends separate. Sets are made once, as tables.
//
// A search in the text itself is no substitute: it finds parts of words, several words, and no word that stands at a line end if it
// looks for blanks around it.
func WordSet(text string) Words {
	set := Words{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}
