package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFindingIsKeptElsewhere: where the state directory takes no file, what a probe found is in the next directory, and the next start does
// not probe again. A file of another user counts for nothing.
func TestFindingIsKeptElsewhere(t *testing.T) {
	if Probe(t.TempDir()).Level != Full {
		t.Skip("only the full level is kept")
	}
	dir := t.TempDir()
	state, elsewhere := filepath.Join(dir, "state"), filepath.Join(dir, "run") // state does not exist
	must(t, os.Mkdir(elsewhere, 0o700))
	if f := ProbeOnce(state, elsewhere); f.Level != Full {
		t.Fatalf("found %+v", f)
	}
	file := filepath.Join(elsewhere, levelFile)
	first, err := os.Stat(file)
	must(t, err)
	if _, ok := remembered(elsewhere); !ok {
		t.Error("what was found is not used")
	}
	must(t, os.Mkdir(state, 0o700))
	Remember(Finding{Level: Full}, state, elsewhere)
	if _, ok := remembered(state); !ok {
		t.Error("the state directory takes it, and has nothing")
	}
	if again, err := os.Stat(file); err != nil || !os.SameFile(first, again) {
		t.Errorf("it was written again: %v", err)
	}
	link := filepath.Join(dir, "link")
	must(t, os.Mkdir(link, 0o700))
	must(t, os.Symlink(file, filepath.Join(link, levelFile)))
	if _, ok := remembered(link); ok {
		t.Error("a link is followed")
	}
	if os.Getuid() == 0 {
		must(t, os.Chown(file, 12345, 12345))
		if _, ok := remembered(elsewhere); ok {
			t.Error("another user's file counts")
		}
	}
}
