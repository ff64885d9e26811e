package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toolhost/agenttool"
)

// noon is the time of every store in these tests.
var noon = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)

func testOptions(dir string) Options {
	return Options{Dir: dir, ID: "ses_test", Now: func() time.Time { return noon }, limits: limits{time.Minute, time.Minute}}
}

// event returns an encoded event that is told apart by n.
func event(n int) []byte {
	return fmt.Appendf(nil, `{"schema_version":"0.2.0","event_id":"evt_%d","event_type":"tool.invocation.progress",`+
		`"source":"toolhost","time":"2025-06-01T12:00:00.000Z","data":{"n":%d}}`, n, n)
}

func mustAppend(t testing.TB, s *Store, from, to int) {
	t.Helper()
	for n := from; n <= to; n++ {
		if _, err := s.Append(event(n)); err != nil {
			t.Fatalf("append %d: %v", n, err)
		}
	}
}

func logOf(s *Store) string { return filepath.Join(s.Path(), LogName) }

func verifyLog(t testing.TB, path string) Report {
	t.Helper()
	r, err := VerifyFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK() {
		t.Fatalf("the log is damaged:\n%s", r)
	}
	return r
}

// types returns the event types of a log in order.
func types(t testing.TB, path string) (list []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for e, err := range Read(f) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, eventType(t, e.Event))
	}
	return list
}

func eventType(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	var e agenttool.Event
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	return strings.TrimPrefix(string(e.EventType), "tool.x.")
}

// wantError checks class and code.
func wantError(t testing.TB, err error, class agenttool.ErrorClass, code string) *agenttool.Error {
	t.Helper()
	var e *agenttool.Error
	if !errors.As(err, &e) || !errors.Is(err, class) || e.Code != code {
		t.Fatalf("error is %v, want %s %s", err, class, code)
	}
	return e
}

func TestNothingIsTouchedBeforeTheFirstRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "sessions")
	s := New(testOptions(dir))
	if _, err := s.Append(); err != nil {
		t.Error(err)
	}
	if entries, more, err := s.Since(0, 0); len(entries) != 0 || more || err != nil {
		t.Errorf("Since of nothing: %v, %v, %v", entries, more, err)
	}
	_, err := s.Page("inv_1.stdout", 0, 0)
	wantError(t, err, agenttool.InvalidArguments, "unknown_ref")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
}

func TestSessionOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "sessions")
	o := testOptions(dir)
	o.Meta = json.RawMessage(`{"workspace":"/w","pid":7}`)
	s := New(o)
	first, err := s.Append(event(1), event(2))
	if err != nil || first != 2 {
		t.Fatalf("first = %d, %v; want 2", first, err)
	}
	p, err := s.Payload("inv_1", "stdout", "text/plain", "full_output")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if first, err = s.Append(event(3)); err != nil || first != 4 {
		t.Fatalf("first = %d, %v; want 4", first, err)
	}
	if r := verifyLog(t, logOf(s)); r.Closed || r.Last != 4 {
		t.Errorf("before Close: %+v", r)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r := verifyLog(t, logOf(s)); !r.Closed || r.Records != 5 {
		t.Errorf("after Close: %+v", r)
	}

	err = filepath.WalkDir(filepath.Dir(dir), func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	b, _ := os.ReadFile(logOf(s))
	firstLine, _, _ := bytes.Cut(b, []byte("\n"))
	prefix := `{"seq":1,"prev":"` + strings.Repeat("0", 64) + `","event":{`
	if !bytes.HasPrefix(firstLine, []byte(prefix)) {
		t.Errorf("first line is %s", firstLine)
	}
	for _, part := range []string{`"tool.x.session.opened"`, `"session_id":"ses_test"`, `"workspace":"/w"`, `"pid":7`,
		`"source":"toolhost"`} {
		if !bytes.Contains(firstLine, []byte(part)) {
			t.Errorf("first line lacks %s: %s", part, firstLine)
		}
	}
}

func TestAppendAfterClose(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
	}{
		{"disk", testOptions(t.TempDir())},
		{"memory", Options{Ephemeral: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New(tt.o)
			mustAppend(t, s, 1, 1)
			for range 2 {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			_, appendErr := s.Append(event(2))
			_, _, sinceErr := s.Since(0, 0)
			_, pageErr := s.Page("inv.a", 0, 0)
			_, payloadErr := s.Payload("inv", "a", "", "")
			for what, err := range map[string]error{"Append": appendErr, "Since": sinceErr, "Page": pageErr,
				"Payload": payloadErr, "Reserve": s.Reserve(t.Context())} {
				if !errors.Is(err, ErrClosed) {
					t.Errorf("%s after Close: %v", what, err)
				}
			}
		})
	}
}

func TestAppendRefusesWhatIsNotAnEvent(t *testing.T) {
	for _, tt := range []struct{ name, event string }{
		{"empty", ""},
		{"array", "[]"},
		{"cut", `{"a":1`},
		{"broken out of its line", "{}\n{\"seq\":9}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New(testOptions(t.TempDir()))
			_, err := s.Append(event(1), []byte(tt.event))
			wantError(t, err, agenttool.ExecutionFailed, "invalid_event")
			if _, err := os.Stat(s.Path()); !errors.Is(err, fs.ErrNotExist) {
				t.Error("half of the group was recorded")
			}
		})
	}
}

