package files

import (
	"bytes"
	"strings"
	"testing"

	"toolhost/tools/encoding"
)

// A file that is looked at piece by piece has the form that it has as a whole.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{"a\r\nb\n", "caf\xe9\n", "€€€€€\r", "😀\x00", "\xef\xbb\xbfx", "\x82\x82\x82\x82", "\xe2\x82", "é\xe2"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, raw []byte, chunk uint8) {
		s, ok := newScan(raw, int64(max(chunk, 3)))
		if !ok || len(raw) == 0 || string(raw) == encoding.UTF8.Mark() {
			return
		}
		file := bytes.NewReader(append(raw[:len(raw):len(raw)], "\x00\xff\n"...)) // it has grown since
		ended, err := newScanner(file, int64(len(raw)), int64(max(chunk, 3))).until(t.Context(), &s, 1<<40)
		if err != nil || !ended && !s.form.binary && !s.malformed || s.seen > int64(len(raw)) {
			t.Fatalf("ended is %v after %d bytes of %d, %v", ended, s.seen, len(raw), err)
		}
		whole, _ := inspect(raw, encoding.Binary)
		switch {
		case s.form.binary && !whole.binary && !whole.encoding.IsUTF16():
			t.Errorf("%q: binary is %v, want %v", raw, s.form.binary, whole.binary)
		case !whole.binary && !s.form.binary && s.malformed != whole.encoding.IsLegacy() && whole.encoding != encoding.ISO2022:
			t.Errorf("%q: malformed is %v, want the encoding %s", raw, s.malformed, whole.encoding)
		case whole.encoding == encoding.UTF8 && !s.malformed && s.form != whole:
			t.Errorf("%q: form %+v, want %+v", raw, s.form, whole)
		}
	})
}

// A file that is shorter than it was when it was opened is one that ended.
func TestScanOfAFileThatBecameShorter(t *testing.T) {
	for _, raw := range []string{"", "a\n", "a\nb\n", "a\nb\nc"} {
		s, _ := newScan([]byte(raw), 4)
		ended, err := newScanner(strings.NewReader(raw), 100, 4).until(t.Context(), &s, 1<<40)
		if err != nil || !ended || s.form != formOf([]byte(raw)) || s.seen != int64(len(raw)) {
			t.Errorf("%q: ended is %v, %v, after %d bytes: %+v", raw, ended, err, s.seen, s.form)
		}
	}
}

func formOf(raw []byte) form {
	f, _ := inspect(raw, encoding.Binary)
	return f
}
