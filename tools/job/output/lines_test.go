package output

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestGrep(t *testing.T) {
	tests := []struct {
		name    string
		parts   []string
		re      string
		max     int
		streams Streams
		open    bool
		want    string
		count   int64
	}{
		{"nothing", nil, "a", 100, 0, true, "", 0},
		{"lines", []string{"a\nb\nab\n"}, "a", 100, 0, true, "1:a\n3:ab\n", 2},
		{"anchors", []string{"ab\nb\nab\n"}, "^b$", 100, 0, true, "2:b\n", 1},
		{"cleaned", []string{"\x1b[31me\x1b[mrror\r\n10%\r20%\n"}, "^error$|%", 100, 0, true, "1:error\n2:20%\n", 2},
		{"no newline yet", []string{"a\nprompt> "}, ">", 100, 0, true, "2:prompt> \n", 1},
		{"half a rune at the end", []string{"x\xc3"}, "\uFFFD", 100, 0, false, "1:x\uFFFD\n", 1},
		{"half a rune for now", []string{"x\xc3"}, "x", 100, 0, true, "1:x\n", 1},
		{"across the other stream", []string{"err", "2:warning\n", "or\n"}, "r", 100, 0, true,
			"1:[stderr] warning\n2:error\n", 2},
		{"stderr", []string{"a\n", "2:a1\n", "a\n", "2:a2"}, "a", 100, Only(Stderr), true,
			"1:[stderr] a1\n2:[stderr] a2\n", 2},
		{"all are counted", []string{numbered(1000)}, "7", 14, 0, true, "7:7\n17:17\n", 271},
		{"empty lines", []string{"\n\nx\n"}, "^$", 100, 0, true, "1:\n2:\n", 2},
		{"long line", []string{strings.Repeat("é", 1000) + "\n"}, "é$", 2000, 0, true,
			"1:" + strings.Repeat("é", 500) + "…\n", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := said(Options{Ring: 20, Spill: 10}, tt.parts...)
			if !tt.open {
				closed(t, l)
			}
			got, err := l.Grep(t.Context(), regexp.MustCompile(tt.re), tt.max, tt.streams)
			if err != nil || got.String() != tt.want || got.Count != tt.count || got.Missing != nil {
				t.Errorf("%q, %d, %v, %v; want %q, %d", got, got.Count, got.Missing, err, tt.want, tt.count)
			}
		})
	}
}

// Line numbers are right behind a gap, too, for both streams and for one.
func TestGrepBehindAGap(t *testing.T) {
	l := into(&fakePayload{room: 100}, Options{Ring: 50, Spill: 10})
	for i := range 100 {
		say(l, fmt.Sprintf("out %d\n", i+1), fmt.Sprintf("2:err %d\n", i+1))
	}
	got, err := l.Grep(t.Context(), regexp.MustCompile("^out 99$|^err (3|99)$"), 100, 0)
	want := "6:[stderr] err 3\n197:out 99\n198:[stderr] err 99\n"
	if err != nil || got.String() != want || got.Missing == nil || got.Missing.From != 100 {
		t.Errorf("%q, %+v, %v", got, got.Missing, err)
	}
	got, err = l.Grep(t.Context(), regexp.MustCompile("99$"), 100, Only(Stderr))
	if err != nil || got.String() != "99:[stderr] err 99\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// A line that never ends is looked at in parts, in bounded memory.
func TestGrepOfALineWithoutEnd(t *testing.T) {
	l := said(Options{}, strings.Repeat("x", 300_000), "y", strings.Repeat("x", 300_000), "\ny\n")
	got, err := l.Grep(t.Context(), regexp.MustCompile("y"), 5000, 0)
	if err != nil || got.Count != 2 || len(got.Lines) != 2 || got.Lines[0].Number != 1 || got.Lines[1].Number != 2 ||
		len(got.Lines[0].Text) > maxShown+3 {
		t.Errorf("%d, %d lines, %v", got.Count, len(got.Lines), err)
	}
}

func TestGrepIsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := said(Options{}, "a\n").Grep(ctx, regexp.MustCompile("a"), 10, 0); !errors.Is(err, stop) {
		t.Errorf("error %v", err)
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		name    string
		before  []string
		from    int64
		re      string
		streams Streams
		steps   []string // what is said before each step
		want    []string // what each step finds; "": nothing
	}{
		{"whole line", nil, 0, "^ready$", 0, []string{"not ", "yet\nready\nmore"}, []string{"", "ready"}},
		{"grows", nil, 0, "listening on \\d+", 0, []string{"listen", "ing on ", "8080"},
			[]string{"", "", "listening on 8080"}},
		{"was there", []string{"ready\n"}, 0, "ready", 0, []string{""}, []string{"ready"}},
		{"was before", []string{"ready\n"}, 6, "ready", 0, []string{"", "not\n", "ready?"}, []string{"", "", "ready?"}},
		{"cursor in the line", []string{"ready"}, 2, "ready|ady", 0, []string{"\n"}, []string{"ady"}},
		{"cursor in a sequence", []string{"\x1b[31"}, 4, "red", 0, []string{"mred"}, []string{"red"}},
		{"stderr between", nil, 0, "ready", 0, []string{"re", "2:noise\n", "ady"}, []string{"", "", "ready"}},
		{"a little, then much", nil, 0, "x$", 0, []string{"a", strings.Repeat("a", 100_000), "x\n"},
			[]string{"", "", strings.Repeat("a", 100_001-65537) + "x"}},
		{"other stream", nil, 0, "x", Only(Stderr), []string{"x\n", "2:x"}, []string{"", "x"}},
		{"colour", nil, 0, "^ok$", 0, []string{"\x1b[3", "2mok\x1b[m\n"}, []string{"", "ok"}},
		{"stays", nil, 0, "a", 0, []string{"a1\n", "a2\n"}, []string{"a1", "a1"}},
		{"redrawn", nil, 0, "100%", 0, []string{"1%\r", "50%\r", "100%\r"}, []string{"", "", "100%"}},
		{"an open line is not empty", nil, 0, "^$", 0, []string{"a", "\n", "\n"}, []string{"", "", "empty"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := said(Options{Ring: 16, Spill: 8}, tt.before...)
			m := l.Match(regexp.MustCompile(tt.re), tt.from, tt.streams)
			var got []string
			for _, part := range tt.steps {
				say(l, part)
				line, ok, err := m.Step(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if ok && line == "" {
					line = "empty"
				}
				got = append(got, line)
			}
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("steps found %q, want %q", got, tt.want)
			}
		})
	}
}

