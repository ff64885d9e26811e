package match

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolhost/tools/search/literal"
)

// naive returns the matching lines of buf as the standard library sees them.
func naive(re *regexp.Regexp, buf []byte) (lines []span) {
	for from := 0; from < len(buf); {
		end := lineEnd(buf, from)
		if re.Match(bytes.TrimSuffix(buf[from:end], []byte("\r"))) {
			lines = append(lines, span{from, end})
		}
		from = end + 1
	}
	return lines
}

// lines returns the matching lines of buf as the matcher sees them.
func lines(m *Matcher, buf []byte) (lines []span) {
	m.Reset(buf)
	for start, end, ok := m.Next(0); ok; start, end, ok = m.Next(end + 1) {
		lines = append(lines, span{start, end})
	}
	return lines
}

// matchers returns matchers that go each of the ways there are, whatever is fastest.
func matchers(p *Pattern) map[string]*Matcher {
	all := map[string]*Matcher{"chosen": p.Matcher()}
	p.way, p.letters = way{}, newAlphabet(p.prog) // from here on the automaton, unless something else is said
	for _, name := range []string{"four lanes", "one lane", "little memory"} {
		all[name] = p.Matcher()
	}
	all["four lanes"].walker.apart = 1 << 30
	all["one lane"].walker.a.situation.anchored = true
	if one := p.Matcher(); one.walker.awaited.known {
		one.walker.awaited.tried, one.walker.awaited.waits = true, one.walker.a.waits(one.walker.awaited.byte)
		all["awaited byte"] = one
	}
	all["little memory"].walker.a.room = 4 * perState
	for i, clause := range p.required {
		m := p.Matcher()
		m.way, m.finder = way{clause: clause, also: p.required[(i+1)%len(p.required)]}, literal.NewFinder(clause)
		all[fmt.Sprintf("clause %d", i)] = m
	}
	if p.exact != nil {
		m := p.Matcher()
		m.way, m.finder = way{clause: p.exact, sure: true}, literal.NewFinder(p.exact)
		all["exact"] = m
	}
	return all
}

// check compares the pattern with the standard library.
func check(t *testing.T, expr string, o Options, text []byte) {
	t.Helper()
	p, err := Compile(expr, o)
	if err != nil {
		return
	}
	if o.Multiline {
		checkMultiline(t, p, text)
		return
	}
	want := naive(p.re, text)
	for name, m := range matchers(p) {
		for _, again := range []bool{false, true} {
			if got := lines(m, text); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q %v, %s, again %v: in %q\ngot  %v\nwant %v", expr, o, name, again, text, got, want)
			}
		}
	}
	for _, line := range want {
		checkLine(t, p, bytes.TrimSuffix(text[line.start:line.end], []byte("\r")))
	}
}

// checkLine checks what is said of a line that matches.
func checkLine(t *testing.T, p *Pattern, line []byte) {
	t.Helper()
	for _, clause := range p.Required() {
		if !fulfils(line, clause) {
			t.Fatalf("%q matches %q, which holds none of %s", p.re, line, show(clause))
		}
	}
}

func checkMultiline(t *testing.T, p *Pattern, text []byte) {
	t.Helper()
	m := p.Matcher()
	p.way, p.letters = way{}, newAlphabet(p.prog)
	small := p.Matcher()
	small.walker.a.room = 4 * perState
	raw := text
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	want := p.re.Match(text)
	for range 2 {
		if got := m.Has(text); got != want || small.walker.holds(text) != want {
			t.Fatalf("%q: Has(%q) = %v, want %v", p.re, text, got, want)
		}
	}
	if !want {
		return
	}
	for _, clause := range p.Required() {
		if !fulfils(raw, clause) {
			t.Fatalf("%q matches %q, which holds none of %s", p.re, raw, show(clause))
		}
	}
}

func show(c literal.Clause) string {
	var all []string
	for i := range c {
		text := string(c[i].Text())
		if c[i].Fold() {
			text = "(?i)" + text
		}
		all = append(all, text)
	}
	return strings.Join(all, "|")
}

