package index

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

type cut struct {
	size   int
	offset int64
	line   int
}

func cuts(text []byte) (all []cut) {
	Cut(text, func(chunk []byte, offset int64, line int) {
		all = append(all, cut{len(chunk), offset, line})
	})
	return all
}

func TestCut(t *testing.T) {
	const size = ChunkSize
	long := strings.Repeat("x", size)
	for _, test := range []struct {
		name string
		text string
		want []cut
	}{
		{"empty", "", nil},
		{"without an end", "a\nb", []cut{{3, 0, 1}}},
		{"full", long, []cut{{size, 0, 1}}},
		{"full with its end", long[1:] + "\n", []cut{{size, 0, 1}}},
		{"end just beyond", long + "\nb", []cut{{size + 1, 0, 1}, {1, size + 1, 2}}},
		{"long line between", "a\nb\n" + long + long + "\nc\n", []cut{{4, 0, 1}, {2*size + 1, 4, 3}, {2, 2*size + 5, 4}}},
		{"long line at the end", "a\n" + long, []cut{{2, 0, 1}, {size, 2, 2}}},
		{"short lines", strings.Repeat("abc\n", size/2), []cut{{size, 0, 1}, {size, size, size/4 + 1}}},
		{"no line begins at the limit", strings.Repeat("abcde\n", size/4), []cut{
			{size / 6 * 6, 0, 1}, {size/4*6 - size/6*6, size / 6 * 6, size/6 + 1},
		}},
		{"only ends", strings.Repeat("\n", size+2), []cut{{size, 0, 1}, {2, size, size + 1}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := cuts([]byte(test.text)); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// The text is given as a pattern that is repeated, so that it is long enough to be cut.
func FuzzCut(f *testing.F) {
	f.Add([]byte("a line\nanother\n\n"), uint16(9000), []byte("no end"))
	f.Add([]byte("x"), uint16(65535), []byte("\nend\n"))
	f.Add([]byte("\r\n\x00\xff"), uint16(40000), []byte("\n"))
	f.Fuzz(func(t *testing.T, pattern []byte, times uint16, rest []byte) {
		if len(pattern) > 64 {
			return
		}
		text := append(bytes.Repeat(pattern, int(times)), rest...)
		at := 0
		Cut(text, func(chunk []byte, offset int64, line int) {
			if int(offset) != at || !bytes.HasPrefix(text[at:], chunk) || len(chunk) == 0 {
				t.Fatalf("%d bytes at %d, want them from %d", len(chunk), offset, at)
			}
			if want := bytes.Count(text[:at], []byte("\n")) + 1; line != want {
				t.Errorf("line %d, want %d", line, want)
			}
			at += len(chunk)
			if at < len(text) && chunk[len(chunk)-1] != '\n' {
				t.Errorf("a line is cut in two at %d", at)
			}
			if len(chunk) > ChunkSize && bytes.IndexByte(chunk[:len(chunk)-1], '\n') >= 0 {
				t.Errorf("a chunk of several lines has %d bytes", len(chunk))
			}
		})
		if at != len(text) {
			t.Errorf("%d bytes of %d", at, len(text))
		}
	})
}
