package claudecode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// TestSearchSparesSecrets: Grep of Claude Code gets a glob that leaves secrets out, or is denied where that is not possible.
func TestSearchSparesSecrets(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"one/.env", "two/.env", "two/.env.local", "plain/a.go", "odd/a b.env"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("two", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	secret := func(path string) bool { return strings.Contains(filepath.Base(path), ".env") }
	for _, row := range []struct{ below, glob, want string }{
		{"plain", "", ""}, {"one", "", "!.env"}, {"two", "", "!{.env,.env.local}"}, {"link", "", "!{.env,.env.local}"},
		{"two", "*.go", "*.go"}, {"two", "*.{ts,tsx}", "*.{ts,tsx}"}, {"two", "src/**/*.go", "src/**/*.go"},
		{"two", ".env*", "denied"}, {"two", "**", "denied"}, {"two", "two/*", "denied"}, {"two", "*", "denied"}, {"two", "*.go .env", "denied"},
		{"two", "*.go,.env", "denied"}, {"two", "!*.go", "denied"}, {"two", "{.env,x}", "denied"}, {"two", "[.]env", "denied"}, {"two", ".ENV", "denied"},
		{"two", "{two/.env,x}", "denied"}, {"two", "two/", "denied"}, {"odd", "", "denied"},
	} {
		c := call{Tool: "Grep", Raw: map[string]any{"pattern": "x"}, Input: input{Path: filepath.Join(dir, row.below)}}
		if row.glob != "" {
			c.Raw["glob"] = row.glob
		}
		a := answer{Verdict: agenttool.Allow}
		if err := a.spare(c, secret); err != nil {
			t.Fatal(err)
		}
		got, _ := c.Raw["glob"].(string)
		if a.Verdict == agenttool.Deny {
			got = "denied"
		}
		if got != row.want || row.glob == "" && a.Verdict == agenttool.Allow && (a.Input != nil) != (got != "") {
			t.Errorf("%s with %q: %q, want %q", row.below, row.glob, got, row.want)
		}
	}
}
