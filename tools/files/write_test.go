package files

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

func TestWriteCreates(t *testing.T) {
	conform.Held(t, "AT-270", "AT-280", "AT-403")
	p := newProject(t, Options{})
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	out, err := p.run("write", in{"path": "a/b/c.txt", "content": "one\ntwo\n"})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.get("a/b/c.txt"); got != "one\ntwo\n" {
		t.Errorf("content %q", got)
	}
	if info, _ := os.Stat(p.path("a/b/c.txt")); info.Mode() != 0o640 {
		t.Errorf("mode %v, want 0666 less the umask 027", info.Mode())
	}
	if names := p.names("a/b"); len(names) != 1 {
		t.Errorf("left behind: %q", names)
	}
	r := out.Structured.(changeResult)
	if !r.Created || r.BytesBefore != 0 || r.BytesAfter != 8 || r.AddedLines != 2 || r.Digest != digestOf([]byte("one\ntwo\n")) {
		t.Errorf("result %+v", r)
	}
	if a := out.Artifacts; len(a) != 1 || a[0].URI != "file://"+p.path("a/b/c.txt") || a[0].Digest != r.Digest || a[0].SizeBytes != 8 || a[0].ID == "" || a[0].Relation != "written" {
		t.Errorf("artifacts %+v", a)
	}
	want := "--- /dev/null\n+++ b/a/b/c.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n"
	if out.Content[1].Type != "diff" || out.Content[1].Diff != want { // AT-270
		t.Errorf("diff block %+v", out.Content[1])
	}
}

func TestWriteNeedsReading(t *testing.T) {
	tests := []struct {
		name string
		do   func(p *project)
		code string // empty: it is written
	}{
		{"never read", func(p *project) {}, "not_read"},
		{"read", func(p *project) { p.read("f") }, ""},
		{"read by another name", func(p *project) { p.read("link") }, ""},
		{"read in part", func(p *project) { p.readInput(in{"path": "f", "limit": 1}) }, "not_read"},
		{"read in two parts", func(p *project) {
			p.readInput(in{"path": "f", "limit": 1})
			p.readInput(in{"path": "f", "offset": 2})
		}, ""},
		{"changed since", func(p *project) { p.read("f"); p.put("f", "one\nTWO\n") }, "stale_content"},
		{"changed and changed back", func(p *project) { p.read("f"); p.put("f", "x"); p.put("f", "one\ntwo\n") }, ""},
		{"edited without reading", func(p *project) { p.edit("f", "one", "1") }, "not_read"},
		{"read, then edited", func(p *project) { p.read("f"); p.edit("f", "one", "1") }, ""},
		{"written before", func(p *project) { p.read("f"); p.write("f", "first\n") }, ""},
		{"emptied", func(p *project) { p.put("f", "") }, ""},
		{"gone", func(p *project) { os.Remove(p.path("f")) }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", "one\ntwo\n")
			if err := os.Symlink("f", p.path("link")); err != nil {
				t.Fatal(err)
			}
			tt.do(p)
			before, _ := os.ReadFile(p.path("f"))
			_, err := p.write("f", "new\n")
			if tt.code != "" {
				wantError(t, err, agenttool.InvalidArguments, tt.code, "read", "nothing was written")
				if got := p.get("f"); got != string(before) {
					t.Errorf("content %q", got)
				}
				return
			}
			if err != nil || p.get("f") != "new\n" {
				t.Errorf("content %q, error %v", p.get("f"), err)
			}
		})
	}
	p := newProject(t, Options{Overwrite: true})
	p.put("f", "one\x00")
	if _, err := p.write("f", "new\n"); err != nil || p.get("f") != "new\n" {
		t.Errorf("with Overwrite: %q, %v", p.get("f"), err)
	}
}

