package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
	"toolhost/tools/encoding"
)

func TestReadForms(t *testing.T) {
	tests := []struct {
		name     string
		content  string
		text     string
		encoding encoding.Encoding
		ending   string
		bom      bool
		lines    int64
		final    bool
	}{
		{"lf", "a\nb\n", "     1\ta\n     2\tb", encoding.UTF8, "lf", false, 2, true},
		{"no final newline", "a\nb", "     1\ta\n     2\tb", encoding.UTF8, "lf", false, 2, false},
		{"one line", "a", "     1\ta", encoding.UTF8, "none", false, 1, false},
		{"crlf", "a\r\nb\r\n", "     1\ta\n     2\tb", encoding.UTF8, "crlf", false, 2, true},
		{"mixed", "a\r\nb\n", "     1\ta\n     2\tb", encoding.UTF8, "mixed", false, 2, true},
		{"cr", "a\rb\r", "     1\ta\n     2\tb", encoding.UTF8, "cr", false, 2, true},
		{"cr kept inside a line", "a\rb\n", "     1\ta\rb", encoding.UTF8, "mixed", false, 1, true},
		{"bom", "\xef\xbb\xbfa\r\n", "     1\ta", encoding.UTF8, "crlf", true, 1, true},
		{"utf-16le", "\xff\xfea\x00\n\x00=\xd8\x00\xde", "     1\ta\n     2\t😀", encoding.UTF16LE, "lf", true, 2, false},
		{"utf-16be", "\xfe\xff\x00a\x00\r\x00\n", "     1\ta", encoding.UTF16BE, "crlf", true, 1, true},
		{"latin-1", "caf\xe9\n", "     1\tcafé\n[not UTF-8: taken for windows-1252; if it looks wrong, give encoding]", encoding.Windows1252, "lf", false, 1, true},
		{"blank lines", "\n\n", "     1\t\n     2\t", encoding.UTF8, "lf", false, 2, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", tt.content)
			r, text := p.read("f")
			if text != tt.text {
				t.Errorf("text = %q, want %q", text, tt.text)
			}
			got := fmt.Sprint(r.Kind, r.Encoding, r.LineEnding, r.BOM, r.TotalLines, r.FinalNewline)
			if want := fmt.Sprint("text", tt.encoding, tt.ending, tt.bom, tt.lines, tt.final); got != want {
				t.Errorf("structured = %s, want %s", got, want)
			}
			if r.Digest != digestOf([]byte(tt.content)) || r.SizeBytes != int64(len(tt.content)) {
				t.Errorf("digest %s, size %d", r.Digest, r.SizeBytes)
			}
		})
	}
}

func TestReadPages(t *testing.T) {
	p := newProject(t, Options{})
	var b strings.Builder
	for i := range 40_211 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	p.put("f", b.String())
	tests := []struct {
		name             string
		input            in
		start, end, next int64
		tail             string
	}{
		{"default", in{}, 1, 1806, 1807, "[lines 1–1806 of 40,211; next offset 1807]"}, // 30,000 characters
		{"limit", in{"limit": 2000}, 1, 2000, 2001, "[lines 1–2000 of 40,211; next offset 2001]"},
		{"middle", in{"offset": 20_000, "limit": 2}, 20_000, 20_001, 20_002, "; next offset 20002]"},
		{"from the end", in{"offset": -100}, 40_112, 40_211, 0, "line 40211"},
		{"from the end, more than there is", in{"offset": -100_000, "limit": 1}, 1, 1, 2, "; next offset 2]"},
		{"last line", in{"offset": 40_211}, 40_211, 40_211, 0, " 40211\tline 40211"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.input["path"] = "f"
			r, text := p.readInput(tt.input)
			if r.StartLine != tt.start || r.EndLine != tt.end || r.NextOffset != tt.next {
				t.Errorf("lines %d–%d, next %d, want %d–%d, next %d",
					r.StartLine, r.EndLine, r.NextOffset, tt.start, tt.end, tt.next)
			}
			if !strings.HasSuffix(text, tt.tail) {
				t.Errorf("text ends %q, want %q", text[max(0, len(text)-60):], tt.tail)
			}
			if want := fmt.Sprintf("%6d\tline %d\n", tt.start, tt.start); !strings.HasPrefix(text+"\n", want) {
				t.Errorf("text begins %q, want %q", text[:min(len(text), 40)], want)
			}
		})
	}
	_, err := p.run("read", in{"path": "f", "offset": 40_212})
	wantError(t, err, agenttool.InvalidArguments, "bad_value", "40,211 lines")
}

