package persist

import (
	"errors"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// endsWith is a function for EndAfterwards that counts the records and writes one event.
func endsWith(n int, seen *int) func(iter.Seq2[Entry, error]) ([][]byte, error) {
	return func(log iter.Seq2[Entry, error]) ([][]byte, error) {
		for _, err := range log {
			if err != nil {
				return nil, err
			}
			*seen++
		}
		return [][]byte{event(n)}, nil
	}
}

// TestEndAfterwards ends the session of a process that died: once, with an intact chain, and without a change of its time.
func TestEndAfterwards(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	mustAppend(t, s, 1, 2)
	abandon(t, s)
	appendFile(t, logOf(s), `{"seq":4,"prev":"00`)
	old := noon.Add(-time.Hour)
	if err := os.Chtimes(logOf(s), old, old); err != nil {
		t.Fatal(err)
	}
	signed, err := HashOf(logOf(s), 3)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	if ended, err := EndAfterwards(s.o, endsWith(3, &seen)); !ended || err != nil || seen != 3 {
		t.Fatalf("ended %v, %v, %d records seen", ended, err, seen)
	}
	want := []string{"session.opened", "tool.invocation.progress", "tool.invocation.progress", "tool.invocation.progress", "session.closed"}
	if got := types(t, logOf(s)); !slices.Equal(got, want) {
		t.Errorf("records are %v", got)
	}
	if r := verifyLog(t, logOf(s)); !r.Closed || r.TornBytes != 0 {
		t.Errorf("%+v", r)
	}
	if again, err := HashOf(logOf(s), 3); err != nil || again != signed {
		t.Errorf("a signed record has another hash: %v", err)
	}
	if info, err := os.Stat(logOf(s)); err != nil || !info.ModTime().Equal(old) {
		t.Errorf("its time is %v, %v", info.ModTime(), err)
	}
	before, _ := os.ReadFile(logOf(s))
	if !strings.Contains(string(before), `"written_afterwards":true`) {
		t.Error("the closing record does not say that it was written afterwards")
	}
	if list, _, err := List(s.o.Dir, 0, noon); err != nil || len(list) != 1 || list[0].State != Died {
		t.Errorf("%+v, %v", list, err)
	}
	if ended, err := EndAfterwards(s.o, endsWith(4, &seen)); ended || err != nil {
		t.Errorf("a second time: %v, %v", ended, err)
	}
	if after, _ := os.ReadFile(logOf(s)); string(after) != string(before) {
		t.Error("a second time wrote something")
	}
	again, err := Resume(s.o) // such a session can go on
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, again, 5, 5)
	_ = again.Close()
	verifyLog(t, logOf(s))
}

// TestEndAfterwardsLeavesAlone: sessions that live, ended in order, hold nothing, are damaged, lead elsewhere or are not there stay as they are.
func TestEndAfterwardsLeavesAlone(t *testing.T) {
	never := func(iter.Seq2[Entry, error]) ([][]byte, error) { return nil, errors.New("it was read") }
	live := New(testOptions(t.TempDir()))
	mustAppend(t, live, 1, 1)
	if ended, err := EndAfterwards(live.o, never); ended || !errors.Is(err, ErrLocked) {
		t.Errorf("live: %v, %v", ended, err)
	}
	_ = live.Close()
	if ended, err := EndAfterwards(live.o, never); ended || err != nil {
		t.Errorf("closed: %v, %v", ended, err)
	}
	none := testOptions(t.TempDir())
	if ended, err := EndAfterwards(none, never); ended || err != nil {
		t.Errorf("missing: %v, %v", ended, err)
	}
	if entries, _ := os.ReadDir(none.Dir); len(entries) > 0 {
		t.Errorf("it made %v", entries)
	}
	for name, text := range map[string]string{"empty": "", "torn": `{"seq":1`, "damaged": "hello\n"} {
		o := testOptions(t.TempDir())
		if err := errors.Join(os.Mkdir(o.Dir+"/ses_test", 0o700), os.WriteFile(o.Dir+"/ses_test/log.jsonl", []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		if ended, err := EndAfterwards(o, never); ended || errors.Is(err, ErrDamaged) != (name == "damaged") {
			t.Errorf("%s: %v, %v", name, ended, err)
		}
		if after, _ := os.ReadFile(o.Dir + "/ses_test/log.jsonl"); string(after) != text {
			t.Errorf("%s: it is now %q", name, after)
		}
	}
	leads := New(testOptions(t.TempDir()))
	mustAppend(t, leads, 1, 1)
	abandon(t, leads)
	out := leads.o.Dir + "/out"
	if err := errors.Join(os.Rename(logOf(leads), out), os.Symlink("../out", logOf(leads))); err != nil {
		t.Fatal(err)
	}
	if ended, err := EndAfterwards(leads.o, never); ended || err == nil {
		t.Errorf("a link: %v, %v", ended, err)
	}
}

// TestEndAfterwardsOnce has several processes end one session at the same time.
func TestEndAfterwardsOnce(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	mustAppend(t, s, 1, 2)
	abandon(t, s)
	var ends atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				seen := 0
				ended, err := EndAfterwards(s.o, endsWith(3, &seen))
				if ended {
					ends.Add(1)
				}
				if !errors.Is(err, ErrLocked) {
					return
				}
			}
		})
	}
	all.Wait()
	if r := verifyLog(t, logOf(s)); ends.Load() != 1 || r.Records != 5 {
		t.Errorf("%d ended it; %+v", ends.Load(), r)
	}
}
