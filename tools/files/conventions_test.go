package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A new file has the line ends and the mark that the project wants, and the result says so.
func TestNewFilesFollowTheProject(t *testing.T) {
	const crlfByGit, crlfByEditor = "LF written as CRLF, as .gitattributes says", "LF written as CRLF, as .editorconfig says"
	tests := []struct {
		name          string
		files         map[string]string
		path, content string
		want, note    string
	}{
		{"nothing", nil, "a.txt", "a\nb\n", "a\nb\n", ""},
		{"eol=crlf", map[string]string{".git/HEAD": "", ".gitattributes": "* text=auto eol=crlf\n"}, "a.txt", "a\nb\n", "a\r\nb\r\n", crlfByGit},
		{"eol=crlf for others", map[string]string{".git/HEAD": "", ".gitattributes": "*.bat eol=crlf\n"}, "a.txt", "a\n", "a\n", ""},
		{"eol=crlf in a directory that is made", map[string]string{".git/HEAD": "", ".gitattributes": "*.bat eol=crlf\n"}, "x/y/a.bat", "a\n", "a\r\n", crlfByGit},
		{"a nearer file", map[string]string{".git/HEAD": "", ".gitattributes": "* eol=crlf\n", "x/.gitattributes": "* eol=lf\n"}, "x/a.txt", "a\n", "a\n", ""},
		{"binary", map[string]string{".git/HEAD": "", ".gitattributes": "* eol=crlf\n*.bin binary\n"}, "a.bin", "a\n", "a\n", ""},
		{"content with CRLF", map[string]string{".git/HEAD": "", ".gitattributes": "* eol=crlf\n"}, "a.txt", "a\r\nb\n", "a\r\nb\n", ""},
		{"content in one line", map[string]string{".git/HEAD": "", ".gitattributes": "* eol=crlf\n"}, "a.txt", "a", "a", ""},
		{"no repository", map[string]string{".gitattributes": "* eol=crlf\n"}, "a.txt", "a\n", "a\n", ""},
		{"end_of_line", map[string]string{".editorconfig": "root = true\n[*]\nend_of_line = crlf\n"}, "a.txt", "a\nb\n", "a\r\nb\r\n", crlfByEditor},
		{"end_of_line, odd case", map[string]string{".editorconfig": "root = true\n[*]\nEnd_Of_Line = CRLF\n"}, "a.txt", "a\n", "a\r\n", crlfByEditor},
		{"end_of_line = cr", map[string]string{".editorconfig": "root = true\n[*]\nend_of_line = cr\n"}, "a.txt", "a\nb\n", "a\rb\r", "LF written as CR, as .editorconfig says"},
		{"end_of_line = lf", map[string]string{".editorconfig": "root = true\n[*]\nend_of_line = lf\n"}, "a.txt", "a\n", "a\n", ""},
		{"a section", map[string]string{".editorconfig": "root = true\n[*.{bat,cmd}]\nend_of_line = crlf\n"}, "x/run.cmd", "a\n", "a\r\n", crlfByEditor},
		{"another section", map[string]string{".editorconfig": "root = true\n[*.{bat,cmd}]\nend_of_line = crlf\n"}, "x/run.sh", "a\n", "a\n", ""},
		{"the nearest file", map[string]string{".editorconfig": "root = true\n[*]\nend_of_line = crlf\n", "x/.editorconfig": "[*.sh]\nend_of_line = lf\n"}, "x/a.sh", "a\n", "a\n", ""},
		{"root", map[string]string{".editorconfig": "[*]\nend_of_line = crlf\n", "x/.editorconfig": "root = true\n"}, "x/a.sh", "a\n", "a\n", ""},
		{"git against the editor", map[string]string{".git/HEAD": "", ".gitattributes": "*.sh eol=lf\n", ".editorconfig": "root = true\n[*]\nend_of_line = crlf\n"}, "a.sh", "a\n", "a\n", ""},
		{"git says nothing of ends", map[string]string{".git/HEAD": "", ".gitattributes": "* text=auto\n", ".editorconfig": "root = true\n[*]\nend_of_line = crlf\n"}, "a.sh", "a\n", "a\r\n", crlfByEditor},
		{"a byte order mark", map[string]string{".editorconfig": "root = true\n[*.cs]\ncharset = utf-8-bom\n"}, "a.cs", "é\n", "\xef\xbb\xbfé\n", "utf-8-bom, as .editorconfig says"},
		{"a mark and ends", map[string]string{".editorconfig": "root = true\n[*.cs]\ncharset = utf-8-bom\nend_of_line = crlf\n"}, "a.cs", "é\n", "\xef\xbb\xbfé\r\n", crlfByEditor + "; utf-8-bom, as .editorconfig says"},
		{"a mark that is there", map[string]string{".editorconfig": "root = true\n[*.cs]\ncharset = utf-8-bom\n"}, "a.cs", "\ufeffé\n", "\xef\xbb\xbfé\n", "utf-8-bom, as .editorconfig says"},
		{"utf-16le", map[string]string{".editorconfig": "root = true\n[*.rc]\ncharset = utf-16le\nend_of_line = crlf\n"}, "a.rc", "é\n", "\xff\xfe\xe9\x00\r\x00\n\x00", crlfByEditor + "; utf-16le, as .editorconfig says"},
		{"charset utf-8", map[string]string{".editorconfig": "root = true\n[*]\ncharset = utf-8\n"}, "a.cs", "é\n", "é\n", ""},
		{"a link", map[string]string{"real": "root = true\n[*]\nend_of_line = crlf\n"}, "linked/a.txt", "a\n", "a\n", ""},
		{"no INI file", map[string]string{".editorconfig": "[[[\x00\n= =\n"}, "a.txt", "a\n", "a\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put(".keep", "")
			for name, content := range tt.files {
				p.put(name, content)
			}
			if filepath.Dir(tt.path) == "linked" {
				os.Mkdir(p.path("linked"), 0o777)
				if err := os.Symlink("../real", p.path("linked/.editorconfig")); err != nil {
					t.Fatal(err)
				}
			}
			r, err := p.write(tt.path, tt.content)
			if err != nil || p.get(tt.path) != tt.want || r.Note != tt.note || !r.Created {
				t.Errorf("%q, %q, %v; want %q, %q", p.get(tt.path), r.Note, err, tt.want, tt.note)
			}
			if _, err := p.write(tt.path, tt.content+"more\n"); err != nil {
				t.Errorf("the session does not know what it wrote: %v", err)
			}
			lines := "+" + strings.ReplaceAll(strings.TrimSuffix(tt.content, "\n"), "\n", "\n+") + "\n"
			if !strings.HasSuffix(tt.content, "\n") || strings.Contains(tt.content, "\r") { // a patch has neither
				return
			}
			os.Remove(p.path(tt.path))
			if _, err := p.run("edit", in{"patch": "*** Begin Patch\n*** Add File: " + tt.path + "\n" + lines + "*** End Patch\n"}); err != nil || p.get(tt.path) != tt.want {
				t.Errorf("a patch made %q, %v; want %q", p.get(tt.path), err, tt.want)
			}
		})
	}
}

