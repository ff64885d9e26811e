package dirs

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestTarget follows links to names that do not exist yet, and ends on a loop.
func TestTarget(t *testing.T) {
	dir := Real(t.TempDir())
	for link, to := range map[string]string{"dir": "real", "missing": "real/new/file", "chain": "missing", "loop": "loop", "up": "../" + filepath.Base(dir) + "/real"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"real": "real", "dir": "real", "dir/x/y": "real/x/y", "missing": "real/new/file", "chain": "real/new/file", "up/x": "real/x", "loop": "loop",
	} {
		if got := Target(filepath.Join(dir, name)); got != filepath.Join(dir, want) {
			t.Errorf("%s leads to %s, want %s", name, got, want)
		}
	}
}

// TestSockets checks which directories sockets can be in, the best first.
func TestSockets(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "/run/me")
	t.Setenv("XDG_STATE_HOME", "/state")
	if got := Sockets(); len(got) != 3 || !slices.Equal(got[:2], []string{"/run/me/toolhost", "/state/toolhost/run"}) {
		t.Errorf("with both variables: %q", got)
	}
	t.Setenv("XDG_RUNTIME_DIR", "relative") // such a value does not count
	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", "/home/me")
	if got := Sockets(); !slices.Contains(got, "/home/me/.local/state/toolhost/run") || slices.Contains(got, "relative/toolhost") {
		t.Errorf("with relative ones: %q", got)
	}
}

// TestSilentPlaces: a place that does not answer is named.
func TestSilentPlaces(t *testing.T) {
	for _, variable := range []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		t.Setenv(variable, t.TempDir())
	}
	silent := filepath.Join(t.TempDir(), "silent") // a FIFO: an open waits until somebody writes
	if err := syscall.Mkfifo(silent, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Silent(time.Minute, t.TempDir()); len(got) != 0 {
		t.Errorf("%q do not answer", got)
	}
	if got := Silent(50*time.Millisecond, t.TempDir(), silent); !slices.Contains(got, silent) {
		t.Errorf("%q do not answer", got)
	}
	if writer, err := os.OpenFile(silent, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil { // who waits goes on
		_ = writer.Close()
	}
}
