package engine

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	long := strings.Repeat("x", 2000)
	tests := []struct {
		name, line string
		spans      []Span
		want       string
		shown      []Span
	}{
		{"short", "abc", []Span{{1, 2}}, "abc", []Span{{1, 2}}},
		{"invalid bytes move spans", "\xffab", []Span{{1, 2}}, "\ufffdab", []Span{{3, 4}}},
		{"the beginning", long, nil, long[:500] + "…", nil},
		{"a match at the end", long + "y", []Span{{2000, 2001}}, "…" + long[:499] + "y", []Span{{502, 503}}},
		{"a match in the middle", long + "y" + long, []Span{{2000, 2001}, {3000, 3001}},
			"…" + long[:100] + "y" + long[:399] + "…", []Span{{103, 104}}},
		{"a long match", "yy" + long, []Span{{1, 2002}}, "yy" + long[:498] + "…", []Span{{1, 500}}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, shown := clip([]byte(tc.line), tc.spans)
			if string(got) != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if !slices.Equal(shown, tc.shown) {
				t.Errorf("spans %v, want %v", shown, tc.shown)
			}
		})
	}
}

// FuzzClip: what is shown is valid, bounded, and the first span is in it, with the text that it had.
func FuzzClip(f *testing.F) {
	f.Add([]byte("abc"), 1, 2)
	f.Add([]byte(strings.Repeat("é\xff", 600)), 700, 702)
	f.Fuzz(func(t *testing.T, line []byte, start, end int) {
		if start < 0 || end < start || end > len(line) {
			return
		}
		text, spans := clip(line, []Span{{start, end}})
		if !utf8.Valid(text) || utf8.RuneCount(text) > maxShown+2 {
			t.Errorf("%q is not valid or too long", text)
		}
		if len(spans) != 1 || spans[0].Start > spans[0].End || spans[0].End > len(text) {
			t.Fatalf("spans %v in %d bytes", spans, len(text))
		}
		if match := line[start:end]; len(match) < 50 && utf8.Valid(line) && utf8.Valid(match) {
			if got := string(text[spans[0].Start:spans[0].End]); got != string(match) {
				t.Errorf("the span shows %q, the match is %q", got, match)
			}
		}
	})
}
