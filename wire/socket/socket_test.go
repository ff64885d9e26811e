package socket

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

func listen(t *testing.T, path string) *Listener {
	t.Helper()
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestOnlyTheUserCanReachIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "toolhost")
	path := filepath.Join(dir, "s.sock")
	listen(t, path)
	for name, want := range map[string]os.FileMode{dir: 0o700, path: 0o600} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %o, want %o", name, got, want)
		}
	}
}

func TestConversation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	l := listen(t, path)
	go l.Serve(func(c net.Conn) { _, _ = io.Copy(c, c) })
	c, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, "hi"); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 2)
	if _, err := io.ReadFull(c, b); err != nil || string(b) != "hi" {
		t.Fatalf("read %q, %v", b, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(b); !errors.Is(err, io.EOF) {
		t.Errorf("after Close, a read gives %v, want the end", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Close left the socket: %v", err)
	}
}

// abandon leaves a socket at path as a process does that is killed.
func abandon(t *testing.T, path string) {
	t.Helper()
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
}

func TestAbandonedSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	abandon(t, path)
	if _, err := Dial(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Dial gives %v, want not exist", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Dial left the abandoned socket: %v", err)
	}
	listen(t, path)
	if _, err := Listen(path); err == nil {
		t.Error("a second listener took the place of a living one")
	}
}

// TestSweep: of a directory only sockets go that no process has any more, and a living one is not disturbed.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	abandon(t, at("dead.sock"))
	abandon(t, at("dead.other"))
	l := listen(t, at("live.sock"))
	made, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0) // bound, and listens later
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(made)
	if err := syscall.Bind(made, &syscall.SockaddrUnix{Name: at("made.sock")}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file.sock", "kept"} {
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("dead.other"), at("link.sock")); err != nil {
		t.Fatal(err)
	}
	Sweep(dir, ".sock")
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"dead.other", "file.sock", "kept", "link.sock", "live.sock", "made.sock"}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
	_ = l.unix.SetDeadline(time.Now().Add(50 * time.Millisecond))
	if conn, err := l.unix.Accept(); err == nil {
		conn.Close()
		t.Error("the living socket had a visitor")
	}
}

func TestTooManyPeersAreTurnedAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	l := listen(t, path)
	served := make(chan struct{}, maxConnections+1)
	go l.Serve(func(c net.Conn) {
		served <- struct{}{}
		_, _ = io.Copy(io.Discard, c)
	})
	for range maxConnections {
		c, err := Dial(path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		<-served
	}
	extra, err := Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	defer extra.Close()
	_ = extra.SetDeadline(time.Now().Add(time.Minute))
	if _, err := extra.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("one peer too many reads %v, want the end", err)
	}
}