func TestWriteKeepsTheForm(t *testing.T) {
	tests := []struct {
		name, before, content, after, note string
	}{
		{"lf", "a\n", "b\nc\n", "b\nc\n", ""},
		{"crlf, content with LF", "a\r\nb\r\n", "b\nc\n", "b\r\nc\r\n", "LF written as CRLF"},
		{"crlf, content with CRLF", "a\r\n", "b\r\n", "b\r\n", ""},
		{"crlf, content with both", "a\r\n", "b\r\nc\n", "b\r\nc\n", ""},
		{"crlf, content with LF and CR in a line", "a\r\nb\r\n", "a\rb\nc\n", "a\rb\r\nc\r\n", "LF written as CRLF"},
		{"mixed, a line changed", "a\r\nb\nc\r\n", "a\nB\nc\n", "a\r\nB\nc\r\n", "each line kept its end"},
		{"mixed, the first line gone", "a\r\nb\n", "b\nc\n", "b\nc\n", "each line kept its end"},
		{"mixed, lines added", "a\r\nb\nc\r\n", "a\nx\nb\ny\nc\nz\n", "a\r\nx\r\nb\ny\nc\r\nz\r\n", "each line kept its end"},
		{"mixed, without a last end", "a\r\nb\nc", "a\nb\nc\nd", "a\r\nb\nc\nd", "each line kept its end"},
		{"mixed, all lines new", "a\r\nb\n", "x\ny\nz\n", "x\r\ny\nz\n", "each line kept its end"},
		{"mixed, content with CRLF", "a\r\nb\n", "b\r\nc\n", "b\r\nc\n", ""},
		{"mixed with CR in a line", "a\r\nb\rc\nd\r\n", "a\nb\rc\nD\n", "a\r\nb\rc\nD\r\n", "each line kept its end"},
		{"lf with CR in a line", "a\rb\nc\n", "a\rb\nd\n", "a\rb\nd\n", ""},
		{"cr", "a\rb\r", "b\nc\n", "b\rc\r", "LF written as CR"},
		{"lf, content with CRLF", "a\n", "b\r\n", "b\r\n", ""},
		{"no final newline", "a", "b", "b", ""},
		{"bom", "\xef\xbb\xbfa\n", "b\n", "\xef\xbb\xbfb\n", ""},
		{"bom in both", "\xef\xbb\xbfa\n", "\ufeffb\n", "\xef\xbb\xbfb\n", ""},
		{"bom and crlf", "\xef\xbb\xbfa\r\n", "b\n", "\xef\xbb\xbfb\r\n", "CRLF"},
		{"utf-16le", "\xff\xfea\x00\r\x00\n\x00", "é😀\n", "\xff\xfe\xe9\x00=\xd8\x00\xde\r\x00\n\x00", "CRLF"},
		{"utf-16be", "\xfe\xff\x00a", "b", "\xfe\xff\x00b", ""},
		{"latin-1", "caf\xe9\n", "th\u00e9\n", "th\xe9\n", "kept as windows-1252"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", tt.before)
			p.read("f")
			r, err := p.write("f", tt.content)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.get("f"); got != tt.after {
				t.Errorf("file %q, want %q", got, tt.after)
			}
			if tt.note == "" && r.Note != "" || !strings.Contains(r.Note, tt.note) {
				t.Errorf("note %q, want %q", r.Note, tt.note)
			}
			r, err = p.write("f", tt.content) // the same again
			if err != nil || !r.Unchanged {
				t.Errorf("again: %+v, %v", r, err)
			}
		})
	}
}

func TestWriteRefusesWhatTheEncodingCannotHold(t *testing.T) {
	tests := []struct{ name, before, content string }{
		{"not in windows-1252", "caf\xe9\n", "한 €\n"},
		{"a control of latin-1", "caf\xe9\n", "x\u0093y\n"},
		{"utf-8 with a stray byte", "caf\xc3\xa9 \xe9\n", "è\n"},
		{"not in gbk", "\xc4\xe3\xba\xc3\n", "😀\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", tt.before)
			p.read("f")
			_, err := p.write("f", tt.content)
			wantError(t, err, agenttool.InvalidArguments, "encoding", "nothing was changed", "iconv")
			if got := p.get("f"); got != tt.before {
				t.Errorf("file %q", got)
			}
			if _, err := p.write("f", "plain\n"); err != nil {
				t.Errorf("ASCII: %v", err)
			}
		})
	}
}

