package program

import (
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
