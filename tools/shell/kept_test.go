package shell

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// numbered returns lines "1\n" … "n\n".
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i+1)
	}
	return b.String()
}

func TestKeptParts(t *testing.T) {
	tests := []struct {
		name, text string
		budget     int
		head, tail string
		gap        string
	}{
		{"empty", "", 10, "", "", ""},
		{"fits", "a\nb\n", 10, "a\nb\n", "", ""},
		{"just fits", "a\nb\n", 4, "a\nb\n", "", ""},
		{"cut at lines", numbered(9), 10, "1\n2\n", "8\n9\n", "10 bytes (lines 3–7)"},
		{"cut in a line", "0123456789", 4, "01", "89", "6 bytes (line 1)"},
		{"cut in lines", "ab\n0123456789\ncd", 8, "ab\n", "cd", "11 bytes (line 2)"},
		{"cut at runes", "éééééé", 6, "é", "é", "8 bytes (line 1)"},
		{"no budget", "abc\n", 0, "", "", "4 bytes (line 1)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var k kept
			k.write([]byte(tt.text))
			head, tail, missing := k.parts(tt.budget)
			said := ""
			if missing.bytes > 0 {
				said = missing.String()
			}
			if string(head) != tt.head || string(tail) != tt.tail || said != tt.gap {
				t.Errorf("parts = %q, %q, %q; want %q, %q, %q", head, tail, said, tt.head, tt.tail, tt.gap)
			}
		})
	}
}

func TestKeptDropsTheMiddle(t *testing.T) {
	text := numbered(100_000)
	for _, chunk := range []int{1, 7, 1000, tailBytes, tailBytes + 1, len(text)} {
		var k kept
		for rest := text; rest != ""; {
			n := min(chunk, len(rest))
			k.write([]byte(rest[:n]))
			rest = rest[n:]
		}
		head, tail, missing := k.parts(textBytes)
		ends := strings.HasPrefix(text, string(head)) && strings.HasSuffix(text, string(tail))
		if !ends || len(head)+len(tail) < textBytes-20 {
			t.Fatalf("chunks of %d: %d and %d bytes are not the ends", chunk, len(head), len(tail))
		}
		lines := strings.Split(text, "\n")
		first, _, _ := strings.Cut(string(tail), "\n")
		if lines[missing.from-1] == first || lines[missing.to] != first {
			t.Errorf("chunks of %d: gap %v, but the tail begins with %s", chunk, missing, first)
		}
		if missing.bytes != int64(len(text)-len(head)-len(tail)) {
			t.Errorf("chunks of %d: gap %v", chunk, missing)
		}
	}
}

// FuzzKept: the parts are ends of the text within the budget, cut between runes, and the gap is what is missing.
func FuzzKept(f *testing.F) {
	f.Add("a\nb\nc\n", uint16(1), uint16(4))
	f.Add("éé\nééé", uint16(40000), uint16(30000))
	f.Add("܄", uint16(17), uint16(2)) // a tail of less than a rune
	f.Fuzz(func(t *testing.T, unit string, times, budget uint16) {
		if len(unit) > 64 || !utf8.ValidString(unit) {
			return
		}
		text := strings.Repeat(unit, int(times))
		limit := min(int(budget), textBytes)
		var k kept
		k.write([]byte(text))
		head, tail, missing := k.parts(limit)
		if len(head)+len(tail) > limit || !strings.HasPrefix(text, string(head)) || !strings.HasSuffix(text, string(tail)) {
			t.Fatalf("parts of %d × %q in %d are %q, %q", times, unit, limit, head, tail)
		}
		if !utf8.Valid(head) || !utf8.Valid(tail) {
			t.Errorf("a rune of %q was cut: %q, %q", unit, head, tail)
		}
		if missing.bytes != int64(len(text)-len(head)-len(tail)) {
			t.Errorf("gap %v of %d bytes", missing, len(text))
		}
		if middle := text[len(head) : len(text)-len(tail)]; missing.bytes > 0 {
			from := int64(strings.Count(string(head), "\n")) + 1
			to := from + int64(strings.Count(strings.TrimSuffix(middle, "\n"), "\n"))
			if missing.from != from || missing.to != to {
				t.Errorf("gap %v, want lines %d–%d", missing, from, to)
			}
		}
	})
}

func TestAllot(t *testing.T) {
	tests := []struct {
		name                   string
		out, err, toOut, toErr int
	}{
		{"both fit", 10, 20, 10, 20},
		{"long stdout", 100, 5, 25, 5},
		{"long stderr", 5, 100, 5, 25},
		{"both long", 100, 100, 20, 10},
		{"at the share", 20, 100, 20, 10},
		{"stderr at the share", 100, 10, 20, 10},
		{"nothing", 0, 0, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if out, err := allot(tt.out, tt.err, 30); out != tt.toOut || err != tt.toErr {
				t.Errorf("allot(%d, %d) = %d, %d, want %d, %d", tt.out, tt.err, out, err, tt.toOut, tt.toErr)
			}
		})
	}
}
