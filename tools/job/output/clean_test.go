package output

import (
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	long := strings.Repeat("x", maxPending+1)
	tests := []struct {
		name, input, want string
	}{
		{"text", "a\tb\nc", "a\tb\nc"},
		{"colour", "\x1b[1;31mred\x1b[m", "red"},
		{"private mode", "\x1b[?25lx\x1b[?25h", "x"},
		{"title, ended by BEL", "\x1b]0;title\ax", "x"},
		{"title, canceled", "\x1b]0;title\x18x", "x"},
		{"link, ended by ST", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"character set", "\x1b(Bx", "x"},
		{"single", "\x1bcx\x1b=y", "xy"},
		{"sequence in a string", "\x1b]0;a\x1b[31mred", "red"},
		{"unended string hides no more than its line", "\x1b]0;hidden\nseen", "\nseen"},
		{"unended string hides no more than 8 KiB", "\x1b]" + strings.Repeat("h", maxSequence-1) + "seen", "seen"},
		{"unended control sequence hides no more", "\x1b[" + strings.Repeat("1", maxSequence-1) + "seen", "seen"},
		{"unended sequence", "a\x1b[31", "a"},
		{"broken sequence", "\x1b[3\nx\x1b\ny", "\nx\ny"},
		{"progress", " 10%\r 20%\r100%\ndone\n", "100%\ndone\n"},
		{"progress with erase", "a\r\x1b[Kb\r\x1b[K\n", "b\n"},
		{"CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"return at the end", "100%\r", "100%"},
		{"two returns", "a\r\rb", "b"},
		{"long line is not taken back", long + "\rz", long + "z"},
		{"backspace", "ab\b\bxé\b-\b\b\b\bc", "c"},
		{"backspace stays in its line", "a\n\bb", "a\nb"},
		{"other controls", "a\x00\x07\x0b\x0c\x0e\x7fb", "ab"},
		{"8-bit controls", "a\u009b31mb\u0085c", "a31mbc"},
		{"beyond ASCII", "é€😀", "é€😀"},
		{"replacement character", "\uFFFD", "\uFFFD"},
		{"invalid", "a\xffb\xc3(", "a\uFFFDb\uFFFD("},
		{"cut rune in the midst", "a\xe2\x82b", "a\uFFFDb"},
		{"cut rune at the end", "a\xe2\x82", "a\uFFFD"},
		{"surrogate", "\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
		{"Latin-1", "caf\xe9\n", "caf\uFFFD\n"},
		{"redrawn beyond ASCII", "aa\ré\r\xff", "\uFFFD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cleaned(tt.input); got != tt.want {
				t.Errorf("cleaned(%.100q) = %.100q, want %.100q", tt.input, got, tt.want)
			}
			var bytes []string
			for i := range len(tt.input) {
				bytes = append(bytes, tt.input[i:i+1])
			}
			if got := cleaned(bytes...); got != tt.want {
				t.Errorf("byte by byte %.100q, want %.100q", got, tt.want)
			}
		})
	}
}

// FuzzClean: the text is valid, has no control characters, keeps every newline, and does not depend on where the
// input was cut. Text that is clean already stays as it is.
func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31mb\r\nc\xff\xe2\x82\xac", uint(3), uint(7))
	f.Add("\x1b]0;x\x1b\\y\r\x1b[Kz\b", uint(1), uint(2))
	f.Add("\xe2\x82\xac\xc2\x9bm", uint(1), uint(2))
	f.Add("\xe2\x82\xe2\x82\xac\xf0\x9f\x98", uint(1), uint(4))
	f.Fuzz(func(t *testing.T, s string, i, j uint) {
		whole := cleaned(s)
		n := uint(len(s)) + 1
		i, j = i%n, j%n
		if i > j {
			i, j = j, i
		}
		if cut := cleaned(s[:i], s[i:j], s[j:]); cut != whole && len(s) < maxPending {
			t.Errorf("cleaned(%q) = %q, cut at %d and %d %q", s, whole, i, j, cut)
		}
		if !utf8.ValidString(whole) {
			t.Errorf("cleaned(%q) = %q", s, whole)
		}
		if strings.Count(whole, "\n") != strings.Count(s, "\n") {
			t.Errorf("cleaned(%q) = %q: lines differ", s, whole)
		}
		for _, r := range whole {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				t.Errorf("cleaned(%q) holds %q", s, r)
			}
		}
		if again := cleaned(whole); again != whole {
			t.Errorf("cleaned(%q) = %q", whole, again)
		}
	})
}