// A write that equals what is there touches nothing, and needs no reading.
func TestWriteUnchanged(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", "same\n")
	before, _ := os.Stat(p.path("f"))
	r, err := p.write("f", "same\n")
	if err != nil || !r.Unchanged || r.Created {
		t.Errorf("result %+v, %v", r, err)
	}
	after, _ := os.Stat(p.path("f"))
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("the file was touched")
	}
	if _, err := p.write("f", "other\n"); err != nil {
		t.Errorf("the session knows the content now, and yet: %v", err)
	}
}

func TestWriteRefusesTargets(t *testing.T) {
	p := newProject(t, Options{Overwrite: true})
	p.put("d/f", "x")
	if err := syscall.Mkfifo(p.path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.path("big"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(p.path("big"), maxDocument+1); err != nil {
		t.Fatal(err)
	}
	for path, code := range map[string]string{"d": "is_directory", "fifo": "not_a_file", "big": "too_large"} {
		_, err := p.write(path, "new")
		wantError(t, err, agenttool.InvalidArguments, code, path)
	}
	if _, err := p.write("d/f/g", "new"); !errors.Is(err, agenttool.InvalidArguments) {
		t.Errorf("below a file: %v", err)
	}
}

func TestPreview(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", "one\n")
	preview := func(call agenttool.Call) agenttool.Preview {
		t.Helper()
		return must[agenttool.Preview](t)(call.(agenttool.Previewer).Preview(t.Context()))
	}
	stale := func(call agenttool.Call) {
		t.Helper()
		_, err := call.Run(t.Context(), nil)
		if !errors.Is(err, agenttool.ErrPreviewStale) || !errors.Is(err, agenttool.PolicyBlocked) {
			t.Errorf("run = %v, want a stale preview", err)
		}
	}

	edit := p.mustBind("edit", in{"path": "f", "old_string": "one", "new_string": "two"})
	got := preview(edit)
	if want := "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+two\n"; got.Diff != want || got.Digest != digestOf([]byte("one\n")) {
		t.Errorf("preview %+v", got)
	}
	if p.get("f") != "one\n" {
		t.Error("the preview changed the file")
	}
	p.put("f", "one\nmore\n")
	stale(edit)
	if p.get("f") != "one\nmore\n" {
		t.Errorf("a stale change was made: %q", p.get("f"))
	}
	preview(edit) // asked again
	if _, err := edit.Run(t.Context(), nil); err != nil || p.get("f") != "two\nmore\n" {
		t.Errorf("after the second preview: %q, %v", p.get("f"), err)
	}

	create := p.mustBind("write", in{"path": "d/new", "content": "x"})
	if got := preview(create); got.Digest != "" || !strings.HasPrefix(got.Diff, "--- /dev/null\n") {
		t.Errorf("preview of a new file: %+v", got)
	}
	if _, err := os.Stat(p.path("d")); err == nil {
		t.Error("the preview made a directory")
	}
	p.put("d/new", "")
	stale(create)

	gone := p.mustBind("edit", in{"path": "f", "old_string": "two", "new_string": "three"})
	preview(gone)
	os.Remove(p.path("f"))
	stale(gone)

	p.put("e/f", "old\n")
	p.read("e/f")
	replace := p.mustBind("write", in{"path": "e/f", "content": "new\n"})
	preview(replace)
	os.RemoveAll(p.path("e"))
	stale(replace)
	if _, err := os.Stat(p.path("e")); err == nil {
		t.Error("a stale write made a directory")
	}

	p.put("g", "unread\n")
	unread := p.mustBind("write", in{"path": "g", "content": "new\n"})
	_, err := unread.(agenttool.Previewer).Preview(t.Context())
	wantError(t, err, agenttool.InvalidArguments, "not_read")
}
