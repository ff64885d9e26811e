package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

func scanText(t testing.TB, expr, text string, multiline bool, want wanted) scanned {
	t.Helper()
	p, err := compile(expr, false, multiline)
	if err != nil {
		t.Fatal(err)
	}
	return newScanner(p, make(chan struct{}, 1)).scan(context.Background(), strings.NewReader(text), want)
}

// show writes stored lines as grep does.
func show(lines []shownLine) string {
	var out strings.Builder
	for _, l := range lines {
		mark := ":"
		if l.column == 0 {
			mark = "-"
		}
		fmt.Fprintf(&out, "%d%s%s\n", l.number, mark, l.text)
	}
	return out.String()
}

func TestScan(t *testing.T) {
	all := wanted{lines: math.MaxInt, store: 1000}
	around := wanted{lines: math.MaxInt, store: 1000, before: 1, after: 1}
	tests := []struct {
		name, pattern, text string
		multiline           bool
		want                wanted
		out                 string
	}{
		{"literal", "b", "a\nb\ncb", false, all, "2:b\n3:cb\n"},
		{"anchors are the line's", "^b$", "ab\nb\nb\r\nbc\nb", false, all, "2:b\n3:b\n5:b\n"},
		{"white space stays in the line", `a\s*b`, "a\nb\na b\n", false, all, "3:a b\n"},
		{"a negated class stays in the line", `a[^x]b`, "a\nb\na-b\n", false, all, "3:a-b\n"},
		{"every line", "x*", "a\n\nb\n", false, all, "1:a\n2:\n3:b\n"},
		{"no last empty line", "^$", "a\n", false, all, ""},
		{"alternatives", "TODO|FIXME", "FIXME\nx\nTODO\n", false, all, "1:FIXME\n3:TODO\n"},
		{"empty file", "x*", "", false, all, ""},
		{"context", "b", "a\nb\nc\nd\ne\nb\nf\n", false, around, "1-a\n2:b\n3-c\n5-e\n6:b\n7-f\n"},
		{"context meets", "b", "b\nx\nb\n", false, around, "1:b\n2-x\n3:b\n"},
		{"context at the ends", "b", "b\nb", false, around, "1:b\n2:b\n"},
		{"the next match is no context", "b", "b\nb\nb\n", false, wanted{lines: 9, store: 1, after: 2}, "1:b\n"},
		{"skip", "b", "b1\nb2\nb3\nb4\n", false, wanted{lines: 9, skip: 1, store: 2}, "2:b2\n3:b3\n"},
		{"multiline", `a\nb`, "x\na\nb\r\na\r\nb\n", true, all, "2:a\n3:b\n4:a\n5:b\n"},
		{"multiline dot", `a.b`, "a\nb\n", true, all, "1:a\n2:b\n"},
		{"multiline anchors", `^b$`, "a\nb\r\nc\n", true, all, "2:b\n"},
		{"multiline, two on a line", `[ac]`, "a c\nc\n", true, all, "1:a c\n2:c\n"},
		{"multiline, shared line", `a\nb|c\nd`, "a\nb c\nd\n", true, all, "1:a\n2:b c\n3:d\n"},
		{"multiline, end of line", `a\n`, "a\nb\n", true, all, "1:a\n"},
		{"multiline, empty matches", `^`, "a\nb\n", true, all, "1:a\n2:b\n"},
		{"multiline context", `b\nc`, "a\nb\nc\nd\ne\n", true, around, "1-a\n2:b\n3:c\n4-d\n"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := scanText(t, tc.pattern, tc.text, tc.multiline, tc.want)
			if got.err != nil || show(got.stored) != tc.out {
				t.Errorf("err %v, got\n%swant\n%s", got.err, show(got.stored), tc.out)
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
	tests := []struct {
		name, text, out string
		err             error
	}{
		{"UTF-8 with a mark", "\xef\xbb\xbffoo\n", "1:foo\n", nil},
		{"UTF-16 LE", wide([]byte{0xff, 0xfe}, "a\r\nfoo 😀\r\n"), "2:foo 😀\n", nil},
		{"UTF-16 BE", wide([]byte{0xfe, 0xff}, "a\nfoo é"), "2:foo é\n", nil},
		{"UTF-16 cut in a pair", wide([]byte{0xff, 0xfe}, "foo") + "\x3d\xd8", "1:foo\ufffd\n", nil},
		{"UTF-32 is binary", "\xff\xfe\x00\x00f\x00\x00\x00", "", errBinary},
		{"NUL", "foo\n\x00", "", errBinary},
		{"NUL behind the head", strings.Repeat("x\n", headSize) + "\x00\nfoo\n", "8194:foo\n", nil},
		{"Latin-1", "foo \xe9\n", "1:foo \ufffd\n", nil},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := scanText(t, "^foo", tc.text, false, wanted{lines: 10, store: 10})
			if !errors.Is(got.err, tc.err) || show(got.stored) != tc.out {
				t.Errorf("err %v, got %q, want %q", got.err, show(got.stored), tc.out)
			}
		})
	}
}

// A scan of random text agrees with a plain one, wherever the pieces of the file that it sees begin and end.
func TestScanAgreesWithPlainSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	patterns := []string{"ab", "a|bb|c", "^$", "b$", `^\w+ \w+$`, "(?i)AB", `a.*c`, "x", `\bab\b`, "[^a]b"}
	for round := range 40 {
		text := randomText(r, 12_000+r.IntN(3))
		expr := patterns[round%len(patterns)]
		want := wanted{lines: math.MaxInt, store: math.MaxInt, before: r.IntN(4), after: r.IntN(4)}
		p, err := compile(expr, false, false)
		if err != nil {
			t.Fatal(err)
		}
		s := newScanner(p, make(chan struct{}, 1))
		for name, src := range map[string]io.Reader{
			"at once":      strings.NewReader(text),
			"byte by byte": iotest.OneByteReader(strings.NewReader(text)),
			"in halves":    iotest.HalfReader(strings.NewReader(text)),
		} {
			got := s.scan(context.Background(), src, want)
			plain := plainScan(p, text, want)
			if got.lines != plain.lines || !reflect.DeepEqual(got.stored, plain.stored) {
				t.Fatalf("%q %s: got %d lines\n%.300s\nwant %d\n%.300s", expr, name,
					got.lines, show(got.stored), plain.lines, show(plain.stored))
			}
		}
	}
}

