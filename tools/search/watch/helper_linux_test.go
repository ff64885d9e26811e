package watch

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

const (
	partVariable = "TOOLHOST_WATCH_TEST_PART"
	baseVariable = "TOOLHOST_WATCH_TEST_BASE"
)

// TestMain plays the part of another process when it was started by child.
func TestMain(m *testing.M) {
	part, found := os.LookupEnv(partVariable)
	if !found {
		os.Exit(m.Run())
	}
	if err := play(part, os.Getenv(baseVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(part, base string) error {
	if part == limits {
		return reachLimits(base)
	}
	for _, c := range happenings {
		if c.name == part {
			return c.act(base)
		}
	}
	return fmt.Errorf("no part %q", part)
}

// child returns a process that plays a part.
func child(t *testing.T, part, base string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program)
	c.Env = append(os.Environ(), partVariable+"="+part, baseVariable+"="+base)
	return c
}

func run(c *exec.Cmd) error {
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func newWatcher(t testing.TB) *Watcher {
	t.Helper()
	w, err := New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// add watches the directory and closes it.
func add(t testing.TB, w *Watcher, name string) ID {
	t.Helper()
	id, err := addPath(w, name)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func addPath(w *Watcher, name string) (ID, error) {
	dir, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	return w.Add(int(dir.Fd()))
}

// drain returns all events, without the number of a rename, which is the system's choice.
func drain(t testing.TB, w *Watcher) (all []Event) {
	t.Helper()
	if err := w.Drain(func(e Event) { e.Move = 0; all = append(all, e) }); err != nil {
		t.Fatal(err)
	}
	return all
}

var penNames = [2]string{"left", "right"}

// pen returns a function that makes n events, about the two penNames in base in turn: the system joins an event only
// with one of the same file just before it.
func pen(t testing.TB, base string) func(n int) {
	t.Helper()
	var files [2]*os.File
	for i, name := range penNames {
		f, err := os.Create(base + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		files[i] = f
	}
	return func(n int) {
		for i := range n {
			if _, err := files[i%2].WriteAt([]byte("x"), 0); err != nil {
				t.Error(err)
			}
		}
	}
}
