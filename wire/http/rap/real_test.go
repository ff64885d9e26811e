package rap

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/tools/files"
	"toolhost/tools/workspace"
)

// TestRealEdit: the tools that change files ask with their diff, show it, and update the view.
func TestRealEdit(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a.txt")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, set{real: w, tools: files.New(w, files.Options{})})
	d, _ := f.discover()
	for _, name := range []string{"read", "write", "edit"} {
		if !strings.Contains(strings.Join(d.names(), " "), name) {
			t.Errorf("%s is not in the toolset %v", name, d.names())
		}
	}
	f.invoke("r", "read", fields{"arguments": fields{"path": "a.txt"}})
	if text := f.result("r").text("text"); !strings.Contains(text, "two") {
		t.Errorf("read: %q", text)
	}
	f.invoke("e", "edit", fields{"arguments": fields{"path": "a.txt", "old_string": "two", "new_string": "three"}})
	q := f.runtime.of("user_choice", "e")
	if prompt := q.text("prompt"); !strings.Contains(prompt, "edit  │ "+file) || !strings.Contains(prompt, "-two") || !strings.Contains(prompt, "+three") || strings.Contains(prompt, "old_string") {
		t.Errorf("prompt %s", prompt)
	}
	f.answer(q, 0)
	got := f.result("e")
	display, _ := got.fields["display_as"].([]any)
	if len(display) != 2 || strings.Contains(got.text("text"), "+three") || !strings.HasPrefix(got.text("text"), "edited a.txt") {
		t.Fatalf("result %v", got.fields)
	}
	segment, _ := display[0].(map[string]any)
	content, _ := segment["content"].(map[string]any)
	if segment["type"] != "diff" || content["path"] != "a.txt" || !strings.Contains(content["patch"].(string), "+three") {
		t.Errorf("display_as %v", display)
	}
	f.runtime.await("view", func(c callback) bool { return c.text("type") == "view_update" })
	if b, _ := os.ReadFile(file); string(b) != "one\nthree\n" {
		t.Errorf("the file holds %q", b)
	}
	long := strings.Repeat("0123456789abcde\n", 1<<16) // 1 MiB
	f.invoke("w", "write", fields{"arguments": fields{"path": "big.txt", "content": long}})
	f.answer(f.runtime.of("user_choice", "w"), 0)
	if text := f.result("w").text("text"); !strings.HasPrefix(text, "created big.txt") {
		t.Errorf("write: %.200q", text)
	}
	f.idle()
}

// TestBase: URLs of ours are below the base, whether it says the host or the request does, and whether the path was taken off.
func TestBase(t *testing.T) {
	f := newFixture(t, set{})
	for _, c := range []struct{ base, path, want string }{
		{"/rap", "/rap/.well-known/rap-toolset", "http://here:7/rap/invoke"},
		{"/rap/", "/.well-known/rap-toolset", "http://here:7/rap/invoke"},
		{"", "/.well-known/rap-toolset", "http://here:7/invoke"},
		{"https://proxy.example.com/a/b", "/a/b/.well-known/rap-toolset", "https://proxy.example.com/a/b/invoke"},
		{"http://127.0.0.1:9", "/.well-known/rap-toolset", "http://127.0.0.1:9/invoke"},
		{"/rap", "/rapx/.well-known/rap-toolset", ""},
		{"/rap", "/rap/invoke/../.well-known/rap-toolset", ""},
		{"/rap", "/rap", ""},
	} {
		s, err := New(Options{Host: f.host, Base: c.base})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://here:7"+c.path, nil))
		s.Close()
		if (w.Code == 200) != (c.want != "") || !strings.Contains(w.Body.String(), `"endpoint":"`+c.want+`"`) && c.want != "" {
			t.Errorf("%q %s: %d %.200s", c.base, c.path, w.Code, w.Body)
		}
	}
}
