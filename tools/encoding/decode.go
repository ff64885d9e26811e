package encoding

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"toolhost/agenttool/cut"
)

// Decoder converts the bytes of a file to UTF-8, chunk by chunk. The byte order mark is a character like others.
type Decoder struct {
	reader    reader
	malformed bool
	carry     []byte // an incomplete character at the end of the last chunk, at most 3 bytes
	buf       []byte
}

// NewDecoder returns a decoder of e. What has no encoding passes through.
func NewDecoder(e Encoding) *Decoder { return &Decoder{reader: newReader(e)} }

// Malformed reports whether some bytes were no character. They are U+FFFD in the text.
func (d *Decoder) Malformed() bool { return d.malformed }

// Next returns chunk as UTF-8. last says that no other follows. The result is valid until the next call and may share chunk's memory.
// UTF-8 passes through as it is, malformed or not.
func (d *Decoder) Next(chunk []byte, last bool) []byte {
	if len(d.carry) > 0 {
		chunk = append(d.carry, chunk...)
		d.carry = nil
	}
	switch d.reader.encoding {
	case Binary, ISO2022:
		return chunk
	case UTF8:
		return d.nextUTF8(chunk, last)
	}
	out := d.buf[:0]
	at := 0
	for at < len(chunk) {
		if !d.reader.encoding.IsUTF16() {
			n := ascii(chunk[at:])
			out = append(out, chunk[at:at+n]...)
			if at += n; at == len(chunk) {
				break
			}
		}
		c, size, ok := d.reader.first(chunk[at:])
		if size == 0 && !last {
			break
		}
		if size == 0 {
			c, size, ok = utf8.RuneError, 1, false
			if d.reader.encoding.IsUTF16() {
				size = min(2, len(chunk)-at)
			}
		}
		d.malformed = d.malformed || !ok
		out = appendCharacter(out, c)
		at += size
	}
	d.carry = bytes.Clone(chunk[at:])
	d.buf = out
	return out
}

func (d *Decoder) nextUTF8(chunk []byte, last bool) []byte {
	out := chunk
	if !last {
		out = cut.Whole(chunk)
	}
	d.malformed = d.malformed || !utf8.Valid(out)
	if rest := chunk[len(out):]; len(rest) > 0 {
		d.carry = bytes.Clone(rest)
	}
	return out
}

// Decode returns raw, without a byte order mark, as UTF-8. It may share raw's memory. ok is false if some bytes are no character.
func (e Encoding) Decode(raw []byte) (text []byte, ok bool) {
	d := NewDecoder(e)
	text = d.Next(raw, true)
	return text, !d.malformed
}

// Decodes reports whether all bytes of raw, without a byte order mark, are characters of e.
func (e Encoding) Decodes(raw []byte) bool { return e.FirstMalformed(raw) < 0 }

// FirstMalformed returns the offset of the first byte of raw, without a byte order mark, with which no character of e begins, -1 if
// there is none.
func (e Encoding) FirstMalformed(raw []byte) int {
	if e == UTF8 && utf8.Valid(raw) || !e.IsText() {
		return -1
	}
	r := newReader(e)
	for at := 0; at < len(raw); {
		if !e.IsUTF16() {
			if at += ascii(raw[at:]); at == len(raw) {
				return -1
			}
		}
		_, size, ok := r.first(raw[at:])
		if size == 0 || !ok {
			return at
		}
		at += size
	}
	return -1
}

// UnencodableError says which character an encoding does not have.
type UnencodableError struct {
	Encoding Encoding
	Rune     rune
}

func (e *UnencodableError) Error() string {
	return fmt.Sprintf("%q (U+%04X) is no character of %s", e.Rune, e.Rune, e.Encoding)
}

// Encode returns text, which is valid UTF-8, in e without a byte order mark. Decode of the result returns text. The error is an
// [UnencodableError].
func (e Encoding) Encode(text []byte) ([]byte, error) {
	switch {
	case e == UTF8 || !e.IsText():
		return text, nil
	case e.IsUTF16():
		return e.encodeUTF16(text), nil
	case ascii(text) == len(text):
		return text, nil
	}
	if e == Windows1252 {
		return encodeWindows1252(text)
	}
	encoder := e.library().NewEncoder()
	if out, err := encoder.Bytes(text); err == nil {
		if back, ok := e.Decode(out); ok && bytes.Equal(back, text) {
			return out, nil
		}
	}
	// Some character cannot be encoded, or what the library encodes it as is another one (the yen sign as a backslash of Shift_JIS).
	for len(text) > 0 {
		c, size := utf8.DecodeRune(text)
		out, err := encoder.Bytes(text[:size])
		if back, ok := e.Decode(out); err != nil || !ok || !bytes.Equal(back, text[:size]) {
			return nil, &UnencodableError{e, c}
		}
		text = text[size:]
	}
	panic("encoding: each character of a text can be encoded, but not the text, in " + e.String())
}

func encodeWindows1252(text []byte) ([]byte, error) {
	single := &tables[Windows1252]().single
	out := make([]byte, 0, len(text))
	for _, c := range string(text) {
		b := c
		if c >= 0x100 || c >= 0x80 && single[c] != c {
			b = rune(0x80 + slices.Index(single[0x80:0xa0], c))
		}
		if b < 0x80 && c >= 0x80 {
			return nil, &UnencodableError{Windows1252, c}
		}
		out = append(out, byte(b))
	}
	return out, nil
}

func (e Encoding) encodeUTF16(text []byte) []byte {
	out := make([]byte, 0, 2*len(text))
	for _, c := range string(text) {
		units := [2]uint16{uint16(c)}
		n := 1
		if c > 0xffff {
			units = [2]uint16{uint16(0xd800 + (c-0x10000)>>10), uint16(0xdc00 + (c-0x10000)&0x3ff)}
			n = 2
		}
		for _, unit := range units[:n] {
			if e == UTF16LE {
				out = append(out, byte(unit), byte(unit>>8))
			} else {
				out = append(out, byte(unit>>8), byte(unit))
			}
		}
	}
	return out
}
