package files

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/editorconfig/editorconfig-core-go/v2"

	"toolhost/agenttool"
	"toolhost/tools/encoding"
)

// convention is what a project wants of a new file. The zero value wants nothing.
type convention struct {
	lineEnd   string // CRLF or CR; "": LF, or nothing
	lineEndBy string // the file that says so
	charset   string // "utf-8-bom", "utf-16le" or "utf-16be"; "": UTF-8, or nothing
}

// Limits of the files of conventions. Larger files, and patterns with more numbers, do not count.
const (
	maxConfig       = 256 << 10 // bytes
	maxEditorConfig = 64 << 10  // bytes of one file, and of all files for one path: a directory may lie below many others
	maxNumbers      = 100       // that the ranges of a pattern have together
)

// convention looks up what the project wants of the file at p: .gitattributes, which decide what git checks out, and
// then .editorconfig.
func (s *session) convention(p agenttool.Path) (c convention) {
	end := lineEndAttribute(p.Resolved, s.configText)
	by := ".gitattributes"
	wanted := editorConfig(p.Resolved, s.configText)
	if end == "" {
		end, by = wanted.EndOfLine, ".editorconfig"
	}
	switch end {
	case editorconfig.EndOfLineCrLf:
		c.lineEnd, c.lineEndBy = "\r\n", by
	case editorconfig.EndOfLineCr:
		c.lineEnd, c.lineEndBy = "\r", by
	}
	switch wanted.Charset {
	case editorconfig.CharsetUTF8BOM, editorconfig.CharsetUTF16BE, editorconfig.CharsetUTF16LE:
		c.charset = wanted.Charset
	}
	return c
}

// configText returns the text of a file that a project is configured with, nil if it does not exist, is a link, or must
// not be read.
func (s *session) configText(path string) []byte {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	p := agenttool.Path{Spelling: path, Absolute: path}
	if err := s.workspace.Locate(&p); err != nil || p.Resolved != path {
		return nil
	}
	f, err := s.workspace.OpenFile(p)
	if err != nil {
		return nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil || len(text) > maxConfig {
		return nil
	}
	return text
}

// editorConfig returns what the files .editorconfig from a file's directory upward say of it, the nearest first, up to
// one with root = true. A file that cannot be parsed does not count.
func editorConfig(file string, read func(path string) []byte) *editorconfig.Definition {
	c := editorconfig.Config{Parser: &configParser{read: read, left: maxEditorConfig}, Graceful: true}
	wanted, err := c.Load(file)
	if wanted == nil || err != nil {
		return &editorconfig.Definition{}
	}
	return wanted
}

// configParser reads the files for the library, and keeps from it what it does not stand: in a repository anything can
// be in them.
type configParser struct {
	read func(path string) []byte
	left int // bytes of further files that count
}

// ParseIni implements [editorconfig.Parser].
func (p *configParser) ParseIni(path string) (*editorconfig.Editorconfig, error) {
	text := p.read(path)
	if text == nil || len(text) > p.left || bytes.Contains(text, []byte("%(")) { // the library would insert values, also into themselves
		return nil, os.ErrNotExist
	}
	p.left -= len(text)
	parsed, _, err := editorconfig.ParseGraceful(bytes.NewReader(text))
	if err != nil {
		return nil, os.ErrNotExist
	}
	return parsed, nil
}

// ParseIniGraceful implements [editorconfig.Parser].
func (p *configParser) ParseIniGraceful(path string) (*editorconfig.Editorconfig, error, error) {
	parsed, err := p.ParseIni(path)
	return parsed, nil, err
}

// numericRange finds parts of patterns such as {1..9}.
var numericRange = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{([+-]?\d+)\.\.([+-]?\d+)\}`) })

// FnmatchCase implements [editorconfig.Parser].
func (*configParser) FnmatchCase(pattern, file string) (ok bool, err error) {
	numbers := int64(0)
	for _, m := range numericRange().FindAllStringSubmatch(pattern, -1) { // the library writes all numbers down
		from, err1 := strconv.ParseInt(m[1], 10, 32)
		to, err2 := strconv.ParseInt(m[2], 10, 32)
		if numbers += max(0, to-from); err1 != nil || err2 != nil || numbers > maxNumbers {
			return false, nil
		}
	}
	defer func() {
		if recover() != nil { // it reads past the end of a pattern such as "["
			ok, err = false, nil
		}
	}()
	if ok, err = editorconfig.FnmatchCase(pattern, file); err != nil {
		return false, nil
	}
	return ok, nil
}

// newText returns the content of a new file as the project wants it. Content that has CR says its line ends itself, and
// declared is the encoding that the input names, Binary if it names none.
func (c convention) newText(content string, declared encoding.Encoding) (revision, error) {
	now := revision{text: []byte(content)}
	if c.lineEnd != "" && strings.Contains(content, "\n") && !strings.Contains(content, "\r") {
		now.text = []byte(strings.ReplaceAll(content, "\n", c.lineEnd))
		name := "CRLF"
		if c.lineEnd == "\r" {
			name = "CR"
		}
		now.note = fmt.Sprintf("LF written as %s, as %s says", name, c.lineEndBy)
	}
	mark := ""
	if c.charset != "" && declared == encoding.Binary && len(content) > 0 {
		charset, hasMark := strings.CutSuffix(c.charset, "-bom")
		var err error
		if declared, err = parseEncoding(charset, nil); err != nil {
			return now, err
		}
		if hasMark && !strings.HasPrefix(content, encoding.UTF8.Mark()) {
			mark = encoding.UTF8.Mark()
		}
		now.note = addNote(now.note, c.charset+", as .editorconfig says")
	}
	if declared == encoding.Binary {
		now.raw = now.text
		return now, nil
	}
	raw, err := encodeNew(declared, string(now.text))
	now.raw = append([]byte(mark), raw...)
	return now, err
}
