package http

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestNewToken(t *testing.T) {
	a, b := NewToken(), NewToken()
	if a == b || len(a) != 52 || checkToken(a) != nil {
		t.Errorf("%q, %q: %v", a, b, checkToken(a))
	}
}

func TestReadTokenFile(t *testing.T) {
	for _, c := range []struct {
		name, text string
		mode       os.FileMode
		err        string // empty: it is read
	}{
		{"ours alone", "  " + testToken + "\n", 0o600, ""},
		{"only to read", testToken, 0o400, ""},
		{"the group may read", testToken, 0o640, "chmod 600"},
		{"all may read", testToken, 0o604, "chmod 600"},
		{"the group may write", testToken, 0o620, "chmod 600"},
		{"empty", " \n", 0o600, "no token"},
		{"short", "secret", 0o600, "guessed"},
		{"two lines", testToken + "\n" + testToken, 0o600, "character"},
		{"not ASCII", testToken + "ü", 0o600, "character"},
		{"long", strings.Repeat("x", maxTokenFile+1), 0o600, "too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, c.mode); err != nil {
				t.Fatal(err)
			}
			token, err := ReadTokenFile(path)
			if c.err == "" && (err != nil || token != testToken) {
				t.Fatalf("%q, %v", token, err)
			}
			if c.err != "" && (err == nil || token != "" || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), path)) {
				t.Fatalf("%q, %v; want an error of %q", token, err, c.err)
			}
			if err != nil && strings.Contains(err.Error(), testToken) {
				t.Error("the error holds the token")
			}
		})
	}
}

func TestTokenFileIsAFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("no pipe can be made here: %v", err)
	}
	for _, path := range []string{dir, pipe, filepath.Join(dir, "missing")} {
		if token, err := ReadTokenFile(path); err == nil {
			t.Errorf("%s is a token file: %q", path, token)
		}
	}
}

func TestTokenFileOfAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of somebody else")
	}
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(testToken), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 1234, -1); err != nil {
		t.Skipf("the owner cannot be changed here: %v", err)
	}
	if _, err := ReadTokenFile(path); err == nil || !strings.Contains(err.Error(), "not a file of this user") {
		t.Errorf("read: %v", err)
	}
}
