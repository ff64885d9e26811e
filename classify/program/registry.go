package program

import (
	_ "embed"
	"iter"
	"strings"
	"sync"
)

// The tables describe programs in the language of the package's comment. They are strings, since the first command waits for their index.
var (
	//go:embed tables/shell.txt
	shellTable string // shells, and programs that run a command among their words
	//go:embed tables/files.txt
	filesTable string // names, attributes, copies, archives
	//go:embed tables/text.txt
	textTable string
	//go:embed tables/git.txt
	gitTable string
	//go:embed tables/code.txt
	codeTable string // builds, interpreters, packages
	//go:embed tables/machine.txt
	machineTable string // processes, disks, services, users
	//go:embed tables/services.txt
	servicesTable string // networks, containers, forges
	//go:embed tables/partial.txt
	partialTable string // programs that are known in part
)

// entry is one description as its table has it. Most are never needed, so each is read at its first lookup.
type entry struct {
	text    string
	once    sync.Once
	spec    *Spec
	carried CarriedCode
}

// read returns the description, and the kinds of code that the words may carry.
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
	byName := make(map[string]*entry, 2048)
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
		for _, table := range [...]string{shellTable, filesTable, textTable, gitTable, codeTable, machineTable, servicesTable, partialTable} {
			for names, text := range entriesOf(table) {
				if !yield(names, text) {
					return
				}
			}
		}
	}
}

// entriesOf yields those of one table.
func entriesOf(table string) iter.Seq2[string, string] {
	return func(yield func(names, text string) bool) {
		for text := range strings.SplitSeq(table, "\n\n") {
			if names := entryNames(text); names != "" && !yield(names, text) {
				return
			}
		}
	}
}

// ofFiles are the names of the programs in the table of files.
var ofFiles = sync.OnceValue(func() map[string]bool {
	programs := map[string]bool{}
	for names := range entriesOf(filesTable) {
		for name := range strings.FieldsSeq(names) {
			programs[name] = true
		}
	}
	return programs
})

// OfFiles reports whether a program is described in the table of files: what it destroys are files, and nothing else.
func OfFiles(name string) bool { return ofFiles()[name] }

// entryNames returns the names at the head of an entry, "" if it has none and is a comment.
func entryNames(text string) string {
	text = strings.TrimLeft(text, "\n")
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	names, _, _ := strings.Cut(text, "\n")
	for {
		_, after, more := strings.Cut(text, "\n\talso ")
		if !more {
			return names
		}
		line, _, _ := strings.Cut(after, "\n")
		names, text = names+" "+line, after
	}
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
