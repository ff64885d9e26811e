package persist

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// faultyLog is a log in memory that fails as it is told.
type faultyLog struct {
	b           []byte
	room        int  // bytes that still fit; below 0: all
	noTruncate  bool // ftruncate fails with EIO
	noAllocate  bool // fallocate is not supported
	allocateErr error
	allocated   int64 // space set aside up to here
	allocations int
	writes      int
}

func (f *faultyLog) ReadAt(b []byte, off int64) (int, error) {
	return bytes.NewReader(f.b).ReadAt(b, off)
}

func (f *faultyLog) WriteAt(b []byte, off int64) (int, error) {
	f.writes++
	n := len(b)
	if f.room >= 0 {
		n = min(n, f.room)
		f.room -= n
	}
	if need := int(off) + n - len(f.b); need > 0 {
		f.b = append(f.b, make([]byte, need)...)
	}
	copy(f.b[off:], b[:n])
	if n < len(b) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func (f *faultyLog) size() (int64, error) { return int64(len(f.b)), nil }

func (f *faultyLog) Truncate(size int64) error {
	if f.noTruncate {
		return syscall.EIO
	}
	f.b, f.allocated = f.b[:size], size
	return nil
}

func (f *faultyLog) allocate(off, n int64) error {
	f.allocations++
	if f.noAllocate {
		return errNoAllocate
	}
	if f.allocateErr == nil {
		f.allocated = max(f.allocated, off+n)
	}
	return f.allocateErr
}

func (f *faultyLog) Sync() error  { return nil }
func (f *faultyLog) Close() error { return nil }

// faultyStore is a store whose log is f.
func faultyStore(f *faultyLog) *Store {
	o := testOptions("/state/sessions")
	o.limits = limits{} // it stalls when a test says so
	s := New(o)
	d := s.kept.(*queuedSession).disk
	d.log = &journal{f: f}
	d.sync.names = true // it has no directory
	return s
}

func entriesOf(t *testing.T, f *faultyLog) (kinds []string, last string) {
	t.Helper()
	r, err := Verify(bytes.NewReader(f.b))
	if err != nil || !r.OK() || r.TornBytes > 0 {
		t.Fatalf("the log is not whole: %v\n%s", err, r)
	}
	for e, err := range Read(bytes.NewReader(f.b)) {
		if err != nil {
			t.Fatal(err)
		}
		kinds, last = append(kinds, eventType(t, e.Event)), string(e.Event)
	}
	return kinds, last
}

func TestGroupIsOneWrite(t *testing.T) {
	f := &faultyLog{room: -1}
	s := faultyStore(f)
	for want := 1; want <= 3; want++ {
		if _, err := s.Append(event(1), event(2), event(3)); err != nil {
			t.Fatal(err)
		}
		if f.writes != want {
			t.Errorf("%d writes for %d groups", f.writes, want)
		}
	}
}

func TestFailedWriteIsTakenBack(t *testing.T) {
	const progress = "tool.invocation.progress"
	for _, room := range []int{0, 1, 200, 430} {
		f := &faultyLog{room: -1}
		s := faultyStore(f)
		mustAppend(t, s, 1, 1)
		f.room = room
		_, err := s.Append(event(2), event(3))
		e := wantError(t, err, agenttool.DependencyUnavailable, "journal_unavailable")
		if !errors.Is(err, syscall.ENOSPC) ||
			!strings.Contains(e.Message, "free space in /state/sessions, or prune old sessions") {
			t.Errorf("room %d: message is %q", room, e.Message)
		}
		if kinds, _ := entriesOf(t, f); len(kinds) != 2 {
			t.Errorf("room %d: records are %v", room, kinds)
		}
		f.room = room
		if _, err := s.Append(event(4)); err == nil {
			t.Fatalf("room %d: append into a full disk", room)
		}
		f.room = -1
		first, err := s.Append(event(5))
		if err != nil || first != 4 {
			t.Fatalf("room %d: first = %d, %v; want 4, after the gap record", room, first, err)
		}
		kinds, _ := entriesOf(t, f)
		if want := []string{"session.opened", progress, "journal.gap", progress}; !slices.Equal(kinds, want) {
			t.Errorf("room %d: records are %v", room, kinds)
		}
		data := `"data":{"events_not_recorded":3,"since":"2025-06-01T12:00:00.000Z","cause":"no space left on device"}`
		if !bytes.Contains(f.b, []byte(data)) {
			t.Errorf("room %d: gap record lacks %s", room, data)
		}
		mustAppend(t, s, 6, 6)
		if kinds, _ := entriesOf(t, f); len(kinds) != 5 {
			t.Errorf("room %d: the gap was told twice: %v", room, kinds)
		}
	}
}

func TestNoAppendBehindATornRecord(t *testing.T) {
	f := &faultyLog{room: -1}
	s := faultyStore(f)
	mustAppend(t, s, 1, 1)
	whole := len(f.b)
	f.room, f.noTruncate = 50, true
	if _, err := s.Append(event(2)); !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, syscall.EIO) {
		t.Fatalf("error is %v", err)
	}
	f.room = -1
	writes := f.writes
	if _, err := s.Append(event(3)); !errors.Is(err, syscall.EIO) || f.writes != writes {
		t.Errorf("while the rest is there: %v, %d writes", err, f.writes-writes)
	}
	if err := s.Reserve(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Errorf("Reserve while the rest is there: %v", err)
	}
	if len(f.b) != whole+50 {
		t.Fatalf("the test is wrong: %d bytes", len(f.b))
	}
	f.noTruncate = false
	if _, err := s.Append(event(4)); err != nil {
		t.Fatal(err)
	}
	if kinds, _ := entriesOf(t, f); !slices.Contains(kinds, "journal.gap") {
		t.Errorf("records are %v", kinds)
	}
}

