package files

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/tools/encoding"
)

func TestEditTouchesNoOtherByte(t *testing.T) {
	tests := []struct {
		name, before, old, now, after string
	}{
		{"lf", "a\nb\nc\n", "b", "x\ny", "a\nx\ny\nc\n"},
		{"no final newline", "a\nb", "b", "x", "a\nx"},
		{"crlf, one line", "a\r\nb\r\nc\r\n", "b", "x\ny", "a\r\nx\r\ny\r\nc\r\n"},
		{"crlf, two lines", "a\r\nb\r\nc\r\n", "a\nb\n", "x\n", "x\r\nc\r\n"},
		{"crlf, given as CRLF", "a\r\nb\r\n", "a\r\nb", "x\r\ny\n", "x\r\ny\n\r\n"},
		{"crlf, leading LF does not split a CRLF", "a\r\nb\r\n", "\nb", "\nx\ny", "a\r\nx\r\ny\r\n"},
		{"crlf, trailing LF", "a\r\nb\r\n", "a\n", "x\n", "x\r\nb\r\n"},
		{"bom and crlf", "\xef\xbb\xbfa\r\nb", "a\nb", "c\nd", "\xef\xbb\xbfc\r\nd"},
		{"mixed, LF place", "a\nb\r\nc\n", "a", "x\ny", "x\ny\nb\r\nc\n"},
		{"mixed, CRLF place", "a\nb\r\nc\n", "b", "x\ny", "a\nx\r\ny\r\nc\n"},
		{"mixed, last line after CRLF", "a\nb\r\nc", "c", "x\ny", "a\nb\r\nx\r\ny"},
		{"mixed, exact match first", "a\r\nb\r\na\nb\n", "a\nb", "x\ny", "a\r\nb\r\nx\ny\n"},
		{"mixed, CRLF match", "z\na\r\nb\r\n", "a\nb", "x\ny", "z\nx\r\ny\r\n"},
		{"cr", "a\rb\rc\r", "a\nb", "x\ny\nz", "x\ry\rz\rc\r"},
		{"stray CR in an LF file", "a\rb\nc\n", "c", "x\ny", "a\rb\nx\ny\n"},
		{"latin-1, ASCII change", "caf\xe9 \x93one\x94\n", "one", "two", "caf\xe9 \x93two\x94\n"},
		{"latin-1, accents", "caf\xe9 au lait\n", "café au lait", "thé à la crème", "th\xe9 \xe0 la cr\xe8me\n"},
		{"utf-8 with a stray byte, ASCII change", "caf\xc3\xa9 \xff one\n", "one", "two", "caf\xc3\xa9 \xff two\n"},
		{"utf-16le", "\xff\xfea\x00\r\x00\n\x00b\x00", "a\nb", "é\n😀", "\xff\xfe\xe9\x00\r\x00\n\x00=\xd8\x00\xde"},
		{"utf-16be, aligned", "\xfe\xff\x41\x00\x41\x00\x00A", "A", "B", "\xfe\xff\x41\x00\x41\x00\x00B"},
		{"deletion", "a\nb\nc\n", "b\n", "", "a\nc\n"},
		{"to nothing", "a", "a", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", tt.before)
			r, err := p.edit("f", tt.old, tt.now)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.get("f"); got != tt.after {
				t.Errorf("file %q, want %q", got, tt.after)
			}
			if r.Replacements != 1 || r.Digest != digestOf([]byte(tt.after)) || r.BytesAfter != len(tt.after) || r.Unchanged {
				t.Errorf("result %+v", r)
			}
		})
	}
}

