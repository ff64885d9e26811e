package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"toolhost/agenttool/cut"
)

// checkListed checks the result of tools/list.
func checkListed(t *testing.T, result json.RawMessage) {
	t.Helper()
	var list struct {
		Tools []struct {
			Name        string
			Annotations map[string]any
		}
	}
	if err := json.Unmarshal(result, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
			if _, ok := tool.Annotations[hint].(bool); !ok {
				t.Errorf("%s has no %s: %v", tool.Name, hint, tool.Annotations)
			}
		}
		reads := slices.Contains([]string{"read", "grep", "glob"}, tool.Name)
		if tool.Annotations["readOnlyHint"] != reads && slices.Contains([]string{"read", "grep", "glob", "write", "edit", "shell"}, tool.Name) {
			t.Errorf("%s: readOnlyHint is %v", tool.Name, tool.Annotations["readOnlyHint"])
		}
	}
	for _, name := range []string{"edit", "glob", "grep", "read", "shell", "write"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not listed: %v", name, names)
		}
	}
	if !slices.IsSorted(names) {
		t.Errorf("not in order: %v", names)
	}
}

// TestFrontPages: the output of a command that a result left out is read by page, and is every byte of it.
func TestFrontPages(t *testing.T) {
	t.Parallel()
	c := openLines(t, "--allow", "Shell")
	var text, mixed bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&text, "zeile %d äöü€😀\n", i)
	}
	for i := range 150_000 {
		mixed.WriteByte(byte(i * 7 % 256))
	}
	c.put("text", text.Bytes())
	c.put("mixed", mixed.Bytes())
	c.greets(false)
	id := 0
	for _, row := range []struct {
		name string
		want []byte
		page string
	}{{"text", text.Bytes(), ""}, {"text", text.Bytes(), "?limit=30011"}, {"mixed", mixed.Bytes(), ""}, {"mixed", mixed.Bytes(), "?offset=0&limit=65537"}} {
		id++
		c.call(id, "shell", fmt.Sprintf(`{"command":"cat %s"}`, row.name))
		uri := c.answer(fmt.Sprint(id)).result(t).link(t) + row.page
		var got, want []byte
		for pages := 0; uri != "" && pages < 1000; pages++ {
			id++
			p := c.page(id, uri)
			if p.offset != len(want) || p.size != len(row.want) {
				t.Fatalf("%s: a page at %d of %d, want %d of %d", uri, p.offset, p.size, len(want), len(row.want))
			}
			got, uri = append(got, p.data...), p.next
			end := len(row.want)
			if i := strings.Index(p.next, "offset="); i >= 0 {
				_, _ = fmt.Sscanf(p.next[i:], "offset=%d", &end)
			}
			part := row.want[len(want):end]
			if want = append(want, part...); p.lossy { // it says so: bytes that are not UTF-8 are not told
				if utf8.Valid(part) {
					t.Errorf("a page is called lossy that is not")
				}
				got = append(got[:len(got)-len(p.data)], part...)
			}
		}
		if !bytes.Equal(got, row.want) || !bytes.Equal(want, row.want) {
			t.Errorf("%s by page %q: %d bytes, want %d; they differ from byte %d on", row.name, row.page, len(got), len(row.want), differ(got, row.want))
		}
	}
	id++
	c.send(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":"toolhost://../../etc/passwd"}}`, id)
	if m := c.answer(fmt.Sprint(id)); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("a payload that is none: %s", m.text)
	}
}

// frontPage is one page of a payload.
type frontPage struct {
	data         []byte
	next         string // where the next one is; empty: this is the last
	offset, size int
	lossy        bool
}

// page reads one page of a payload.
func (c *lineClient) page(id int, uri string) (p frontPage) {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":%d,"method":"resources/read","params":{"uri":%q}}`, id, uri)
	m := c.answer(fmt.Sprint(id))
	var r struct {
		Contents []struct {
			URI, Text, Blob string
			Meta            struct {
				Next   string `json:"dev.toolhost/next"`
				Offset int    `json:"dev.toolhost/offset"`
				Size   int    `json:"dev.toolhost/size_bytes"`
				Lossy  bool   `json:"dev.toolhost/lossy"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal(m.Result, &r); err != nil || len(r.Contents) != 1 {
		c.t.Fatalf("resources/read %s: %v: %s", uri, err, cut.Characters(m.text, 600))
	}
	one := r.Contents[0]
	p = frontPage{[]byte(one.Text), one.Meta.Next, one.Meta.Offset, one.Meta.Size, one.Meta.Lossy}
	if one.Blob != "" {
		var err error
		if p.data, err = base64.StdEncoding.DecodeString(one.Blob); err != nil {
			c.t.Fatal(err)
		}
	}
	return p
}

// differ is where two texts begin to differ.
func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// TestFrontRefused: what the mode or a rule does not let run is a result that says which it was.
func TestFrontRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, tool, arguments string
		flags                 []string
		says                  string
	}{
		{"plan", "write", `{"path":"new","content":"x"}`, []string{"--mode", "plan"}, "plan"},
		{"plan, an allowed command", "shell", `{"command":"touch new"}`, []string{"--mode", "plan", "--allow", "Shell"}, "plan"},
		{"a rule", "write", `{"path":"new","content":"x"}`, []string{"--deny", "Write(new)", "--allow", "Write"}, "Write(new)"},
		{"a rule for reading", "read", `{"path":"small"}`, []string{"--deny", "Read(small)"}, "Read(small)"},
		{"a rule for a command", "shell", `{"command":"echo x; touch new"}`, []string{"--deny", "Shell(touch *)", "--allow", "Shell"}, "Shell(touch *)"},
		{"nobody to ask", "write", `{"path":"new","content":"x"}`, nil, "--allow 'Write(new)'"},
		{"a mode that asks nobody", "write", `{"path":"new","content":"x"}`, []string{"--mode", "dont_ask"}, "dont_ask"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			c := openLines(t, row.flags...)
			c.greets(false)
			c.call(1, row.tool, row.arguments)
			r := c.answer("1").result(t)
			if !r.IsError || !strings.Contains(r.says(), row.says) || r.Structured != nil {
				t.Errorf("want an error that says %q: %+v", row.says, r)
			}
			if r.Meta["dev.toolhost/error_class"] == nil || r.Meta["dev.toolhost/invocation_id"] == nil || r.Meta["dev.toolhost/decision_refs"] == nil {
				t.Errorf("_meta: %v", r.Meta)
			}
			if _, err := os.Stat(filepath.Join(c.ws, "new")); err == nil {
				t.Error("it ran")
			}
		})
	}
}
