package persist

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"toolhost/agenttool/filesystem"
)

// A file system that cannot sync directories, as that of /proc, is no failure.
func TestDirectoriesThatCannotBeSynced(t *testing.T) {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc:", err)
	}
	defer dir.Close()
	if err := dir.Sync(); !errors.Is(err, unix.EINVAL) {
		t.Skip("it can be synced here:", err)
	}
	if err := filesystem.Sync(dir); err != nil {
		t.Error(err)
	}
}

// watchedLog is a log on disk that says how many pages of payloads the disk has not got whenever it is synced itself.
type watchedLog struct {
	logFile
	t       *testing.T
	results string
	syncs   int
	dirty   []int
}

func (l *watchedLog) Sync() error {
	l.syncs++
	l.dirty = append(l.dirty, dirtyPages(l.t, l.results))
	return l.logFile.Sync()
}

// dirtyPages counts the pages of the files in a directory that are in memory alone.
func dirtyPages(t *testing.T, dir string) (pages int) {
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var found unix.Cachestat_t
		err = unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{}, &found, 0)
		f.Close()
		if err != nil {
			t.Skip("this kernel does not say what the disk has not got:", err)
		}
		pages += int(found.Dirty + found.Writeback)
	}
	return pages
}

// Payloads are on the disk before the records that refer to them.
func TestPayloadsAreSyncedBeforeRecords(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	d := s.kept.(*queuedSession).disk
	d.sync.due = true // no timer: the test syncs
	mustAppend(t, s, 1, 1)
	log := &watchedLog{logFile: d.log.f, t: t, results: filepath.Join(s.Path(), resultsDir)}
	d.log.f = log
	content := string(bytes.Repeat([]byte("a line of some length\n"), 40<<10))
	for _, name := range []string{"stdout", "stderr"} {
		mustPayload(t, s, name, "text/plain", content)
	}
	if log.syncs != 1 {
		t.Errorf("%d syncs at the first payloads, want one of the first record, and nothing else waits", log.syncs)
	}
	if dirtyPages(t, log.results) == 0 {
		t.Skip("this file system holds nothing back")
	}
	mustAppend(t, s, 2, 2)
	if err := s.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	d.sync.due = true
	d.mu.Unlock()
	p, err := s.Payload("inv_2", "stdout", "text/plain", "full_output")
	if err != nil {
		t.Fatal(err)
	}
	_, _ = p.Write([]byte(content))
	if _, err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil { // closing syncs what is left
		t.Fatal(err)
	}
	if log.syncs < 2 {
		t.Errorf("%d syncs", log.syncs)
	}
	for i, n := range log.dirty {
		if n > 0 {
			t.Errorf("sync %d of the log came while %d pages of payloads were in memory alone", i, n)
		}
	}
}
