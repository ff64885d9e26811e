package program

import (
	"maps"
	"slices"
	"strings"
)

// Row is a program, or a subcommand of it, as a table has it.
type Row struct {
	Words    []string // the program's name and those of the subcommands
	Options  []RowOption
	Operands []string // their kinds
	Raw      bool     // no word of it is taken apart by the table
}

// RowOption is an option that takes a value.
type RowOption struct {
	Spellings []string
	Kind      string
	Optional  bool // only in the same word
}

// Rows returns the rows of all programs, those that are known in part left out. Of the names of one entry it takes the first that is installed.
func Rows(installed func(name string) bool) (rows []Row) {
	for names, text := range entries(allTables()...) {
		if strings.HasPrefix(names, "define ") {
			continue
		}
		spec := &Spec{}
		spec.read(text)
		if spec.Partial {
			continue
		}
		all := strings.Fields(names)
		rows = append(rows, rowsOf(spec, all[max(slices.IndexFunc(all, installed), 0):][:1])...)
	}
	return rows
}

func rowsOf(spec *Spec, words []string) []Row {
	t := spec.table()
	row := Row{Words: words, Raw: spec.Raw}
	spellings := map[*option][]string{}
	for _, spelling := range slices.Sorted(maps.Keys(t.options)) {
		if o := t.options[spelling]; o.kind != "" {
			spellings[o] = append(spellings[o], spelling)
		}
	}
	for o, all := range spellings {
		row.Options = append(row.Options, RowOption{all, o.kind, o.optional})
	}
	slices.SortFunc(row.Options, func(a, b RowOption) int { return slices.Compare(a.Spellings, b.Spellings) })
	for _, o := range t.kinds {
		row.Operands = append(row.Operands, o.kind)
	}
	rows := []Row{row}
	for _, sub := range spec.Sub {
		name := strings.Fields(sub.Names)[0]
		rows = append(rows, rowsOf(sub, append(slices.Clone(words), name))...)
	}
	return rows
}
