package sockets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/cmd/toolhost/internal/dirs"
)

// TestListen checks that a session is found at its socket until it ends, also where the best directory has too long a name.
func TestListen(t *testing.T) {
	base, err := os.MkdirTemp("", "th") // short: the path of a socket is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	t.Setenv("XDG_STATE_HOME", filepath.Join(base, "state"))
	for _, runtime := range []string{"run", strings.Repeat("long", 30)} {
		t.Setenv("XDG_RUNTIME_DIR", filepath.Join(base, runtime))
		own := dirs.Sockets()[:2] // other sessions may be in the last one
		l, err := Listen("ses_01ABCDEFGHIJ")
		if err != nil {
			t.Fatal(err)
		}
		paths := Paths(own)
		if len(paths) != 1 || filepath.Base(paths[0]) != "abcdefghij.sock" || Made(paths[0]).IsZero() {
			t.Errorf("%s: found %q", runtime, paths)
		}
		l.Close()
		if paths := Paths(own); len(paths) != 0 {
			t.Errorf("%s: after the end there is %q", runtime, paths)
		}
	}
}

func TestMatches(t *testing.T) {
	for end, want := range map[string]bool{"": true, "F1": true, "f1": true, "ses_f1": true, "f2": false, "xses_f1": false} {
		if Matches("ses_F1", end) != want {
			t.Errorf("%q matches: %v", end, !want)
		}
	}
}