var nasty = []struct{ pattern, text string }{
	{"foo$", "foo\r\nfoo\rx\r\nfoo\r\r\nfoo\r"},
	{"foo\r", "foo\r\nfoo\r\r\nfoo\rx\nfoo\r"},
	{`\r`, "\r\n\r\r\na\r"},
	{`\s$`, "a\r\na \r\na\t"},
	{"", "\n\na\n\r\n"},
	{"^$", "\n\na\n\r\n\r"},
	{"$", "a"},
	{`\bfoo\b`, "foo\nfoo_\n_foo\n foo \r\né foo\nfooé\nfoo"},
	{`\Bo`, "foo\no\n o\noo"},
	{`\b$`, "foo\r\nfoo \r\n\r\nfoo"},
	{`^\b`, "foo\n foo\n\nfoo"},
	{`.`, "\xff\n\xe2\x82\n\n\r\né"},
	{`^.$`, "\xff\n\xe2\x82\n\xe2\x82\xac\n\xf0\x9f\x98\n\xed\xa0\x80\n\r\na\xe2"},
	{`^..$`, "\xe2\x82\n\xc3\n\xc3\xa9é\n\xf4\x90"},
	{"\ufffd", "\xff\na\xe2\x82\na\n\ufffd\n\xe2\x82"},
	{"[^a-z]", "abc\nab\xff\nabé\n"},
	{`[日-龥]{2}x`, "日本x\n日x\n\xe6\x97日本x\n龥龥x\n龦龥x"},
	{`[\x{10000}-\x{10FFFF}]`, "😀\n\xf4\x8f\xbf\xbf\n\xf4\x90\x80\x80\n\uffff"},
	{`[\x{80}-\x{7FF}]$`, "é\n\u07ff\n\u0800\n\xc0\x80\n\xc3"},
	{"(?i)task", "TASK\nta\u017f\u212a\ntas\nTa\u017fk\r\n"},
	{"(?i)ß", "ß\nẞ\nss"},
	{"(?i)k", "K\nk\n\u212a\nx"},
	{"(?i:foo)bar", "FOObar\nfooBAR\nfoobar"},
	{"[Ff]oo", "Foo\nfOO\nfoo"},
	{`\x{D800}`, "\xed\xa0\x80\n\ufffd\n"},
	{"\x00", "a\x00b\n\n\x00"},
	{"^a|b$", "ab\nba\nxb\r\nax\nxax"},
	{`(^|x)foo`, "foo\nxfoo\nafoo"},
	{`a(b|$)`, "a\nab\r\nax\na\r\na"},
	{"(?m)^a$", "a\nba\nab\r\na\r"},
	{`\Aa\z`, "a\nba\na\r\n"},
	{`[[:^alpha:]]x`, "\xffx\nax\n1x"},
	{`=\s*\d`, "a = 1\n=\r\n=1\né\xe2= 2\r\n\xe2\x82=\n\r=\r1\n"},
	{`[^\x00-\x{10FFFF}]|x`, "a\nx\n\xff"},
	{`(a|b)*a(a|b){9}$`, strings.Repeat("abbabaabbbabab\n", 30)},
}

func TestNasty(t *testing.T) {
	for _, tc := range nasty {
		t.Run(tc.pattern, func(t *testing.T) {
			if _, err := Compile(tc.pattern, Options{}); err != nil {
				t.Fatal(err)
			}
			for _, o := range []Options{{}, {IgnoreCase: true}, {Multiline: true}, {IgnoreCase: true, Multiline: true}} {
				check(t, tc.pattern, o, []byte(tc.text))
				check(t, tc.pattern, o, bytes.Repeat([]byte(tc.text+"\nxyz\n"), 9))
			}
		})
	}
}

// pieces are what random texts are made of: they make random patterns match, or almost match.
var pieces = []string{"foo", "bar", "baz", "Foo", "KELVIN", "ſ", "\u212a", "s", "k", "é", "É", "日本", "😀", "İ", "\ufffd",
	"\xff", "\xe2\x82", "\xe2", "\xf0\x9f\x98", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80", "\r", "\r\n", "\r\r\n", "\n",
	"\n\n", " ", "\t", "_", "=", "1", "42", "a", "b", "x", "z", "(", "\x00", "-", "."}

func randomText(r *rand.Rand) []byte {
	var text []byte
	for range r.IntN(60) {
		text = append(text, pieces[r.IntN(len(pieces))]...)
	}
	return text
}

var atoms = []string{"foo", "bar", "fooba", "a", "b", "x", "k", "s", "é", "日", "\ufffd", ".", `\w`, `\d`, `\s`, `\S`, `\W`,
	`[ab]`, `[^a]`, `[a-z]`, `[Ff]`, `[K-k]`, `[日-😀]`, `[^\x00-\x7f]`, `\pL`, "^", "$", `\b`, `\B`, `(?m:^)`, `(?m:$)`,
	`\A`, `\z`, "(?i:foo)", "(?i:sk)", "(?i:bas)", `\r`, "=", " ", "", `\x00`, `\n`, "a\nb"}

