package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestPolicyWords: a flag that says what may run reaches the command that a hook writes.
func TestPolicyWords(t *testing.T) {
	var s sessionFlags
	cmd := &cobra.Command{Use: "test"}
	s.addPolicyFlags(cmd, "")
	var names []string
	for line := range strings.Lines(cmd.Flags().FlagUsages()) {
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "--"), " ")
		if err := cmd.Flags().Set(name, "plan"); err != nil {
			t.Fatalf("--%s: %v", name, err)
		}
		names = append(names, name)
	}
	words, err := s.policyWords()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--"+name+"=") && strings.HasSuffix(w, "plan") }) {
			t.Errorf("--%s plan is not among %q", name, words)
		}
	}
	if len(names) < 6 {
		t.Errorf("the flags are %q", names)
	}
}
