package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolhost/agenttool/cut"
)

// TestNamesOfAnyBytes: a file whose name is not UTF-8 is listed as bash writes it, and every tool takes that spelling for this file and
// no other. Rules and secrets are judged by the bytes.
func TestNamesOfAnyBytes(t *testing.T) {
	home := frontHome(t)
	d := newDoor(t, home, "--mode", "accept_edits", "--deny", "Read(private*)", "--deny", "Edit(private*)")
	const latin, literal = "caf\xe9.txt", `$'caf\xe9.txt'`
	for name, content := range map[string]string{
		latin: "latin needle\n", literal: "literal needle\n", "dir\xff/in": "below needle\n", "private\xff": "hidden needle\n", "../.ssh/\xfe": "secret needle\n", "line\nend": "line needle\n",
	} {
		name = filepath.Join(d.ws, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Skip("the file system refuses names that are not UTF-8:", err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Skip("the file system refuses names that are not UTF-8:", err)
		}
	}
	if err := os.Link(filepath.Join(home, ".ssh/\xfe"), filepath.Join(d.ws, "linked\xff")); err != nil {
		t.Fatal(err)
	}
	d.start()
	c := listenTo(d)
	calls := 0
	type outcome struct {
		Status  string          `json:"status"`
		Content json.RawMessage `json:"content"`
		Paths   struct {
			Paths   []string `json:"paths"`
			Path    string   `json:"path"`
			Matches []struct {
				Path string `json:"path"`
			} `json:"matches"`
		} `json:"structured_content"`
		text string
	}
	call := func(tool string, input map[string]any) (o outcome) {
		t.Helper()
		calls++
		id := strconv.Itoa(calls)
		raw, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		c.send(`{"jsonrpc":"2.0","id":%q,"method":"agenttool/invoke","params":{"id":%q,"tool":%q,"input":%s}}`, id, id, tool, raw)
		m := c.nativeAnswer(strconv.Quote(id))
		var answer struct {
			Result struct {
				Result outcome `json:"result"`
			} `json:"result"`
		}
		if err := json.Unmarshal([]byte(m.text), &answer); err != nil {
			t.Fatal(err)
		}
		answer.Result.Result.text = m.text
		return answer.Result.Result
	}
	works := func(tool string, input map[string]any, want string) outcome {
		t.Helper()
		o := call(tool, input)
		if o.Status != "succeeded" || !strings.Contains(string(o.Content), want) {
			t.Errorf("%s %v: %s", tool, input, cut.Characters(o.text, 1500))
		}
		return o
	}
	listed := works("glob", map[string]any{"pattern": "*"}, "").Paths.Paths
	for _, want := range []string{`$'caf\xe9.txt'`, `$'$\'caf\\xe9.txt\''`, `$'dir\xff/in'`, "line\nend"} {
		if !slices.Contains(listed, want) {
			t.Errorf("%q is not listed: %q", want, listed)
		}
	}
	for _, m := range works("grep", map[string]any{"pattern": "needle"}, `latin needle`).Paths.Matches {
		if !slices.Contains(listed, m.Path) {
			t.Errorf("grep spells %q otherwise than glob: %q", m.Path, listed)
		}
		works("read", map[string]any{"path": m.Path}, "needle")
	}
	works("read", map[string]any{"path": `$'caf\xe9.txt'`}, "latin needle")
	works("read", map[string]any{"path": `$'$\'caf\\xe9.txt\''`}, "literal needle")
	works("read", map[string]any{"path": `$'line\nend'`}, "line needle")
	works("read", map[string]any{"path": "$'" + d.ws + `/dir\xff/in'`}, "below needle")
	works("grep", map[string]any{"pattern": "needle", "path": `$'dir\xff'`}, "below needle")
	works("glob", map[string]any{"pattern": "in", "path": `$'dir\xff'`}, `$'dir\\xff/in'`)
	works("glob", map[string]any{"pattern": `$'caf\xe9.*'`}, `$'caf\\xe9.txt'`)
	works("edit", map[string]any{"path": `$'caf\xe9.txt'`, "old_string": "latin", "new_string": "Latin"}, "")
	if text, _ := os.ReadFile(filepath.Join(d.ws, latin)); string(text) != "Latin needle\n" {
		t.Errorf("the edit made it %q", text)
	}
	made := works("write", map[string]any{"path": `$'new\xfe/file\xff'`, "content": "new\n"}, "")
	if text, _ := os.ReadFile(filepath.Join(d.ws, "new\xfe/file\xff")); string(text) != "new\n" || made.Paths.Path != "$'"+d.ws+`/new\xfe/file\xff'` {
		t.Errorf("written: %q, as %q", text, made.Paths.Path)
	}
	for tool, path := range map[string]string{"read": `$'private\xff'`, "edit": `$'private\xff'`, "grep": `$'~/.ssh/\xfe'`} {
		o := call(tool, map[string]map[string]any{
			"read": {"path": path}, "edit": {"path": path, "old_string": "hidden", "new_string": "x"}, "grep": {"pattern": "needle", "path": path},
		}[tool])
		if o.Status == "succeeded" || strings.Contains(o.text, "hidden needle") || strings.Contains(o.text, "secret needle") {
			t.Errorf("%s %s: %s", tool, path, cut.Characters(o.text, 1500))
		}
	}
	for _, path := range []string{`$'~/.ssh/\xfe'`, `$'linked\xff'`} {
		if o := call("read", map[string]any{"path": path}); o.Status == "succeeded" || strings.Contains(o.text, "secret needle") {
			t.Errorf("a secret was read: %s", cut.Characters(o.text, 1500))
		}
	}
}