func TestEditAll(t *testing.T) {
	tests := []struct {
		name   string
		before string
		edits  []any
		after  string
		count  int
	}{
		{"replace_all", "a a\na", []any{in{"old_string": "a", "new_string": "bb", "replace_all": true}}, "bb bb\nbb", 3},
		{"replace_all in crlf", "a\r\nb\r\na\r\nb\r\n",
			[]any{in{"old_string": "a\nb", "new_string": "c\nd", "replace_all": true}},
			"c\r\nd\r\nc\r\nd\r\n", 2},
		{"replace_all where it stands once", "a",
			[]any{in{"old_string": "a", "new_string": "b", "replace_all": true}}, "b", 1},
		{"overlapping", "aaaa", []any{in{"old_string": "aa", "new_string": "b", "replace_all": true}}, "bb", 2},
		{"in order", "a\n", []any{
			in{"old_string": "a", "new_string": "b\nc"}, in{"old_string": "b\nc", "new_string": "d"}}, "d\n", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", tt.before)
			out, err := p.run("edit", in{"path": "f", "edits": tt.edits})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.get("f"); got != tt.after {
				t.Errorf("file %q, want %q", got, tt.after)
			}
			if r := out.Structured.(changeResult); r.Replacements != tt.count {
				t.Errorf("%d replacements, want %d", r.Replacements, tt.count)
			}
		})
	}
}

func TestEditRefuses(t *testing.T) {
	one := func(old, now string) []any { return []any{in{"old_string": old, "new_string": now}} }
	tests := []struct {
		name   string
		before string
		edits  []any
		code   string
		words  []string
	}{
		{"no match", "func main() {\n\tprintln()\n}\n", one("func mian() {", "x"), "no_match",
			[]string{"f: ", "0 matches", "nearest place: line 1", "func main() {", "nothing was changed"}},
		{"white space", "a\n\tif x  {\n", one("    if x {", "x"), "no_match", []string{"line 2", "→if·x··{", "····if·x·{"}},
		{"nothing near", "completely different\n", one("zzz", "x"), "no_match", []string{"0 matches"}},
		{"several", "x\ny\nx\nx\n", one("x", "z"), "many_matches", []string{"3 times", "lines 1, 3, 4", "replace_all"}},
		{"several, with others above", "a:\n\tx\nb:\n\tx\n", one("x", "z"), "many_matches", []string{"\nabove line 2: a:\nabove line 4: b:"}},
		{"several, with others below", "f()\n}\na\nf()\n}\nb\n", one("f()\n}\n", "z"), "many_matches", []string{"\nbelow line 1: a\nbelow line 4: b"}},
		{"overlapping", "aaa", one("aa", "z"), "many_matches", []string{"2 times"}},
		{"very many", strings.Repeat("x", 5000), one("x", "z"), "many_matches", []string{"at least 1,000 times", "…"}},
		{"second of two", "a\n", append(one("a", "b"), one("a", "c")...), "no_match",
			[]string{"f, edits[1]: old_string is in the file, but an edit of this call before it changes that text"}},
		{"second of two, near", "one\nthe second line\n", append(one("one", "1\n2"), one("the second\tline", "c")...), "no_match",
			[]string{"f, edits[1]: ", "(lines are counted after the edits before it)\nnearest place: line 3"}},
		{"several after the first of two", "a\nb\n", append(one("a", "b"), one("b", "c")...), "many_matches",
			[]string{"f, edits[1]: "}},
		{"binary", "a\x00b", one("a", "b"), "binary_file", []string{"binary"}},
		{"not in windows-1252", "caf\xe9", one("caf", "한"), "encoding", []string{"f: ", "U+D55C", "windows-1252", "iconv"}},
		{"utf-8 with a stray byte", "caf\xc3\xa9 \xe9", one("caf", "é"), "encoding", nil},
		{"malformed utf-16", "\xff\xfea\x00\x00\xd8", one("a", "b"), "binary_file", nil},
		{"inside a CRLF", "a\r\nb\r\n", one("\nb\r\n", "x"), "no_match", nil},
		{"CR alone is no CRLF", "a\r\nb", one("\n\n", "x"), "no_match", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", tt.before)
			_, err := p.run("edit", in{"path": "f", "edits": tt.edits})
			wantError(t, err, agenttool.InvalidArguments, tt.code, tt.words...)
			if got := p.get("f"); got != tt.before {
				t.Errorf("file %q", got)
			}
		})
	}
	p := newProject(t, Options{})
	p.put("main.go", "")
	call := p.mustBind("edit", in{"path": "mian.go", "old_string": "a", "new_string": "b"})
	wantError(t, call.(agenttool.Preflighter).Preflight(t.Context()), agenttool.InvalidArguments, "not_found", "main.go")
	_, err := call.Run(t.Context(), nil)
	wantError(t, err, agenttool.InvalidArguments, "not_found", "main.go")
	if names := p.names("."); len(names) != 1 {
		t.Errorf("left behind: %q", names)
	}
}

