package persist

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
)

// countedLog is a log on disk that counts its syncs, and fails them when told to.
type countedLog struct {
	logFile
	mu    sync.Mutex
	syncs int
	fail  error
}

func (l *countedLog) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.syncs++
	return l.fail
}

func (l *countedLog) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.syncs
}

// counted is a store whose journal counts its syncs.
func counted(t *testing.T) (*Store, *countedLog) {
	s := New(testOptions(t.TempDir()))
	mustAppend(t, s, 1, 1)
	d := s.kept.(*queuedSession).disk
	log := &countedLog{logFile: d.log.f}
	d.log.f = log
	return s, log
}

// Records are on the disk a second after they were appended, with one sync for all of that second, and none when there is
// nothing new.
func TestRecordsAreSyncedWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := counted(t)
		mustAppend(t, s, 2, 50)
		if n := log.count(); n != 0 {
			t.Errorf("%d syncs at once: each append would wait for the disk", n)
		}
		time.Sleep(syncInterval + time.Millisecond)
		synctest.Wait()
		if n := log.count(); n != 1 {
			t.Errorf("%d syncs after a second, want 1", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := log.count(); n != 1 {
			t.Errorf("%d syncs after a quiet minute, want 1", n)
		}
		mustAppend(t, s, 51, 51)
		if err := s.Sync(t.Context()); err != nil || log.count() != 2 {
			t.Errorf("Sync: %v, %d syncs, want 2", err, log.count())
		}
		if err := s.Sync(t.Context()); err != nil || log.count() != 2 {
			t.Errorf("Sync of nothing: %v, %d syncs, want 2", err, log.count())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A disk that takes no records is an error of the next call that needs one, until it takes them again.
func TestFailedSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := counted(t)
		log.fail = syscall.EIO
		mustAppend(t, s, 2, 2)
		time.Sleep(2 * syncInterval)
		synctest.Wait()
		if err := s.Reserve(t.Context()); agenttool.AsError(err, agenttool.ExecutionFailed).Code != "journal_unavailable" {
			t.Errorf("Reserve after a failed sync: %v", err)
		}
		log.mu.Lock()
		log.fail = nil
		log.mu.Unlock()
		mustAppend(t, s, 3, 3)
		if err := s.Sync(t.Context()); err != nil {
			t.Errorf("Sync: %v", err)
		}
		if err := s.Reserve(t.Context()); err != nil {
			t.Errorf("Reserve: %v", err)
		}
		_ = s.Close()
	})
}

// After a power cut a journal can have NUL where the disk got nothing: that is no change by somebody.
func TestVerifyUnwritten(t *testing.T) {
	whole := func() (string, []byte) {
		s := New(testOptions(t.TempDir()))
		mustAppend(t, s, 1, 9)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(logOf(s))
		if err != nil {
			t.Fatal(err)
		}
		return logOf(s), b
	}
	path, b := whole()
	lines := bytes.SplitAfter(b, []byte("\n"))
	zeros := func(b []byte) []byte { return make([]byte, len(b)) }
	for _, tt := range []struct {
		name       string
		content    []byte
		ok, only   bool
		unreadable []int64 // numbers at which records are not there
	}{
		{"NUL at the end", append(slices.Concat(lines[:5]...), make([]byte, 4096)...), true, false, nil},
		{"one line", slices.Concat(slices.Concat(lines[:3]...), zeros(lines[3][1:]), []byte("\n"), slices.Concat(lines[4:]...)), false, true, []int64{4}},
		{"several lines and half of one", slices.Concat(slices.Concat(lines[:3]...), zeros(slices.Concat(lines[3:6]...)), lines[6][20:], slices.Concat(lines[7:]...)), false, true, []int64{4}},
		{"a line that was changed besides", bytes.Replace(slices.Concat(slices.Concat(lines[:3]...), zeros(lines[3][1:]), []byte("\n"), slices.Concat(lines[4:]...)), []byte(`"n":6`), []byte(`"n":7`), 1), false, false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, tt.content, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := VerifyFile(path)
			if err != nil || r.OK() != tt.ok || r.OnlyUnwritten() != tt.only {
				t.Errorf("%v, ok %v, only unwritten %v:\n%s", err, r.OK(), r.OnlyUnwritten(), r)
			}
			var at []int64
			for _, p := range r.Problems {
				at = append(at, p.Seq)
			}
			if tt.unreadable != nil && !slices.Equal(at, tt.unreadable) {
				t.Errorf("problems at %v, want %v:\n%s", at, tt.unreadable, r)
			}
		})
	}
}

// A log without records beside payloads has lost them.
func TestVerifyLostRecords(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	p, err := s.Payload("inv_1", "stdout", "text/plain", "full_output")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.Write([]byte("text"))
	if _, err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Path(), LogName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, found, err := VerifySession(s.Path()); err != nil || len(found.Problems) != 1 || found.Problems[0].Kind != Missing {
		t.Errorf("found.Problems %v, %v: want one, that the records are missing", found.Problems, err)
	}
	_ = s.Close()
}

// A payload that a power cut left short or blank is unwritten. In a session that ended in order somebody has changed it.
func TestVerifyUnwrittenPayload(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcde\n"), 1024) // 4 blocks
	blank := func(from, to int) []byte {
		b := bytes.Clone(text)
		clear(b[from:to])
		return b
	}
	for _, tt := range []struct {
		name    string
		content []byte
		open    ProblemKind // in a session that was cut
		closed  ProblemKind
	}{
		{"whole", text, "", ""},
		{"empty", nil, Unwritten, Changed},
		{"short", text[:5000], Unwritten, Changed},
		{"all blank", blank(0, len(text)), Unwritten, Changed},
		{"a blank block", blank(4096, 8192), Unwritten, Changed},
		{"a blank end", blank(3*4096+7, len(text)), Changed, Changed}, // less than a block
		{"another byte", append([]byte("x"), text[1:]...), Changed, Changed},
		{"longer", append(bytes.Clone(text), 'x'), Changed, Changed},
	} {
		for _, closed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, closed %v", tt.name, closed), func(t *testing.T) {
				s := New(testOptions(t.TempDir()))
				ref := mustPayload(t, s, "stdout", "text/plain", string(text))
				encoded, err := agenttool.Encode(ref)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := s.Append(fmt.Appendf(nil, `{"event_type":"tool.result.created","data":{"artifact_refs":[%s]}}`, encoded)); err != nil {
					t.Fatal(err)
				}
				want := tt.open
				if closed {
					want = tt.closed
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
				defer s.Close()
				if err := os.WriteFile(filepath.Join(s.Path(), resultsDir, ref.ID), tt.content, 0o600); err != nil {
					t.Fatal(err)
				}
				r, found, err := VerifySession(s.Path())
				if err != nil || !r.OK() || found.Checked != 1 {
					t.Fatalf("%v\n%s%+v", err, r, found)
				}
				var got ProblemKind
				if len(found.Problems) > 0 {
					got = found.Problems[0].Kind
				}
				if got != want || found.Tampered() != (want == Changed) {
					t.Errorf("%q, want %q: %v", got, want, found.Problems)
				}
			})
		}
	}
}
