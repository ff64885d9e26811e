package persist

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// callEvent returns an event of the call n.
func callEvent(n int) []byte {
	return fmt.Appendf(nil, `{"schema_version":"0.2.0","event_id":"evt_%d","event_type":"tool.invocation.progress","source":"toolhost",`+
		`"time":"2025-06-01T12:00:00.000Z","subject":"c\t%d","invocation_id":"inv_%d","data":{"text":"%s"}}`, n, n%7, n, strings.Repeat("x", 2000))
}

// placesByReading finds the places of calls as the index does, from the whole log.
func placesByReading(t *testing.T, path string) []CallPlace {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x := index{}
	if err := x.scan(f); err != nil {
		t.Fatal(err)
	}
	return x.calls
}

// TestCalls finds the records of every call, whatever the index beside the log is.
func TestCalls(t *testing.T) {
	s := New(testOptions(t.TempDir()))
	path, beside := logOf(s), filepath.Join(s.Path(), indexName)
	random := rand.New(rand.NewPCG(1, 2))
	from := 0
	grow := func(n int) {
		for i := range n {
			mustAppendRaw(t, s, callEvent(from+i-random.IntN(min(20, from+i+1))))
		}
		from += n
	}
	check := func(when string, written bool) {
		t.Helper()
		calls, err := callsIn(path)
		if err != nil || len(calls) == 0 || !reflect.DeepEqual(calls, placesByReading(t, path)) {
			t.Fatalf("%s: %d calls, %v", when, len(calls), err)
		}
		if _, err := os.Stat(beside); (err == nil) != written {
			t.Fatalf("%s: the index: %v", when, err)
		}
	}
	grow(10)
	check("a small log", false)
	grow(1000)
	check("a large log", true)
	check("a second look", true)
	grow(5)
	check("an index that lacks some lines", true)
	good, err := os.ReadFile(beside)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"empty": nil, "torn": good[:len(good)-20], "of NUL": make([]byte, 1000), "one line": good[:bytes.IndexByte(good, '\n')+1],
		"of another log": bytes.Replace(good, good[20:40], []byte("0123456789abcdef0123"), 1), "negative": bytes.Replace(good, []byte(","), []byte(",-"), 1), "too large": bytes.Replace(good, []byte(","), []byte(",9223372036854775807,1,"), 1),
		"beyond the log": fmt.Appendf(nil, "toolhost-calls 1 99999999999 1 %064d 0\n", 0), "with a short hash": []byte("toolhost-calls 1 5 1 ab 0\n"),
	} {
		if err := os.WriteFile(beside, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		check(name, true)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkRanges(t, path)
}

func mustAppendRaw(t *testing.T, s *Store, events ...[]byte) {
	t.Helper()
	if _, err := s.Append(events...); err != nil {
		t.Fatal(err)
	}
}

// checkRanges reads the records of each call at its place, and finds as many as in the whole log.
func checkRanges(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[agenttool.InvocationID][]int64{}
	for entry, err := range Scan(f) {
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := agenttool.Peek(entry.Event); ok && e.InvocationID != "" {
			all[e.InvocationID] = append(all[e.InvocationID], entry.Seq)
		}
	}
	calls, err := callsIn(path)
	if err != nil || len(calls) != len(all) {
		t.Fatal(len(calls), len(all), err)
	}
	for _, c := range calls {
		var found []int64
		entries, err := ReadCall(path, c)
		for _, e := range entries {
			found = append(found, e.Seq)
		}
		if err != nil || !reflect.DeepEqual(found, all[c.Invocation]) {
			t.Errorf("%s: records %v, %v; want %v", c.Invocation, found, err, all[c.Invocation])
		}
	}
}

// TestCallsOfOtherFiles reads a log that is not in a session's directory without writing beside it, and damaged ones.
func TestCallsOfOtherFiles(t *testing.T) {
	dir := t.TempDir()
	var c chain
	line := c.append(nil, callEvent(1))
	for name, text := range map[string][]byte{
		"empty": nil, "torn": line[:len(line)-9], "other": []byte("hello\nworld\n"), "mixed": append([]byte("hello\n"), line...),
		"long": append(append(bytes.Repeat([]byte{'x'}, maxLine+2), '\n'), line...),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		want := 0
		if name == "mixed" || name == "long" {
			want = 1
		}
		calls, err := callsIn(path)
		if err != nil || len(calls) != want {
			t.Errorf("%s: %v, %v", name, calls, err)
		}
		if want == 1 && !reflect.DeepEqual(calls[0].At, []int64{int64(len(text) - len(line))}) {
			t.Errorf("%s: %+v", name, calls[0])
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 5 {
		t.Errorf("%d files, %v", len(entries), err)
	}
}
