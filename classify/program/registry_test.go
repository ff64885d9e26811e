package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryNameIsDescribedOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, list := range lists() {
		for _, spec := range list {
			if spec.Names == "" {
				t.Errorf("a description has no name: %q", spec.Options)
			}
			for name := range strings.FieldsSeq(spec.Names) {
				if seen[name] {
					t.Errorf("%s is described twice", name)
				}
				seen[name] = true
				if (Lookup(name) == nil) != spec.Partial {
					t.Errorf("Lookup(%q) finds %v", name, Lookup(name))
				}
			}
		}
	}
}

func TestDescriptionsAreWellFormed(t *testing.T) {
	for _, list := range lists() {
		for _, spec := range list {
			for _, fault := range faults(spec) {
				t.Error(fault)
			}
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
					if Destroyer(fields[i], texts(argv[1:])) == nil {
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
