package persist

import (
	"encoding/json"
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
	if list, err := List(filepath.Join(dir, "missing")); len(list) != 0 || err != nil {
		t.Errorf("a directory that is not there: %v, %v", list, err)
	}
	closed := session(t, dir, "ses_closed", noon)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	abandon(t, session(t, dir, "ses_killed", noon.Add(time.Hour)))
	session(t, dir, "ses_live", noon.Add(2*time.Hour))
	damaged := session(t, dir, "ses_damaged", noon.Add(3*time.Hour))
	abandon(t, damaged)
	appendFile(t, logOf(damaged), "garbage\n")
	torn := session(t, dir, "ses_torn", noon.Add(-time.Hour))
	abandon(t, torn)
	appendFile(t, logOf(torn), "torn")

	// What is not a session is not listed.
	for _, name := range []string{".pruned-ses_x", "not.a.session"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("ses_closed", filepath.Join(dir, "ses_link")); err != nil {
		t.Fatal(err)
	}

	list, err := List(dir)
	if err != nil {
		t.Fatal(err)
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
		if _, err := List(dir); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func TestPrune(t *testing.T) {
	day := 24 * time.Hour
	for _, tt := range []struct {
		name string
		o    Retention
		fit  []agenttool.SessionID // sets MaxBytes to what these have
		want []agenttool.SessionID
	}{
		{"defaults", Retention{}, nil, []agenttool.SessionID{"ses_a", "ses_b"}},
		{"no limits", Retention{MaxAge: -1, MaxBytes: -1}, nil, nil},
		{"younger", Retention{MaxAge: 2 * day}, nil, []agenttool.SessionID{"ses_a", "ses_b", "ses_c"}},
		{"kept", Retention{Keep: []agenttool.SessionID{"ses_a"}}, nil, []agenttool.SessionID{"ses_b"}},
		{"too large", Retention{MaxAge: -1}, []agenttool.SessionID{"ses_c", "ses_d", "ses_live"},
			[]agenttool.SessionID{"ses_a", "ses_b"}},
		{"everything is too large", Retention{MaxAge: -1, MaxBytes: 1}, nil,
			[]agenttool.SessionID{"ses_a", "ses_b", "ses_c", "ses_d"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for id, age := range map[agenttool.SessionID]time.Duration{
				"ses_a": 40 * day, "ses_b": 31 * day, "ses_c": 3 * day, "ses_d": day} {
				abandon(t, session(t, dir, id, noon.Add(-age)))
			}
			session(t, dir, "ses_live", noon.Add(-100*day))
			for _, id := range tt.fit {
				tt.o.MaxBytes += bytesOf(t, dir, id)
			}
			removed, err := Prune(dir, tt.o, noon)
			if err != nil || !slices.Equal(removed, tt.want) {
				t.Fatalf("removed %v, %v; want %v", removed, err, tt.want)
			}
			for _, id := range []agenttool.SessionID{"ses_a", "ses_b", "ses_c", "ses_d", "ses_live"} {
				_, err := os.Lstat(filepath.Join(dir, string(id)))
				if there := err == nil; there == slices.Contains(removed, id) {
					t.Errorf("%s: there %v", id, there)
				}
			}
		})
	}
}

func bytesOf(t testing.TB, dir string, id agenttool.SessionID) int64 {
	t.Helper()
	all, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	return diskUse(all, id)
}

func TestPruneLeavesAloneWhatIsNotASession(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	precious := filepath.Join(outside, "precious")
	if err := os.WriteFile(precious, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := noon.Add(-1000 * 24 * time.Hour)
	old := session(t, dir, "ses_old", long)
	abandon(t, old)
	for _, link := range [][2]string{
		{outside, filepath.Join(dir, "ses_link")},
		{outside, filepath.Join(old.Path(), resultsDir, "out")},
		{precious, filepath.Join(old.Path(), resultsDir, "inv_9.stdout")},
	} {
		if err := os.Symlink(link[0], link[1]); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"mine", ".hidden", ".pruned-ses_left", "empty", "linked"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"mine/thesis", ".pruned-ses_left/log.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(precious, filepath.Join(dir, "linked", logName)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mine", "empty", "linked"} {
		setTime(t, filepath.Join(dir, name), long)
	}
	removed, err := Prune(dir, Retention{}, noon)
	if want := []agenttool.SessionID{"empty", "ses_old"}; err != nil || !slices.Equal(sorted(removed), want) {
		t.Errorf("removed %v, %v; want %v", removed, err, want)
	}
	for _, path := range []string{precious, filepath.Join(dir, "mine", "thesis"), filepath.Join(dir, ".hidden"),
		filepath.Join(dir, "ses_link"), filepath.Join(dir, "linked", logName)} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{"ses_old", ".pruned-ses_left", ".pruned-ses_old"} {
		if _, err := os.Lstat(filepath.Join(dir, path)); err == nil {
			t.Errorf("%s is still there", path)
		}
	}
}

func sorted(ids []agenttool.SessionID) []agenttool.SessionID {
	slices.Sort(ids)
	return ids
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