// FuzzDecoderLimit: whatever fits, the parts are the text, none is longer than it may be, and each takes something.
func FuzzDecoderLimit(f *testing.F) {
	f.Add("a\x1b[31mb\nc\xff\xe2\x82\xac😀", uint8(4))
	f.Add("\xe2\x82\xe2\x82\xac\xf0\x9f\x98", uint8(5))
	f.Fuzz(func(t *testing.T, s string, limit uint8) {
		s = strings.NewReplacer("\r", "", "\b", "").Replace(s) // parts are not taken back
		size := max(int(limit), len(replacement)+utf8.UTFMax)
		var d decoder
		var got string
		for rest := s; rest != ""; {
			var part text
			n := d.write(&part, []byte(rest), size)
			if len(part.b) > size || n == 0 {
				t.Fatalf("took %d of %q, gave %q", n, rest, part.b)
			}
			got, rest = got+string(part.b), rest[n:]
		}
		var end text
		d.close(&end, math.MaxInt)
		if want := cleaned(s); got+string(end.b) != want {
			t.Errorf("%q is %q in parts of %d, want %q", s, got+string(end.b), size, want)
		}
	})
}

// FuzzResume: the state of a decoder is found again from what is before a cursor, wherever that is.
func FuzzResume(f *testing.F) {
	f.Add("\x1b]0;x", "h", uint16(9000), "y\ae\xe2\x82", "2:\xc3\xa9")
	f.Add("\x1b[", "1", uint16(8190), "m", "2:x")
	f.Add("\xf0", "\x9f", uint16(3), "\x98", "\x1b")
	f.Add("\x1b", "]\x1b", uint16(5000), "\\\x1b", "2:\n")
	f.Fuzz(func(t *testing.T, start, unit string, times uint16, end, other string) {
		if len(unit) > 8 {
			return
		}
		s := start + strings.Repeat(unit, int(times)%10_000) + end
		l := said(Options{Ring: 1 << 10, Spill: 100}, s[:len(s)/2], "2:"+other, s[len(s)/2:], "2:"+other)
		var want decoder
		var ignored text
		want.write(&ignored, []byte(s), math.MaxInt)
		at, _ := l.end()
		got := l.resume(Stdout, at)
		if got.state != want.state || got.n != want.n || string(got.cut[:got.n]) != string(want.cut[:want.n]) ||
			got.state != ground && got.hidden != want.hidden {
			t.Errorf("after %d bytes %+v, want %+v", len(s), got, want)
		}
	})
}

func BenchmarkClean(b *testing.B) {
	for _, bb := range []struct{ name, unit string }{
		{"lines", "a line of output as they are, about eighty bytes in each of them, more or less\n"},
		{"y", "y\n"},
		{"colour", "\x1b[32mok\x1b[m  \x1b[1mtoolhost/tools/job\x1b[m 0.31s\n"},
		{"greek", "Ο ουρανός είναι γαλάζιος και η θάλασσα βαθιά\n"},
		{"progress", " 10% of a thing\r 20% of a thing\r"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			chunk := []byte(strings.Repeat(bb.unit, fullRead/len(bb.unit)))
			var d decoder
			var t text
			b.SetBytes(int64(len(chunk)))
			b.ReportAllocs()
			for b.Loop() {
				d.write(&t, chunk, math.MaxInt)
				t.b = t.b[:0]
				t.settle()
			}
		})
	}
}
