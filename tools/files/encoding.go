package files

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolhost/agenttool"
	"toolhost/tools/encoding"
)

// parseEncoding returns the encoding that an input names, Binary if it names none. head is the beginning of the file, or nil.
func parseEncoding(name string, head []byte) (encoding.Encoding, error) {
	if name == "" {
		return encoding.Binary, nil
	}
	declared, err := encoding.Parse(name, head)
	if err != nil {
		return declared, invalid("/encoding", err.Error())
	}
	if mark := encoding.ByMark(head); mark.IsUTF16() && declared.IsUTF16() && mark != declared {
		return declared, invalid("/encoding", fmt.Sprintf("the file begins with the byte order mark of %s: leave `encoding` out", mark))
	}
	return declared, nil
}

// decodeAs reads the document in the encoding that the input names, if it names one.
func (d *document) decodeAs(name string) error {
	declared, err := parseEncoding(name, d.raw)
	if err != nil || declared == encoding.Binary {
		return err
	}
	found := encoding.Declared(declared, d.raw)
	if at := declared.FirstMalformed(found.Body(d.raw)); at >= 0 {
		return notDecoded(d.path.Spelling, declared, at+len(d.raw)-len(found.Body(d.raw)))
	}
	d.form, d.found = inspect(d.raw, declared)
	d.found.Guard = encoding.Contradicted(declared, d.raw)
	d.text = nil
	if !d.form.binary {
		d.text, _ = d.found.Text(d.raw)
	}
	d.declared = true
	return nil
}

// notDecoded is the error for a file that is not in the declared encoding. at is the offset of the first byte that is no character, negative if
// it is not known.
func notDecoded(name string, declared encoding.Encoding, at int) error {
	place := ""
	if at >= 0 {
		place = fmt.Sprintf(": byte %d begins no character of it", at)
	}
	return agenttool.Failure(agenttool.InvalidArguments, "encoding", fmt.Sprintf(
		"%s is not %s%s; leave `encoding` out, or give another; nothing was changed", name, declared, place)).In("/encoding")
}

// isUTF8 reports whether the bytes of the document are its text, but for a byte order mark.
func (d *document) isUTF8() bool { return d.found.Encoding == encoding.UTF8 }

// withMark returns text, in UTF-8, with the byte order mark of the document.
func (d *document) withMark(text []byte) []byte {
	if !d.found.Mark {
		return text
	}
	return append([]byte(encoding.UTF8.Mark()), text...)
}

// mayBe reports whether the document, whose encoding is not certain, may be in another one.
func (d *document) mayBe(declared encoding.Encoding) bool {
	return d.found.Encoding.IsLegacy() && slices.Contains(d.found.Decoding, declared)
}

// changeable returns an error if the text of the document cannot be changed, because its encoding cannot be decoded.
func (d *document) changeable() error {
	if d.form.encoding != encoding.ISO2022 {
		return nil
	}
	return agenttool.Failure(agenttool.InvalidArguments, "encoding", d.path.Spelling+
		" has the escapes of ISO-2022, which change the meaning of the bytes that follow: a change could damage them, so nothing was changed. "+
		"Convert the file first (iconv -f iso-2022-jp -t utf-8), or give encoding \"utf-8\" if the escapes mean something else")
}

// admits returns an error if text has characters that are not ASCII, and the file's encoding is only the last guess: bytes that no other
// encoding explains, or UTF-8 with damaged characters.
func (d *document) admits(text string) error {
	if !d.found.Mixed || d.declared {
		return nil
	}
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return agenttool.Failure(agenttool.InvalidArguments, "encoding", fmt.Sprintf(
				"%s is neither UTF-8 nor %s throughout, so %q (U+%04X) could only be written by a guess: nothing was changed; "+
					"use ASCII, give the file's encoding, or convert the file first (iconv -f … -t utf-8)",
				d.path.Spelling, d.found.Encoding, c, c))
		}
	}
	return nil
}