func randomPattern(r *rand.Rand, depth int) string {
	if depth == 0 {
		return atoms[r.IntN(len(atoms))]
	}
	sub := func() string { return randomPattern(r, depth-1) }
	switch r.IntN(7) {
	case 0:
		return "(" + sub() + "|" + sub() + ")"
	case 1:
		return "(?:" + sub() + ")" + []string{"*", "+", "?", "{2}", "{1,3}", "+?", "{2,}"}[r.IntN(7)]
	case 2, 3, 4:
		return sub() + sub()
	}
	return sub()
}

func TestRandom(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 200
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		o := Options{IgnoreCase: r.IntN(3) == 0, Multiline: r.IntN(3) == 0}
		check(t, randomPattern(r, 1+r.IntN(4)), o, randomText(r))
	}
}

// TestLarge: texts of several blocks, long enough for every change of mind.
func TestLarge(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var text []byte
	for len(text) < 3*waitAfter/2 {
		text = append(text, randomText(r)...)
		if r.IntN(1000) == 0 {
			text = append(text, strings.Repeat("no needle at all here\n", r.IntN(5000))...)
			text = append(text, strings.Repeat("one line ", r.IntN(10000))...)
		}
	}
	for _, expr := range []string{"foo", `foo\w`, `=\s*1`, `^[ab]\s*x`, `\w{5}`, "(?i)task", "."} {
		p, err := Compile(expr, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := naive(p.re, text)
		for name, m := range matchers(p) {
			if name == "little memory" {
				continue // it is for small texts
			}
			for range 2 {
				if got := lines(m, text); !slices.Equal(got, want) {
					t.Fatalf("%q, %s: %d lines, want %d", expr, name, len(got), len(want))
				}
			}
		}
	}
}

// TestNextFrom: lines before from are passed over, whether they were found already or not.
func TestNextFrom(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		text := bytes.Repeat(randomText(r), 20)
		for _, expr := range []string{"foo", `(foo|bar)\d`, `\w`, `^[a-z]`} {
			p, err := Compile(expr, Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := naive(p.re, text)
			for name, m := range matchers(p) {
				m.Reset(text)
				for from, at := 0, 0; from < len(text); from = lineEnd(text, from+r.IntN(len(text)-from+1)) + 1 {
					for at < len(want) && want[at].start < from {
						at++
					}
					start, end, ok := m.Next(from)
					if ok != (at < len(want)) || ok && want[at] != (span{start, end}) {
						t.Fatalf("%q, %s: Next(%d) = %d, %d, %v in %q", expr, name, from, start, end, ok, text)
					}
					from = max(from, end)
				}
			}
		}
	}
}

// TestMemory: a matcher of a pattern with no end of states stays small.
func TestMemory(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	text := make([]byte, 64<<10)
	for i := range text {
		text[i] = "ab\n"[r.IntN(50)/24]
	}
	p, err := Compile("a[ab]{12}[^ab]|a[ab]{200}c", Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := p.Matcher()
	m.way.clause, m.finder = nil, nil
	lines(m, text)
	a, size := m.walker.a, 0
	for _, key := range a.keys {
		size += len(key)
	}
	if size += 4 * cap(a.table); size > maxMemory*3/2 || len(a.states) != len(a.keys) {
		t.Errorf("%d bytes, %d states, %d keys", size, len(a.states), len(a.keys))
	}
}

// TestInterrupt: a pattern whose automaton grows with each byte asks and ends.
func TestInterrupt(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	text := make([]byte, 32<<10)
	for i := range text {
		text[i] = "ab"[r.IntN(2)]
	}
	text = append(append(text, "\nab\n"...), text...)
	for _, multiline := range []bool{false, true} {
		p, err := Compile("a[ab]{400}c|ab$", Options{Multiline: multiline})
		if err != nil {
			t.Fatal(err)
		}
		m, asked := p.Matcher(), 0
		m.Interrupt(func() bool { asked++; return asked == 3 })
		if multiline {
			if m.Has(text) {
				t.Error("a match after the interruption")
			}
		} else if got := lines(m, text); got != nil {
			t.Errorf("lines %v after the interruption", got)
		}
		if asked != 3 {
			t.Errorf("asked %d times", asked)
		}
	}
}

func FuzzMatcher(f *testing.F) {
	for _, tc := range nasty {
		f.Add(tc.pattern, tc.text, false, false)
	}
	f.Add("a\r?\nb", "a\r\nb", true, true)
	f.Fuzz(func(t *testing.T, pattern, text string, ignoreCase, multiline bool) {
		if len(pattern) > 40 || len(text) > 400 || strings.Count(pattern, "{") > 1 {
			t.Skip("too slow for the standard library")
		}
		check(t, pattern, Options{IgnoreCase: ignoreCase, Multiline: multiline}, []byte(text))
	})
}
