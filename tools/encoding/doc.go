// Package encoding knows the character encodings in which text files are stored: it recognises them, decodes and encodes them, and
// replaces parts of a text without touching another byte.
//
//	found := encoding.Recognise(raw)
//	text, _ := found.Text(raw)
//	raw, err := found.Replace(raw, []encoding.Change{{Start: 3, End: 5, Text: "é"}}) // of text
//
// The list: utf-8, utf-16le, utf-16be, windows-1252, shift_jis, euc-jp, euc-kr, gbk, gb18030, big5. The tables of the legacy ones are
// those of golang.org/x/text, which follows the Encoding Standard of the WHATWG. [Parse] knows usual synonyms of the names.
//
// # Recognition
//
// The rule looks at the whole content. The first of these rows that applies decides:
//
//  1. The content begins with a byte order mark of UTF-16: that encoding. If the rest has a surrogate without its partner, U+0000, or half a
//     character, it is binary.
//  2. It has a NUL byte: UTF-16 without a mark if it reads as a text in one byte order (see below), otherwise binary.
//  3. It has an escape of ISO-2022 to characters of two bytes (ESC, $, and one of @AB()*+), and is ASCII or not UTF-8: iso-2022. There the
//     meaning of a byte depends on all bytes before it, so it is not decoded and cannot be changed.
//  4. It is valid UTF-8: utf-8, with or without its mark, and nothing else.
//  5. Otherwise the encoding is not certain. [Recognition].Decoding has all legacy encodings that decode the content, and Encoding is the
//     likeliest of them (see below). Windows-1252 decodes everything.
//
// In row 2 a byte order fits if the content decodes in it to two characters or more, and all of them are such as texts have: assigned, not
// private, and of the control characters only tab, LF, FF and CR. Three quarters must be ASCII. One of 51 is enough if LF is among them,
// because U+0A00, which LF would be in the other byte order, is unassigned. Characters whose two bytes are both printable ASCII suggest
// words between NUL bytes instead of UTF-16: there must be no more of them than of other characters above ASCII, or at most a tenth as many
// as of ASCII. If both byte orders fit, the one with ASCII counts if the other has none; otherwise the content is binary.
//
// In row 5 each encoding gets a share between 0 and 1, from the first 10,000 characters. For shift_jis, euc-jp, euc-kr, gbk, gb18030 and big5
// it is the share of the characters above ASCII that are frequent in the languages of the encoding (lists of some hundred), where one that is
// only in its block of everyday characters counts half. For windows-1252 it is the share of the bytes above ASCII that are letters, quotes or
// usual signs, and stand alone or in pairs. The highest share wins, and among equals the first in the order of this paragraph.
//
// The guess decides what is shown and how new text is written. It does not decide what may be replaced.
//
// # Safety
//
// [Recognition.Replace] and [Splicer] splice bytes: those outside the replaced parts are never decoded and encoded again. A part can only be
// replaced if both of its ends are borders of characters in every encoding of Decoding, and if the new bytes decode by themselves in each of
// them. So even if the guess is wrong, no character outside the part is damaged, and the content still decodes in all of them. If the caller
// knows the encoding ([Declared]), that one counts, and the characters of the one that the content seems to have are not cut either ([Contradicted]):
// callers guess, too.
//
// # Peculiarities
//
//   - The bytes 81, 8D, 8F, 90 and 9D have no meaning in Windows-1252. They are U+0081, U+008D, U+008F, U+0090 and U+009D, as in the
//     standard of the WHATWG, and are written as the same bytes.
//   - Several byte sequences can be the same character (in Shift_JIS and EUC-KR, for example). [Encoding.Encode] chooses the usual one. Text
//     that is not replaced keeps its bytes.
//   - The library encodes some characters as others (the yen sign as 0x5C, which decodes as a backslash). Encode refuses them.
//   - Only in UTF-16 can a text have NUL bytes.
//   - In each legacy encoding of the list, a byte below 0x30 is always a character of its own. A decoder that has lost its place is right again after it.
package encoding
