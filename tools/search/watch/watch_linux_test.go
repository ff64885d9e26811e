package watch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func TestSameDirectorySameID(t *testing.T) {
	base := plant(t)
	w := newWatcher(t)
	id := add(t, w, base+"/d")
	if other := add(t, w, base+"/elsewhere"); other == id {
		t.Errorf("two directories have the ID %d", id)
	}
	if err := os.Rename(base+"/d", base+"/moved"); err != nil {
		t.Fatal(err)
	}
	if again := add(t, w, base+"/moved"); again != id {
		t.Errorf("got %d for the directory %d after a rename", again, id)
	}
}

func TestMove(t *testing.T) {
	base := plant(t)
	w := newWatcher(t)
	d, elsewhere := add(t, w, base+"/d"), add(t, w, base+"/elsewhere")
	if err := os.Rename(base+"/d/file", base+"/elsewhere/came"); err != nil {
		t.Fatal(err)
	}
	var got []Event
	if err := w.Drain(func(e Event) { got = append(got, e) }); err != nil {
		t.Fatal(err)
	}
	move := got[0].Move
	want := []Event{{Dir: d, Name: "file", Names: true, Move: move}, {Dir: elsewhere, Name: "came", Names: true, Move: move}}
	if move == 0 || !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestAddTakesAnOpenPath(t *testing.T) {
	base := plant(t)
	w := newWatcher(t)
	fd, err := unix.Open(base+"/d", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	// The name stands for another directory by now; the open one counts.
	err = errors.Join(os.Rename(base+"/d", base+"/real"), os.Mkdir(base+"/d", 0o755))
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.Add(fd)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(base+"/d/no", 0o755), os.Mkdir(base+"/real/yes", 0o755)); err != nil {
		t.Fatal(err)
	}
	if got, want := drain(t, w), []Event{{Dir: id, Name: "yes", Names: true}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestAddRefuses(t *testing.T) {
	base := plant(t)
	w := newWatcher(t)
	if _, err := addPath(w, base+"/d/file"); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a file: %v", err)
	}
	if _, err := w.Add(-1); !errors.Is(err, unix.ENOENT) {
		t.Errorf("no descriptor: %v", err)
	}
}

func TestRemovedDirectoryIsNotReported(t *testing.T) {
	base := plant(t)
	w := newWatcher(t)
	id := add(t, w, base+"/d")
	w.Remove(id)
	w.Remove(id)
	if err := os.Remove(base + "/d/file"); err != nil {
		t.Fatal(err)
	}
	if got, want := drain(t, w), []Event{{Dir: id, Gone: true}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if again := add(t, w, base+"/d"); again == id {
		t.Errorf("the ID %d is given again", id)
	}
}

func TestDirectoryHeldOpenIsGoneWhenClosed(t *testing.T) {
	base := plant(t)
	w := newWatcher(t)
	dir, err := os.Open(base + "/d/sub")
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.Add(int(dir.Fd()))
	if err = errors.Join(err, os.Remove(base+"/d/sub")); err != nil {
		t.Fatal(err)
	}
	if got := drain(t, w); len(got) > 0 {
		t.Errorf("told before it was closed: %+v", got)
	}
	dir.Close()
	if got, want := drain(t, w), []Event{{Dir: id, Gone: true}}; !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A file made without a name is written under a special one even after linkat gave it a name.
func TestDescriptorWithoutName(t *testing.T) {
	base := plant(t)
	w := newWatcher(t)
	fd, err := unix.Open(base+"/d", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Skip("the file system makes no files without a name:", err)
	}
	defer unix.Close(fd)
	link := "/proc/self/fd/" + strconv.Itoa(fd)
	if err := unix.Linkat(unix.AT_FDCWD, link, unix.AT_FDCWD, base+"/d/linked", unix.AT_SYMLINK_FOLLOW); err != nil {
		t.Skip("it cannot be given a name:", err)
	}
	id := add(t, w, base+"/d")
	if _, err := unix.Write(fd, []byte("late")); err != nil {
		t.Fatal(err)
	}
	got := drain(t, w)
	if len(got) != 1 || got[0] != (Event{Dir: id, Name: got[0].Name}) || !strings.HasPrefix(got[0].Name, "#") {
		t.Errorf("got %+v", got)
	}
}

func TestOverflow(t *testing.T) {
	limit := queueLimit(t)
	w := newWatcher(t)
	base := t.TempDir()
	makeEvents := pen(t, base)
	id := add(t, w, base)
	makeEvents(limit + 1)
	count := 0
	err := w.Drain(func(e Event) {
		if e != (Event{Dir: id, Name: penNames[count%2]}) {
			t.Fatalf("event %d is %+v", count, e)
		}
		count++
	})
	if !errors.Is(err, ErrOverflow) || count != limit {
		t.Errorf("%d events, of which %d are held, and then: %v", count, limit, err)
	}
	if got := drain(t, w); len(got) > 0 {
		t.Errorf("%d events are left", len(got))
	}
	makeEvents(2)
	if got := drain(t, w); len(got) != 2 {
		t.Errorf("after the overflow: %+v", got)
	}
}

func queueLimit(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		t.Skip("the size of the queue is not known:", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || n > 1<<17 {
		t.Skip("the queue is too large to fill:", string(text))
	}
	return n
}

// Drain ends although whoever hears of an event makes another one.
func TestDrainEndsUnderChange(t *testing.T) {
	w := newWatcher(t)
	base := t.TempDir()
	makeEvents := pen(t, base)
	add(t, w, base)
	makeEvents(1000)
	count := 0
	err := w.Drain(func(Event) {
		if count++; count < 10_000 {
			makeEvents(2)
		}
	})
	if err != nil || count < 1000 || count >= 10_000 {
		t.Errorf("%d events: %v", count, err)
	}
}

func TestEachMayAddAndRemove(t *testing.T) {
	base := plant(t)
	w := newWatcher(t)
	id := add(t, w, base+"/d")
	if err := os.Mkdir(base+"/d/new", 0o755); err != nil {
		t.Fatal(err)
	}
	var sub ID
	err := w.Drain(func(e Event) {
		sub = add(t, w, base+"/d/"+e.Name)
		w.Remove(e.Dir)
	})
	if err != nil || sub == 0 || sub == id {
		t.Errorf("ID %d: %v", sub, err)
	}
}

func TestConcurrentUse(t *testing.T) {
	const each, writers = 200, 4
	base := t.TempDir()
	w := newWatcher(t)
	var mu sync.Mutex
	told := map[ID]int{}
	note := func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		told[e.Dir]++
	}
	var wg sync.WaitGroup
	ids := make([]ID, writers)
	for i := range writers {
		wg.Go(func() {
			dir := fmt.Sprint(base, "/", i)
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Error(err)
				return
			}
			makeEvents := pen(t, dir)
			ids[i], _ = addPath(w, dir)
			for range each {
				makeEvents(2)
				if err := w.Drain(note); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, id := range ids {
		if told[id] != 2*each {
			t.Errorf("directory %d: %d events, want %d", id, told[id], 2*each)
		}
	}
}

func TestClosed(t *testing.T) {
	base := plant(t)
	w := newWatcher(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				_, err := addPath(w, base+"/d")
				if err = errors.Join(err, w.Drain(func(Event) {})); err != nil {
					if !errors.Is(err, os.ErrClosed) {
						t.Error(err)
					}
					return
				}
			}
		})
	}
	w.Close()
	w.Close()
	wg.Wait()
	w.Remove(1)
	if err := w.Drain(func(Event) {}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Drain: %v", err)
	}
}
