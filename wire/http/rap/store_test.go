package rap

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/persist/redact"
)

// TestStartedAgain: what a server that was killed owed is told by the next one, once.
func TestStartedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	rt := newRuntime(t)
	st, err := newStore(dir, testSealer)
	if err != nil {
		t.Fatal(err)
	}
	second := "second"
	at := func(id string) *call {
		return &call{address: address{Group: "g", ID: id, CallID: &second, Callback: rt.web.URL + "/s3cret"}}
	}
	for id, job := range map[string]string{"c1": "", "c2": "j7"} {
		if err := st.put(at(id), job); err != nil {
			t.Fatal(err)
		}
	}
	st.close()
	for _, file := range readAll(t, dir) {
		if bytes.Contains(file, []byte("s3cret")) || bytes.Contains(file, []byte("second")) {
			t.Errorf("a file has a callback URL: %q", file)
		}
	}
	for name, content := range map[string]string{"x.json": `{"group_id":"g","id":"c9","callback_url":"http://127.0.0.1:1"}`, "y.json": "{", "z.txt": "mine", "a.json.new": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "l.json")); err != nil {
		t.Fatal(err)
	}
	hold := make(chan struct{})
	rt.answer = func(n int, _ http.ResponseWriter, _ *http.Request) { <-hold }
	f := newFixture(t, set{options: Options{Dir: dir}})
	f.invoke("c1", "look", fields{"callback_url": rt.web.URL}) // sent again by a runtime that saw no answer
	close(hold)
	if got := rt.of("tool_result", "c1"); got.text("call_id") != "second" || !strings.HasPrefix(got.text("text"), "Error: toolhost was started again") {
		t.Errorf("%v", got.fields)
	}
	if got := rt.of("subscription_event", "c2"); got.fields["final"] != true || !strings.Contains(got.text("text"), "job j7 ended") {
		t.Errorf("%v", got.fields)
	}
	f.idle()
	if status, _ := f.send("/invoke", f.invocation("c1", "look")); status != http.StatusConflict {
		t.Errorf("sent once more, after it was told: %d", status)
	}
	if names := namesIn(t, dir); names != "z.txt" || len(rt.taken()) != 2 {
		t.Errorf("left are %s; %d messages", names, len(rt.taken()))
	}
}

// testSealer is that of the user who runs the tests.
var testSealer, _ = redact.New(redact.Options{})

// readAll returns the contents of the files in dir.
func readAll(t *testing.T, dir string) (all [][]byte) {
	t.Helper()
	for name := range strings.FieldsSeq(namesIn(t, dir)) {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	if len(all) == 0 {
		t.Error("there are no files")
	}
	return all
}

func namesIn(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// TestKeptWhileOwed: a file is there for as long as a callback is owed, for this user only.
func TestKeptWhileOwed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	f := newFixture(t, set{options: Options{Dir: dir}})
	f.invoke("h", "hang", fields{"group_id": "../x"})
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	info, _ := entries[0].Info()
	parent, _ := os.Stat(dir)
	if info.Mode().Perm() != 0o600 || parent.Mode().Perm() != 0o700 || len(entries[0].Name()) != 32+len(keptEnd) {
		t.Errorf("%s %v, directory %v", entries[0].Name(), info.Mode(), parent.Mode())
	}
	f.send("/cancel_tool_call", fields{"thread_id": "../x", "tool_call_id": "h"})
	f.idle()
	if names := namesIn(t, dir); names != "" {
		t.Errorf("left is %s", names)
	}
}

// TestBadOptions: what cannot be served is refused when the server is made.
func TestBadOptions(t *testing.T) {
	f := newFixture(t, set{})
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{
		{}, {Host: f.host, Base: "ftp://x"}, {Host: f.host, Base: "rap"}, {Host: f.host, Base: "http://x/?a=b"}, {Host: f.host, Base: "http:///x"}, {Host: f.host, Dir: file, Sealer: testSealer}, {Host: f.host, Dir: filepath.Dir(file)},
	} {
		if s, err := New(o); err == nil {
			s.Close()
			t.Errorf("%+v was taken", o)
		}
	}
}

// TestCloseTellsAll: a server that closes answers what runs, takes no more, and may be closed again.
func TestCloseTellsAll(t *testing.T) {
	f := newFixture(t, set{})
	f.invoke("h", "hang")
	f.invoke("p", "write")
	f.runtime.of("user_choice", "p")
	f.Close()
	for _, id := range []string{"h", "p"} {
		if n := f.runtime.count("tool_result", id); n != 1 {
			t.Errorf("%s has %d results", id, n)
		}
	}
	f.Close()
}

// TestJobUntold: a job whose result was not taken is not all that is owed for its call: the next server answers the call.
func TestJobUntold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	s := withJob(newFakeJob("j1"), make(chan string, 1))
	s.options.Dir = dir
	f := newFixture(t, s)
	hold := make(chan struct{})
	f.runtime.answer = func(int, http.ResponseWriter, *http.Request) { <-hold }
	jobs := func() (jobs []string) {
		names, err := filepath.Glob(filepath.Join(dir, "*"+keptEnd)) // all would remove what is being written
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			k, err := f.Server.store.read(filepath.Base(name))
			if err != nil {
				t.Fatal(err)
			}
			jobs = append(jobs, k.Job)
		}
		return jobs
	}
	f.invoke("s", "server")
	f.until("the job is followed", func() bool {
		f.Server.mu.Lock()
		defer f.Server.mu.Unlock()
		for _, c := range f.calls {
			return c.job != ""
		}
		return false
	})
	if got := jobs(); len(got) != 1 || got[0] != "" {
		t.Errorf("before its result is taken: %q", got)
	}
	close(hold)
	f.result("s")
	f.until("the job is kept", func() bool { got := jobs(); return len(got) == 1 && got[0] == "j1" })
}