func TestAppendKeepsEventOnOneLine(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	spread := []byte("{\n \"data\": {\"text\": \"a\\nb\"}\n}")
	kept := bytes.Clone(spread)
	if _, err := s.Append(spread); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(spread, kept) {
		t.Error("the caller's bytes were changed")
	}
	entries, _, err := s.Since(1, 0)
	if err != nil || len(entries) != 1 || string(entries[0].Event) != `{"data":{"text":"a\nb"}}` {
		t.Errorf("recorded as %+v, %v", entries, err)
	}
}

func TestAppendFromManyGoroutines(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int64]bool{}
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				first, err := s.Append(event(g), event(i))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				if seen[first] || seen[first+1] {
					t.Errorf("seq %d was given twice", first)
				}
				seen[first], seen[first+1] = true, true
				mu.Unlock()
				if _, _, err := s.Since(first, 1); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r := verifyLog(t, logOf(s)); r.Records != 802 || !r.Closed {
		t.Errorf("%+v", r)
	}
}

func TestSince(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	mustAppend(t, s, 2, 300) // event n has seq n
	for _, tt := range []struct {
		name       string
		seq        int64
		limit      int
		first, num int64
		more       bool
	}{
		{"all", 0, 0, 1, 300, false},
		{"a page", 0, 10, 1, 10, true},
		{"from the middle", 200, 50, 201, 50, true},
		{"exactly to the end", 250, 50, 251, 50, false},
		{"the last", 299, 5, 300, 1, false},
		{"nothing new", 300, 5, 0, 0, false},
		{"the future", 9999, 5, 0, 0, false},
		{"before the beginning", -5, 1, 1, 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entries, more, err := s.Since(tt.seq, tt.limit)
			if err != nil || int64(len(entries)) != tt.num || more != tt.more {
				t.Fatalf("%d entries, more %v, %v", len(entries), more, err)
			}
			for i, e := range entries {
				want := tt.first + int64(i)
				if e.Seq != want || want > 1 && !bytes.Equal(e.Event, event(int(want))) {
					t.Fatalf("entry %d is %d %s", i, e.Seq, e.Event)
				}
			}
		})
	}
}

func TestSinceIsBoundedInBytes(t *testing.T) {
	for _, ephemeral := range []bool{false, true} {
		o := testOptions(t.TempDir())
		o.Ephemeral = ephemeral
		s := New(o)
		big := fmt.Appendf(nil, `{"data":"%s"}`, strings.Repeat("x", 3<<20))
		if _, err := s.Append(big, big, big, big); err != nil {
			t.Fatal(err)
		}
		entries, more, err := s.Since(1, 0)
		if len(entries) != 2 || !more || err != nil {
			t.Errorf("ephemeral %v: %d entries, more %v, %v; want 2 of 3 MiB", ephemeral, len(entries), more, err)
		}
	}
}

func TestMarksStayFewAndRight(t *testing.T) {
	var m marks
	for seq := int64(1); seq <= 1_000_000; seq++ {
		m.add(seq, seq*10)
	}
	if len(m.list) > maxMarks {
		t.Errorf("%d marks", len(m.list))
	}
	for _, seq := range []int64{1, 2, 63, 64, 65, 500_000, 999_999, 1_000_000, 2_000_000} {
		off := m.before(seq)
		if off/10 > seq || off/10 < min(seq, 1_000_000)-2*m.every {
			t.Errorf("before(%d) is the place of line %d", seq, off/10)
		}
	}
}
