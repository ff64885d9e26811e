package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// probedDir tells a test in a child process where it shall probe until it is killed.
const probedDir = "TOOLHOST_TEST_PROBED_DIR"

// TestKilledProbeLeavesNothing: the next probe removes the directory of a probe that was killed. It leaves those of running probes, and
// other files, alone.
func TestKilledProbeLeavesNothing(t *testing.T) {
	if dir := os.Getenv(probedDir); dir != "" {
		for {
			Probe(dir)
		}
	}
	dir := t.TempDir()
	running, lock, err := probeDir(dir)
	must(t, err)
	other := filepath.Join(dir, probePrefix+"file")
	must(t, os.WriteFile(other, nil, 0o600))
	for range 3 {
		killProbe(t, dir)
	}
	Probe(dir)
	if left := entries(t, dir); len(left) != 2 {
		t.Errorf("left: %v", left)
	}
	lock.Close()
	must(t, os.Remove(other))
	Probe(dir)
	if left := entries(t, dir); len(left) != 0 {
		t.Errorf("left of %s: %v", running, left)
	}
}

// killProbe kills a process while it probes in dir.
func killProbe(t *testing.T, dir string) {
	t.Helper()
	before := entries(t, dir)
	c := exec.Command("/proc/self/exe", "-test.run=^TestKilledProbeLeavesNothing$")
	c.Env = append(os.Environ(), probedDir+"="+dir)
	must(t, c.Start())
	begun := func() bool {
		return slices.ContainsFunc(entries(t, dir), func(name string) bool { return !slices.Contains(before, name) })
	}
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) && !begun() {
		time.Sleep(time.Millisecond)
	}
	must(t, c.Process.Kill())
	_ = c.Wait()
	if time.Now().After(deadline) {
		t.Fatal("the process made no directory to probe in")
	}
}

// TestSessionSweepsProbes: a session removes what killed probes left where temporary files are, also if it does not probe: the next start
// may know the level from the file of another host.
func TestSessionSweepsProbes(t *testing.T) {
	abandoned, err := os.MkdirTemp("/tmp", probePrefix)
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(abandoned) })
	must(t, os.MkdirAll(filepath.Join(abandoned, "scratch", "session"), 0o700))
	s, err := Open(Options{Level: None, Dir: filepath.Join(t.TempDir(), "sessions", "one")})
	must(t, err)
	must(t, s.Make())
	must(t, s.Close())
	if _, err := os.Lstat(abandoned); err == nil {
		t.Errorf("%s is still there", abandoned)
	}
}

// entries are the names in a directory.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	f, err := os.Open(dir)
	must(t, err)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	must(t, err)
	return names
}
