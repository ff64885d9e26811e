package program

import (
	"embed"
	"iter"
	"strings"
	"sync"
)

// The tables describe programs in the language of the package's comment. The judges that a table names stand in the file of the same name.
//
//go:embed tables/*.txt
var tables embed.FS

// entry is one description as its table has it. Most are never needed, so each is read at its first lookup.
type entry struct {
	text    string
	once    sync.Once
	spec    *Spec
	carried CarriedCode
}

// read returns the description, and what code it says that words may carry.
func (e *entry) read() (*Spec, CarriedCode) {
	e.once.Do(func() {
		e.spec = &Spec{}
		e.spec.read(e.text)
		e.carried = carriedBy(e.spec)
	})
	return e.spec, e.carried
}

// registry are the descriptions by the names of their programs, and the parts that several share by "define NAME".
var registry = sync.OnceValue(func() map[string]*entry {
	byName := make(map[string]*entry, 1024)
	for names, text := range entries() {
		e := &entry{text: text}
		if strings.HasPrefix(names, "define ") {
			byName[names] = e
			continue
		}
		for name := range strings.FieldsSeq(names) {
			byName[name] = e
		}
	}
	return byName
})

// entries yields the names that each entry of the tables describes, and its text. Empty lines stand between entries.
func entries() iter.Seq2[string, string] {
	return func(yield func(names, text string) bool) {
		files, err := tables.ReadDir("tables")
		if err != nil {
			panic(err) // the tables are a part of this program
		}
		for _, file := range files {
			table, err := tables.ReadFile("tables/" + file.Name())
			if err != nil {
				panic(err)
			}
			for text := range strings.SplitSeq(string(table), "\n\n") {
				if names := entryNames(text); names != "" && !yield(names, text) {
					return
				}
			}
		}
	}
}

// entryNames returns the names at the head of an entry, "" if it has none and is a comment.
func entryNames(text string) string {
	names := ""
	for line := range strings.Lines(text) {
		if more, ok := strings.CutPrefix(line, "\talso "); ok {
			names += " " + strings.TrimSpace(more)
		} else if line[0] != '\t' && line[0] != '#' {
			names += strings.TrimSpace(line)
		}
	}
	return names
}

// Lookup returns the description of the program with this name, nil if there is none.
func Lookup(name string) *Spec {
	if e := registry()[name]; e != nil {
		if spec, _ := e.read(); !spec.Partial {
			return spec
		}
	}
	return nil
}

// shared returns a description that no program has by itself: that of "define NAME".
func shared(name string) *Spec {
	spec, _ := registry()["define "+name].read()
	return spec
}