// What replace_all would blow up is refused before it is built.
func TestEditIsBounded(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", strings.Repeat("x", 1<<20))
	_, err := p.run("edit", in{"path": "f", "old_string": "x", "new_string": strings.Repeat("y", 1<<16), "replace_all": true})
	wantError(t, err, agenttool.InvalidArguments, "too_large", "64 MiB")
}

func TestEditOfAChangedFile(t *testing.T) {
	const before = "one\ntwo\nthree\n"
	tests := []struct {
		name   string
		do     func(p *project)
		all    bool
		code   string
		noted  bool
		result string
	}{
		{"never read", func(p *project) {}, false, "", false, "one\n2\nthree\n"},
		{"never read, all", func(p *project) {}, true, "", false, "one\n2\nthree\n"},
		{"read", func(p *project) { p.read("f") }, true, "", false, "one\n2\nthree\n"},
		{"changed elsewhere", func(p *project) { p.read("f"); p.put("f", "1\ntwo\n") }, false, "", true, "1\n2\n"},
		{"changed elsewhere, all", func(p *project) { p.read("f"); p.put("f", "1\ntwo\n") }, true,
			"stale_content", false, "1\ntwo\n"},
		{"changed to several", func(p *project) { p.read("f"); p.put("f", "two two") }, false, "many_matches",
			false, "two two"},
		{"changed to none", func(p *project) { p.read("f"); p.put("f", "2") }, false, "no_match", false, "2"},
		{"changed after our edit", func(p *project) { p.edit("f", "one", "1"); p.put("f", "two") }, false, "", true, "2"},
		{"our own edit", func(p *project) { p.edit("f", "one", "1") }, true, "", false, "1\n2\nthree\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", before)
			tt.do(p)
			out, err := p.run("edit", in{"path": "f", "old_string": "two", "new_string": "2", "replace_all": tt.all})
			if tt.code != "" {
				wantError(t, err, agenttool.InvalidArguments, tt.code)
			} else if err != nil {
				t.Fatal(err)
			} else if said := strings.Contains(out.Content[0].Text, "had changed since it was read"); said != tt.noted {
				t.Errorf("text %q", out.Content[0].Text)
			}
			if got := p.get("f"); got != tt.result {
				t.Errorf("file %q, want %q", got, tt.result)
			}
		})
	}
}

// A change that is made and taken back within one call is none.
func TestEditUnchanged(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", "a")
	before, _ := os.Stat(p.path("f"))
	out, err := p.run("edit", in{"path": "f", "edits": []any{
		in{"old_string": "a", "new_string": "b"}, in{"old_string": "b", "new_string": "a"}}})
	after, _ := os.Stat(p.path("f"))
	if err != nil || !out.Structured.(changeResult).Unchanged || !os.SameFile(before, after) {
		t.Errorf("%+v, %v", out.Structured, err)
	}
	_, err = p.write("f", "new")
	wantError(t, err, agenttool.InvalidArguments, "not_read") // it was never shown
}

