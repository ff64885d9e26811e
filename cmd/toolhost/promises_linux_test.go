package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/doctor"
	"toolhost/sandbox"
)

// TestPromises: what doctor says of each level is what docs/sandbox.md says, and each promise is shown at each level for which it is made.
func TestPromises(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t, "../../sandbox", ".")
	shown := map[string][]sandbox.Level{}
	for _, a := range allAttempts() {
		shown[a.name] = levelsOf(a)
	}
	parts := partLevels()
	seen := map[string]bool{}
	for _, p := range sandbox.Promises() {
		if seen[p.ID] || len(p.Shown) == 0 || len(p.Levels) == 0 {
			t.Errorf("%s: made twice, or shown by nothing, or held nowhere", p.ID)
		}
		seen[p.ID] = true
		row := "| " + p.Words
		for _, level := range anywhere {
			row += map[bool]string{true: " | yes", false: " | no"}[p.Held(level)]
		}
		if !strings.Contains(string(readme), row+" |\n") {
			t.Errorf("docs/sandbox.md does not say: %s |", row)
		}
		for _, level := range p.Levels {
			if !slices.ContainsFunc(p.Shown, func(name string) bool {
				return slices.Contains(shown[name], level) || slices.Contains(parts[name], level) || tests[name]
			}) {
				t.Errorf("%s: nothing shows it at level %s", p.ID, level)
			}
		}
		for _, name := range p.Shown {
			if shown[name] == nil && parts[name] == nil && !tests[name] {
				t.Errorf("%s: there is no attempt, part or test %q", p.ID, name)
			}
		}
		if p.Held(sandbox.None) {
			t.Errorf("%s: level none holds nothing", p.ID)
		}
	}
	if got := len(regexp.MustCompile(`(?m)^\| .* \| (yes|no) \| (yes|no) \| (yes|no) \|$`).FindAll(readme, -1)); got != len(seen) {
		t.Errorf("docs/sandbox.md has %d promises, and there are %d", got, len(seen))
	}
}

// TestAbsencesAreSaid: docs/sandbox.md and docs/faq.md say what commands do not find in the words of the table that results and doctor use, and
// each row is shown by a test.
func TestAbsencesAreSaid(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../docs/sandbox.md")
	if err != nil {
		t.Fatal(err)
	}
	faq, err := os.ReadFile("../../docs/faq.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testNames(t, "../../sandbox", "../../permissions")
	rows := 0
	for _, a := range sandbox.Absences() {
		row := fmt.Sprintf("| %s | %s |\n", a.What, a.Do)
		if rows++; strings.Count(string(docs), row) != 1 {
			t.Errorf("docs/sandbox.md does not say: %s", row)
		}
		if len(a.Shown) == 0 || len(a.Levels) == 0 {
			t.Errorf("%s: shown by nothing, or so nowhere", a.ID)
		}
		for _, name := range a.Shown {
			if !tests[name] {
				t.Errorf("%s: there is no test %s", a.ID, name)
			}
		}
	}
	_, table, _ := strings.Cut(string(docs), "| commands do not find | what to do |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if got := strings.Count(table+"\n", "\n"); got != rows {
		t.Errorf("docs/sandbox.md has %d rows, and there are %d", got, rows)
	}
	const link = "sandbox.md#what-commands-do-not-find-and-what-to-do"
	if !strings.Contains(string(faq), link) || !strings.Contains(string(docs), "\n## What commands do not find, and what to do\n") {
		t.Errorf("docs/faq.md does not lead to the table with %s", link)
	}
	var b strings.Builder
	found, err := doctor.Examine(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, a := range sandbox.Absences() {
		if here := slices.Contains(a.Levels, found.Sandbox.Level); strings.Contains(b.String(), a.What+"\n") != here || here && !strings.Contains(b.String(), a.Do+"\n") {
			t.Errorf("doctor says of %s at level %s\n%s", a.ID, found.Sandbox.Level, b.String())
		}
	}
}

// TestDoctorPromises: doctor says of each level what it holds, and which promises are gone.
func TestDoctorPromises(t *testing.T) {
	t.Parallel()
	for _, level := range agenttool.Levels {
		var b strings.Builder
		found := doctor.Findings{Sandbox: sandbox.Finding{Level: level}}
		if err := found.Print(&b); err != nil {
			t.Fatal(err)
		}
		for _, p := range sandbox.Promises() {
			word := map[bool]string{true: "holds", false: "lacks"}[p.Held(level)]
			if line := fmt.Sprintf("  %s   %s\n", word, p.Words); strings.Count(b.String(), p.Words+"\n") != 1 || !strings.Contains(b.String(), line) {
				t.Errorf("%s: doctor does not say %q\n%s", level, line, b.String())
			}
		}
	}
}

// levelsOf are the levels at which an attempt is made.
func levelsOf(a attempt) []sandbox.Level {
	if a.at == nil {
		return []sandbox.Level{sandbox.Full}
	}
	return a.at
}

// partLevels are the parts of TestEscapes that are no scripts, with the levels that they try.
func partLevels() map[string][]sandbox.Level {
	full := []sandbox.Level{sandbox.Full}
	return map[string][]sandbox.Level{"network": anywhere, "processes": anywhere, "proxy": full, "ghosts": full,
		"volumes": anywhere, "terminal": anywhere, "setup": watched}
}

// testNames are the tests of some directories.
func testNames(t *testing.T, dirs ...string) map[string]bool {
	names := map[string]bool{}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no tests, %v", dir, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
				names[string(m[1])] = true
			}
		}
	}
	return names
}
