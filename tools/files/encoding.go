package files

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
)

// encoding is the character encoding of a file.
type encoding string

const (
	utf8Text   encoding = "utf-8"
	utf16LE    encoding = "utf-16le"
	utf16BE    encoding = "utf-16be"
	latin1     encoding = "iso-8859-1 (assumed)"
	noEncoding encoding = "binary"
)

// marks maps encodings to their byte order marks.
var marks = []struct {
	encoding encoding
	bytes    string
}{
	{utf8Text, "\xef\xbb\xbf"},
	{utf16LE, "\xff\xfe"},
	{utf16BE, "\xfe\xff"},
}

// mark returns the byte order mark of e.
func (e encoding) mark() string {
	for _, m := range marks {
		if m.encoding == e {
			return m.bytes
		}
	}
	return ""
}

// detectMark returns the encoding of head's byte order mark, and whether there is one.
func detectMark(head []byte) (encoding, bool) {
	for _, m := range marks {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			return m.encoding, true
		}
	}
	return utf8Text, false
}

// decoder converts the bytes of a file to UTF-8, chunk by chunk. Encoding the result again yields the same bytes
// unless the input was malformed.
type decoder struct {
	encoding  encoding
	malformed bool   // the input contained invalid bytes
	carry     []byte // an incomplete character at the end of the last chunk, at most 3 bytes
	buf       []byte
}

// next returns chunk as UTF-8. The result is valid until the next call and may share chunk's memory.
func (d *decoder) next(chunk []byte, last bool) []byte {
	if len(d.carry) > 0 {
		chunk = append(d.carry, chunk...)
		d.carry = nil
	}
	var rest int
	out := chunk
	switch d.encoding {
	case utf16LE:
		out, rest = d.utf16(chunk, binary.LittleEndian)
	case utf16BE:
		out, rest = d.utf16(chunk, binary.BigEndian)
	case latin1:
		return d.latin1(chunk)
	default:
		rest = len(chunk) - len(cut.Whole(chunk))
		if !last {
			out = chunk[:len(chunk)-rest]
		}
		d.malformed = d.malformed || !utf8.Valid(out)
		rest = len(chunk) - len(out)
	}
	if rest > 0 && !last {
		d.carry = bytes.Clone(chunk[len(chunk)-rest:])
	} else if rest > 0 {
		d.malformed = true
		out = utf8.AppendRune(out, utf8.RuneError)
	}
	return out
}

// utf16 decodes the whole units of in and returns the number of bytes at its end that begin a character.
func (d *decoder) utf16(in []byte, order binary.ByteOrder) (out []byte, rest int) {
	out = d.buf[:0]
	at := 0
	for ; at+1 < len(in); at += 2 {
		r := rune(order.Uint16(in[at:]))
		if utf16.IsSurrogate(r) {
			if at+3 >= len(in) {
				break
			}
			r = utf16.DecodeRune(r, rune(order.Uint16(in[at+2:])))
			if r == utf8.RuneError {
				d.malformed = true
			} else {
				at += 2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	d.buf = out
	return out, len(in) - at
}

// latin1 decodes one byte per character.
func (d *decoder) latin1(in []byte) []byte {
	out := d.buf[:0]
	for _, c := range in {
		out = utf8.AppendRune(out, rune(c))
	}
	d.buf = out
	return out
}

// decode returns the text of raw without its byte order mark. It may share raw's memory.
func (f form) decode(raw []byte) []byte {
	if f.bom {
		raw = raw[len(f.encoding.mark()):]
	}
	d := decoder{encoding: f.encoding}
	return d.next(raw, true)
}

// encode is the inverse of decode. Text that the encoding cannot represent is an error of class invalid_arguments.
func (f form) encode(text []byte) ([]byte, error) {
	var out []byte
	if f.bom {
		out = append(out, f.encoding.mark()...)
	}
	switch f.encoding {
	case utf16LE:
		return appendUTF16(out, text, binary.LittleEndian), nil
	case utf16BE:
		return appendUTF16(out, text, binary.BigEndian), nil
	case latin1:
		return appendLatin1(out, text)
	}
	if len(out) == 0 {
		return text, nil
	}
	return append(out, text...), nil
}

func appendUTF16(out, text []byte, order binary.AppendByteOrder) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if r >= 0x10000 {
			high, low := utf16.EncodeRune(r)
			out = order.AppendUint16(out, uint16(high))
			r = low
		}
		out = order.AppendUint16(out, uint16(r))
	}
	return out
}

func appendLatin1(out, text []byte) ([]byte, error) {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		if r > 0xff {
			return nil, unencodable(r)
		}
		out = append(out, byte(r))
		text = text[size:]
	}
	return out, nil
}

// unencodable is the error for a character that cannot be written to a file with one byte per character.
func unencodable(r rune) error {
	return agenttool.Failure(agenttool.InvalidArguments, "encoding", fmt.Sprintf(
		"the file is not UTF-8 and %q (U+%04X) cannot be written in its encoding without a guess; nothing was changed. "+
			"Use ASCII, or convert the file first (iconv -f … -t utf-8)", r, r))
}

// admits returns an error of class invalid_arguments for the first character of s that this encoding could only guess
// at. This concerns only files with one byte per character. There ASCII is always safe. Latin-1 is safe if nothing in
// the file contradicts it: no byte that Latin-1 uses for control characters (Windows-1252 has quotes there) and no
// UTF-8 sequence (then the file is a mixture).
func (f form) admits(s string, raw []byte) error {
	if f.encoding != latin1 {
		return nil
	}
	at := strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
	if at < 0 {
		return nil
	}
	first, _ := utf8.DecodeRuneInString(s[at:])
	if !looksLatin1(raw) {
		return unencodable(first)
	}
	for _, r := range s[at:] {
		if r > 0xff || r >= 0x80 && r < 0xa0 {
			return unencodable(r)
		}
	}
	return nil
}

func looksLatin1(raw []byte) bool {
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		if size > 1 || r == utf8.RuneError && raw[0] < 0xa0 {
			return false
		}
		raw = raw[size:]
	}
	return true
}

// form describes the format of a file's content, which a change must preserve.
type form struct {
	binary       bool
	encoding     encoding
	bom          bool
	lf, cr, crlf int64 // counts; each CRLF counts in all three
	empty        bool  // no characters; there may be a byte order mark
	last         byte  // of the text as UTF-8
}