func TestEditCanceled(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", "a")
	call := p.mustBind("edit", in{"path": "f", "old_string": "a", "new_string": "b"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := call.Run(ctx, nil); err == nil || p.get("f") != "a" {
		t.Errorf("file %q, error %v", p.get("f"), err)
	}
}

func TestDiff(t *testing.T) {
	numbered := func(n int, change func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(change(i))
		}
		return b.String()
	}
	plain := func(i int) string { return fmt.Sprintf("line %d\n", i+1) }
	tests := []struct {
		name           string
		before, after  string
		want           string // empty: not compared
		added, removed int
		cut            bool
	}{
		{"middle", numbered(100, plain), strings.Replace(numbered(100, plain), "line 50\n", "new\nnew\n", 1),
			"--- a/f\n+++ b/f\n@@ -47,7 +47,8 @@\n line 47\n line 48\n line 49\n-line 50\n+new\n+new\n line 51\n line 52\n line 53\n",
			2, 1, false},
		{"no final newline", "a\nb", "a\nc",
			"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n", 1, 1, false},
		{"one word everywhere", numbered(1000, plain),
			strings.ReplaceAll(numbered(1000, plain), "7\n", "seven\n"), "", 100, 100, false},
		{"large", numbered(20_000, plain), strings.ReplaceAll(numbered(20_000, plain), "line", "LINE"), "",
			20_000, 20_000, true},
		{"huge", strings.Repeat("a\n", 1<<20), strings.Repeat("b\n", 1<<20), "", 1 << 20, 1 << 20, true},
		{"one huge line", strings.Repeat("a", 100_000), strings.Repeat("b", 100_000), "", 1, 1, true},
		{"hunks keep their numbers", numbered(60, plain),
			strings.NewReplacer("line 5\n", "", "line 8\n", "", "line 50\n", "fifty\n").Replace(numbered(60, plain)), "", 1, 3, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			was := &document{path: agenttool.Path{Spelling: "f"}, exists: true, contents: contents{text: []byte(tt.before)}}
			d := compare(was, revision{text: []byte(tt.after)})
			if tt.want != "" && d.text != tt.want {
				t.Errorf("diff\n%s\nwant\n%s", d.text, tt.want)
			}
			if d.added != tt.added || d.removed != tt.removed || d.cut != tt.cut {
				t.Errorf("+%d −%d cut %v, want +%d −%d cut %v", d.added, d.removed, d.cut, tt.added, tt.removed, tt.cut)
			}
			if len(d.text) > maxDiff+200 {
				t.Errorf("diff of %d bytes", len(d.text))
			}
			if tt.cut != strings.Contains(d.text, "[diff cut: ") && tt.cut != strings.Contains(d.text, "[too large to compare") {
				t.Errorf("the diff does not say whether it is cut: %q", d.text[max(0, len(d.text)-80):])
			}
			if !tt.cut {
				if got := patch(t, tt.before, d.text); got != tt.after {
					t.Errorf("the diff does not lead from the old text to the new one")
				}
			}
		})
	}
	was := &document{path: agenttool.Path{Spelling: "a\n+++ b/etc/passwd"}, exists: true}
	if d := compare(was, revision{text: []byte("x\n")}); strings.Contains(d.text, "\n+++ b/etc") {
		t.Errorf("a name forges a header: %q", d.text)
	}
}

// patch applies a unified diff and checks its line numbers on both sides.
func patch(t *testing.T, before, diff string) string {
	t.Helper()
	old := strings.SplitAfter(before, "\n")
	var now []string
	at := 0
	lines := strings.SplitAfter(diff, "\n")[2:]
	for i, line := range lines {
		var from, to int
		switch {
		case line == "":
		case strings.HasPrefix(line, "@@ "):
			fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune("@ -+", r) })
			fmt.Sscan(fields[0], &from)
			fmt.Sscan(fields[1], &to)
			for at < from-1 {
				now = append(now, old[at])
				at++
			}
			if len(now) != max(to-1, 0) {
				t.Errorf("hunk %q stands at new line %d", strings.TrimSpace(line), len(now)+1)
			}
		case line[0] == '\\':
			if lines[i-1][0] == '+' {
				now[len(now)-1] = strings.TrimSuffix(now[len(now)-1], "\n")
			}
		case line[0] == '+':
			now = append(now, line[1:])
		default:
			if strings.TrimSuffix(old[at], "\n") != strings.TrimSuffix(line[1:], "\n") {
				t.Errorf("diff line %q stands for %q", line, old[at])
			}
			if line[0] == ' ' {
				now = append(now, old[at])
			}
			at++
		}
	}
	return strings.Join(append(now, old[at:]...), "")
}

