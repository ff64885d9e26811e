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
	state, elsewhere := filepath.Join(dir, "state"), filepath.Join(dir, "run")
	must(t, os.WriteFile(state, nil, 0o600)) // it takes no file
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
	must(t, os.Remove(state))
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

// TestFindingNeedsNoSession: a start that makes no session keeps what it found, in a directory that it makes, and the next one does not probe.
// A finding that turned out to be wrong is forgotten.
func TestFindingNeedsNoSession(t *testing.T) {
	if Probe(t.TempDir()).Level != Full {
		t.Skip("only the full level is kept")
	}
	dir := filepath.Join(t.TempDir(), "run", "toolhost")
	ProbeOnce(dir, t.TempDir())
	info, err := os.Stat(filepath.Join(dir, levelFile))
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	Forget(dir)
	if _, ok := remembered(dir); ok {
		t.Error("it is still there")
	}
}

// TestNotMadeIsSaid: a command whose sandbox cannot be made says so to whoever keeps the level, and a shortage does not.
func TestNotMadeIsSaid(t *testing.T) {
	said := 0
	b := newBench(t, func(o *Options) { o.NotMade = func() { said++ } })
	if r := b.run(t, Workspace, "true"); r.err != nil || said != 0 {
		t.Fatalf("%v, said %d times", r.err, said)
	}
	must(t, os.Rename(b.ws, b.ws+".away"))
	must(t, os.Mkdir(b.ws, 0o700)) // another directory than the one that was to be shown
	if r := b.run(t, Workspace, "true"); r.err == nil || said != 1 {
		t.Errorf("%v, said %d times", r.err, said)
	}
	if err := b.startFailed(errStalled); said != 1 {
		t.Errorf("%v, said %d times", err, said)
	}
}

// TestFindingMakesNothingInAnotherUsersDirectory: root with the environment of a user leaves nothing there that the user could not use.
func TestFindingMakesNothingInAnotherUsersDirectory(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root has another user's directories")
	}
	theirs, own := t.TempDir(), t.TempDir()
	must(t, os.Chown(theirs, 12345, 12345))
	Remember(Finding{Level: Full}, filepath.Join(theirs, "toolhost"), filepath.Join(theirs, ".local", "state", "toolhost"), own)
	if names, err := os.ReadDir(theirs); err != nil || len(names) > 0 {
		t.Errorf("%v, %v", names, err)
	}
	if _, ok := remembered(own); !ok {
		t.Error("our own directory has nothing")
	}
}
