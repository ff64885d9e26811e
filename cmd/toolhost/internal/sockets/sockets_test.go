package sockets

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/wire/socket"
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

// TestKeptIsMadeAgain: the directory of the sockets goes, as at the end of a login, and comes back. The session is found again, a connection
// of before goes on, and nothing is left at the end. A link in the directory's place is not followed.
func TestKeptIsMadeAgain(t *testing.T) {
	base, err := os.MkdirTemp("", "th") // short: the path of a socket is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	t.Setenv("XDG_STATE_HOME", filepath.Join(base, "state"))
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(base, "run"))
	own := dirs.Sockets()[:2]
	k := Keep("ses_01ABCDEFGHIK", func(c net.Conn) { _, _ = io.Copy(c, c) }, func(err error) { t.Error(err) })
	talk := func(conn net.Conn) {
		t.Helper()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		said := make([]byte, 2)
		if _, err := io.WriteString(conn, "hi"); err != nil {
			t.Error(err)
		} else if _, err := io.ReadFull(conn, said); err != nil || string(said) != "hi" {
			t.Errorf("it says %q, %v", said, err)
		}
	}
	found := func() string {
		t.Helper()
		for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(10 * time.Millisecond) {
			if paths := Paths(own); len(paths) == 1 {
				return paths[0]
			}
		}
		t.Fatal("there is no socket")
		return ""
	}
	first, err := socket.Dial(found())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	talk(first)
	if err := os.RemoveAll(filepath.Join(base, "run")); err != nil {
		t.Fatal(err)
	}
	elsewhere := filepath.Join(base, "elsewhere")
	for _, dir := range []string{elsewhere, filepath.Join(base, "run")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, own[0]); err != nil { // it may have been made again already
		t.Log(err)
	}
	second, err := socket.Dial(found())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	talk(second)
	talk(first)
	if names, _ := os.ReadDir(elsewhere); len(names) != 0 {
		t.Errorf("a link was followed to %v", names)
	}
	if err := k.Close(); err != nil {
		t.Error(err)
	}
	if paths := Paths(own); len(paths) != 0 {
		t.Errorf("after the end there is %q", paths)
	}
}

func TestMatches(t *testing.T) {
	for end, want := range map[string]bool{"": true, "F1": true, "f1": true, "ses_f1": true, "f2": false, "xses_f1": false} {
		if Matches("ses_F1", end) != want {
			t.Errorf("%q matches: %v", end, !want)
		}
	}
}