// FuzzEdit shows that the bytes outside the matched ranges never change, and that what is replaced is the string, in the
// file's encoding, with line endings as given or as the file has them.
func FuzzEdit(f *testing.F) {
	f.Add([]byte("a\r\nb\nc"), "b", "x\ny", false)
	f.Add([]byte("\xef\xbb\xbfa\r\nb\r\n"), "\nb", "\nx", false)
	f.Add([]byte("\xff\xfea\x00\n\x00"), "a", "é", true)
	f.Add([]byte("caf\xe9 caf\xe9"), "caf", "x", true)
	f.Add([]byte("\xc3\xa9\xff"), "é", "e", false)
	f.Add([]byte("a\rb\r"), "a\nb", "\n", false)
	f.Fuzz(func(t *testing.T, raw []byte, old, now string, all bool) {
		old, now = strings.ToValidUTF8(old, "?"), strings.ToValidUTF8(now, "?")
		if old == "" || old == now {
			return
		}
		was := &document{exists: true, limit: maxDocument, contents: contents{raw: raw}}
		was.form, was.found = inspect(raw, encoding.Binary)
		if was.form.binary {
			return
		}
		was.text, _ = was.found.Text(raw)
		before := bytes.Clone(raw)
		r := editReviser{&session{}, []replacement{{old, now, all}}, ""}
		got, err := r.revise(t.Context(), was)
		if !bytes.Equal(raw, before) {
			t.Fatal("the old content was changed")
		}
		if err != nil {
			return
		}
		shown, form := got, was.form
		if was.found.Encoding.IsLegacy() { // a character may have several spellings: its text is compared
			raw, form.encoding = was.text, encoding.UTF8
			shown.raw, _ = was.found.Text(got.raw)
		}
		if !explains(t, form, raw, shown, r.edits[0]) {
			t.Errorf("%q with %q for %q (all %v) became %q", raw, now, old, all, got.raw)
		}
	})
}

// explains reports whether replacing spellings of e.OldString by spellings of e.NewString leads from raw to got.
func explains(t *testing.T, f form, raw []byte, got revision, e replacement) bool {
	spell := func(s string) (all [][]byte) {
		for _, newline := range []string{"\n", "\r\n", "\r"} {
			b, err := f.encoding.Encode([]byte(strings.ReplaceAll(s, "\n", newline)))
			if err == nil {
				all = append(all, b)
			}
		}
		return all
	}
	if !e.ReplaceAll && got.replacements != 1 {
		t.Errorf("%d replacements", got.replacements)
	}
	// reached[i] holds the lengths of got that raw[:i] can have become, with how many replacements.
	type state struct{ raw, got, count int }
	seen := map[state]bool{}
	var walk func(s state) bool
	walk = func(s state) bool {
		if s.raw == len(raw) && s.got == len(got.raw) && s.count == got.replacements {
			return true
		}
		if seen[s] || s.count > got.replacements {
			return false
		}
		seen[s] = true
		for _, o := range spell(e.OldString) {
			for _, n := range spell(e.NewString) {
				if bytes.HasPrefix(raw[s.raw:], o) && bytes.HasPrefix(got.raw[s.got:], n) &&
					walk(state{s.raw + len(o), s.got + len(n), s.count + 1}) {
					return true
				}
			}
		}
		return s.raw < len(raw) && s.got < len(got.raw) && raw[s.raw] == got.raw[s.got] &&
			walk(state{s.raw + 1, s.got + 1, s.count})
	}
	return walk(state{})
}

func BenchmarkEdit8KB(b *testing.B) {
	p := newProject(b, Options{})
	p.put("f", strings.Repeat("a line of text\n", 273)+"count: 0\n"+strings.Repeat("a line of text\n", 273))
	values := []string{"count: 0", "count: 1"}
	calls := []agenttool.Call{
		p.mustBind("edit", in{"path": "f", "old_string": values[0], "new_string": values[1]}),
		p.mustBind("edit", in{"path": "f", "old_string": values[1], "new_string": values[0]}),
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := calls[i%2].Run(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}
