package workspace

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// TestOpenFileIsAView: a file that commands see without the lines that hold secrets is opened so, inside and outside of the workspace, and one of
// which that cannot be had is not opened.
func TestOpenFileIsAView(t *testing.T) {
	const token = "ghp_" + "q7Kx2mPz9LbV4tRw8NcY1sHd6FgJ3aQe5UiX"
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"ws/.npmrc": "a=1\n//r.example/:_authToken=" + token + "\n", "ws/plain/.npmrc": "a=1\n", "ws/auth.json": token, "ws/config": "url = https://me:" + token + "@h.example/a=1\n",
		"clone/HEAD": "", "clone/objects/x": "", "clone/refs/x": "", "clone/config": "url = https://me:" + token + "@h.example/a=1\n", "other/config": "a=1 " + token,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(top, "ws/.npmrc"), filepath.Join(top, "ws/second")); err != nil {
		t.Fatal(err)
	}
	w, err := Open([]string{filepath.Join(top, "ws")})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	m, err := protect.Scan(t.Context(), protect.Options{Roots: w.Roots(), ReadDeny: protect.DefaultReadDeny()})
	if err != nil {
		t.Fatal(err)
	}
	w.Guard(func() (*protect.Map, error) { return m, nil })
	for name, want := range map[string]bool{
		"ws/.npmrc": false, "ws/second": false, "ws/plain/.npmrc": true, "ws/auth.json": false, "ws/config": true, "clone/config": true, "other/config": true, // no clone: the list is of projects
	} {
		p := agenttool.Path{Spelling: name, Absolute: filepath.Join(top, name)}
		if err := w.Locate(&p); err != nil {
			t.Fatal(err)
		}
		text := ""
		f, err := w.OpenFile(p)
		if err == nil {
			all, _ := io.ReadAll(f)
			text = string(all)
			f.Close()
		}
		if (err == nil) != want || want && !strings.Contains(text, "a=1") || strings.Contains(text, token) && name != "other/config" {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
	_ = os.Remove(filepath.Join(top, "ws/second"))
	p := agenttool.Path{Spelling: ".npmrc", Absolute: filepath.Join(top, "ws/.npmrc")}
	if err := w.Locate(&p); err != nil {
		t.Fatal(err)
	}
	f, err := w.OpenFile(p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, _ := io.ReadAll(f); string(text) != "a=1\n" {
		t.Errorf("the view is %q", text)
	}
}
