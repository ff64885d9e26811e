package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
)

func TestResume(t *testing.T) {
	dir := t.TempDir()
	s, err := Resume(testOptions(dir)) // the first of the day finds nothing
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, 1, 2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = Resume(testOptions(dir))
	if err != nil {
		t.Fatal(err)
	}
	if first, err := s.Append(event(3)); err != nil || first != 6 {
		t.Fatalf("first = %d, %v; want 6", first, err)
	}
	entries, _, err := s.Since(0, 0)
	if err != nil || len(entries) != 6 {
		t.Errorf("%d entries from before and after, %v", len(entries), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"session.opened", "tool.invocation.progress", "tool.invocation.progress", "session.closed",
		"session.opened", "tool.invocation.progress", "session.closed"}
	if got := types(t, logOf(s)); !slices.Equal(got, want) {
		t.Errorf("records are %v", got)
	}
	if r := verifyLog(t, logOf(s)); !r.Closed || r.Records != 7 {
		t.Errorf("%+v", r)
	}
}

func TestResumeWithoutARecordChangesNothing(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	mustAppend(t, s, 1, 1)
	_ = s.Close()
	before, _ := os.ReadFile(logOf(s))
	again, err := Resume(s.o)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if after, _ := os.ReadFile(logOf(s)); !bytes.Equal(before, after) {
		t.Error("the log was changed")
	}
}

func TestResumeDropsATornLine(t *testing.T) {
	for _, tt := range []struct {
		name string
		tail string
	}{
		{"half a line", `{"seq":3,"prev":"00`},
		{"a whole line without its end", `{"seq":3,"prev":"` + strings.Repeat("0", 64) + `","event":{}}`},
		{"zeros", strings.Repeat("\x00", 100<<10)},
		{"a long one", strings.Repeat("x", 300<<10)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New(testOptions(t.TempDir()))
			mustAppend(t, s, 1, 1)
			abandon(t, s)
			appendFile(t, logOf(s), tt.tail)
			if r := verifyLog(t, logOf(s)); r.TornBytes != int64(len(tt.tail)) || r.Last != 2 {
				t.Errorf("before: %+v", r)
			}
			s, err := Resume(s.o)
			if err != nil {
				t.Fatal(err)
			}
			mustAppend(t, s, 2, 2)
			_ = s.Close()
			if r := verifyLog(t, logOf(s)); !r.Closed || r.Records != 5 || r.TornBytes != 0 {
				t.Errorf("after: %+v", r)
			}
		})
	}
}

func TestResumeOfATornFirstLine(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	mustAppend(t, s, 1, 1)
	abandon(t, s)
	if err := os.Truncate(logOf(s), 10); err != nil {
		t.Fatal(err)
	}
	s, err := Resume(s.o)
	if err != nil {
		t.Fatal(err)
	}
	if first, err := s.Append(event(1)); err != nil || first != 2 {
		t.Errorf("first = %d, %v", first, err)
	}
	verifyLog(t, logOf(s))
}

func TestResumeRefusesDamage(t *testing.T) {
	for _, tt := range []struct{ name, last string }{
		{"not a record", "hello\n"},
		{"empty line", "\n"},
		{"event is no JSON", `{"seq":3,"prev":"` + strings.Repeat("0", 64) + `","event":{x}}` + "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := New(testOptions(t.TempDir()))
			mustAppend(t, s, 1, 1)
			abandon(t, s)
			appendFile(t, logOf(s), tt.last)
			before, _ := os.ReadFile(logOf(s))
			if _, err := Resume(s.o); !errors.Is(err, ErrDamaged) {
				t.Errorf("error is %v", err)
			}
			if after, _ := os.ReadFile(logOf(s)); !bytes.Equal(before, after) {
				t.Error("the evidence was changed")
			}
		})
	}
}

