package gocache

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// exchange has a cache answer requests.
func exchange(t *testing.T, c Cache, requests ...string) []response {
	t.Helper()
	var out bytes.Buffer
	if err := c.Serve(strings.NewReader(strings.Join(requests, "\n")), &out); err != nil {
		t.Fatal(err)
	}
	var all []response
	for d := json.NewDecoder(&out); d.More(); {
		var r response
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all[1:] // the first names the commands
}

func id(name string) string {
	sum := sha256.Sum256([]byte(name))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func get(action string) string {
	return fmt.Sprintf(`{"ID":1,"Command":"get","ActionID":%q}`, id(action))
}

func put(action, output string) string {
	return fmt.Sprintf(`{"ID":2,"Command":"put","ActionID":%q,"OutputID":%q,"BodySize":%d}`+"\n%q", id(action), id(output), len(output), base64.StdEncoding.EncodeToString([]byte(output)))
}

// TestLayers: an entry of the user's cache is found, and a new one never gets there, also under a name that the user's has.
func TestLayers(t *testing.T) {
	users, dir := t.TempDir(), t.TempDir()
	exchange(t, Cache{Dir: users}, put("compile a", "object a"))
	before := tree(t, users)
	c := Cache{Dir: dir, Users: users}
	for _, step := range []struct{ name, request, want string }{
		{"the user's", get("compile a"), "object a"},
		{"none", get("compile b"), ""},
		{"a new one", put("compile b", "object b"), "object b"},
		{"the new one", get("compile b"), "object b"},
		{"over the user's", put("compile a", "evil a"), "evil a"},
		{"the private one first", get("compile a"), "evil a"},
	} {
		got := exchange(t, c, step.request)[0]
		content, _ := os.ReadFile(got.DiskPath)
		if string(content) != step.want || got.Err != "" || got.Miss != (step.want == "") {
			t.Errorf("%s: %+v: %q, and not %q", step.name, got, content, step.want)
		}
	}
	if after := tree(t, users); after != before {
		t.Errorf("the user's cache was %s, and is %s", before, after)
	}
	if got := exchange(t, Cache{Dir: users}, get("compile a"))[0]; got.DiskPath == "" {
		t.Error("the user's entry is lost")
	} else if content, _ := os.ReadFile(got.DiskPath); string(content) != "object a" {
		t.Errorf("the user's entry is %q", content)
	}
}

// TestBrokenEntries: an entry counts only if it and its data are whole.
func TestBrokenEntries(t *testing.T) {
	for name, spoil := range map[string]func(entry, data string) error{
		"shorter data":   func(_, data string) error { return os.Truncate(data, 2) },
		"no data":        func(_, data string) error { return os.Remove(data) },
		"a link as data": func(entry, data string) error { os.Remove(data); return os.Symlink(entry, data) },
		"empty entry":    func(entry, _ string) error { return os.Truncate(entry, 0) },
		"another's entry": func(entry, _ string) error {
			return os.WriteFile(entry, fmt.Appendf(nil, entryFormat, sha256.Sum256([]byte("x")), sha256.Sum256([]byte("object a")), 8, 0), 0o600)
		},
	} {
		c := Cache{Dir: t.TempDir()}
		data := exchange(t, c, put("compile a", "object a"))[0].DiskPath
		action := sha256.Sum256([]byte("compile a"))
		if err := spoil(file(c.Dir, action[:], "a"), data); err != nil {
			t.Fatal(err)
		}
		if got := exchange(t, c, get("compile a"))[0]; !got.Miss {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, request := range []string{`{"ID":1,"Command":"get","ActionID":"Li4v"}`, `{"ID":1,"Command":"get"}`} {
		if got := exchange(t, Cache{Dir: t.TempDir()}, request)[0]; !got.Miss {
			t.Errorf("%s: %+v", request, got)
		}
	}
}

// TestDirectoryTakesNothing: what cannot be kept is there until the cache is closed.
func TestDirectoryTakesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	closed := t.TempDir() + "/file"
	if err := os.WriteFile(closed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := exchange(t, Cache{Dir: closed}, put("compile a", "object a"), get("compile a"))
	if got[0].Err != "" || got[1].Miss || got[1].DiskPath != got[0].DiskPath {
		t.Errorf("%+v", got)
	}
	if left := tree(t, os.Getenv("TMPDIR")); left != "" {
		t.Errorf("left: %s", left)
	}
}

// tree lists files and their content.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		files, _ := os.ReadDir(dir + "/" + e.Name())
		for _, f := range files {
			content, _ := os.ReadFile(dir + "/" + e.Name() + "/" + f.Name())
			all = append(all, f.Name()+" "+string(content))
		}
	}
	return strings.Join(all, "\n")
}