func TestReserveAsksOnceInAWhile(t *testing.T) {
	f := &faultyLog{room: -1}
	s := faultyStore(f)
	if err := errors.Join(s.kept.(*queuedSession).disk.log.reserve(), s.kept.(*queuedSession).disk.log.reserve()); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, 1, 2000)
	if free := f.allocated - int64(len(f.b)); f.allocations != 1 || free < reserveMin {
		t.Errorf("%d allocations, %d bytes free", f.allocations, free)
	}
	mustAppend(t, s, 1, 4000)
	if free := f.allocated - int64(len(f.b)); f.allocations < 2 || f.allocations > 3 || free < reserveMin {
		t.Errorf("%d allocations, %d bytes free", f.allocations, free)
	}
}

func TestLargeGroupDoesNotCostTheReservation(t *testing.T) {
	f := &faultyLog{room: -1}
	s := faultyStore(f)
	mustAppend(t, s, 1, 1)
	j := s.kept.(*queuedSession).disk.log
	if err := j.reserve(); err != nil {
		t.Fatal(err)
	}
	reserved := f.allocated
	f.allocateErr = syscall.ENOSPC
	big := []byte(`{"data":"` + strings.Repeat("x", 3<<20) + `"}`)
	if _, err := s.Append(big); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("error is %v", err)
	}
	if f.allocated != reserved || j.reserved != reserved {
		t.Errorf("space up to %d is set aside, was %d", f.allocated, reserved)
	}
	if _, err := s.Append(event(2)); err != nil {
		t.Errorf("into the space set aside: %v", err)
	}
}

