package encoding

import (
	"encoding/binary"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	textencoding "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// library returns the implementation of a legacy encoding in golang.org/x/text.
func (e Encoding) library() textencoding.Encoding {
	switch e {
	case Windows1252:
		return charmap.Windows1252
	case ShiftJIS:
		return japanese.ShiftJIS
	case EUCJP:
		return japanese.EUCJP
	case EUCKR:
		return korean.EUCKR
	case GBK:
		return simplifiedchinese.GBK
	case GB18030:
		return simplifiedchinese.GB18030
	case Big5:
		return traditionalchinese.Big5
	}
	panic("encoding: " + e.String() + " is no legacy encoding")
}

// The bytes of a character with two bytes.
const (
	firstLead  = 0x80
	firstTrail = 0x40 // GB18030 has trails from 0x30 on, of characters with four bytes
	trails     = 0x100 - firstTrail
)

// table holds the characters of a legacy encoding with one and two bytes, and those with three that begin with 0x8F (EUC-JP). 0 means
// that the bytes are no character. Values above unicode.MaxRune are places in sequences.
type table struct {
	single [0x100]rune
	double [0x100 - firstLead][trails]rune
	triple map[[2]byte]rune
	four   bool // there are characters with four bytes
}

// sequences are the characters of Big5 that are two in Unicode.
var sequences = [...]string{"\u00ca\u0304", "\u00ca\u030c", "\u00ea\u0304", "\u00ea\u030c"}

// tables builds the table of each legacy encoding from the library when it is first needed. It takes about two milliseconds.
var tables = [...]func() *table{
	Windows1252: sync.OnceValue(func() *table { return newTable(Windows1252) }),
	ShiftJIS:    sync.OnceValue(func() *table { return newTable(ShiftJIS) }),
	EUCJP:       sync.OnceValue(func() *table { return newTable(EUCJP) }),
	EUCKR:       sync.OnceValue(func() *table { return newTable(EUCKR) }),
	GBK:         sync.OnceValue(func() *table { return newTable(GBK) }),
	GB18030:     sync.OnceValue(func() *table { return newTable(GB18030) }),
	Big5:        sync.OnceValue(func() *table { return newTable(Big5) }),
}

func newTable(e Encoding) *table {
	decoder := e.library().NewDecoder()
	var out [16]byte
	character := func(in ...byte) rune {
		decoder.Reset()
		n, read, err := decoder.Transform(out[:], in, true)
		if err != nil || read != len(in) {
			return 0
		}
		r, size := utf8.DecodeRune(out[:n])
		for i, sequence := range sequences {
			if string(out[:n]) == sequence {
				return unicode.MaxRune + 1 + rune(i)
			}
		}
		if r == utf8.RuneError || size != n {
			return 0
		}
		return r
	}
	t := &table{four: e == GB18030}
	for b := range 0x100 {
		t.single[b] = character(byte(b))
		if e == Windows1252 && t.single[b] == 0 {
			t.single[b] = rune(b) // as in the standard of the WHATWG: undefined bytes are control characters
		}
	}
	for lead := firstLead; lead < 0x100 && e != Windows1252; lead++ {
		for trail := firstTrail; trail < 0x100 && t.single[lead] == 0; trail++ {
			t.double[lead-firstLead][trail-firstTrail] = character(byte(lead), byte(trail))
		}
	}
	if e != EUCJP {
		return t
	}
	t.triple = map[[2]byte]rune{}
	for a := 0xa1; a <= 0xfe; a++ {
		for b := 0xa1; b <= 0xfe; b++ {
			if r := character(0x8f, byte(a), byte(b)); r != 0 {
				t.triple[[2]byte{byte(a), byte(b)}] = r
			}
		}
	}
	return t
}

// reader reads characters of one encoding.
type reader struct {
	encoding Encoding
	table    *table // of a legacy encoding
}

func newReader(e Encoding) reader {
	if e.IsLegacy() {
		return reader{e, tables[e]()}
	}
	return reader{encoding: e}
}

// first returns the first character of b, which is not empty, and its size in bytes. Size 0 means that b ends within a character. If no
// character begins with b, ok is false and size is the number of bytes to skip.
func (r reader) first(b []byte) (character rune, size int, ok bool) {
	switch r.encoding {
	case UTF16LE:
		return firstUTF16(b, binary.LittleEndian)
	case UTF16BE:
		return firstUTF16(b, binary.BigEndian)
	case UTF8:
		if !utf8.FullRune(b) {
			return 0, 0, true
		}
		c, n := utf8.DecodeRune(b)
		return c, n, c != utf8.RuneError || n > 1
	case Binary, ISO2022:
		return rune(b[0]), 1, true
	}
	return r.table.first(b)
}

func firstUTF16(b []byte, order binary.ByteOrder) (character rune, size int, ok bool) {
	if len(b) < 2 {
		return 0, 0, true
	}
	c := rune(order.Uint16(b))
	if !utf16.IsSurrogate(c) {
		return c, 2, true
	}
	if c >= 0xdc00 {
		return utf8.RuneError, 2, false
	}
	if len(b) < 4 {
		return 0, 0, true
	}
	if c = utf16.DecodeRune(c, rune(order.Uint16(b[2:]))); c == utf8.RuneError {
		return c, 2, false
	}
	return c, 4, true
}

// first is reader.first. A byte of ASCII after a lead byte that it does not belong to is a character of its own.
func (t *table) first(b []byte) (character rune, size int, ok bool) {
	if c := t.single[b[0]]; c != 0 || b[0] == 0 {
		return c, 1, true
	}
	if len(b) < 2 {
		return 0, 0, true
	}
	if b[1] >= firstTrail {
		if c := t.double[b[0]-firstLead][b[1]-firstTrail]; c != 0 {
			return c, 2, true
		}
	}
	switch {
	case t.triple != nil && b[0] == 0x8f && b[1] >= 0xa1 && len(b) < 3:
		return 0, 0, true
	case t.triple != nil && b[0] == 0x8f && b[1] >= 0xa1:
		if c := t.triple[[2]byte{b[1], b[2]}]; c != 0 {
			return c, 3, true
		}
	case t.four && '0' <= b[1] && b[1] <= '9' && b[0] > 0x80 && b[0] < 0xff:
		return firstFour(b)
	}
	return utf8.RuneError, 1, false
}

// firstFour returns the first character of b in GB18030, which has four bytes.
func firstFour(b []byte) (character rune, size int, ok bool) {
	if len(b) < 4 {
		bad := len(b) == 3 && (b[2] <= 0x80 || b[2] == 0xff)
		if bad {
			return utf8.RuneError, 1, false
		}
		return 0, 0, true
	}
	var out [utf8.UTFMax]byte
	n, read, err := simplifiedchinese.GB18030.NewDecoder().Transform(out[:], b[:4], true)
	c, _ := utf8.DecodeRune(out[:n])
	replacement := string(b[:4]) == "\x84\x31\xa4\x37" // the only bytes that are U+FFFD
	if err != nil || read != 4 || n == 0 || c == utf8.RuneError && !replacement {
		return utf8.RuneError, 1, false
	}
	return c, 4, true
}

// appendCharacter appends a character that first returned, in UTF-8.
func appendCharacter(out []byte, c rune) []byte {
	if c > unicode.MaxRune {
		return append(out, sequences[c-unicode.MaxRune-1]...)
	}
	return utf8.AppendRune(out, c)
}

// textLen returns the length of a character that first returned, in UTF-8.
func textLen(c rune) int {
	if c > unicode.MaxRune {
		return len(sequences[c-unicode.MaxRune-1])
	}
	return utf8.RuneLen(c)
}

// ascii returns the number of bytes at the beginning of b that are ASCII.
func ascii(b []byte) int {
	n := 0
	for n+8 <= len(b) && binary.LittleEndian.Uint64(b[n:])&0x8080808080808080 == 0 {
		n += 8
	}
	for n < len(b) && b[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// IsASCII reports whether all bytes of b are at most 0x7f. It is twice as fast as utf8.Valid.
func IsASCII(b []byte) bool {
	const high = 0x8080808080808080
	var seen uint64
	for ; len(b) >= 32; b = b[32:] {
		seen |= binary.LittleEndian.Uint64(b) | binary.LittleEndian.Uint64(b[8:]) |
			binary.LittleEndian.Uint64(b[16:]) | binary.LittleEndian.Uint64(b[24:])
	}
	for _, c := range b {
		seen |= uint64(c)
	}
	return seen&high == 0
}
