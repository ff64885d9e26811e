package persist

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// sampleLog returns a closed log of n records, line by line.
func sampleLog(t testing.TB, n int) [][]byte {
	t.Helper()
	var c chain
	r := recorder{testOptions("").withDefaults()}
	opened, err := r.opened(nil)
	if err != nil {
		t.Fatal(err)
	}
	b := c.append(nil, opened)
	for i := 2; i < n; i++ {
		b = c.append(b, event(i))
	}
	closed, err := r.closed(c, false)
	if err != nil {
		t.Fatal(err)
	}
	b = c.append(b, closed)
	return slices.Collect(bytes.Lines(b))
}

func mustVerify(t testing.TB, lines ...[]byte) Report {
	t.Helper()
	r, err := Verify(bytes.NewReader(bytes.Join(lines, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVerifyOfAWholeLog(t *testing.T) {
	lines := sampleLog(t, 9)
	for _, tt := range []struct {
		name    string
		lines   [][]byte
		records int64
		closed  bool
		torn    int64
	}{
		{"closed", lines, 9, true, 0},
		{"open", lines[:8], 8, false, 0},
		{"one record", lines[:1], 1, false, 0},
		{"empty", nil, 0, false, 0},
		{"torn", append(slices.Clone(lines[:5]), lines[5][:20]), 5, false, 20},
		{"torn at the first", [][]byte{lines[0][:20]}, 0, false, 20},
		{"only the line feed is missing", append(slices.Clone(lines[:8]), bytes.TrimSuffix(lines[8], []byte("\n"))),
			8, false, int64(len(lines[8])) - 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := mustVerify(t, tt.lines...)
			if !r.OK() || r.Records != tt.records || r.Last != tt.records || r.Closed != tt.closed ||
				r.TornBytes != tt.torn {
				t.Errorf("%+v", r)
			}
		})
	}
}

// Every byte before the last line, changed in every bit and to the bytes that mean something in a log.
func TestVerifyNamesTheLineOfEveryChangedByte(t *testing.T) {
	lines := sampleLog(t, 6)
	log := bytes.Join(lines, nil)
	meaning := []byte("\n\"{},09aF\\ \x00")
	at := 0
	for i, l := range lines[:len(lines)-1] {
		for range l {
			replacements := slices.Clone(meaning)
			for bit := range 8 {
				replacements = append(replacements, log[at]^1<<bit)
			}
			for _, c := range replacements {
				if c == log[at] {
					continue
				}
				changed := bytes.Clone(log)
				changed[at] = c
				checkNamed(t, changed, int64(i+1), fmt.Sprintf("byte %d of line %d is %q", at, i+1, c))
			}
			at++
		}
	}
}

// checkNamed fails unless a problem names line seq.
func checkNamed(t *testing.T, log []byte, seq int64, what string) {
	t.Helper()
	r, err := Verify(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(r.Problems, func(p Problem) bool {
		return p.Seq == seq && (p.Kind == Changed || p.Kind == Unparsable)
	}) {
		t.Fatalf("%s: not named\n%s", what, r)
	}
}

func TestVerifyNamesWhatHappened(t *testing.T) {
	lines := sampleLog(t, 9)
	type row struct {
		name  string
		lines [][]byte
		want  []string
	}
	var table []row
	at := func(order ...int) (out [][]byte) {
		for _, n := range order {
			out = append(out, lines[n-1])
		}
		return out
	}
	for n := 1; n < 9; n++ {
		removed := slices.Delete(slices.Clone(lines), n-1, n)
		table = append(table, row{fmt.Sprintf("line %d removed", n), removed, []string{fmt.Sprintf("missing %d", n)}})
		swapped := slices.Clone(lines)
		swapped[n-1], swapped[n] = swapped[n], swapped[n-1]
		table = append(table, row{fmt.Sprintf("lines %d and %d swapped", n, n+1), swapped,
			[]string{fmt.Sprintf("swapped %d-%d", n, n+1)}})
		double := slices.Insert(slices.Clone(lines), n, lines[n-1])
		table = append(table, row{fmt.Sprintf("line %d doubled", n), double, []string{fmt.Sprintf("duplicate %d", n)}})
		garbage := slices.Clone(lines)
		garbage[n-1] = []byte("garbage\n")
		table = append(table, row{fmt.Sprintf("line %d overwritten", n), garbage,
			[]string{fmt.Sprintf("unparsable %d", n)}})
		edited := slices.Clone(lines)
		edited[n-1] = bytes.Replace(edited[n-1], []byte("evt_"), []byte("EVT_"), 1)
		table = append(table, row{fmt.Sprintf("line %d edited", n), edited, []string{fmt.Sprintf("changed %d", n)}})
		relinked := slices.Clone(lines)
		relinked[n-1] = relink(relinked[n-1])
		table = append(table, row{fmt.Sprintf("link in line %d edited", n), relinked,
			[]string{fmt.Sprintf("changed %d", n)}})
	}
	other := sampleLog(t, 9) // the same session told otherwise: its event ids differ
	table = append(table,
		row{"the beginning removed", lines[3:], []string{"missing 1-3"}},
		row{"some removed", at(1, 2, 6, 7, 8, 9), []string{"missing 3-5"}},
		row{"two holes", at(1, 3, 4, 6, 7, 8, 9), []string{"missing 2", "missing 5"}},
		row{"a line moved up", at(1, 2, 7, 3, 4, 5, 6, 8, 9), []string{"misplaced 7", "missing 7"}},
		row{"a line moved down", at(1, 2, 4, 5, 6, 3, 7, 8, 9), []string{"missing 3", "misplaced 3"}},
		row{"an old line again", at(1, 2, 3, 4, 2, 5, 6, 7, 8, 9), []string{"misplaced 2"}},
		row{"a line put in", slices.Insert(slices.Clone(lines), 4, []byte("x\n")), []string{"unparsable 5"}},
		row{"another session's rest", append(slices.Clone(lines[:4]), other[4:]...), []string{"changed 4"}},
		row{"the number of the last changed", append(slices.Clone(lines[:7]),
			bytes.Replace(lines[7], []byte(`{"seq":8`), []byte(`{"seq":10`), 1)), []string{"changed 8"}},
		row{"the last swapped", at(1, 2, 3, 4, 5, 6, 7, 9, 8), []string{"swapped 8-9"}},
		row{"a closing record that counts wrong", closeWrongly(t, func(c *chain) { c.seq++ }), []string{"changed 2"}},
		row{"a closing record of another log", closeWrongly(t, func(c *chain) { c.head[0]++ }), []string{"changed 2"}},
	)
	for _, tt := range table {
		t.Run(tt.name, func(t *testing.T) {
			r := mustVerify(t, tt.lines...)
			var got []string
			for _, p := range r.Problems {
				s := fmt.Sprintf("%s %d", p.Kind, p.Seq)
				if p.To != 0 {
					s += fmt.Sprintf("-%d", p.To)
				}
				got = append(got, s)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v\n%s", got, tt.want, r)
			}
		})
	}
}

// relink changes the first digit of the hash in a line.
func relink(l []byte) []byte {
	l = bytes.Clone(l)
	i := bytes.Index(l, []byte(`"prev":"`)) + len(`"prev":"`)
	l[i] = "10"[l[i]&1]
	if l[i] == '0' {
		l[i] = 'f'
	}
	return l
}

// closeWrongly returns a log of one event and a closing record, well linked, that speaks of what wrong makes of it.
func closeWrongly(t *testing.T, wrong func(*chain)) [][]byte {
	t.Helper()
	var c chain
	log := c.append(nil, event(1))
	other := c
	wrong(&other)
	closed, err := recorder{testOptions("").withDefaults()}.closed(other, false)
	if err != nil {
		t.Fatal(err)
	}
	return [][]byte{c.append(log, closed)}
}

func TestVerifyIsBounded(t *testing.T) {
	t.Run("problems", func(t *testing.T) {
		r := mustVerify(t, bytes.Repeat([]byte("x\n"), 5000))
		if len(r.Problems) != maxProblems || r.MoreProblems != 4000 || r.OK() {
			t.Errorf("%d problems and %d more", len(r.Problems), r.MoreProblems)
		}
	})
	t.Run("a line that is too long", func(t *testing.T) {
		lines := sampleLog(t, 5)
		long := io.LimitReader(filler('x'), maxLine+2)
		r, err := Verify(io.MultiReader(bytes.NewReader(lines[0]), long, strings.NewReader("\n"),
			bytes.NewReader(bytes.Join(lines[2:], nil))))
		if err != nil || len(r.Problems) != 1 || r.Problems[0].Kind != Unparsable || r.Records != 4 {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("a torn tail that is too long", func(t *testing.T) {
		r, err := Verify(io.LimitReader(filler('x'), maxLine+100))
		if err != nil || !r.OK() || r.TornBytes != maxLine+100 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// filler is an endless stream of one byte.
type filler byte

func (f filler) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(f)
	}
	return len(b), nil
}

func TestVerifyReadsLongLines(t *testing.T) {
	var c chain
	var log []byte
	for _, n := range []int{10, 64<<10 - 300, 64 << 10, 200 << 10, 3 << 20, 10} {
		log = c.append(log, fmt.Appendf(nil, `{"data":"%s"}`, strings.Repeat("x", n)))
	}
	for name, r := range map[string]io.Reader{"at once": bytes.NewReader(log),
		"in halves": iotest.HalfReader(bytes.NewReader(log))} {
		if report, err := Verify(r); err != nil || !report.OK() || report.Records != 6 {
			t.Errorf("%s: %+v, %v", name, report, err)
		}
	}
}

func TestVerifyReportsTheReadersError(t *testing.T) {
	broken := errors.New("broken")
	lines := sampleLog(t, 5)
	_, err := Verify(io.MultiReader(bytes.NewReader(lines[0]), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) {
		t.Errorf("error is %v", err)
	}
}

func TestReportForATerminal(t *testing.T) {
	lines := sampleLog(t, 6)
	for _, tt := range []struct {
		name  string
		lines [][]byte
		want  []string
	}{
		{"closed", lines, []string{"ok: 6 records, closed\n", "head ", "one kept elsewhere"}},
		{"torn", [][]byte{lines[0], lines[1], []byte("1234567")},
			[]string{"ok: 2 records, open at seq 2\n", "torn tail, 7 bytes"}},
		{"changed", [][]byte{lines[0], []byte("x\n"), lines[3]},
			[]string{"NOT ok, 2 problems: 2 records, open at seq 4", "line 2 of the file, unparsable:",
				"missing: line 3 is not there"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := mustVerify(t, tt.lines...).String()
			for _, w := range tt.want {
				if !strings.Contains(got, w) {
					t.Errorf("%q lacks %q", got, w)
				}
			}
		})
	}
}

func TestReadSkipsNothingSilently(t *testing.T) {
	lines := sampleLog(t, 5)
	var seqs []int64
	errs := 0
	log := bytes.Join([][]byte{lines[0], []byte("x\n"), lines[2], []byte("torn")}, nil)
	for e, err := range Read(bytes.NewReader(log)) {
		if err != nil {
			errs++
			if !strings.HasPrefix(err.Error(), "line 2: ") {
				t.Errorf("error is %v", err)
			}
			continue
		}
		seqs = append(seqs, e.Seq)
		if !json.Valid(e.Event) {
			t.Errorf("event %s", e.Event)
		}
	}
	if !slices.Equal(seqs, []int64{1, 3}) || errs != 1 {
		t.Errorf("read %v with %d errors", seqs, errs)
	}
	for _, err := range Read(iotest.ErrReader(io.ErrUnexpectedEOF)) {
		if errs++; errs > 2 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("a reader that fails: %v", err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	lines := sampleLog(f, 6)
	log := bytes.Join(lines, nil)
	guarded := len(log) - len(lines[5])
	f.Add(log, 0, byte(1))
	f.Add(log[:guarded+9], 300, byte('\n'))
	f.Add(bytes.Join([][]byte{lines[1], lines[0], lines[0], []byte("x\n"), lines[4]}, nil), guarded-1, byte(0x80))
	f.Add([]byte(`{"seq":1,"prev":"`), 17, byte(32))
	f.Fuzz(func(t *testing.T, data []byte, at int, flip byte) {
		r, err := Verify(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		whole := int64(bytes.Count(data, []byte("\n")))
		if r.Records > whole || r.OK() && (r.Records != whole || r.Last != whole) {
			t.Errorf("%d lines: %+v", whole, r)
		}
		if flip == 0 {
			return
		}
		changed := bytes.Clone(log)
		changed[uint(at)%uint(guarded)] ^= flip
		if r, err := Verify(bytes.NewReader(changed)); err != nil || r.OK() {
			t.Errorf("byte %d ^ %#x was not noticed: %v", uint(at)%uint(guarded), flip, err)
		}
	})
}
