package persist

import (
	"os"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"time"
)

// A disk that answers in the moment in which its caller gives up leaves nothing open: what it made is the caller's, or closed.
func TestAnswerAsTheCallerGivesUp(t *testing.T) {
	t.Run("create", func(t *testing.T) {
		s := New(testOptions(t.TempDir()))
		mustAppend(t, s, 1, 1)
		q := s.kept.(*queuedSession)
		defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would close what is lost
		before := openFiles(t)
		q.line.beside = map[*Pending]time.Time{new(Pending): time.Now().Add(-time.Hour)} // the disk counts as stalled, so that no caller waits
		given := 0
		for range 2000 {
			made, err := q.create("file")
			if err == nil {
				given++
				_ = made.(*diskSink).f.Close()
			}
			_ = q.step(func() error { return os.Remove(s.Path() + "/" + resultsDir + "/file") }).within(t.Context())
		}
		for limit := time.Now().Add(time.Minute); openFiles(t) > before; time.Sleep(time.Millisecond) { // the disk may have some for a moment
			if time.Now().After(limit) {
				t.Fatalf("%d files are open, %d before; %d were handed over", openFiles(t), before, given)
			}
		}
	})
	t.Run("within", func(t *testing.T) {
		var made, ended atomic.Int64
		do := func() (int, error) { made.Add(1); return 1, nil }
		for range 5_000 {
			if _, err := within(0, do, func(int) { ended.Add(1) }); err == nil {
				ended.Add(1)
			}
		}
		for limit := time.Now().Add(time.Minute); ended.Load() < 5_000 && time.Now().Before(limit); {
			time.Sleep(time.Millisecond)
			if made.Load() == 5_000 && time.Until(limit) < 58*time.Second {
				break
			}
		}
		if made.Load() != ended.Load() {
			t.Errorf("%d were made, %d handed over or given back", made.Load(), ended.Load())
		}
	})
}

// openFiles is how many files this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("the open files are not listed here:", err)
	}
	return len(entries)
}
