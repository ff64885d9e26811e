package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolhost/persist"
)

// TestHangup: a session whose terminal closes ends in order: its running call is answered, and its log is closed. One that was started to outlive
// the terminal goes on.
func TestHangup(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	s := startServing(t, t.TempDir(), t.TempDir(), nil, "--sandbox", "none", "--allow", "Shell(sleep *)", "--drain", "1s")
	s.call(1, "glob", `{"pattern":"*"}`)
	path := s.log()
	s.send(invocation(2, "shell", `{"command":"sleep 600"}`))
	eventually(t, "the command is in the log", func() bool {
		b, err := os.ReadFile(path)
		return err == nil && strings.Contains(string(b), `"tool.invocation.started"`) && strings.Contains(string(b), "sleep 600")
	})
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if o, ok := s.next(); !ok || o.Result.Result.Status == "succeeded" || o.Result.Result.Status == "" {
		t.Errorf("the running call: answered %v, %+v", ok, o.Result.Result)
	}
	_, _ = io.Copy(io.Discard, s.stdout.(io.Reader))
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if r, err := persist.VerifyFile(path); err != nil || !r.OK() || !r.Closed {
		t.Errorf("the log: %v\n%s", err, r)
	}

	s = startServing(t, t.TempDir(), t.TempDir(), []string{"nohup"}, "--sandbox", "none")
	s.call(1, "glob", `{"pattern":"*"}`)
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if o := s.call(2, "glob", `{"pattern":"*"}`); o.Result.Result.Status != "succeeded" {
		t.Errorf("under nohup: %+v", o.Result.Result)
	}
}

// TestShortSessionsPrune: sessions that are too old are removed by a session that is over in a moment, if nobody has looked for a day.
func TestShortSessionsPrune(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	state := t.TempDir()
	dir := filepath.Join(state, "toolhost", "sessions")
	old := func() string {
		s := persist.New(persist.Options{Dir: dir})
		if err := s.Reserve(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		used := time.Now().Add(-40 * 24 * time.Hour)
		if err := os.Chtimes(filepath.Join(s.Path(), persist.LogName), used, used); err != nil {
			t.Fatal(err)
		}
		return s.Path()
	}
	for n, removed := range []bool{true, false} { // the second looks within the day
		session := old()
		s := startServing(t, t.TempDir(), state, nil, "--sandbox", "none")
		s.call(n, "glob", `{"pattern":"*"}`)
		s.in.Close()
		_, _ = io.Copy(io.Discard, s.stdout.(io.Reader))
		_ = s.cmd.Wait()
		if _, err := os.Lstat(session); os.IsNotExist(err) != removed {
			t.Errorf("session %d: removed %v, want %v", n, !removed, removed)
		}
	}
}
