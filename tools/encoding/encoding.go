package encoding

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// Encoding is a character encoding of the list. The zero value is Binary.
type Encoding uint8

// The encodings of the list, and two kinds of content that have none of them.
const (
	Binary  Encoding = iota // no text: it is not decoded
	ISO2022                 // 7-bit text with escapes that change the meaning of its bytes: it is not decoded
	UTF8
	UTF16LE
	UTF16BE
	Windows1252 // a superset of ISO 8859-1, except for 32 control characters
	ShiftJIS    // with Microsoft's extensions, code page 932
	EUCJP
	EUCKR   // with Microsoft's extensions, code page 949
	GBK     // a superset of GB 2312
	GB18030 // a superset of GBK
	Big5
)

// entries describes the encodings: the name, usual synonyms, and the byte order mark.
var entries = [...]struct {
	name     string
	synonyms string
	mark     string
}{
	Binary:      {name: "binary"},
	ISO2022:     {name: "iso-2022"},
	UTF8:        {name: "utf-8", synonyms: "utf8 utf-8-sig utf8-bom ascii us-ascii", mark: "\xef\xbb\xbf"},
	UTF16LE:     {name: "utf-16le", synonyms: "utf16le utf-16-le ucs-2le ucs2 unicode", mark: "\xff\xfe"},
	UTF16BE:     {name: "utf-16be", synonyms: "utf16be utf-16-be ucs-2be", mark: "\xfe\xff"},
	Windows1252: {name: "windows-1252", synonyms: "cp1252 cp-1252 1252 win1252 ansi latin1 latin-1 l1 iso-8859-1 iso8859-1 iso_8859-1 iso88591"},
	ShiftJIS:    {name: "shift_jis", synonyms: "shift-jis shiftjis sjis s-jis x-sjis ms_kanji windows-31j cp932 ms932"},
	EUCJP:       {name: "euc-jp", synonyms: "eucjp euc_jp x-euc-jp ujis"},
	EUCKR:       {name: "euc-kr", synonyms: "euckr euc_kr cp949 ms949 uhc windows-949 ks_c_5601-1987 ksc5601 korean"},
	GBK:         {name: "gbk", synonyms: "gb2312 gb_2312 euc-cn euccn cp936 ms936 windows-936 x-gbk chinese"},
	GB18030:     {name: "gb18030", synonyms: "gb-18030 gb18030-2000 gb18030-2005"},
	Big5:        {name: "big5", synonyms: "big-5 big5-hkscs cp950 ms950 windows-950 x-x-big5"},
}

// doubleByte are the legacy encodings with characters of several bytes, in the order in which equals are preferred.
var doubleByte = [...]Encoding{ShiftJIS, EUCJP, EUCKR, GBK, GB18030, Big5}

// String returns the name.
func (e Encoding) String() string { return entries[e].name }

// MarshalText implements [encoding.TextMarshaler] of the standard library.
func (e Encoding) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Mark returns the byte order mark, empty if the encoding has none.
func (e Encoding) Mark() string { return entries[e].mark }

// IsUTF16 reports whether e is UTF-16, in either byte order.
func (e Encoding) IsUTF16() bool { return e == UTF16LE || e == UTF16BE }

// IsLegacy reports whether e is an encoding of the list that is no form of Unicode.
func (e Encoding) IsLegacy() bool { return e >= Windows1252 }

// IsText reports whether e is an encoding of the list.
func (e Encoding) IsText() bool { return e >= UTF8 }

// Names returns the names of the encodings of the list.
func Names() []string {
	var names []string
	for e := UTF8; int(e) < len(entries); e++ {
		names = append(names, e.String())
	}
	return names
}

// Parse returns the encoding that has a name or a synonym, whatever its letter case. head is the beginning of the file, or empty: "utf-16" is
// the byte order of its mark, or little endian if it has none. The error lists the names.
func Parse(name string, head []byte) (Encoding, error) {
	wanted := strings.ToLower(strings.TrimSpace(name))
	if wanted == "utf-16" || wanted == "utf16" {
		if bytes.HasPrefix(head, []byte(UTF16BE.Mark())) {
			return UTF16BE, nil
		}
		return UTF16LE, nil
	}
	for e := UTF8; int(e) < len(entries); e++ {
		if wanted == e.String() || slices.Contains(strings.Fields(entries[e].synonyms), wanted) {
			return e, nil
		}
	}
	return Binary, fmt.Errorf("encoding %q is unknown: use one of %s", name, strings.Join(Names(), ", "))
}

// ByMark returns the encoding whose byte order mark head begins with, Binary if there is none.
func ByMark(head []byte) Encoding {
	for _, e := range []Encoding{UTF8, UTF16LE, UTF16BE} {
		if bytes.HasPrefix(head, []byte(e.Mark())) {
			return e
		}
	}
	return Binary
}