// countingPayload counts what is read back.
type countingPayload struct {
	fakePayload
	read int
}

func (p *countingPayload) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.fakePayload.ReadAt(b, off)
	p.read += n
	return n, err
}

// A step looks only at what came since the last one.
func TestMatchReadsOnce(t *testing.T) {
	p := &countingPayload{}
	l := into(&p.fakePayload, Options{Ring: 10, Spill: 1})
	l.payload, l.spilled = p, true
	m := l.Match(regexp.MustCompile("never"), 0, 0)
	for range 100 {
		say(l, strings.Repeat("0123456789\n", 100))
		if _, ok, err := m.Step(t.Context()); ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	if p.read > 110_000 {
		t.Errorf("%d bytes were read of %d", p.read, len(p.b))
	}
}

// FuzzLines: the lines of each stream are those of its text, whatever the chunks and wherever the steps.
func FuzzLines(f *testing.F) {
	f.Add([]byte{9, 200, 17, 130}, "a\x1b[31mé\nc\r\xff\xe2\x82\xac😀\x1b]0;x\x1b\\yz\nlast\b", uint8(1))
	f.Fuzz(func(t *testing.T, script []byte, unit string, times uint8) {
		src := strings.Repeat(unit, int(times))
		if len(src) > maxPending || len(script) == 0 {
			return
		}
		l := said(Options{Ring: 50, Spill: 20})
		var raw, got [2]string
		take := func(s Stream, _ int64, line []byte) { got[s] += string(line) + "\n" }
		in := lines{log: l, take: take}
		for i := 0; src != ""; i++ {
			op := script[i%len(script)]
			n := min(1+int(op&63), len(src))
			s := Stream(op >> 6 & 1)
			raw[s] += src[:n]
			l.Write(s, []byte(src[:n]))
			src = src[n:]
			if op >= 128 {
				to, _ := l.end()
				if err := in.advance(t.Context(), to); err != nil {
					t.Fatal(err)
				}
			}
		}
		to, _ := l.end()
		if err := in.advance(t.Context(), to); err != nil {
			t.Fatal(err)
		}
		number := in.number
		in.finish(true)
		if want := int64(strings.Count(raw[0]+raw[1], "\n")); number != want {
			t.Errorf("%d lines, want %d", number, want)
		}
		for s := range raw {
			want := cleaned(raw[s])
			if !strings.HasSuffix(want, "\n") && want != "" {
				want += "\n"
			}
			if got[s] != want {
				t.Errorf("%v of %q is %q, want %q", Stream(s), raw[s], got[s], want)
			}
		}
	})
}
