package files

import (
	"fmt"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// A line counts as seen only if all of it was shown: write replaces no text that was cut, masked or never on a page.
func TestUnseenTextIsNotReplaced(t *testing.T) {
	long := strings.Repeat("x", 5000)
	const notebook = "{\"nbformat\":4,\"nbformat_minor\":5,\"metadata\":{},\n\"cells\":[{\"cell_type\":\"code\",\"source\":[\"x = 1\"],\"outputs\":[],\"metadata\":{}}]\n}\n"
	masks := func(p *project, input in, from, to string) {
		t.Helper()
		out, err := p.mustBind("read", input).Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(out.Content[0].Text, from, to, 1)
		out.Shown([]agenttool.Content{agenttool.Text(text), agenttool.Text("[a note]")})
	}
	tests := []struct {
		name, content string
		do            func(p *project)
		words         string // of the refusal; empty: it is written
	}{
		{"a line that was cut", long + "\nb\n", func(p *project) { p.read("f") }, "line 1 not shown in full"},
		{"a line that was cut, without an end", "a\n" + long, func(p *project) { p.read("f") }, "line 2 not shown in full"},
		{"a line that just fits", long[:maxLineChars] + "\n", func(p *project) { p.read("f") }, ""},
		{"the same with CRLF", long[:maxLineChars] + "\r\n", func(p *project) { p.read("f") }, ""},
		{"one character more", long[:maxLineChars+1] + "\n", func(p *project) { p.read("f") }, "line 1 not"},
		{"lines that were cut", long + "\nb\n" + long + "\n", func(p *project) { p.read("f") }, "line 1 and others not shown"},
		{"pages around a line that was cut", "a\n" + long + "\nb\n", func(p *project) {
			p.readInput(in{"path": "f", "limit": 2})
			p.readInput(in{"path": "f", "offset": 3})
		}, "line 2 not"},
		{"the rest of the line after it", "a\n" + long + "\nb\n", func(p *project) {
			p.read("f")
			p.readInput(in{"path": "f", "offset": 2, "column": 2001})
		}, ""},
		{"the rest of the line in pages", "a\n" + strings.Repeat("é", 70_000), func(p *project) {
			p.read("f")
			for column := 2001; column <= 70_000; column += 20_000 {
				p.readInput(in{"path": "f", "offset": 2, "column": column})
			}
		}, ""},
		{"the end of the line alone", "a\n" + long + "\nb\n", func(p *project) {
			p.read("f")
			p.readInput(in{"path": "f", "offset": 2, "column": 2002})
		}, "line 2 not"},
		{"only CR", strings.ReplaceAll("a\n"+long+"\n", "\n", "\r"), func(p *project) { p.read("f") }, "line 2 not"},
		{"utf-16", "\xff\xfe" + strings.Repeat("x\x00", 5000), func(p *project) { p.read("f") }, "line 1 not"},
		{"a last line that is empty", "a\n\n", func(p *project) { p.read("f") }, ""},
		{"a NUL", "a\x00b\n", func(p *project) { p.read("f") }, "is binary"},
		{"a picture", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", func(p *project) { p.read("f") }, "is binary"},
		{"the cells of a notebook", notebook, func(p *project) { p.readInput(in{"path": "f.ipynb"}) }, "lines 1–3 not shown in full: nothing was written; read them first (offset 1, limit 3;"},
		{"the lines of a notebook", notebook, func(p *project) { p.readInput(in{"path": "f.ipynb", "offset": 1, "limit": 3}) }, ""},
		{"a masked line", "key\ns3cret\nend\n", func(p *project) { masks(p, in{"path": "f"}, "s3cret", "[redacted]") }, "line 2 not shown in full: nothing was written; what was shown"},
		{"masked lines", "key\nBEGIN\nxx\nEND\nend\n", func(p *project) {
			masks(p, in{"path": "f"}, "     2\tBEGIN\n     3\txx\n     4\tEND\n", "[redacted]\n")
		}, "lines 2–4 not"},
		{"a masked page, read again", "key\ns3cret\nend\n", func(p *project) {
			masks(p, in{"path": "f"}, "s3cret", "[redacted]")
			p.readInput(in{"path": "f", "offset": 2})
		}, ""},
		{"a page that a hook replaced", "a\nb\n", func(p *project) { masks(p, in{"path": "f"}, "     1\ta\n     2\tb", "nothing to see") }, "lines 1–2 not"},
		{"a page that a hook added to", "a\nb\n", func(p *project) { masks(p, in{"path": "f"}, "     2\tb", "     2\tb\nmore") }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			name := "f"
			if tt.content == notebook {
				name = "f.ipynb"
			}
			p.put(name, tt.content)
			tt.do(p)
			_, err := p.write(name, "new\n")
			if tt.words == "" {
				if err != nil {
					t.Errorf("not written: %v", err)
				}
				return
			}
			wantError(t, err, agenttool.InvalidArguments, "not_read", tt.words, "nothing was written")
			if p.get(name) != tt.content {
				t.Errorf("content %q", p.get(name))
			}
		})
	}
}

// A line of any length can be read on to its end, and changed anywhere.
func TestWayOnInALongLine(t *testing.T) {
	line := make([]byte, 0, 5<<20)
	for i := 0; len(line) < 5<<20-16; i++ {
		line = fmt.Appendf(line, "é%d,", i)
	}
	p := newProject(t, Options{})
	p.put("f", "first\n"+string(line)+"\nlast\n")
	_, text := p.read("f")
	if !strings.Contains(text, `[line 2: characters 1–2,000; {"offset":2,"column":2001} reads on in it]`) {
		t.Errorf("no word how to read on: %q", text[len(text)-200:])
	}
	got := strings.Builder{}
	total, pages := len([]rune(string(line))), 0
	for column := 1; column <= total; pages++ {
		input := in{"path": "f", "offset": 2, "column": column, "limit": 1}
		if column == 1 {
			delete(input, "column")
		}
		r, text := p.readInput(input)
		if r.StartLine != 2 || r.EndLine != 2 {
			t.Fatalf("lines %d to %d", r.StartLine, r.EndLine)
		}
		shown, _, _ := strings.Cut(strings.TrimPrefix(text, "     2\t"), "\n")
		shown, _, cut := strings.Cut(shown, "… [+")
		got.WriteString(shown)
		column += len([]rune(shown))
		if cut != (column <= total) {
			t.Fatalf("column %d of %d: cut is %v", column, total, cut)
		}
	}
	if got.String() != string(line) || pages > 50 {
		t.Errorf("the pages are not the line, %d pages", pages)
	}
	_, err := p.run("read", in{"path": "f", "offset": 2, "column": total + 1})
	wantError(t, err, agenttool.InvalidArguments, "bad_value", "past the end of line 2")
	_, err = p.run("read", in{"path": "f", "column": -1})
	wantError(t, err, agenttool.InvalidArguments, "bad_value", "out of range")
	if _, err := p.edit("f", "é300000,", "here"); err != nil || !strings.Contains(p.get("f"), "é299999,hereé300001,") {
		t.Errorf("edit in the middle of the line: %v", err)
	}
}

// A caller that takes little gets as much of a long line as it takes, and can read on.
func TestWayOnForASmallCaller(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", strings.Repeat("日", 5000))
	raw := must[[]byte](t)(agenttool.Encode(in{"path": "f"}))
	scope := agenttool.Scope{Dir: p.dir, Roots: []string{p.dir}, Capacity: agenttool.Capacity{Bytes: 3000}}
	call := must[agenttool.Call](t)(p.tools["read"].Bind(scope, raw))
	if err := p.workspace.Locate(&call.Facts().Reads[0]); err != nil {
		t.Fatal(err)
	}
	out, err := call.Run(t.Context(), nil)
	if err != nil || len(out.Content[0].Text) > 3000 || !strings.Contains(out.Content[0].Text, "reads on in it") {
		t.Errorf("%d bytes, %v", len(out.Content[0].Text), err)
	}
	out.Shown(out.Content)
	_, err = p.write("f", "new")
	wantError(t, err, agenttool.InvalidArguments, "not_read", "line 1 not shown in full")
}

// A file that is made beside one whose name reads the same is made, and the result says so: it is often a mistake.
func TestNewFileBesideItsDouble(t *testing.T) {
	const note = `beside it is the same name in another Unicode form: $'cafe\xcc\x81.txt'`
	p := newProject(t, Options{})
	p.put("cafe\u0301.txt", "old\n")
	_, err := p.edit("caf\u00e9.txt", "old", "new")
	wantError(t, err, agenttool.InvalidArguments, "not_found", `the same name in another Unicode form does: $'cafe\xcc\x81.txt'`)
	if _, err := p.edit(`$'cafe\xcc\x81.txt'`, "old", "new"); err != nil || p.get("cafe\u0301.txt") != "new\n" {
		t.Errorf("the spelling does not work: %v", err)
	}
	if r, err := p.write("caf\u00e9.txt", "x\n"); err != nil || !r.Created || r.Note != note {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := p.write("caf\u00e9.txt", "y\n"); err != nil || r.Note != "" {
		t.Errorf("a later write: %+v, %v", r, err)
	}
	if r, err := p.write("Caf\u00e8.txt", "x\n"); err != nil || r.Note != "" {
		t.Errorf("a name of its own: %+v, %v", r, err)
	}
	p = newProject(t, Options{})
	p.put("cafe\u0301.txt", "old\n")
	out, err := p.run("edit", in{"patch": "*** Begin Patch\n*** Add File: caf\u00e9.txt\n+x\n*** End Patch\n"})
	if err != nil || !strings.Contains(out.Content[0].Text, "created caf\u00e9.txt: +1 −0 lines ("+note+")") {
		t.Errorf("a patch: %v, %v", out.Content, err)
	}
}
