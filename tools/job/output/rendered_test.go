package output

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// whole is a text of which everything is kept.
func whole(s string) *streamEnds {
	n := min(len(s), headBytes)
	return &streamEnds{head: []byte(s[:n]), tail: []byte(s[n:]), size: int64(len(s)), lines: int64(strings.Count(s, "\n"))}
}

func TestExcerpt(t *testing.T) {
	tests := []struct {
		name, text string
		budget     int
		head, tail string
		omitted    string
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
			e := whole(tt.text).excerpt(tt.budget, math.MaxInt)
			said := ""
			if e.Cut() {
				said = e.Omitted.String()
			}
			if e.Head != tt.head || e.Tail != tt.tail || said != tt.omitted {
				t.Errorf("%q, %q, %q; want %q, %q, %q", e.Head, e.Tail, said, tt.head, tt.tail, tt.omitted)
			}
		})
	}
}

func TestExcerptText(t *testing.T) {
	cut := Excerpt{Head: "a", Tail: "z\n", Omitted: Omission{Bytes: 12345, From: 1, To: 2000}}
	tests := []struct {
		name  string
		e     Excerpt
		where string
		want  string
	}{
		{"whole", Excerpt{Head: "a\n"}, "nowhere", "a\n"},
		{"cut", cut, "whole output: U", "a\n[… 12,345 bytes (lines 1–2,000) omitted; whole output: U …]\nz\n"},
		{"lost", cut, "", "a\n[… 12,345 bytes (lines 1–2,000) omitted; the rest is lost …]\nz\n"},
		{"one byte", Excerpt{Omitted: Omission{Bytes: 1, From: 1, To: 1}}, "",
			"[… 1 byte (line 1) omitted; the rest is lost …]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.e.Text(tt.where); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// FuzzExcerpt: the parts are ends of the text within the budget, cut between runes, and what is omitted is what is
// missing.
func FuzzExcerpt(f *testing.F) {
	f.Add("a\nb\nc\n", uint16(1), uint16(4))
	f.Add("éé\nééé", uint16(40000), uint16(30000))
	f.Add("܄", uint16(17), uint16(2)) // a tail of less than a rune
	f.Fuzz(func(t *testing.T, unit string, times, budget uint16) {
		if len(unit) > 64 || cleaned(unit) != unit {
			return
		}
		text := strings.Repeat(unit, int(times))
		l := said(Options{}, text)
		e := l.Rendered(min(int(budget), pageBytes), 0).Stdout
		head, tail := e.Head, e.Tail
		if len(head)+len(tail) > int(budget) || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
			t.Fatalf("excerpt of %d × %q in %d is %q, %q", times, unit, budget, head, tail)
		}
		if !utf8.ValidString(head) || !utf8.ValidString(tail) {
			t.Errorf("a rune of %q was cut: %q, %q", unit, head, tail)
		}
		if e.Omitted.Bytes != int64(len(text)-len(head)-len(tail)) {
			t.Errorf("%v of %d bytes", e.Omitted, len(text))
		}
		if middle := text[len(head) : len(text)-len(tail)]; e.Cut() {
			from := int64(strings.Count(head, "\n")) + 1
			to := from + int64(strings.Count(strings.TrimSuffix(middle, "\n"), "\n"))
			if e.Omitted.From != from || e.Omitted.To != to {
				t.Errorf("%v, want lines %d–%d", e.Omitted, from, to)
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

// AT-291, AT-298: a stream that is too long is shown by its ends, says so, and is kept whole.
func TestRenderedLong(t *testing.T) {
	p := &fakePayload{}
	l := into(p, Options{Spill: ringBytes})
	say(l, numbered(20000), "2:short\n")
	r := l.Rendered(pageBytes, 0)
	if want := (Excerpt{Head: "short\n"}); r.Stderr != want || r.Cursor != 108900 {
		t.Errorf("stderr %+v, cursor %d", r.Stderr, r.Cursor)
	}
	mark := "\n[… 78,907 bytes (lines 3,221–17,501) omitted; whole output: U …]\n17502\n"
	text := r.Stdout.Text("whole output: U")
	if !strings.HasPrefix(text, "1\n2\n") || !strings.HasSuffix(text, "\n20000\n") || !strings.Contains(text, mark) {
		at := strings.Index(text, "[…")
		t.Errorf("around the mark: %q", text[max(0, at-20):min(len(text), at+120)])
	}
	if len(p.b) != 108900 {
		t.Errorf("the payload has %d bytes", len(p.b))
	}
}

// Of a stream that is longer than all that is looked at, both ends are told; what is omitted is counted.
func TestRenderedVeryLong(t *testing.T) {
	text := numbered(500_000)
	for _, chunk := range []int{7, 1000, 64 << 10, len(text)} {
		l := said(Options{}, "2:early\n")
		for rest := text; rest != ""; {
			n := min(chunk, len(rest))
			say(l, rest[:n])
			rest = rest[n:]
		}
		say(l, "2:late\n")
		for _, done := range []bool{false, true} {
			r := l.Rendered(pageBytes, 0)
			head, tail, omitted := r.Stdout.Head, r.Stdout.Tail, r.Stdout.Omitted
			if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(head)+len(tail) < pageBytes-50 {
				t.Fatalf("chunks of %d, closed %v: %d and %d bytes are not the ends", chunk, done, len(head), len(tail))
			}
			if omitted.Bytes != int64(len(text)-len(head)-len(tail)) || omitted.From != int64(strings.Count(head, "\n"))+1 ||
				omitted.To != 500_000-int64(strings.Count(tail, "\n")) {
				t.Errorf("chunks of %d: %v", chunk, omitted)
			}
			if r.Stderr.Head != "early\nlate\n" || r.Stderr.Cut() {
				t.Errorf("stderr %+v", r.Stderr)
			}
			closed(t, l)
		}
	}
}

// Progress bars may be as long as they like: what is shown fits.
func TestCollapsedOutputIsNotCut(t *testing.T) {
	bar := strings.ReplaceAll(numbered(20_000), "\n", "\r")
	for _, times := range []int{1, 30} {
		l := said(Options{}, strings.Repeat(bar, times), "\ndone\n")
		if r := l.Rendered(pageBytes, 0); r.Stdout != (Excerpt{Head: "20000\ndone\n"}) {
			t.Errorf("stdout %+v", r.Stdout)
		}
		// Behind the head as well.
		lines := numbered(3000)
		l = said(Options{}, lines, strings.Repeat(bar, 1), "\ndone\n")
		if r := l.Rendered(pageBytes, 0); r.Stdout.Head != lines+"20000\ndone\n" {
			t.Errorf("stdout ends with %q, %+v", r.Stdout.Tail, r.Stdout.Omitted)
		}
	}
}

func TestRenderedHalfRune(t *testing.T) {
	l := said(Options{}, "caf\xc3", "2:x")
	if r := l.Rendered(100, 0); r.Stdout.Head != "caf" || r.Cursor != 5 {
		t.Errorf("%+v", r)
	}
	closed(t, l)
	if r := l.Rendered(100, 0); r.Stdout.Head != "caf\uFFFD" {
		t.Errorf("%+v", r)
	}
}

// A gap counts as omitted: what is shown behind it is the end.
func TestRenderedWithoutThePayload(t *testing.T) {
	l := New(Options{Ring: 40 << 10, Spill: 10})
	text := numbered(100_000)
	say(l, text)
	r := l.Rendered(pageBytes, 0)
	head, tail := r.Stdout.Head, r.Stdout.Tail
	if !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(tail) < 10_000 || len(head) < 10_000 {
		t.Errorf("%d and %d bytes", len(head), len(tail))
	}
	if r.Stdout.Omitted.Bytes != int64(len(text)-len(head)-len(tail)) {
		t.Errorf("%v", r.Stdout.Omitted)
	}
}
