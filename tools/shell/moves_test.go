package shell

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOldDirectory: cd - goes back to where the session was before it moved, and the session follows into directories of any name.
func TestOldDirectory(t *testing.T) {
	b := newBench(t, Options{})
	for _, name := range []string{"plain", "new\nline", "tab\t'quote\" ", "latin\xe9", "-dash", "$HOME"} {
		dir := filepath.Join(b.dir, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		b.scope.Dir, b.scope.Old = dir, ""
		if got := endedIn(dir + "\n"); got != dir {
			t.Errorf("a command that ended in %q: %q", dir, got)
		}
		b.scope.Dir, b.scope.Old = b.dir, dir
		c := b.bind(t, map[string]any{"command": "cd - > /dev/null; pwd"})
		out, err := c.Run(t.Context(), &fakeReporter{})
		if s, ok := out.Structured.(structuredOutput); err != nil || !ok || out.Dir != dir || s.ExitCode == nil || *s.ExitCode != 0 {
			t.Errorf("%q: %v, the session moves to %q", name, err, out.Dir)
		}
	}
}
