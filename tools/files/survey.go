package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"toolhost/tools/encoding"
)

// digestLimit is the largest size in bytes where the digest of the content identifies a file. The status identifies
// larger files.
const digestLimit = 32 << 20

// form describes the format of a file's content, which a change must preserve.
type form struct {
	binary       bool // the encoding is binary
	encoding     encoding.Encoding
	bom          bool
	lf, cr, crlf int64 // counts; each CRLF counts in all three
	empty        bool  // no characters; there may be a byte order mark
	last         byte  // of the text as UTF-8
}

// lineEnding names the line endings as in the result.
func (f form) lineEnding() string {
	kinds, name := 0, "none"
	for _, k := range []struct {
		count int64
		name  string
	}{{f.lf - f.crlf, "lf"}, {f.crlf, "crlf"}, {f.cr - f.crlf, "cr"}} {
		if k.count > 0 {
			kinds++
			name = k.name
		}
	}
	if kinds > 1 {
		return "mixed"
	}
	return name
}

// terminator returns the byte that ends a line: LF, or CR in a file that has CR and no LF.
func (f form) terminator() byte {
	if f.lf == 0 && f.cr > 0 {
		return '\r'
	}
	return '\n'
}

// finalNewline reports whether the last line has an end.
func (f form) finalNewline() bool { return !f.empty && f.last == f.terminator() }

// lines returns the number of lines, including a last one without an end.
func (f form) lines() int64 {
	n := f.lf
	if f.terminator() == '\r' {
		n = f.cr
	}
	if !f.empty && !f.finalNewline() {
		n++
	}
	return n
}

// survey determines the form of a content that is added chunk by chunk. The first chunk must have at least three
// bytes, if the content does. It takes a content without a byte order mark for UTF-8, unless the encoding is declared; doubtful tells when
// that is not certain.
type survey struct {
	form
	declared encoding.Encoding // that the input names; Binary: it names none
	doubtful bool              // the content is not UTF-8, or perhaps UTF-16 or ISO-2022: encoding.Detector decides, see settle
	digest   hash.Hash         // nil: not wanted
	decoder  *encoding.Decoder // nil: nothing was added yet
}

// newSurvey returns a survey of a file of size bytes.
func newSurvey(size int64, declared encoding.Encoding) *survey {
	s := &survey{form: form{empty: true}, declared: declared}
	if size <= digestLimit {
		s.digest = sha256.New()
	}
	return s
}

// add adds the next chunk and reports whether the survey needs more.
func (s *survey) add(chunk []byte, last bool) bool {
	if s.digest != nil {
		s.digest.Write(chunk)
	}
	if s.decoder == nil {
		chunk = s.begin(chunk)
	}
	s.count(s.decoder.Next(chunk, last)) // malformed UTF-8 is passed on: ends of lines are the same bytes in the legacy encodings
	certain := s.declared != encoding.Binary || s.encoding.IsUTF16()
	switch {
	case !certain:
		s.doubtful = s.doubtful || s.binary || bytes.IndexByte(chunk, escape) >= 0 || last && s.decoder.Malformed()
	case s.declared == encoding.Binary && last && s.decoder.Malformed():
		s.binary = true
	}
	if s.binary {
		s.encoding, s.bom = encoding.Binary, false
	}
	return !s.binary || s.digest != nil
}

// escape begins the sequences of ISO-2022, and those of terminals.
const escape = 0x1b

// begin chooses the encoding by the first chunk, and returns it without a byte order mark.
func (s *survey) begin(chunk []byte) []byte {
	found := encoding.Declared(s.declared, chunk)
	if s.declared == encoding.Binary {
		found = encoding.Declared(encoding.ByMark(chunk), chunk)
	}
	if found.Encoding == encoding.Binary {
		found.Encoding = encoding.UTF8
	}
	s.encoding, s.bom = found.Encoding, found.Mark
	s.decoder = encoding.NewDecoder(s.encoding)
	return found.Body(chunk)
}

// settle ends the doubt. The lines of a content in UTF-16 must be counted again.
func (s *survey) settle(found encoding.Recognition) {
	s.encoding, s.bom, s.binary = found.Encoding, found.Mark, found.Encoding == encoding.Binary
}

func (s *survey) count(text []byte) {
	if len(text) == 0 {
		return
	}
	if bytes.IndexByte(text, 0) >= 0 {
		s.binary = true
	}
	s.lf += int64(bytes.Count(text, []byte{'\n'}))
	if n := bytes.Count(text, []byte{'\r'}); n > 0 {
		s.cr += int64(n)
		s.crlf += int64(bytes.Count(text, []byte("\r\n")))
	}
	if !s.empty && s.last == '\r' && text[0] == '\n' {
		s.crlf++
	}
	s.empty, s.last = false, text[len(text)-1]
}

// sum returns the digest of the added chunks, empty if none was requested.
func (s *survey) sum() string {
	if s.digest == nil {
		return ""
	}
	return "sha256:" + hex.EncodeToString(s.digest.Sum(nil))
}

// inspect returns the form of a content in memory, and its encodings. declared is the encoding that the input names, Binary if it names none.
func inspect(raw []byte, declared encoding.Encoding) (form, encoding.Recognition) {
	s := newSurvey(digestLimit+1, declared)
	s.add(raw, true)
	found := encoding.Declared(s.encoding, raw)
	if !s.doubtful {
		return s.form, found
	}
	found = encoding.Recognise(raw)
	if found.Encoding.IsUTF16() {
		s = newSurvey(digestLimit+1, found.Encoding)
		s.add(raw, true)
	}
	s.settle(found)
	return s.form, found
}

// digestOf returns the digest of raw, of any size.
func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}