func randomText(r *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		for range r.IntN(12) {
			b.WriteString([]string{"a", "b", "c", " ", "ab", "A", "é", "\xff"}[r.IntN(8)])
		}
		b.WriteString([]string{"\n", "\n", "\r\n", "\n\n"}[r.IntN(4)])
	}
	return strings.TrimSuffix(b.String(), []string{"\n", ""}[r.IntN(2)])
}

// plainScan is a scan as one would write it first.
func plainScan(p *pattern, text string, want wanted) (out scanned) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	near := make([]int, len(lines)) // 1 for context, 2 for a match
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
		if !p.re.MatchString(lines[i]) {
			continue
		}
		out.lines++
		for k := max(0, i-want.before); k <= min(len(lines)-1, i+want.after); k++ {
			near[k] = max(near[k], 1)
		}
		near[i] = 2
	}
	for i, line := range lines {
		switch near[i] {
		case 1:
			text, _ := clip([]byte(line), nil)
			out.stored = append(out.stored, shownLine{number: i + 1, text: text})
		case 2:
			var spans []span
			for _, loc := range p.re.FindAllStringIndex(line, maxSpans) {
				spans = append(spans, span{loc[0], loc[1]})
			}
			text, shown := clip([]byte(line), spans)
			out.stored = append(out.stored, shownLine{i + 1, spans[0].Start + 1, text, shown})
		}
	}
	return out
}

func TestScanBounds(t *testing.T) {
	t.Run("count stops", func(t *testing.T) {
		got := scanText(t, "a", strings.Repeat("a\n", 100), false, wanted{lines: 7})
		if got.lines != 7 || !got.more || got.stored != nil {
			t.Errorf("%+v", got)
		}
	})
	t.Run("what is stored is bounded", func(t *testing.T) {
		text := strings.Repeat(strings.Repeat("a", 400)+"\n", 20_000)
		got := scanText(t, "a+", text, false, wanted{lines: math.MaxInt, store: math.MaxInt})
		if got.lines != 20_000 || got.matches == 0 || got.matches > 1000 {
			t.Errorf("%d lines, %d stored", got.lines, got.matches)
		}
	})
	t.Run("a costly line is refused", func(t *testing.T) {
		p, err := compile(`(\w{1,500}x){2}`, false, false)
		if err != nil {
			t.Fatal(err)
		}
		line := bytes.Repeat([]byte("x"), maxSteps/p.instructions+1)
		got := newScanner(p, make(chan struct{}, 1)).scan(context.Background(), bytes.NewReader(line), wanted{lines: 9})
		if !errors.Is(got.err, errTooLarge) {
			t.Errorf("error %v", got.err)
		}
	})
	t.Run("an endless line is refused", func(t *testing.T) {
		p, err := compile("needle", false, false)
		if err != nil {
			t.Fatal(err)
		}
		large := make(chan struct{}, 1)
		got := newScanner(p, large).scan(context.Background(), endless('x'), wanted{lines: 9})
		if !errors.Is(got.err, errTooLarge) || len(large) != 0 {
			t.Errorf("error %v, %d large buffers held", got.err, len(large))
		}
	})
	t.Run("an endless file ends with the context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		p, err := compile("needle", false, false)
		if err != nil {
			t.Fatal(err)
		}
		reads := 0
		src := readerFunc(func(b []byte) (int, error) {
			if reads++; reads == 50 {
				cancel()
			}
			return endless('\n').Read(b)
		})
		if got := newScanner(p, nil).scan(ctx, src, wanted{lines: 9}); !errors.Is(got.err, context.Canceled) || reads > 50 {
			t.Errorf("error %v after %d reads", got.err, reads)
		}
	})
}

type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
