package files

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"toolhost/agenttool"
)

// pdf is a document with one line of text.
func pdf(text string) string {
	page := "BT /F1 24 Tf 72 700 Td (" + text + ") Tj ET"
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	var offsets []int
	for i, object := range []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(page), page), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
	} {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj%s endobj\n", i+1, object)
	}
	start := b.Len()
	b.WriteString("xref\n0 6\n0000000000 65535 f \n")
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", start)
	return b.String()
}

// zipped is a zip archive of one file.
func zipped(t *testing.T, name, content string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tarred is a tar archive of one file.
func tarred(t *testing.T, name, content string) string {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))})
	if err == nil {
		_, err = w.Write([]byte(content))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipped(t *testing.T, content string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(content))
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWaysShow: the command that read names shows what is in the file, whatever the name of the file is.
func TestWaysShow(t *testing.T) {
	for _, tt := range []struct{ name, content, program, kind, want string }{
		{"report.pdf", pdf("forty-two"), "pdftotext", "PDF document", "forty-two"},
		{"it's a $(report).PDF", pdf("forty-two"), "pdftotext", "PDF document", "forty-two"},
		{"-l.pdf", pdf("forty-two"), "pdftotext", "PDF document", "forty-two"},
		{"no ending", pdf("forty-two"), "pdftotext", "PDF document", "forty-two"},
		{"a.zip", zipped(t, "inner.txt", "x"), "unzip", "Zip archive", "inner.txt"},
		{"a.jar", zipped(t, "inner.txt", "x"), "unzip", "Zip archive", "inner.txt"},
		{"a.pptx", zipped(t, "ppt/slides/slide1.xml", "<a:t>forty-two</a:t>"), "unzip", "PowerPoint presentation", "forty-two"},
		{"a.ods", zipped(t, "content.xml", "<text:p>forty-two</text:p>"), "unzip", "OpenDocument file", "forty-two"},
		{"a.tar", tarred(t, "inner.txt", "x"), "tar", "tar archive", "inner.txt"},
		{"a.tar.gz", gzipped(t, tarred(t, "inner.txt", "x")), "tar", "gzip archive", "inner.txt"},
		{"a.log.gz", gzipped(t, "a line\n"), "gzip", "gzip file", "a line"},
		{"a.bin", "\x00\x01forty-two", "od", "application/octet-stream", "forty-two"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := exec.LookPath(tt.program); err != nil {
				t.Skip(err)
			}
			p := newProject(t, Options{})
			p.put(tt.name, tt.content)
			r, text := p.read(tt.name)
			if r.Kind != "binary" || !strings.Contains(text, "is binary ("+tt.kind+", ") {
				t.Fatalf("kind %s, %q", r.Kind, text)
			}
			_, command, _ := strings.Cut(strings.TrimSuffix(text, "]"), "In the shell, this shows ")
			_, command, _ = strings.Cut(command, ": ")
			cmd := exec.Command("bash", "-c", command)
			cmd.Dir = p.dir
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), tt.want) {
				t.Errorf("%s: %v\n%s", command, err, out)
			}
		})
	}
}

// TestKinds: kinds are known by their first bytes, and by the name only where these leave a choice.
func TestKinds(t *testing.T) {
	for _, tt := range []struct{ name, content, kind, word string }{
		{"photo.heic", "\x00\x00\x00\x24ftypheic\x00\x00\x00\x00mif1heic", "HEIC image", "photo-view.png"},
		{"photo.jpg", "\x00\x00\x00\x24ftypheic\x00\x00\x00\x00mif1heic", "HEIC image", "photo-view.png"},
		{"a.avif", "\x00\x00\x00\x1cftypavif\x00\x00\x00\x00", "AVIF image", "a-view.png"},
		{"a.tiff", "II*\x00\x08\x00\x00\x00", "TIFF image", "a-view.png"},
		{"a.bmp", "BM\x46\x00\x00\x00\x00\x00", "BMP image", "a-view.png"},
		{"favicon.ico", "\x00\x00\x01\x00\x01\x00", "icon", "favicon-view.png"},
		{"a.mp4", "\x00\x00\x00\x20ftypisom\x00\x00\x02\x00", "MP4 video or audio", "a.mp4"},
		{"a.wav", "RIFF\x24\x00\x00\x00WAVEfmt ", "WAV audio", "a.wav"},
		{"a.mp3", "ID3\x04\x00\x00\x00", "MP3 audio", "a.mp3"},
		{"a.db", "SQLite format 3\x00\x10\x00", "SQLite database", "sqlite3 -readonly a.db .schema"},
		{"a.docx", zipped(t, "word/document.xml", "x"), "Word document", "a.docx"},
		{"a.xlsx", zipped(t, "xl/workbook.xml", "x"), "Excel workbook", "a.xlsx"},
		{"a.epub", zipped(t, "mimetype", "x"), "EPUB book", "a.epub"},
		{"a.doc", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00", "Word document", "a.doc"},
		{"prog", "\x7fELF\x02\x01\x01\x00", "ELF program or library", "prog"},
		{"a.mo", "\xde\x12\x04\x95\x00\x00\x00\x00", "message catalogue", "msgunfmt"},
		{"a.pyc", "\xcb\x0d\x0d\x0a\x00\x00\x00\x00", "application/octet-stream", "od "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put(tt.name, tt.content)
			r, text := p.read(tt.name)
			if r.Kind != "binary" || !strings.Contains(text, "is binary ("+tt.kind+", ") || !strings.Contains(text, tt.word) {
				t.Errorf("kind %s, %q", r.Kind, text)
			}
		})
	}
	for _, text := range []string{"%PDF-1.4 is how a PDF begins\n", "BM\n", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n", "ID3 tags\n"} {
		p := newProject(t, Options{})
		p.put("a.pdf", text)
		if r, _ := p.read("a.pdf"); r.Kind != "text" {
			t.Errorf("%q is %s", text, r.Kind)
		}
	}
}

// TestMissingPrograms: where no program is installed that could show a kind of file, a package is named that has one.
func TestMissingPrograms(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	p := newProject(t, Options{})
	p.put("a.pdf", pdf("x"))
	want := "(pdftotext is not installed here; Debian's package of it is poppler-utils)]"
	if _, text := p.read("a.pdf"); !strings.HasSuffix(text, want) {
		t.Errorf("%q", text)
	}
	for _, ways := range append(allWays(), smallerCopy, firstFrame, anyFile) {
		call := &readCall{facts: agenttool.Facts{Reads: []agenttool.Path{{Spelling: "a"}}}}
		if text := call.wayOn(ways); !strings.Contains(text, "Debian's package of it is ") {
			t.Errorf("%q", text)
		}
	}
}

func allWays() (all [][]way) {
	for _, k := range kinds {
		all = append(all, k.ways)
	}
	return all
}

// TestKindsHaveWays: each command is about the file.
func TestKindsHaveWays(t *testing.T) {
	for _, k := range kinds {
		for _, w := range k.ways {
			if !strings.Contains(w.command, "FILE") || w.program == "" || w.shows == "" {
				t.Errorf("%s: %+v", k.name, w)
			}
		}
	}
}

// A stored result has no name for a command.
func TestBinaryPayload(t *testing.T) {
	p := newProject(t, Options{Payload: func(string) (*os.File, error) { return os.Open("/proc/self/exe") }})
	if _, text := p.read("toolhost://x/y"); !strings.HasSuffix(text, "not shown]") {
		t.Errorf("%q", text)
	}
}
