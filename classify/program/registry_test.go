package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryNameIsDescribedOnce(t *testing.T) {
	seen := map[string]bool{}
	for names, text := range entries(allTables()...) {
		parts := strings.Fields(names)
		if shared, ok := strings.CutPrefix(names, "define "); ok {
			parts = []string{"define " + shared}
		}
		for _, name := range parts {
			if seen[name] {
				t.Errorf("%s is described twice", name)
			}
			seen[name] = true
		}
		heads := 0
		for line := range strings.Lines(text) {
			if strings.TrimSpace(line) != "" && line[0] != '\t' && line[0] != '#' {
				heads++
			}
		}
		if heads != 1 {
			t.Errorf("the entry of %s has %d heads: an empty line is missing", names, heads)
		}
	}
	if len(seen) < 700 {
		t.Errorf("only %d names are described", len(seen))
	}
}

func TestLookupFindsWhatIsMoreThanPartial(t *testing.T) {
	for name, e := range registry() {
		if spec, _ := e.read(); (Lookup(name) == nil) != spec.Partial {
			t.Errorf("Lookup(%q) finds %v", name, Lookup(name))
		}
	}
}

func TestDescriptionsAreWellFormed(t *testing.T) {
	for name, e := range registry() {
		spec, _ := e.read()
		if spec.Names == "" && !strings.HasPrefix(name, "define ") {
			t.Errorf("the description of %s has no name", name)
		}
		if strings.HasPrefix(name, "define ") && spec.Judge == nil {
			continue // its kinds of values are those of who is like it
		}
		for _, fault := range faults(spec) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

func TestFaultyEntries(t *testing.T) {
	for entry, want := range map[string]string{
		"x\n\tis careful":          "careful",
		"x\n\tlike nobodysPart":    "no part",
		"x\n\tjudge nobody":        "no judge",
		"x\n\toption -a":           "says nothing",
		"x\n\t\t-a":                "too far in",
		"x\n\tsub y\n\t\tis great": "great",
	} {
		spec := &Spec{}
		spec.read(entry)
		if got := faults(spec); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%q: %q, want %q", entry, got, want)
		}
	}
}

// TestDestroyersSayThatTheyAre: where a Judge finds that words destroy, the description says that it may, or the lenient analysis does not ask it.
func TestDestroyersSayThatTheyAre(t *testing.T) {
	names, err := filepath.Glob("../../testdata/classify/*.tsv")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	found := map[string]bool{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for row := range strings.Lines(string(data)) {
			row, _, _ = strings.Cut(row, "\t")
			fields := strings.Fields(row)
			for i := range fields {
				spec := Lookup(fields[i])
				if spec == nil {
					continue
				}
				argv := make([]Word, len(fields)-i)
				for j := range argv {
					argv[j] = Lit(strings.Trim(fields[i+j], "'\""))
				}
				if _, use := Parse(spec, argv); use.Has(Destroys) {
					found[spec.Names] = true
					if Destroyer(fields[i], Texts(argv[1:])) == nil {
						t.Errorf("%q destroys, and %q does not say that it may", fields[i:], spec.Names)
					}
				}
			}
		}
	}
	if len(found) < 12 {
		t.Errorf("only %d programs destroy", len(found))
	}
}

// TestToolsAreDescribedOnce: every line of tools.txt is read, and no tool has two entries.
func TestToolsAreDescribedOnce(t *testing.T) {
	seen := map[string]bool{}
	for text := range strings.SplitSeq(toolTable, "\n\n") {
		for name := range strings.FieldsSeq(entryNames(text)) {
			if seen[name] && name != "define" {
				t.Errorf("%s is described twice", name)
			}
			seen[name] = true
		}
	}
	if len(seen) < 150 || len(tools()) != len(seen)-1 {
		t.Errorf("%d names in the table, %d tools", len(seen), len(tools()))
	}
}

// TestVariableTable: each list that is asked for is in the table, and one with an empty value has it.
func TestVariableTable(t *testing.T) {
	for _, kind := range []string{"shown", "unset", "kept", "data", "command", "code", "only PAGER", "flags GOFLAGS", "flags CXX"} {
		if len(variables()[kind]) < 2 {
			t.Errorf("%s: %v", kind, variables()[kind])
		}
	}
	if len(variables()) != 42 || !HarmlessEnvironment("PAGER", Lit("")) || HarmlessEnvironment("PAGER", Lit(`""`)) || HarmlessEnvironment("GOPROXY", Lit("")) {
		t.Errorf("%d lists", len(variables()))
	}
}
