package output

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRead(t *testing.T) {
	tests := []struct {
		name  string
		parts []string
		r     Request
		open  bool
		want  Page
	}{
		{"nothing", nil, Request{}, true, Page{}},
		{"stdout", []string{"a\n", "b"}, Request{}, true, Page{Next: 3, Text: "a\nb"}},
		{"from a cursor", []string{"a\nb"}, Request{From: 2}, true, Page{From: 2, Next: 3, Text: "b"}},
		{"at the end", []string{"a"}, Request{From: 1}, false, Page{From: 1, Next: 1}},
		{"behind the end", []string{"a"}, Request{From: 9}, true, Page{From: 1, Next: 1}},
		{"before the beginning", []string{"a"}, Request{From: -9}, true, Page{Next: 1, Text: "a"}},
		{"stderr", []string{"2:a\n"}, Request{}, true, Page{Next: 2, Text: "[stderr]\na\n"}},
		{"both", []string{"a\n", "2:b\n", "c\n"}, Request{}, true,
			Page{Next: 6, Text: "a\n[stderr]\nb\n[stdout]\nc\n"}},
		{"in the midst of a line", []string{"a", "2:b", "c"}, Request{}, true,
			Page{Next: 3, Text: "a\n[stderr]\nb\n[stdout]\nc"}},
		{"only stderr", []string{"a\n", "2:b\n", "c\n", "2:d\n"}, Request{Streams: Only(Stderr)}, true,
			Page{Next: 8, Text: "b\nd\n"}},
		{"only stdout", []string{"a", "2:b\n", "c\n", "2:d\n"}, Request{Streams: Only(Stdout)}, true,
			Page{Next: 7, Text: "ac\n"}},
		{"both named", []string{"a\n", "2:b\n"}, Request{Streams: Only(Stdout) | Only(Stderr)}, true,
			Page{Next: 4, Text: "a\n[stderr]\nb\n"}},
		{"colour alone is nobody's turn", []string{"a", "2:\x1b[m", "b\n", "2:\x1b[m"}, Request{}, true,
			Page{Next: 9, Text: "ab\n"}},
		{"progress", []string{"1%\r", "2:\x1b[m", "2%\r3%\n"}, Request{}, true, Page{Next: 12, Text: "1%3%\n"}},
		{"rune across the other stream", []string{"\xe2", "2:x\n", "\x82", "2:y\n", "\xac\n"}, Request{}, true,
			Page{Next: 8, Text: "[stderr]\nx\ny\n[stdout]\n€\n"}},
		{"half a rune is left", []string{"caf\xc3"}, Request{}, true, Page{Next: 3, Text: "caf"}},
		{"half a rune in the other stream is not", []string{"caf\xc3", "2:x"}, Request{}, true,
			Page{Next: 5, Text: "caf\n[stderr]\nx"}},
		{"half a rune at the end", []string{"caf\xc3", "2:x"}, Request{}, false,
			Page{Next: 5, Text: "caf\n[stderr]\nx\n[stdout]\n\uFFFD"}},
		{"cursor in a rune", []string{"a\u20acb"}, Request{From: 2}, true, Page{From: 2, Next: 5, Text: "€b"}},
		{"cursor in a sequence", []string{"\x1b[31mred"}, Request{From: 3}, true,
			Page{From: 3, Next: 8, Text: "red"}},
		{"full", []string{strings.Repeat("0123456789\n", 10)}, Request{Max: 70}, true,
			Page{Next: 66, Text: strings.Repeat("0123456789\n", 6), More: true}},
		{"full without a newline", []string{strings.Repeat("x", 100)}, Request{Max: 1}, true,
			Page{Next: 64, Text: strings.Repeat("x", 64), More: true}},
		{"full with an early newline", []string{"a\n" + strings.Repeat("é", 100)}, Request{Max: 65}, true,
			Page{Next: 64, Text: "a\n" + strings.Repeat("é", 31), More: true}},
		{"no room for another turn", []string{strings.Repeat("x", 60), "2:y"}, Request{Max: 64}, true,
			Page{Next: 60, Text: strings.Repeat("x", 60), More: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := said(Options{}, tt.parts...)
			if !tt.open {
				closed(t, l)
			}
			if got := l.Read(tt.r); got != tt.want {
				t.Errorf("read %+v, want %+v", got, tt.want)
			}
		})
	}
}

