package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/sys/unix"

	"toolhost/tools/search/match"
)

// scanned is what a search of one file found.
type scanned struct {
	lines   []Line
	count   int
	parts   int
	skipped SkipCounts
}

// String returns the lines as grep shows them.
func (s scanned) String() string {
	var out strings.Builder
	for _, l := range s.lines {
		mark := ":"
		if l.Column == 0 {
			mark = "-"
		}
		fmt.Fprintf(&out, "%d%s%s\n", l.Number, mark, l.Text)
	}
	return out.String()
}

// scanFile searches one file that holds text.
func scanFile(t testing.TB, e *Engine, q Query, text string) (got scanned) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err := e.GrepFile(t.Context(), f, q, func(p Part) bool {
		for _, l := range p.Lines {
			l.Text, l.Spans = slices.Clone(l.Text), slices.Clone(l.Spans)
			got.lines = append(got.lines, l)
		}
		got.count += p.Count
		got.parts++
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	got.skipped = sum.Skipped
	return got
}

func TestScan(t *testing.T) {
	tests := []struct {
		name, pattern, text string
		multiline           bool
		around, limit       int
		out                 string
	}{
		{name: "literal", pattern: "b", text: "a\nb\ncb", out: "2:b\n3:cb\n"},
		{name: "anchors are the line's", pattern: "^b$", text: "ab\nb\nb\r\nbc\nb", out: "2:b\n3:b\n5:b\n"},
		{name: "white space stays in the line", pattern: `a\s*b`, text: "a\nb\na b\n", out: "3:a b\n"},
		{name: "a negated class stays in the line", pattern: `a[^x]b`, text: "a\nb\na-b\n", out: "3:a-b\n"},
		{name: "every line", pattern: "x*", text: "a\n\nb\n", out: "1:a\n2:\n3:b\n"},
		{name: "no last empty line", pattern: "^$", text: "a\n"},
		{name: "alternatives", pattern: "TODO|FIXME", text: "FIXME\nx\nTODO\n", out: "1:FIXME\n3:TODO\n"},
		{name: "empty file", pattern: "x*"},
		{name: "context", pattern: "b", text: "a\nb\nc\nd\ne\nb\nf\n", around: 1, out: "1-a\n2:b\n3-c\n5-e\n6:b\n7-f\n"},
		{name: "context meets", pattern: "b", text: "b\nx\nb\n", around: 1, out: "1:b\n2-x\n3:b\n"},
		{name: "context at the ends", pattern: "b", text: "b\nb", around: 1, out: "1:b\n2:b\n"},
		{name: "limit", pattern: "b", text: "b1\nb2\nb3\n", limit: 2, out: "1:b1\n2:b2\n"},
		{name: "limit and context", pattern: "b", text: "a\nb1\nc\nb2\nd\nb3\n", around: 1, limit: 2, out: "1-a\n2:b1\n3-c\n4:b2\n"},
		{name: "multiline", pattern: `a\nb`, text: "x\na\nb\r\na\r\nb\n", multiline: true, out: "2:a\n3:b\n4:a\n5:b\n"},
		{name: "multiline dot", pattern: `a.b`, text: "a\nb\n", multiline: true, out: "1:a\n2:b\n"},
		{name: "multiline anchors", pattern: `^b$`, text: "a\nb\r\nc\n", multiline: true, out: "2:b\n"},
		{name: "multiline, two on a line", pattern: `[ac]`, text: "a c\nc\n", multiline: true, out: "1:a c\n2:c\n"},
		{name: "multiline, shared line", pattern: `a\nb|c\nd`, text: "a\nb c\nd\n", multiline: true, out: "1:a\n2:b c\n3:d\n"},
		{name: "multiline, end of line", pattern: `a\n`, text: "a\nb\n", multiline: true, out: "1:a\n"},
		{name: "multiline, empty matches", pattern: `^`, text: "a\nb\n", multiline: true, out: "1:a\n2:b\n"},
		{name: "multiline context", pattern: `b\nc`, text: "a\nb\nc\nd\ne\n", multiline: true, around: 1, out: "1-a\n2:b\n3:c\n4-d\n"},
		{name: "multiline limit", pattern: `b\nc`, text: "b\nc\nb\nc\n", multiline: true, limit: 3, out: "1:b\n2:c\n3:b\n"},
	}
	e := newEngine(t, Options{})
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			q := Query{Pattern: pattern(t, tc.pattern, match.Options{Multiline: tc.multiline}), Store: true,
				Before: tc.around, After: tc.around, Limit: tc.limit}
			if got := scanFile(t, e, q, tc.text); got.skipped != (SkipCounts{}) || got.String() != tc.out {
				t.Errorf("skipped %+v, got\n%swant\n%s", got.skipped, got, tc.out)
			}
		})
	}
}

