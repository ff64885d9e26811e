package output

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"strings"
	"unicode/utf8"

	"toolhost/agenttool/count"
	"toolhost/agenttool/cut"
	"toolhost/tools/encoding"
)

// sampleBytes is how much of a stream is looked at to tell text from other data.
const sampleBytes = 32 << 10

// sample returns the first bytes of the wanted streams in [from, to).
func (l *Log) sample(from, to int64, want Streams) []byte {
	raw := make([]byte, 0, min(sampleBytes, to-from))
	for from < to && len(raw) < cap(raw) {
		c, gap := l.next(raw[len(raw):cap(raw)], from, to, want)
		if gap != nil || len(c.b) == 0 {
			break
		}
		raw, from = raw[:len(raw)+len(c.b)], c.to()
	}
	return raw
}

// binaryKind says what kind of data raw, the beginning of an output, is, such as "application/gzip"; "" if it is text. Text may be of any
// encoding that the package encoding knows, hold escape sequences, and have NUL between its parts, as file names of find -print0 do. A few
// odd bytes make no text binary.
func binaryKind(raw []byte) string {
	nul, control, malformed := 0, 0, 0
	for _, b := range raw {
		switch {
		case b == 0:
			nul++
		case b < ' ' && (b < '\a' || b > '\r') && b != 0x1b || b == 0x7f:
			control++
		}
	}
	for rest := raw; len(rest) > 0; {
		c, size := utf8.DecodeRune(rest)
		if c == utf8.RuneError && size == 1 && utf8.FullRune(rest) {
			malformed++
		}
		rest = rest[size:]
	}
	odd := control + malformed
	switch {
	case odd+nul <= 4:
		return ""
	case nul*3 <= len(raw) && odd*10 <= len(raw):
		return ""
	case control*30 <= len(raw) && isKnownText(raw):
		return ""
	}
	return kindOf(raw)
}

// isKnownText reports whether raw is text in an encoding other than UTF-8. The end of a sample may be part of a character.
func isKnownText(raw []byte) bool {
	for tail := 0; tail < utf8.UTFMax && tail < len(raw); tail++ {
		if r := encoding.Recognise(raw[:len(raw)-tail]); r.Encoding.IsText() && !r.Mixed {
			return true
		}
	}
	return false
}

// kindOf names a kind of data by its first bytes.
func kindOf(raw []byte) string {
	for _, known := range []struct{ magic, kind string }{
		{"\x7fELF", "an ELF program"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"\xfd7zXZ\x00", "xz"}, {"BZh", "bzip2"}, {"SQLite format 3\x00", "an SQLite database"},
	} {
		if bytes.HasPrefix(raw, []byte(known.magic)) {
			return known.kind
		}
	}
	switch kind := http.DetectContentType(raw); {
	case kind == "application/octet-stream", strings.HasPrefix(kind, "text/"):
		return "data"
	default:
		return kind
	}
}

// binaryText stands in a result for an output of that many bytes that is not text.
func binaryText(kind string, bytes int64, where string) string {
	if where != "" {
		where = "; " + where
	}
	return fmt.Sprintf("[%s of binary output (%s), not shown%s; to look into it: COMMAND | xxd | head, or COMMAND | file -]\n", count.Grouped(bytes, "byte", "bytes"), kind, where)
}

// decoded returns a stream's whole text if it is of an encoding other than UTF-8; "" if not, or if it is long.
func (l *Log) decoded(s Stream, to int64, bytes int64) string {
	if bytes >= sampleBytes {
		return ""
	}
	raw := l.sample(0, to, Only(s))
	if int64(len(raw)) != bytes || utf8.Valid(cut.Whole(raw)) {
		return ""
	}
	r := encoding.Recognise(raw)
	plain, ok := r.Text(raw)
	if !r.Encoding.IsText() || r.Encoding == encoding.UTF8 || r.Mixed || !ok {
		return ""
	}
	var d decoder
	var t text
	d.write(&t, plain, math.MaxInt)
	return string(t.b)
}
