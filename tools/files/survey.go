package files

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// digestLimit is the largest size in bytes where the digest of the content identifies a file. The status identifies
// larger files.
// their status.
const digestLimit = 32 << 20

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
// bytes, if the content does.
type survey struct {
	form
	digest  hash.Hash // nil: not wanted
	begun   bool
	decoder decoder
}

// newSurvey returns a survey of a file of size bytes.
func newSurvey(size int64) *survey {
	s := &survey{form: form{empty: true}}
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
	if !s.begun {
		s.begun = true
		s.encoding, s.bom = detectMark(chunk)
		s.decoder.encoding = s.encoding
		if s.bom {
			chunk = chunk[len(s.encoding.mark()):]
		}
	}
	if s.encoding == utf8Text && s.decoder.malformed { // one byte per character: only ASCII is counted
		s.count(s.decoder.carry)
		s.decoder.carry = nil
		s.count(chunk)
	} else {
		s.count(s.decoder.next(chunk, last))
	}
	if last && s.decoder.malformed && !s.binary {
		s.binary = s.encoding != utf8Text
		s.encoding, s.bom = latin1, false
	}
	if s.binary {
		s.encoding, s.bom = noEncoding, false
	}
	return !s.binary || s.digest != nil
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

// inspect returns the form of a content in memory.
func inspect(raw []byte) form {
	s := newSurvey(digestLimit + 1)
	s.add(raw, true)
	return s.form
}

// digestOf returns the digest of raw, of any size.
func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}
