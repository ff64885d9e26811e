package program

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// lab runs programs in a directory of its own and looks whether they change it.
type lab struct {
	dir    string
	rounds int
}

const labInput = "a/b\nfoo bar\ntouch out\n"

// newLab skips the test where the program is missing.
func newLab(t *testing.T, program string) *lab {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	l := &lab{dir: t.TempDir(), rounds: rounds}
	if err := os.WriteFile(filepath.Join(l.dir, "input"), []byte(labInput), 0o600); err != nil {
		t.Fatal(err)
	}
	return l
}

// run runs a command line that must change nothing. What it prints and how it ends does not matter.
func (l *lab) run(t *testing.T, what string, argv ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = l.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8"}
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // a script that the program refuses has done nothing either
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "input" {
			t.Errorf("%q made %s", what, e.Name())
			_ = os.RemoveAll(filepath.Join(l.dir, e.Name()))
		}
	}
}

// clean looks at the input, and whether anything was run at all.
func (l *lab) clean(t *testing.T, ran int) {
	t.Helper()
	input, err := os.ReadFile(filepath.Join(l.dir, "input"))
	if err != nil || string(input) != labInput {
		t.Errorf("the input became %q, %v", input, err)
	}
	if ran < min(l.rounds, 10) {
		t.Errorf("only %d of the generated texts were understood", ran)
	}
}