// unsafeChange is the error for a change of a text that its encoding, or another one that it may have, does not allow.
func unsafeChange(err error) *agenttool.Error {
	if missing, ok := errors.AsType[*encoding.UnencodableError](err); ok {
		return agenttool.Failure(agenttool.InvalidArguments, "encoding", fmt.Sprintf(
			"%q (U+%04X) cannot be written in %s, the file's encoding: use other characters, or convert the file first (iconv -f %s -t utf-8)",
			missing.Rune, missing.Rune, missing.Encoding, missing.Encoding))
	}
	cut, ok := errors.AsType[*encoding.CutError](err)
	if !ok {
		return agenttool.Failure(agenttool.ExecutionFailed, "encoding", err.Error()).Because(err)
	}
	what := fmt.Sprintf("a change begins or ends within a character of %s", cut.Encoding)
	if cut.NewText {
		what = fmt.Sprintf("the new text, written in %s, would be damaged in %s", cut.Shown, cut.Encoding)
	}
	remedy := "change all of the character"
	if cut.Encoding != cut.Shown {
		what += fmt.Sprintf(", and the file, shown as %s, may be in that encoding", cut.Shown)
		remedy = fmt.Sprintf("if you know the encoding, give it (encoding: %q or %q), else change more of the text around the place",
			cut.Shown, cut.Encoding)
	}
	return agenttool.Failure(agenttool.InvalidArguments, "encoding", what+": "+remedy)
}

// rewrite returns the bytes of a new text of the whole document. Lines that stay, and characters at both ends of lines that change, keep
// their bytes.
func (d *document) rewrite(text []byte) ([]byte, error) {
	if d.isUTF8() {
		return d.withMark(text), nil
	}
	var lines []encoding.Change
	for _, e := range changedLines(string(d.text), string(text)) {
		lines = append(lines, encoding.Change{Start: e.Start, End: e.End, Text: e.New})
	}
	changes := encoding.Changes(d.text, lines)
	for _, c := range changes {
		if err := d.admits(c.Text); err != nil {
			return nil, err
		}
	}
	raw, err := d.found.Replace(d.raw, changes)
	if err != nil {
		failure := unsafeChange(err)
		failure.Message = d.path.Spelling + ": " + failure.Message + "; nothing was changed"
		return nil, failure
	}
	return raw, d.readsAs(raw, text)
}

// readsAs returns an error if the revised bytes would be shown as another text than the one that was meant, because they would be taken
// for another encoding.
func (d *document) readsAs(raw, text []byte) error {
	found := encoding.Recognise(raw)
	if d.declared {
		found = d.found
	}
	shown, ok := found.Text(raw)
	if ok && bytes.Equal(shown, text) {
		return nil
	}
	return agenttool.Failure(agenttool.InvalidArguments, "encoding", fmt.Sprintf(
		"after the change %s would be taken for %s instead of %s: nothing was changed; give encoding: %q to change it nevertheless",
		d.path.Spelling, found.Encoding, d.found.Encoding, d.found.Encoding))
}

// encodeNew returns the bytes of a whole text in an encoding that is not that of the file, or of a new file. UTF-16 gets its byte order
// mark, by which it is recognised.
func encodeNew(declared encoding.Encoding, text string) ([]byte, error) {
	mark := declared.Mark()
	if !declared.IsUTF16() || strings.HasPrefix(text, "\ufeff") {
		mark = ""
	}
	raw, err := declared.Encode([]byte(text))
	if missing, ok := errors.AsType[*encoding.UnencodableError](err); ok {
		return nil, agenttool.Failure(agenttool.InvalidArguments, "encoding", fmt.Sprintf(
			"%q (U+%04X) cannot be written in %s: nothing was changed; use other characters or another encoding",
			missing.Rune, missing.Rune, declared))
	}
	return append([]byte(mark), raw...), err
}
