package persist

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"toolhost/agenttool"
)

func TestDecide(t *testing.T) {
	for _, tt := range []struct {
		name   string
		size   Size
		policy Policy
		want   agenttool.Strategy
		reason string
	}{
		{"small", Size{Chars: 10, Bytes: 10}, Policy{}, agenttool.Inline, ReasonWithin},
		{"at the limit", Size{Chars: 30_000, Bytes: 120_000}, Policy{}, agenttool.Inline, ReasonWithin},
		{"image", Size{Bytes: 1 << 20}, Policy{}, agenttool.Inline, ReasonWithin},
		{"over the limit", Size{Chars: 30_001, Bytes: 30_001}, Policy{}, agenttool.PreviewAndPersist, ReasonExceeded},
		{"over the tool's limit", Size{Chars: 101}, Policy{MaxInlineChars: 100}, agenttool.PreviewAndPersist,
			ReasonExceeded},
		{"text beside a large image", Size{Chars: 1, Bytes: 5 << 20}, Policy{}, agenttool.PreviewAndPersist,
			ReasonExceeded},
		{"persisted by the tool", Size{Chars: 10, Bytes: 10, Persisted: true}, Policy{}, agenttool.PreviewAndPersist,
			ReasonExceeded},
		{"persisted by a tool that says it does not", Size{Chars: 1, Persisted: true}, Policy{NeverPersist: true},
			agenttool.PreviewAndPersist, ReasonExceeded},
		{"large image", Size{Bytes: 4<<20 + 1}, Policy{}, agenttool.RefOnly, ReasonExceeded},
		{"persisted without a preview", Size{Persisted: true}, Policy{}, agenttool.RefOnly, ReasonExceeded},
		{"large, opted out", Size{Chars: 50_000}, Policy{NeverPersist: true}, agenttool.NeverPersist, ReasonOptOut},
		{"small, opted out", Size{Chars: 5}, Policy{NeverPersist: true}, agenttool.NeverPersist, ReasonOptOut},
		{"empty", Size{}, Policy{}, agenttool.Inline, ReasonEmpty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Decide(tt.size, tt.policy)
			if got.Strategy != tt.want || got.Reason != tt.reason {
				t.Errorf("got %s, %s; want %s, %s", got.Strategy, got.Reason, tt.want, tt.reason)
			}
			limit := tt.policy.MaxInlineChars
			if limit == 0 {
				limit = InlineChars
			}
			if got.Threshold["max_inline_chars"] != limit { // AT-298
				t.Errorf("threshold is %v", got.Threshold)
			}
		})
	}
}

func TestPreviewCutsBetweenLines(t *testing.T) {
	var b strings.Builder
	for n := range 1000 {
		fmt.Fprintf(&b, "line %03d\n", n)
	}
	got := Preview(b.String(), Extent{Chars: 300})
	want := []string{"line 000\n", "\n[… 8766 characters, 974 line ends left out here …]\n", "line 999\n"}
	if !strings.HasPrefix(got, want[0]) || !strings.Contains(got, want[1]) || !strings.HasSuffix(got, want[2]) {
		t.Errorf("preview is %s", got)
	}
	for l := range strings.Lines(got) {
		if l != "\n" && !strings.HasPrefix(l, "[…") && len(l) != len("line 000\n") {
			t.Errorf("line %q was cut", l)
		}
	}
}

func TestPreviewOfWhatFits(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("é", 200), strings.Repeat("\xff", 200)} {
		if got := Preview(text, Extent{Chars: 200}); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func FuzzPreview(f *testing.F) {
	f.Add(strings.Repeat("word é€\n", 200), 300)
	f.Add(strings.Repeat("x", 5000), 201)
	f.Add(strings.Repeat("\n", 5000), 400)
	f.Add(strings.Repeat("\xf0\x9d\x84\x9e\xff", 5000), 1000)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit %= 10_000
		got := Preview(text, Extent{Chars: max(limit, previewMin)})
		limit = max(limit, previewMin)
		total := utf8.RuneCountInString(text)
		if total <= limit {
			if got != text {
				t.Fatal("what fits was changed")
			}
			return
		}
		if n := utf8.RuneCountInString(got); n > limit {
			t.Fatalf("%d characters, limit %d", n, limit)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Fatal("cut within a character")
		}
		// Some place in the preview is the gap: what is before it begins the text, what is behind it ends the text,
		// and its line counts what is in between.
		for i := range got {
			line, tail, ok := strings.Cut(got[i:], " …]\n")
			if !ok || !strings.HasPrefix(line, "\n[… ") || !strings.HasPrefix(text, got[:i]) ||
				!strings.HasSuffix(text, tail) || i+len(tail) > len(text) {
				continue
			}
			gap := text[i : len(text)-len(tail)]
			if gapLine(utf8.RuneCountInString(gap), strings.Count(gap, "\n")) == line+" …]\n" {
				return
			}
		}
		t.Fatalf("no honest gap in %q", got)
	})
}
