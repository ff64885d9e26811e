package shell

import (
	"slices"
	"testing"
)

// TestAddedReaches: the variables of the user's settings reach every command but one that only reads and reaches nothing: that one runs
// unasked, and was understood without them. They replace none that keep a reader from writing.
func TestAddedReaches(t *testing.T) {
	b := newBenchIn(t, t.TempDir(), Options{Added: func() []string { return []string{"GH_TOKEN=x", "GOFLAGS=-mod=mod"} }})
	for line, want := range map[string]bool{"gh pr list": true, "ssh-add -l": true, "make": true, "touch x": true, "ls": false, "git log": false} {
		c := b.bind(t, map[string]any{"command": line}).(*call)
		env, err := c.environ()
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(env, "GH_TOKEN=x"); got != want {
			t.Errorf("%s gets them: %v", line, got)
		}
		if line == "gh pr list" && slices.Contains(env, "GOFLAGS=-mod=mod") {
			t.Errorf("%s gets %q", line, env)
		}
	}
}