// What a repository writes into .editorconfig costs no time, no memory and no crash.
func TestHostileConventions(t *testing.T) {
	var insert strings.Builder
	insert.WriteString("root = true\n[*]\nend_of_line = %(a0)s\n")
	for i := range 60 {
		insert.WriteString("a" + string(rune('0'+i)) + " = %(a" + string(rune('1'+i)) + ")s%(a" + string(rune('1'+i)) + ")s\n")
	}
	for name, text := range map[string]string{
		"a range":       "root = true\n[{1..2000000000}]\nend_of_line = crlf\n",
		"ranges":        "root = true\n[" + strings.Repeat("{1..1000}", 400) + "]\nend_of_line = crlf\n",
		"a huge range":  "root = true\n[{-99999999999999999999..9}]\nend_of_line = crlf\n",
		"half a set":    "root = true\n[a[]\nend_of_line = crlf\n",
		"a set":         "root = true\n[[]\nend_of_line = crlf\n[]]\nend_of_line = crlf\n[\\]\nend_of_line = crlf\n",
		"braces":        "root = true\n[" + strings.Repeat("{a,", 1000) + "]\nend_of_line = crlf\n",
		"insertions":    insert.String(),
		"many sections": "root = true\n" + strings.Repeat("[*.{1..90}]\nend_of_line = crlf\n", 2000),
		"too large":     "root = true\n[*]\nend_of_line = crlf\n#" + strings.Repeat("x", maxConfig),
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, Options{})
			p.put(".editorconfig", text)
			begun := processorTime(t)
			if r, err := p.write("5", "a\n"); err != nil || r.Note != "" {
				t.Errorf("%+v, %v", r, err)
			}
			if took := processorTime(t) - begun; took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// The files .editorconfig of all directories above a file together count no more than one may have: their sections take time.
func TestEditorConfigInEachDirectory(t *testing.T) {
	parsed := 0
	text := []byte("[*.txt]\nend_of_line = crlf\n#" + strings.Repeat("x", maxEditorConfig/3))
	path := strings.Repeat("/d", 100) + "/a.txt"
	wanted := editorConfig(path, func(string) []byte { return text })
	if wanted.EndOfLine != "crlf" {
		t.Errorf("the nearest file does not count: %+v", wanted)
	}
	parser := &configParser{read: func(string) []byte { return text }, left: maxEditorConfig}
	for range 100 {
		if _, err := parser.ParseIni("/.editorconfig"); err == nil {
			parsed++
		}
	}
	if parsed > 3 {
		t.Errorf("%d files of %d bytes are parsed", parsed, len(text))
	}
}
