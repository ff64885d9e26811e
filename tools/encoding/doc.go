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
// The rule takes the whole content, and the first line that fits:
//
//  1. A byte order mark of UTF-16: that encoding. If the rest has a surrogate without its partner, U+0000, or half a character: binary.
//  2. A NUL byte: UTF-16 without a mark, if the content decodes in one byte order and has only characters of texts there: assigned ones,
//     no private ones, of the control characters only tab, LF, FF and CR. There must be two characters or more; at
//     least three quarters must be ASCII, or one of 51 if LF is among them, which is no character in the other byte order. Those whose
//     two bytes are both printable ASCII speak for words between NUL bytes: they must not be more than the others above ASCII, or
//     at most a tenth of those of ASCII. If both byte orders fit, the one with ASCII counts if the other has none. Otherwise: binary.
//  3. An escape of ISO-2022 to characters of two bytes (ESC, $, and one of @AB()*+) in a content that is ASCII, or that is not UTF-8:
//     iso-2022. There the meaning of a byte depends on all bytes before it: it is not decoded, and cannot be changed.
//  4. Valid UTF-8: utf-8, with or without its mark, and nothing else.
//  5. Otherwise the encoding is not certain. Windows-1252 decodes everything; each of shift_jis, euc-jp, euc-kr, gbk, gb18030 and big5
//     may decode the content or not. All that do are in [Recognition].Decoding. The likeliest is Encoding: Each of the six gets
//     the share of its characters above ASCII that are frequent in its languages (lists of some hundred), or half as much for one
//     of its block of everyday characters. Windows-1252 gets the share of the bytes above ASCII that are letters, quotes or usual signs
//     and stand alone or in pairs. The highest share wins, among equals the first of shift_jis, euc-jp, euc-kr, gbk, gb18030, big5,
//     windows-1252. The first 10,000 characters count.
//
// The guess decides what is shown and how new text is written. It does not decide what may be replaced.
//
// # Safety
//
// [Recognition.Replace] and [Splicer] splice bytes: those outside the replaced parts are never decoded and encoded again. A part can only be replaced
// if both of its ends are borders of characters in every encoding of Decoding, and if the new bytes decode by themselves in each of
// them. Then no wrong guess damages a character outside the part, and the content still decodes in all of them. Who knows
// the encoding says so ([Said]); then only that one counts.
//
// # Peculiarities
//
//   - The bytes 81, 8D, 8F, 90 and 9D have no meaning in Windows-1252. They are U+0081, U+008D, U+008F, U+0090 and U+009D, as in the
//     standard of the WHATWG, and are written as the same bytes.
//   - Several byte sequences can be the same character (in Shift_JIS and EUC-KR, for example). They decode alike; [Encoding.Encode] chooses the
//     usual one. Text that is not replaced keeps its bytes.
//   - The library encodes some characters as others (the yen sign as 0x5C, which decodes as a backslash). Encode refuses them.
//   - A NUL byte is no text in any encoding but UTF-16.
//   - In each legacy encoding of the list, a byte below 0x30 is always a character of its own. Decoders are in step again after it.
package encoding