func TestScanEncodings(t *testing.T) {
	wide := func(order []byte, s string) string {
		out := append([]byte{}, order...)
		for _, u := range utf16.Encode([]rune(s)) {
			low, high := byte(u), byte(u>>8)
			if order[0] == 0xfe {
				low, high = high, low
			}
			out = append(out, low, high)
		}
		return string(out)
	}
	little, big := []byte{0xff, 0xfe}, []byte{0xfe, 0xff}
	many := strings.Repeat("line\r\n", pieceSize/4)
	tests := []struct {
		name, text, out string
		skipped         SkipCounts
	}{
		{name: "UTF-8 with a mark", text: "\xef\xbb\xbffoo\n", out: "1:foo\n"},
		{name: "UTF-8 with a mark, long", text: "\xef\xbb\xbffoo\n" + many + "foo\n", out: fmt.Sprintf("1:foo\n%d:foo\n", pieceSize/4+2)},
		{name: "UTF-16 LE", text: wide(little, "a\r\nfoo 😀\r\n"), out: "2:foo 😀\n"},
		{name: "UTF-16 BE", text: wide(big, "a\nfoo é"), out: "2:foo é\n"},
		{name: "UTF-16 LE, long", text: wide(little, many+"foo"), out: fmt.Sprintf("%d:foo\n", pieceSize/4+1)},
		{name: "UTF-16 cut in a pair", text: wide(little, "foo") + "\x3d\xd8", skipped: SkipCounts{Binary: 1}},
		{name: "UTF-16, a mark alone", text: "\xff\xfe"},
		{name: "UTF-32 is binary", text: "\xff\xfe\x00\x00f\x00\x00\x00foo\n\nfoo\n", skipped: SkipCounts{Binary: 1}},
		{name: "NUL", text: "foo\n\x00", skipped: SkipCounts{Binary: 1}},
		{name: "NUL, nothing to find", text: "bar\n\x00"},
		{name: "NUL in a long file", text: "foo\n\x00" + many, skipped: SkipCounts{Binary: 1}},
		{name: "NUL behind the head", text: strings.Repeat("x\n", headSize) + "\x00\nfoo\n", skipped: SkipCounts{Binary: 1}},
		{name: "NUL behind the match", text: "foo\n" + strings.Repeat("x\n", pieceSize) + "\x00\n", skipped: SkipCounts{Binary: 1}},
		{name: "a long log with a NUL", text: "x\n\x00\n" + strings.Repeat("x\n", pieceSize) + "foo\n", skipped: SkipCounts{Binary: 1}},
		{name: "Latin-1", text: "foo \xe9\n", out: "1:foo é\n"},
	}
	e := newEngine(t, Options{})
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			q := storing(t, "^foo")
			q.Clip = true
			if got := scanFile(t, e, q, tc.text); got.skipped != tc.skipped || got.String() != tc.out {
				t.Errorf("skipped %+v, got %q, want %q", got.skipped, got.String(), tc.out)
			}
		})
	}
}

func TestScanBounds(t *testing.T) {
	e := newEngine(t, Options{})
	t.Run("counting stops at the limit", func(t *testing.T) {
		got := scanFile(t, e, Query{Pattern: pattern(t, "a", match.Options{}), Limit: 7}, strings.Repeat("a\n", 100))
		if got.count != 7 || got.lines != nil {
			t.Errorf("%+v", got)
		}
	})
	t.Run("much is handed over in parts", func(t *testing.T) {
		got := scanFile(t, e, storing(t, "a+"), strings.Repeat(strings.Repeat("a", 400)+"\n", 20_000))
		if got.count != 20_000 || len(got.lines) != 20_000 || got.parts < 8_000_000/maxHeld/2 {
			t.Errorf("%d lines, %d stored, %d parts", got.count, len(got.lines), got.parts)
		}
	})
	t.Run("a long line", func(t *testing.T) {
		got := scanFile(t, e, storing(t, "needle$"), "a\n"+strings.Repeat("x", 5*keepSize)+"needle\nb needle\n")
		if got.count != 2 || got.lines[1].Number != 3 || got.lines[0].Column != 5*keepSize+1 || len(e.large) != 0 {
			t.Errorf("%d lines", got.count)
		}
	})
	t.Run("costly matches are refused", func(t *testing.T) {
		p := pattern(t, `a(?:.*b)?`, match.Options{Multiline: true})
		got := scanFile(t, e, Query{Pattern: p, Store: true}, strings.Repeat("a\n", 300_000))
		if got.skipped.TooLarge != 1 {
			t.Errorf("%+v", got.skipped)
		}
	})
	t.Run("an endless line is refused", func(t *testing.T) {
		for _, multiline := range []bool{false, true} {
			got := scanSparse(t, e, Query{Pattern: pattern(t, "needle", match.Options{Multiline: multiline})}, strings.Repeat("x\n", headSize))
			if got.TooLarge != 1 || len(e.large) != 0 {
				t.Errorf("%+v, %d large buffers held", got, len(e.large))
			}
		}
	})
}

// scanSparse searches a file of 10 GB that begins with head and goes on with zeros that nobody stored.
func scanSparse(t testing.TB, e *Engine, q Query, head string) SkipCounts {
	t.Helper()
	name := filepath.Join(t.TempDir(), "sparse")
	err := os.WriteFile(name, []byte(head), 0o644)
	if err == nil {
		err = os.Truncate(name, 10<<30)
	}
	if err != nil {
		t.Skip("no sparse file can be made:", err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum, err := e.GrepFile(t.Context(), f, q, func(Part) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return sum.Skipped
}

// A file without an end is left when the context ends.
func TestScanEndsWithContext(t *testing.T) {
	fd, err := unix.Open("/dev/zero", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Close(fd)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := window{share: share{large: make(chan struct{}, 1)}}
	if err := w.open(ctx, fd, 0, false, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
	w = window{share: share{large: make(chan struct{}, 1)}, buf: bytes.Repeat([]byte("x"), pieceSize), source: source{fd: fd}}
	if err := w.next(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("next: %v", err)
	}
}