// printf '\xc3'; sleep 0.2; printf '\xa9' is é, though somebody read between.
func TestRuneAcrossReadings(t *testing.T) {
	l := said(Options{}, "\xc3")
	first := l.Read(Request{})
	if first != (Page{}) {
		t.Errorf("half a rune reads as %+v", first)
	}
	say(l, "\xa9")
	if got := l.Read(Request{From: first.Next}); got.Text != "é" || got.Next != 2 {
		t.Errorf("%+v", got)
	}
	// With the other stream between the halves, the cursor is between them, too.
	l = said(Options{}, "\xc3", "2:wait\n")
	first = l.Read(Request{})
	say(l, "\xa9")
	if got := l.Read(Request{From: first.Next}); first.Text != "[stderr]\nwait\n" || got.Text != "é" {
		t.Errorf("%+v, %+v", first, got)
	}
	// What never comes does not come.
	l = said(Options{}, "x\xc3")
	first = l.Read(Request{})
	closed(t, l)
	if got := l.Read(Request{From: first.Next}); got != (Page{From: 1, Next: 2, Text: "\uFFFD"}) {
		t.Errorf("%+v, %+v", first, got)
	}
	if got := l.Read(Request{From: 2}); got.Text != "" {
		t.Errorf("told twice: %+v", got)
	}
}

// A page looks at a bounded part of the output, and says that there is more.
func TestReadIsBounded(t *testing.T) {
	l := said(Options{})
	for range 3 * scanBytes / 8000 {
		say(l, strings.Repeat("\x1b[32m\x1b[m", 1000))
	}
	say(l, "end\n")
	pages, at := 0, int64(0)
	for {
		p := l.Read(Request{From: at})
		pages++
		if at = p.Next; !p.More {
			if p.Text != "end\n" {
				t.Errorf("%q", p.Text)
			}
			break
		}
	}
	if pages < 2 || pages > 5 {
		t.Errorf("%d pages", pages)
	}
}

func TestTail(t *testing.T) {
	tests := []struct {
		name    string
		parts   []string
		lines   int
		max     int
		streams Streams
		want    Page
	}{
		{"nothing", nil, 3, 0, 0, Page{}},
		{"none", []string{"a\n"}, 0, 0, 0, Page{From: 2, Next: 2}},
		{"last", []string{"a\nb\nc\n"}, 1, 0, 0, Page{From: 4, Next: 6, Text: "c\n"}},
		{"without newline", []string{"a\nb\nc"}, 2, 0, 0, Page{From: 2, Next: 5, Text: "b\nc"}},
		{"blank", []string{"a\n\n\n"}, 2, 0, 0, Page{From: 2, Next: 4, Text: "\n\n"}},
		{"more than there are", []string{"a\nb\n"}, 9, 0, 0, Page{Next: 4, Text: "a\nb\n"}},
		{"of both", []string{"a\n", "2:b\n", "c\n"}, 2, 0, 0, Page{From: 2, Next: 6, Text: "[stderr]\nb\n[stdout]\nc\n"}},
		{"of one", []string{"a\n", "2:b\n", "c\n"}, 2, 0, Only(Stdout), Page{Next: 6, Text: "a\nc\n"}},
		{"whole lines that fit", []string{strings.Repeat("0123456789\n", 20)}, 20, 64, 0,
			Page{From: 165, Next: 220, Text: strings.Repeat("0123456789\n", 5)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := said(Options{}, tt.parts...).Tail(tt.lines, tt.max, tt.streams); got != tt.want {
				t.Errorf("tail %+v, want %+v", got, tt.want)
			}
		})
	}
}

// The tail of much is found without reading it all, in the payload if it is not in the ring.
func TestTailOfMuch(t *testing.T) {
	all := numbered(300_000)
	l := said(Options{}, all)
	for _, done := range []bool{false, true} {
		if got := l.Tail(3, 0, 0); got.Text != "299998\n299999\n300000\n" || got.Next != int64(len(all)) {
			t.Errorf("closed %v: %+v", done, got)
		}
		got := l.Tail(100_000, 0, 0)
		if !strings.HasSuffix(all, "\n"+got.Text) || len(got.Text) < pageBytes/2 || len(got.Text) > pageBytes ||
			got.From != int64(len(all)-len(got.Text)) || got.More {
			t.Errorf("closed %v: %d bytes from %d", done, len(got.Text), got.From)
		}
		closed(t, l)
	}
	l = said(Options{Ring: 2 << 20}, strings.Repeat("x", 3<<20)) // one line
	if got := l.Tail(1, 100, 0); got.Text == "" || len(got.Text) > 100 || got.Next != 3<<20 {
		t.Errorf("%+v", got)
	}
	say(l, "2:last words\n", strings.Repeat("y", 3<<20))
	if got := l.Tail(1, 100, Only(Stderr)); got.Text != "last words\n" {
		t.Errorf("%+v", got)
	}
}

// unmarked splits a page of both streams by its marks, without newlines: whether one stood before a mark is not known.
func unmarked(page string) (streams [2]string) {
	s := Stdout
	for line := range strings.SplitSeq(page, "\n") {
		switch line {
		case "[stdout]":
			s = Stdout
		case "[stderr]":
			s = Stderr
		default:
			streams[s] += line
		}
	}
	return streams
}