func TestReadIsBounded(t *testing.T) {
	tests := []struct {
		name    string
		content string
		limit   int
		most    int // characters
		cut     int
		mark    string
	}{
		{"huge line", strings.Repeat("é", 5<<20) + "\nb\n", 0, pageChars, 1, "… [+5,240,880 characters]\n     2\tb\n[line 1: characters 1–2,000; {\"offset\":1,\"column\":2001} reads on in it]"},
		{"huge CRLF line", strings.Repeat("a", 2001) + "\r\n", 0, pageChars, 1, "… [+1 characters]\n[line 1: characters 1–2,000; {\"offset\":1,\"column\":2001} reads on in it]"},
		{"line just short enough", strings.Repeat("a", 2000) + "\r\n", 0, pageChars, 0, "a"},
		{"many long lines", strings.Repeat(strings.Repeat("x", 3000)+"\n", 500), 0, pageChars, 14, "next offset 15]"},
		{"many long lines with limit", strings.Repeat(strings.Repeat("x", 3000)+"\n", 500), 10000, wideChars,
			58, "next offset 59]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", tt.content)
			input := in{"path": "f"}
			if tt.limit > 0 {
				input["limit"] = tt.limit
			}
			r, text := p.readInput(input)
			if n := utf8.RuneCountInString(text); n > tt.most {
				t.Errorf("%d characters", n)
			}
			if r.CutLines != tt.cut || !strings.HasSuffix(text, tt.mark) {
				t.Errorf("%d lines cut, end %q; want %d, %q", r.CutLines, text[max(0, len(text)-60):], tt.cut, tt.mark)
			}
		})
	}
}

// The pages of a file that is read by chunks are those of the same content read at once, wherever a chunk ends.
func TestReadLargeFile(t *testing.T) {
	unit := "zeile äöü €\r\n"
	content := strings.Repeat(unit, 3*memoryOnly/len(unit)) + "the end"
	lines := strings.Count(content, "\n") + 1
	for _, enc := range []encoding.Encoding{encoding.UTF8, encoding.UTF16LE, encoding.UTF16BE} {
		t.Run(enc.String(), func(t *testing.T) {
			p := newProject(t, Options{})
			p.put("f", string(must[[]byte](t)(encodeNew(enc, content))))
			for _, line := range []int{1, lines / 3, lines / 2, lines - 1, lines} {
				r, text := p.readInput(in{"path": "f", "offset": line, "limit": 1})
				want := fmt.Sprintf("%6d\tzeile äöü €", line)
				if line == lines {
					want = fmt.Sprintf("%6d\tthe end", line)
				}
				if !strings.HasPrefix(text, want) || r.TotalLines != int64(lines) || r.LineEnding != "crlf" ||
					r.Encoding != enc {
					t.Errorf("line %d of %d: %q, %+v", line, lines, text, *r.shownPage)
				}
			}
		})
	}
}

