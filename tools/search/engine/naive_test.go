package engine

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"toolhost/tools/encoding"
	"toolhost/tools/search/match"
)

// around says how much a search of a file stores.
type around struct{ before, after, limit int }

// plainScan is a search of a text as one would write it first.
func plainScan(re *regexp.Regexp, text string, want around) (out scanned) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		lines = nil
	}
	near := make([]int, len(lines)) // 1 for context, 2 for a match
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
		if !re.MatchString(lines[i]) {
			continue
		}
		out.count++
		for k := max(0, i-want.before); k <= min(len(lines)-1, i+want.after); k++ {
			near[k] = max(near[k], 1)
		}
		near[i] = 2
		if out.count == want.limit { // what comes behind does not count as seen
			clear(near[i+1:])
			break
		}
	}
	for i, line := range lines {
		switch near[i] {
		case 1:
			out.lines = append(out.lines, Line{Number: i + 1, Text: []byte(line)})
		case 2:
			var spans []Span
			for _, loc := range re.FindAllStringIndex(line, maxSpans) {
				spans = append(spans, Span{loc[0], loc[1]})
			}
			out.lines = append(out.lines, Line{i + 1, spans[0].Start + 1, []byte(line), spans})
		}
	}
	return out
}

// randomText returns lines of about size bytes in all, of which a few are long.
func randomText(r *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		for range r.IntN(12) {
			b.WriteString([]string{"a", "b", "c", " ", "ab", "A", "é", "\xff"}[r.IntN(8)])
		}
		if r.IntN(2000) == 0 {
			b.WriteString(strings.Repeat("long ", r.IntN(size/4+1)))
		}
		b.WriteString([]string{"\n", "\n", "\r\n", "\n\n", "\r\r\n"}[r.IntN(5)])
	}
	return strings.TrimSuffix(b.String(), []string{"\n", ""}[r.IntN(2)])
}

var plainPatterns = []string{"ab", "a|bb|c", "^$", "b$", `^\w+ \w+$`, "(?i)AB", `a.*c`, "x", `\bab\b`, "[^a]b", "aabb", "^", "c\xc3\xa9"}

// decoded returns a text as read shows it.
func decoded(text string) string {
	found := encoding.Recognise([]byte(text))
	if !found.Encoding.IsText() {
		return text
	}
	out, _ := found.Text([]byte(text))
	return string(out)
}

// agreesWithPlain checks a search of one text against a plain one.
func agreesWithPlain(t *testing.T, e *Engine, expr, text string, want around) {
	t.Helper()
	p, err := match.Compile(expr, match.Options{})
	if err != nil {
		return
	}
	q := Query{Pattern: p, Store: true, Before: want.before, After: want.after, Limit: want.limit}
	got, plain := scanFile(t, e, q, text), plainScan(regexp.MustCompile(expr), decoded(text), want)
	if plain.count == 0 && encoding.Recognise([]byte(text)).Mixed {
		plain = plainScan(regexp.MustCompile(expr), text, want)
	}
	if got.skipped != (SkipCounts{}) || got.count != plain.count || len(got.lines) != len(plain.lines) {
		t.Fatalf("%q in %d bytes, %+v: skipped %+v, %d lines, %d stored, want %d, %d", expr, len(text), want,
			got.skipped, got.count, len(got.lines), plain.count, len(plain.lines))
	}
	for i := range got.lines {
		g, w := got.lines[i], plain.lines[i]
		if g.Number != w.Number || g.Column != w.Column || string(g.Text) != string(w.Text) || len(g.Spans) != len(w.Spans) ||
			len(g.Spans) > 0 && !reflect.DeepEqual(g.Spans, w.Spans) {
			t.Fatalf("%q %+v: got %.200s, want %.200s", expr, want, fmt.Sprintf("%+v", g), fmt.Sprintf("%+v", w))
		}
	}
}

// A search of a text agrees with a plain one, wherever the pieces of it that are searched begin and end.
func TestScanAgreesWithPlainSearch(t *testing.T) {
	e := newEngine(t, Options{})
	r := rand.New(rand.NewPCG(1, 2))
	for round := range rounds(t, 4*len(plainPatterns)) {
		size := []int{100, headSize, pieceSize, 2 * pieceSize, 3*pieceSize + 1000}[round%5] - 40 + r.IntN(80)
		want := around{r.IntN(4), r.IntN(4), []int{0, 0, 1, 50}[r.IntN(4)]}
		agreesWithPlain(t, e, plainPatterns[round%len(plainPatterns)], randomText(r, size), want)
	}
}

// FuzzScan: the same for any text, moved to where one piece ends and the next begins.
func FuzzScan(f *testing.F) {
	f.Add("ab\nab\r\n\nb", "b$", uint8(1), uint8(2), uint8(3), uint16(4))
	f.Add("a\r", "a$", uint8(0), uint8(0), uint8(0), uint16(0))
	f.Add("x\n\xffé", "^[^a]+$", uint8(2), uint8(0), uint8(0), uint16(pieceSize>>8))
	f.Fuzz(func(t *testing.T, text, expr string, before, after, limit uint8, shift uint16) {
		_, err := regexp.Compile(expr)
		if err != nil || strings.ContainsRune(text, 0) || strings.HasPrefix(text, "\xef\xbb\xbf") ||
			strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") || len(expr) > 100 {
			return
		}
		e := newEngine(t, Options{})
		want := around{int(before) % 5, int(after) % 5, int(limit)}
		agreesWithPlain(t, e, expr, text, want)
		filler := strings.Repeat("0123456789\n", (pieceSize-int(shift)%200)/11)
		agreesWithPlain(t, e, expr, filler+text, want)
	})
}