func TestReserveWhereSpaceCannotBeSetAside(t *testing.T) {
	j := &journal{f: &faultyLog{room: -1, noAllocate: true}}
	for range 3 {
		if err := j.reserve(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j.append([][]byte{event(1)}); err != nil {
		t.Fatal(err)
	}
	if n := j.f.(*faultyLog).allocations; n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestReserveOnDisk(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	if err := s.Reserve(t.Context()); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(logOf(s), &st); err != nil {
		t.Fatal(err)
	}
	if s.kept.(*queuedSession).disk.log.noSpace {
		t.Skip("this file system cannot set space aside")
	}
	if held := st.Blocks * 512; held-st.Size < reserveMin || st.Size > 1000 {
		t.Errorf("%d bytes held for a log of %d", held, st.Size)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Stat(logOf(s), &st); err != nil {
		t.Fatal(err)
	}
	if st.Blocks*512 > 64<<10 {
		t.Errorf("%d bytes held after Close", st.Blocks*512)
	}
	if r := verifyLog(t, logOf(s)); !r.Closed || r.Records != 2 {
		t.Errorf("%+v", r)
	}
}

// A log that was broken is said once to what would change something. Then the session goes on in another one, on the same chain.
func TestReserveNoticesThatTheLogIsGone(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	mustAppend(t, s, 1, 1)
	ref := mustPayload(t, s, "stdout", "text/plain", "before\n")
	before := verifyLog(t, logOf(s))
	if err := os.Rename(logOf(s), logOf(s)+".1"); err != nil {
		t.Fatal(err)
	}
	e := wantError(t, s.Reserve(t.Context()), agenttool.DependencyUnavailable, "journal_broken")
	next := filepath.Join(s.Path()+"-part2", LogName)
	if !strings.Contains(e.Message, "was renamed or removed") || !strings.Contains(e.Message, next) {
		t.Errorf("message is %q", e.Message)
	}
	if err := s.Reserve(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, 2, 2)
	if page, err := s.Page(ref.URI, 0, 0); err != nil || page.Text != "before\n" {
		t.Errorf("an output of before: %+v, %v", page, err)
	}
	if _, _, err := s.Since(0, 0); agenttool.AsError(err, agenttool.ExecutionFailed).Code != "events_gone" {
		t.Errorf("events of before: %v", err)
	}
	if list, _, err := s.Since(before.Last, 0); err != nil || len(list) != 2 || list[0].Seq != before.Last+1 {
		t.Errorf("events since: %v, %v", list, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if r, found, err := VerifySession(filepath.Dir(next)); err != nil || !r.OK() || !r.Closed || r.Before != logOf(s)+".1" || len(found.Problems) > 0 {
		t.Errorf("%v, %s%+v", err, r, found)
	}
	if r := verifyLog(t, logOf(s)+".1"); r.ContinuedIn != s.ID()+"-part2" || r.Copy {
		t.Errorf("%s", r)
	}
	if _, err := Resume(testOptions(s.o.Dir)); !errors.Is(err, ErrContinued) {
		t.Errorf("resume: %v", err)
	}
}

func TestDirectoryThatCannotBeMade(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "state")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := New(testOptions(filepath.Join(file, "sessions")))
	for n := range 2 {
		_, err := s.Append(event(n), event(n))
		e := wantError(t, err, agenttool.DependencyUnavailable, "journal_unavailable")
		if !strings.Contains(e.Message, s.o.Dir) || e.Recoverability != agenttool.RetrySafe {
			t.Errorf("error is %+v", e)
		}
	}
	wantError(t, s.Reserve(t.Context()), agenttool.DependencyUnavailable, "journal_unavailable")
	_, err := s.Payload("inv_1", "stdout", "text/plain", "")
	wantError(t, err, agenttool.DependencyUnavailable, "journal_unavailable")

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if first, err := s.Append(event(1)); err != nil || first != 3 {
		t.Fatalf("first = %d, %v", first, err)
	}
	b, _ := os.ReadFile(logOf(s))
	if !bytes.Contains(b, []byte(`"events_not_recorded":4,`)) {
		t.Errorf("log is %s", b)
	}
	want := []string{"session.opened", "journal.gap", "tool.invocation.progress"}
	if got := types(t, logOf(s)); !slices.Equal(got, want) {
		t.Errorf("records are %v", got)
	}
}

func TestCloseTellsOfAGap(t *testing.T) {
	f := &faultyLog{room: -1}
	s := faultyStore(f)
	mustAppend(t, s, 1, 1)
	f.room = 0
	if _, err := s.Append(event(2)); err == nil {
		t.Fatal("no error")
	}
	f.room = -1
	if err := s.kept.(*queuedSession).disk.finish(false); err != nil {
		t.Fatal(err)
	}
	kinds, last := entriesOf(t, f)
	want := []string{"session.opened", "tool.invocation.progress", "journal.gap", "session.closed"}
	if !slices.Equal(kinds, want) || !strings.Contains(last, `"count":3,`) {
		t.Errorf("records are %v, the last is %s", kinds, last)
	}
}
