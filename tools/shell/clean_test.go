package shell

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// cleaned passes chunks through a cleaner.
func cleaned(chunks ...string) string {
	var b strings.Builder
	c := cleaner{sink: func(p []byte) { b.Write(p) }}
	for _, chunk := range chunks {
		c.write([]byte(chunk))
	}
	c.close()
	return b.String()
}

func TestClean(t *testing.T) {
	long := strings.Repeat("x", maxPending)
	tests := []struct {
		name, input, want string
	}{
		{"text", "a\tb\nc", "a\tb\nc"},
		{"colour", "\x1b[1;31mred\x1b[m", "red"},
		{"private mode", "\x1b[?25lx\x1b[?25h", "x"},
		{"title, ended by BEL", "\x1b]0;title\ax", "x"},
		{"link, ended by ST", "\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "text"},
		{"character set", "\x1b(Bx", "x"},
		{"single", "\x1bcx\x1b=y", "xy"},
		{"sequence in a string", "\x1b]0;a\x1b[31mred", "red"},
		{"unended string hides no more than its line", "\x1b]0;hidden\nseen", "\nseen"},
		{"unended sequence", "a\x1b[31", "a"},
		{"broken sequence", "\x1b[3\nx\x1b\ny", "\nx\ny"},
		{"progress", " 10%\r 20%\r100%\ndone\n", "100%\ndone\n"},
		{"progress with erase", "a\r\x1b[Kb\r\x1b[K\n", "b\n"},
		{"CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"return at the end", "100%\r", "100%"},
		{"two returns", "a\r\rb", "b"},
		{"long line is not taken back", long + "y\rz", long + "yz"},
		{"backspace", "ab\b\bxé\b-\b\b\b\bc", "c"},
		{"backspace stays in its line", "a\n\bb", "a\nb"},
		{"other controls", "a\x00\x07\x0b\x0c\x0e\x7fb", "ab"},
		{"8-bit controls", "a\u009b31mb\u0085c", "a31mbc"},
		{"beyond ASCII", "é€😀", "é€😀"},
		{"invalid", "a\xffb\xc3(", "a\uFFFDb\uFFFD("},
		{"cut rune at the end", "a\xe2\x82", "a\uFFFD"},
		{"Latin-1", "caf\xe9\n", "caf\uFFFD\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := cleaned(tt.input); got != tt.want {
				t.Errorf("cleaned(%q) = %q, want %q", tt.input, got, tt.want)
			}
			if got := cleaned(strings.Split(tt.input, "")...); len(tt.input) < 100 && got != tt.want {
				t.Errorf("character by character %q, want %q", got, tt.want)
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

func BenchmarkClean(b *testing.B) {
	chunk := []byte(strings.Repeat("y\n", chunkBytes/2))
	var k kept
	c := cleaner{sink: k.write}
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		c.write(chunk)
	}
}