func TestReadLineIndex(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", strings.Repeat("x\n", memoryOnly))
	f := must[*os.File](t)(os.Open(p.path("f")))
	defer f.Close()
	c := must[*content](t)(openContent(f))
	if err := c.survey(t.Context(), encoding.Binary); err != nil {
		t.Fatal(err)
	}
	if offset, ended := c.before(memoryOnly); offset != 2*memoryOnly-chunkSize || ended != offset/2 {
		t.Errorf("line %d is looked for from %d, after %d lines", memoryOnly, offset, ended)
	}
	for _, line := range []int64{1, 2, chunkSize / 2, chunkSize/2 + 1, chunkSize/2 + 2} {
		page := must[*page](t)(c.pageOf(t.Context(), pageRequest{first: line, last: line, lineChars: maxLineChars, room: pageChars, bytes: math.MaxInt}))
		if want := fmt.Sprintf("%6d\tx\n", line); string(page.out) != want {
			t.Errorf("line %d: %q", line, page.out)
		}
	}
}

func TestReadHonoursContext(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", strings.Repeat("x\n", memoryOnly))
	call := p.mustBind("read", in{"path": "f"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := call.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want canceled", err)
	}
}

// AT-402: an empty file, an empty page and no file are told apart.
func TestReadEmpty(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", "")
	p.put("mark", "\xef\xbb\xbf")
	for _, name := range []string{"f", "mark"} {
		if r, text := p.read(name); r.Kind != "empty" || text != "["+name+" is empty]" || r.TotalLines != 0 {
			t.Errorf("%s: kind %s, text %q", name, r.Kind, text)
		}
	}
}

// TestReadBinary: a binary file is named, with its media type, and is not shown.
func TestReadBinary(t *testing.T) {
	conform.Held(t, "AT-266")
	p := newProject(t, Options{})
	p.put("z.zip", "PK\x03\x04\x00\x00rest")
	p.put("late", strings.Repeat("text\n", memoryOnly/2)+"\x00")
	p.put("odd", "\xff\xfea\x00b")
	for name, media := range map[string]string{"z.zip": "application/zip", "late": "text/plain; charset=utf-8", "odd": ""} {
		r, text := p.read(name)
		if r.Kind != "binary" || r.shownPage != nil || !strings.Contains(text, "is binary") {
			t.Errorf("%s: kind %s, text %q", name, r.Kind, text)
		}
		if media != "" && r.MediaType != media {
			t.Errorf("%s: media type %s", name, r.MediaType)
		}
		out, err := p.run("read", in{"path": name})
		if err != nil || len(out.Content) != 2 {
			t.Fatalf("%s: %+v, %v", name, out.Content, err)
		}
		file := out.Content[1]
		file.Extra = nil
		if want := (agenttool.Content{Type: "file", URI: "file://" + p.path(name), Name: name, MediaType: r.MediaType}); !reflect.DeepEqual(file, want) {
			t.Errorf("%s: block %+v, want %+v", name, file, want)
		}
		var digest string
		if json.Unmarshal(out.Content[1].Extra["digest"], &digest) != nil || digest != r.Digest || digest == "" {
			t.Errorf("%s: digest %q, want %q", name, digest, r.Digest)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	p := newProject(t, Options{})
	for _, name := range []string{"d/main.go", "d/main_test.go", "d/Makefile", "d/other", "d/cafe\u0301.go"} {
		p.put(name, "x")
	}
	if err := syscall.Mkfifo(p.path("fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		path  string
		code  string
		words []string
	}{
		{"directory", "d", "is_directory", []string{"glob", "ls"}},
		{"the root", ".", "is_directory", []string{"glob"}},
		{"missing", "d/man.go", "not_found", []string{"d/man.go does not exist", "d/main.go"}},
		{"missing, nothing near", "d/zzzzzz", "not_found", []string{"glob"}},
		{"missing in this Unicode form", "d/caf\u00e9.go", "not_found", []string{"; the same name in another Unicode form does: $'d/cafe\\xcc\\x81.go'"}},
		{"missing in this case", "D/Main.go", "not_found", []string{"; the same name in other letter case does: d/main.go"}},
		{"missing directory", "e/main.go", "not_found", []string{"does not exist"}},
		{"FIFO", "fifo", "not_a_file", []string{"a FIFO"}},
		{"below a file", "d/other/x", "path_unresolvable", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			call, err := p.bind("read", in{"path": tt.path})
			if err == nil {
				_, err = call.Run(t.Context(), nil)
				var e, early *agenttool.Error
				preflight := call.(agenttool.Preflighter).Preflight(t.Context())
				if errors.As(err, &e) && (!errors.As(preflight, &early) || early.Code != e.Code) {
					t.Errorf("preflight = %v, run = %v", preflight, err)
				}
			}
			if tt.code == "path_unresolvable" { // the host's locate refuses it, whatever the code
				if err == nil {
					t.Error("was read")
				}
				return
			}
			wantError(t, err, agenttool.InvalidArguments, tt.code, tt.words...)
		})
	}
}

// A file in /proc has no size and is read to its end all the same.
func TestReadProc(t *testing.T) {
	p := newProject(t, Options{})
	if _, err := os.Stat("/proc/version"); err != nil {
		t.Skip("there is no /proc here")
	}
	if r, text := p.read("/proc/version"); r.Kind != "text" || !strings.HasPrefix(text, "     1\tLinux") {
		t.Errorf("kind %s, text %q", r.Kind, text)
	}
}

// A hole of a TiB behind some text is binary, which shows after one chunk: it is not read to its end.
func TestReadSparse(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", "text\n")
	if err := os.Truncate(p.path("f"), 1<<40); err != nil {
		t.Skip("no sparse files here:", err)
	}
	begun := time.Now()
	if r, _ := p.read("f"); r.Kind != "binary" || r.SizeBytes != 1<<40 || r.Digest != "" {
		t.Errorf("result %+v", r)
	}
	if took := time.Since(begun); took > time.Minute {
		t.Errorf("took %v", took)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "a\nb", "a\r\nb\r\n", "\xff\xfea\x00\n\x00", "\xfe\xff\x00", "caf\xe9\n\xc3", "\xef\xbb\xbfx\r",
	} {
		f.Add([]byte(seed), int64(1), uint16(3))
	}
	f.Fuzz(func(t *testing.T, raw []byte, offset int64, split uint16) {
		whole, found := inspect(raw, encoding.Binary)
		s := newSurvey(int64(len(raw)), encoding.Binary)
		cut := min(max(int(split), 3), len(raw)) // a first chunk holds a whole mark
		s.add(raw[:cut], false)
		s.add(raw[cut:], true)
		if s.doubtful && found.Encoding.IsUTF16() {
			s = newSurvey(int64(len(raw)), found.Encoding)
			s.add(raw[:cut], false)
			s.add(raw[cut:], true)
		}
		if s.doubtful {
			s.settle(found)
		}
		if s.form != whole {
			t.Errorf("form %+v in two chunks, %+v at once", s.form, whole)
		}
		if whole.binary {
			return
		}
		text, ok := found.Text(raw)
		if !ok {
			t.Errorf("%q does not decode as %s", raw, found.Encoding)
		}
		lines := int64(bytes.Count(text, []byte{whole.terminator()}))
		if len(text) > 0 && text[len(text)-1] != whole.terminator() {
			lines++
		}
		if whole.lines() != lines {
			t.Errorf("%d lines, counted %d", whole.lines(), lines)
		}
		c := &content{held: raw, size: int64(len(raw)), cachedSurvey: cachedSurvey{form: whole}}
		if first := 1 + abs(offset)%max(lines, 1); lines > 0 {
			page, err := c.pageOf(t.Context(), pageRequest{first: first, last: lines, lineChars: maxLineChars, room: pageChars, bytes: math.MaxInt})
			if err != nil || page.shown < first || page.shown > lines {
				t.Errorf("page from %d of %d shows up to %d: %v", first, lines, page.shown, err)
			}
		}
	})
}

func abs(n int64) int64 { return max(n, -(n + 1)) }

func BenchmarkRead1KB(b *testing.B) {
	p := newProject(b, Options{})
	p.put("f", strings.Repeat("a line of text\n", 70))
	call := p.mustBind("read", in{"path": "f"})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := call.Run(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
	}
}