func TestOneWriter(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	mustAppend(t, s, 1, 1)
	_, err := Resume(s.o)
	if !errors.Is(err, ErrLocked) || !errors.Is(err, agenttool.DependencyUnavailable) {
		t.Errorf("a second Resume: %v", err)
	}
	other := New(s.o)
	if _, err := other.Append(event(1)); !errors.Is(err, ErrLocked) {
		t.Errorf("a second New: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Append(event(2)); err != nil {
		t.Errorf("after the first was closed: %v", err)
	}
	want := []string{"session.opened", "tool.invocation.progress", "session.closed", "session.opened", "journal.gap",
		"tool.invocation.progress"}
	if got := types(t, logOf(s)); !slices.Equal(got, want) {
		t.Errorf("records are %v", got)
	}
}

func TestForeignPlacesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name string
		id   agenttool.SessionID
		make func(dir string) error
	}{
		{"traversal", "../x", nil},
		{"separator", "a/b", nil},
		{"dot", ".", nil},
		{"too long", agenttool.SessionID(strings.Repeat("a", 129)), nil},
		{"session is a link", "ses_test", func(dir string) error {
			if err := os.Mkdir(filepath.Join(dir, "else"), 0o700); err != nil {
				return err
			}
			return os.Symlink("else", filepath.Join(dir, "ses_test"))
		}},
		{"session is a file", "ses_test", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "ses_test"), nil, 0o600)
		}},
		{"session is another user's", "ses_test", func(dir string) error {
			path := filepath.Join(dir, "ses_test")
			if err := os.Mkdir(path, 0o700); err != nil {
				return err
			}
			return os.Chown(path, 65534, 65534)
		}},
		{"log leads out", "ses_test", func(dir string) error {
			out := filepath.Join(dir, "out")
			if err := errors.Join(os.WriteFile(out, []byte("precious"), 0o600),
				os.Mkdir(filepath.Join(dir, "ses_test"), 0o700)); err != nil {
				return err
			}
			return os.Symlink(out, filepath.Join(dir, "ses_test", LogName))
		}},
		{"log is a directory", "ses_test", func(dir string) error {
			return os.MkdirAll(filepath.Join(dir, "ses_test", LogName), 0o700)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := testOptions(t.TempDir())
			o.ID = tt.id
			if tt.make != nil {
				err := tt.make(o.Dir)
				if errors.Is(err, fs.ErrPermission) {
					t.Skipf("only root can make this: %v", err)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			_, err := New(o).Append(event(1))
			wantError(t, err, agenttool.DependencyUnavailable, "journal_unavailable")
			if out, err := os.ReadFile(filepath.Join(o.Dir, "out")); err == nil && string(out) != "precious" {
				t.Error("a file outside was written")
			}
		})
	}
}

func TestDirectoryThatOthersCouldEnter(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	if err := errors.Join(os.Mkdir(s.Path(), 0o755), os.Chmod(s.Path(), 0o755)); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, 1, 1)
	if info, err := os.Stat(s.Path()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode is %v, %v", info.Mode(), err)
	}
}

// slowTail counts what reading the end of a large file costs.
type slowTail struct {
	io.ReaderAt
	bytes int
}

func (s *slowTail) ReadAt(b []byte, off int64) (int, error) {
	s.bytes += len(b)
	return s.ReaderAt.ReadAt(b, off)
}

func TestResumeReadsTheTailOnly(t *testing.T) {
	var c chain
	var log []byte
	for n := range 20_000 {
		log = c.append(log, event(n))
	}
	r := &slowTail{ReaderAt: bytes.NewReader(log)}
	tail, err := readTail(r, int64(len(log)))
	if err != nil || tail.chain != c || tail.end != int64(len(log)) {
		t.Fatalf("tail is %+v, %v", tail, err)
	}
	if r.bytes > 256<<10 {
		t.Errorf("read %d of %d bytes", r.bytes, len(log))
	}
}

// abandon ends a store as SIGKILL does: nothing is written, the lock goes.
func abandon(t testing.TB, s *Store) {
	t.Helper()
	d := s.kept.(*queuedSession).disk
	if err := errors.Join(d.log.f.Close(), d.session.Close()); err != nil {
		t.Fatal(err)
	}
}

func appendFile(t testing.TB, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(f, text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
