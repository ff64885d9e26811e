package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"toolhost/agenttool"
)

// session makes a session that began at started, whose log was written then, and leaves it open.
func session(t testing.TB, dir string, id agenttool.SessionID, started time.Time) *Store {
	t.Helper()
	s := New(Options{Dir: dir, ID: id, Now: func() time.Time { return started }, Meta: json.RawMessage(`{"pid":1}`)})
	t.Cleanup(func() { _ = s.Close() }) // a store that nobody holds any more is collected, and its lock with it
	mustAppend(t, s, 1, 1)
	mustPayload(t, s, "stdout", "text/plain", "0123456789")
	setTime(t, logOf(s), started)
	return s
}

func setTime(t testing.TB, path string, when time.Time) {
	t.Helper()
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	if list, _, err := List(filepath.Join(dir, "missing"), 0, noon); len(list) != 0 || err != nil {
		t.Errorf("a directory that is not there: %v, %v", list, err)
	}
	closed := session(t, dir, "ses_closed", noon)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	setTime(t, logOf(closed), noon)
	abandon(t, session(t, dir, "ses_killed", noon.Add(time.Hour)))
	session(t, dir, "ses_live", noon.Add(2*time.Hour))
	damaged := session(t, dir, "ses_damaged", noon.Add(3*time.Hour))
	abandon(t, damaged)
	appendFile(t, logOf(damaged), "garbage\n")
	setTime(t, logOf(damaged), noon.Add(3*time.Hour))
	torn := session(t, dir, "ses_torn", noon.Add(-time.Hour))
	abandon(t, torn)
	appendFile(t, logOf(torn), "torn")
	setTime(t, logOf(torn), noon.Add(-time.Hour))
	newer(t, dir, "ses_newer", noon.Add(-2*time.Hour))

	// What is not a session is not listed.
	for _, name := range []string{".pruned-ses_x", "not.a.session"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("ses_closed", filepath.Join(dir, "ses_link")); err != nil {
		t.Fatal(err)
	}

	list, total, err := List(dir, 0, noon.Add(4*time.Hour))
	if err != nil || total != len(list) {
		t.Fatal(total, err)
	}
	if two, total, err := List(dir, 2, noon.Add(4*time.Hour)); len(two) != 2 || total != len(list) || two[0].ID != list[0].ID || err != nil {
		t.Errorf("two of them: %v of %d, %v", two, total, err)
	}
	type row struct {
		id      agenttool.SessionID
		state   State
		records int64
		started time.Time
	}
	var got []row
	for _, s := range list {
		got = append(got, row{s.ID, s.State, s.Records, s.Started})
		if s.Bytes < 500 || s.Changed.IsZero() {
			t.Errorf("%s has %d bytes, changed %v", s.ID, s.Bytes, s.Changed)
		}
		var meta struct {
			PID       int                 `json:"pid"`
			SessionID agenttool.SessionID `json:"session_id"`
		}
		if err := json.Unmarshal(s.Meta, &meta); err != nil || meta.PID != 1 || meta.SessionID != s.ID {
			t.Errorf("%s: meta is %s, %v", s.ID, s.Meta, err)
		}
	}
	want := []row{
		{"ses_damaged", Damaged, 0, noon.Add(3 * time.Hour)},
		{"ses_live", Live, 2, noon.Add(2 * time.Hour)},
		{"ses_killed", Open, 2, noon.Add(time.Hour)},
		{"ses_closed", Closed, 3, noon},
		{"ses_torn", Open, 2, noon.Add(-time.Hour)},
		{"ses_newer", Newer, 2, noon.Add(-2 * time.Hour)},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

func TestListWhileASessionBegins(t *testing.T) {
	dir := t.TempDir()
	done := make(chan struct{})
	go func() { // ends when the sessions have begun
		defer close(done)
		for n := range 50 {
			s := New(Options{Dir: dir, ID: agenttool.SessionID("ses_" + string(rune('A'+n%26)))})
			if _, err := s.Append(event(1)); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	for {
		if _, _, err := List(dir, 0, noon); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

// newer makes a session of a later format.
func newer(t testing.TB, dir string, id agenttool.SessionID, started time.Time) {
	t.Helper()
	s := session(t, dir, id, started)
	abandon(t, s)
	b, err := os.ReadFile(logOf(s))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(logOf(s), bytes.Replace(b, []byte(`"format":1`), []byte(`"format":2`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	setTime(t, logOf(s), started)
}

// Clocks jump: sessions from a time that is yet to come are not those that were used last.
func TestRecentAfterTheClockJumped(t *testing.T) {
	dir := t.TempDir()
	for id, changed := range map[agenttool.SessionID]time.Time{
		"ses_a": noon.Add(-2 * time.Hour), "ses_b": noon.Add(-time.Hour), "ses_ahead": noon.Add(365 * 24 * time.Hour), "ses_skew": noon.Add(time.Minute),
	} {
		abandon(t, session(t, dir, id, changed))
	}
	used, err := Recent(dir, noon)
	if err != nil {
		t.Fatal(err)
	}
	var got []agenttool.SessionID
	for _, u := range used {
		got = append(got, u.ID)
	}
	if want := []agenttool.SessionID{"ses_skew", "ses_b", "ses_a", "ses_ahead"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A session of a later format is left alone by all that write, and says why.
func TestNewerFormat(t *testing.T) {
	dir := t.TempDir()
	newer(t, dir, "ses_newer", noon)
	before, err := os.ReadFile(filepath.Join(dir, "ses_newer", LogName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Resume(Options{Dir: dir, ID: "ses_newer"}); !errors.Is(err, ErrNewer) {
		t.Errorf("resume: %v", err)
	}
	if err := CheckFormat(filepath.Join(dir, "ses_newer", LogName)); !errors.Is(err, ErrNewer) {
		t.Errorf("check: %v", err)
	}
	for _, o := range []Retention{{}, {MaxBytes: 1}} {
		p, err := Prune(dir, o, noon.Add(40*24*time.Hour))
		if err != nil || len(p.Removed) != 0 || !slices.Equal(p.Newer, []agenttool.SessionID{"ses_newer"}) {
			t.Errorf("prune: %+v, %v", p, err)
		}
	}
	after, err := os.ReadFile(filepath.Join(dir, "ses_newer", LogName))
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the log was changed, or is gone: %v", err)
	}
}

// A session that is pruned between being found and being locked is made anew, not written into the void.
func TestResumeNoticesThatTheLogWasReplaced(t *testing.T) {
	dir := t.TempDir()
	s := session(t, dir, "ses_test", noon)
	abandon(t, s)
	root, err := openSession(dir, "ses_test")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := os.Rename(s.Path(), filepath.Join(dir, ".pruned-ses_test")); err != nil {
		t.Fatal(err)
	}
	if _, err := openLog(root, logOf(s)); err != errRemoved {
		t.Errorf("error is %v", err)
	}
}
