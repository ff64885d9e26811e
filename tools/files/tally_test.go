package files

import (
	"bytes"
	"testing"
)

// The pass over wide registers finds what a pass for each fact finds, wherever it is.
func FuzzTally(f *testing.F) {
	for _, at := range []int{0, 31, 32, 63, 64, 127, 128, 200} {
		for _, c := range []byte{'\n', '\r', 0, 0x80, 0xff} {
			b := bytes.Repeat([]byte("x"), 201)
			b[at] = c
			f.Add(b)
		}
	}
	f.Add(bytes.Repeat([]byte("\n"), 3*roundSize))
	f.Add(bytes.Repeat([]byte{0x7f, 1}, roundSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		var want tally
		want.add(b)
		if got := tallyOf(b); got != want {
			t.Errorf("%q: %+v, want %+v", b, got, want)
		}
	})
}

func BenchmarkTally(b *testing.B) {
	text := bytes.Repeat([]byte("a line of text\n"), chunkSize/15)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tallyOf(text)
	}
}
