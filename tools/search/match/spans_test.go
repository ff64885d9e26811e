package match

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkPlaces compares where matches lie with the standard library, on both ways.
func checkPlaces(t *testing.T, p *Pattern, text []byte) {
	t.Helper()
	l, m := newLocator(p.prog), p.Matcher()
	for _, most := range []int{-1, 0, 1, 2} {
		want := fmt.Sprint(p.re.FindAllIndex(text, most))
		if got, ok := l.all(nil, text, most); fmt.Sprint(got) != want || !ok {
			t.Fatalf("%q in %q, at most %d: %v, %v, want %v", p.re, text, most, got, ok, want)
		}
		if got := all(newLocator(p.prog), text, most); fmt.Sprint(got) != want {
			t.Fatalf("%q in %q, at most %d: following %v, want %v", p.re, text, most, got, want)
		}
		if got, ok := m.Spans(nil, text, most); fmt.Sprint(got) != want || !ok {
			t.Fatalf("%q in %q, at most %d: spans %v, %v, want %v", p.re, text, most, got, ok, want)
		}
	}
}

// all is locator.all without a guess.
func all(l *locator, text []byte, most int) (got [][]int) {
	l.left = maxEffort
	for pos, before := 0, -1; len(got) != most && pos <= len(text); {
		begin, end, ok := l.follow(text, pos)
		if !ok {
			break
		}
		if end > begin || begin != before {
			got = append(got, []int{begin, end})
		}
		if pos, before = end, end; begin == end {
			_, width := utf8.DecodeRune(text[end:])
			pos += max(width, 1)
		}
	}
	return got
}

func TestPlaces(t *testing.T) {
	for _, tc := range nasty {
		for _, o := range []Options{{}, {IgnoreCase: true}, {Multiline: true}} {
			p, err := Compile(tc.pattern, o)
			if err != nil {
				t.Fatal(err)
			}
			checkPlaces(t, p, []byte(tc.text))
			checkPlaces(t, p, bytes.Repeat([]byte(tc.text+"\nxyz\n"), 9))
		}
	}
}

func TestPlacesRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 2000 {
		o := Options{IgnoreCase: r.IntN(3) == 0, Multiline: r.IntN(3) == 0}
		if p, err := Compile(randomPattern(r, 1+r.IntN(4)), o); err == nil {
			checkPlaces(t, p, randomText(r))
		}
	}
}

func FuzzPlaces(f *testing.F) {
	for _, tc := range nasty {
		f.Add(tc.pattern, tc.text, false)
	}
	f.Add("(|a)*(a|ab)(c|bcd)(d*)", "aabcd", true)
	f.Fuzz(func(t *testing.T, pattern, text string, multiline bool) {
		if len(pattern) > 40 || len(text) > 400 || strings.Count(pattern, "{") > 1 {
			t.Skip("too slow for the standard library")
		}
		if p, err := Compile(pattern, Options{Multiline: multiline}); err == nil {
			checkPlaces(t, p, []byte(text))
		}
	})
}

// TestPlacesCost: each match looks at all the rest. It gives up after so many steps and keeps what it has.
func TestPlacesCost(t *testing.T) {
	p, err := Compile("a(?:.*b)?", Options{Multiline: true})
	if err != nil {
		t.Fatal(err)
	}
	m := p.Matcher()
	asked := 0
	m.Interrupt(func() bool { asked++; return false })
	text := bytes.Repeat([]byte("a\n"), 300<<10)
	got, ok := m.SpansAll(nil, text, 200_000)
	if ok || len(got) == 0 || got[0] != [2]int{0, 1} || m.places.left < -100 {
		t.Errorf("%d matches, %v, %d steps left", len(got), ok, m.places.left)
	}
	if want := maxEffort / effortPerAsk; asked < want-1 || asked > want {
		t.Errorf("asked %d times, want %d", asked, want)
	}
	if got, ok = m.Spans(nil, []byte("xa"), 50); !ok || len(got) != 1 {
		t.Errorf("afterwards %v, %v", got, ok)
	}
}

// TestPlacesManyMatches: a large text with many matches is not too much when each looks at little.
func TestPlacesManyMatches(t *testing.T) {
	p, err := Compile(`foo\d`, Options{Multiline: true})
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("some words, then foo1 and more\n"), 100_000)
	if got, ok := p.Matcher().SpansAll(nil, text, 200_000); !ok || len(got) != 100_000 {
		t.Errorf("%d matches, %v", len(got), ok)
	}
}

func TestPlacesInterrupt(t *testing.T) {
	p, err := Compile("a(?:.*b)?", Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, asked := p.Matcher(), 0
	m.Interrupt(func() bool { asked++; return asked == 3 })
	got, ok := m.Spans(nil, bytes.Repeat([]byte("a"), 400<<10), 50)
	if ok || asked != 3 || len(got) > 50 {
		t.Errorf("%d matches, %v, asked %d times", len(got), ok, asked)
	}
}

func BenchmarkSpans(b *testing.B) {
	for _, bm := range []struct{ pattern, line string }{
		{`spin_lock_[a-z]+save\(`, "\tspin_lock_irqsave(&dev->lock, flags);"},
		{`return .*;`, "\treturn spin_lock_irqsave(&dev->lock, flags) + spin_lock_irqsave(&dev->lock, flags);"},
		{`\w+Error\(`, "\tif err := returnsSomeError(x, fmt.Errorf(\"foo\")); err != nil {"},
		{`(foo|bar|baz)[0-9]+x`, "\tif err := returnsSomeError(x, bar1234x); err != nil {"},
	} {
		p, err := Compile(bm.pattern, Options{})
		if err != nil {
			b.Fatal(err)
		}
		var dst [][2]int
		m, line := p.Matcher(), []byte(bm.line)
		b.Run(bm.pattern+"/regexp", func(b *testing.B) {
			for b.Loop() {
				p.re.FindAllIndex(line, 50)
			}
		})
		b.Run(bm.pattern+"/spans", func(b *testing.B) {
			for b.Loop() {
				dst, _ = m.Spans(dst[:0], line, 50)
			}
		})
	}
}