// FuzzPages: whatever the streams say in whatever chunks, and whenever somebody reads how much, the pages put together
// are the text of each stream. The script is bytes: each says what is done next and with how much of the output.
func FuzzPages(f *testing.F) {
	f.Add([]byte{9, 200, 17, 130, 60, 129, 200, 3, 0, 255},
		"a\x1b[31mé\nc\xff\xe2\x82\xac😀\x1b]0;x\x1b\\yz\nlast", uint8(1))
	f.Add([]byte{1, 65, 2, 130, 66, 193, 1, 1, 200, 65, 65}, "\xe2\x82\xac\xe2\x82\xac\xf0\x9f\x98\x80", uint8(30))
	f.Add([]byte{3, 70, 190, 5, 199, 140}, "\x1b]8;;\nx\ay\x18z\x9b\xc2\x9b", uint8(9))
	f.Fuzz(func(t *testing.T, script []byte, unit string, times uint8) {
		unit = strings.NewReplacer("\r", "", "\b", "", "[stdout]", "", "[stderr]", "").Replace(unit)
		if len(unit) == 0 || len(script) > 1000 {
			return
		}
		src := strings.Repeat(unit, 1+int(times))
		l := said(Options{Ring: 50, Spill: 20})
		r := reader{t: t, log: l}
		var all [2]string
		for i := 0; src != ""; i++ {
			op := byte(i)
			if len(script) > 0 {
				op = script[i%len(script)]
			}
			if i > 5000 { // a script that only reads
				op = 63
			}
			n := min(1+int(op&63), len(src))
			switch op >> 6 {
			case 0, 1:
				s := Stream(op >> 6)
				all[s] += src[:n]
				l.Write(s, []byte(src[:n]))
				src = src[n:]
			case 2:
				r.both(int(op & 63 * 4))
			case 3:
				r.each(Stream(op&1), int(op&63*4))
			}
		}
		closed(t, l)
		for r.both(0) || r.each(Stdout, 0) || r.each(Stderr, 0) {
		}
		for s, raw := range all {
			want := cleaned(raw)
			if r.streams[s] != want {
				t.Errorf("%v of %q is %q, want %q", Stream(s), raw, r.streams[s], want)
			}
			want = strings.ReplaceAll(want, "\n", "")
			got := strings.ReplaceAll(r.merged[s], "\n", "")
			if got != want && got+"\uFFFD" != want {
				t.Errorf("%v of %q, merged, is %q, want %q", Stream(s), raw, got, want)
			}
		}
	})
}

// reader follows a log with three cursors.
type reader struct {
	t       *testing.T
	log     *Log
	at      [3]int64
	streams [2]string // read alone
	merged  [2]string // read together
}

func (r *reader) both(max int) (more bool) {
	p := r.page(2, Request{Max: max})
	said := unmarked(p.Text)
	r.merged[Stdout] += said[Stdout]
	r.merged[Stderr] += said[Stderr]
	return p.More
}

func (r *reader) each(s Stream, max int) (more bool) {
	p := r.page(int(s), Request{Max: max, Streams: Only(s)})
	r.streams[s] += p.Text
	return p.More
}

func (r *reader) page(i int, req Request) Page {
	req.From = r.at[i]
	p := r.log.Read(req)
	limit := max(req.Max, minPage)
	if req.Max == 0 {
		limit = pageBytes
	}
	if p.Missing != nil || p.From != req.From || p.Next < p.From || len(p.Text) > limit || !utf8.ValidString(p.Text) ||
		p.More && p.Next == p.From {
		r.t.Fatalf("%+v gave %+v", req, p)
	}
	r.at[i] = p.Next
	return p
}

// TestPagesSplitNoWord: a page that is full in the middle of a long line ends between words, so that no token is split, unless a word fills most of
// the page. The pages together are the output.
func TestPagesSplitNoWord(t *testing.T) {
	token := strings.Repeat("T0ken_", 8)
	for shift := range len(token) + 10 {
		line := strings.Repeat("x", shift) + " " + strings.Repeat(`{"a":1},`, 30) + " \x1b[1mbold\x1b[m " + token + ", " + strings.Repeat("word ", 100)
		l := said(Options{}, line)
		var all string
		whole := false
		for from, more := int64(0), true; more; {
			p := l.Read(Request{From: from, Max: 290})
			all, whole = all+p.Text, whole || strings.Contains(p.Text, token)
			if p.Next <= from {
				t.Fatalf("shift %d: no progress at %d", shift, from)
			}
			from, more = p.Next, p.More
		}
		if want := cleaned(line); all != want || !whole {
			t.Fatalf("shift %d: the token is whole %v, all of it %v", shift, whole, all == want)
		}
	}
	long := strings.Repeat("w", 5000)
	if p := said(Options{}, long).Read(Request{Max: 1000}); p.Next < 900 {
		t.Errorf("of one long word a page has %d bytes", p.Next)
	}
}
