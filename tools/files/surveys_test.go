package files

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/tools/encoding"
	"toolhost/tools/racy"
)

// withSizes gives a project a memory of files that takes those of more than 1 MiB for large, and nothing for racy.
func withSizes(p *project, size sizes) *surveys {
	s := newSurveys()
	s.size, s.now = size, func() time.Time { return time.Now().Add(time.Hour) }
	p.tools["read"].(readTool).session.surveys = s
	return s
}

// pages holds a file to be read through what is known of it, and at once.
type pages struct {
	*project
	kept  *surveys
	fresh *project
}

func newPages(t *testing.T) *pages {
	p := newProject(t, Options{})
	return &pages{p, withSizes(p, sizes{large: memoryOnly, chunk: 4 << 10}), projectIn(t, p.dir, Options{})}
}

// compare reads one page in both ways. The other one surveys the file as a whole, unless that would tell of what is not
// UTF-8 behind what was seen.
func (p *pages) compare(input in) {
	p.t.Helper()
	withSizes(p.fresh, sizes{large: 1 << 40, chunk: chunkSize})
	want, wantErr := p.fresh.run("read", input)
	got, err := p.run("read", input)
	if r, ok := got.Structured.(readResult); ok && r.shownPage != nil && r.SeenBytes > 0 {
		if w := want.Structured.(readResult); w.shownPage == nil || w.Encoding != r.Encoding {
			withSizes(p.fresh, p.kept.size)
			want, wantErr = p.fresh.run("read", input)
		}
	}
	if wantErr != nil || err != nil {
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			p.t.Fatalf("%v: error %v, want %v", input, err, wantErr)
		}
		return
	}
	r, w := got.Structured.(readResult), want.Structured.(readResult)
	if shownLines(got) != shownLines(want) {
		p.t.Fatalf("%v:\n%.200q\nwant\n%.200q", input, shownLines(got), shownLines(want))
	}
	if w.shownPage != nil {
		if r.SeenBytes > 0 && (r.TotalLines > w.TotalLines && w.SeenBytes == 0 || r.NextOffset == 0 || r.SeenBytes >= r.SizeBytes) {
			p.t.Fatalf("%v: at least %d lines of %d, next offset %d", input, r.TotalLines, w.TotalLines, r.NextOffset)
		}
		if r.SeenBytes > 0 {
			r.TotalLines, r.LineEnding, r.SeenBytes = w.TotalLines, w.LineEnding, w.SeenBytes
		}
		if *r.shownPage != *w.shownPage {
			p.t.Fatalf("%v: %+v, want %+v", input, *r.shownPage, *w.shownPage)
		}
	}
	if r.Kind != w.Kind || r.SizeBytes != w.SizeBytes {
		p.t.Fatalf("%v: %+v, want %+v", input, r, w)
	}
}

// shownLines is the page without the notes at its end.
func shownLines(out agenttool.Output) string {
	lines := strings.Split(out.Content[0].Text, "\n")
	return strings.Join(slices.DeleteFunc(lines, func(l string) bool { return strings.HasPrefix(l, "[") }), "\n")
}

// textOf makes a text of at least size bytes.
func textOf(r *rand.Rand, size int, endings []string, words []string, longest int) string {
	var b strings.Builder
	for b.Len() < size {
		for range r.IntN(longest) {
			b.WriteString(words[r.IntN(len(words))])
		}
		b.WriteString(endings[r.IntN(len(endings))])
	}
	return b.String()
}

func TestPagesAreThoseOfAFreshSession(t *testing.T) {
	lf, ascii, wide := []string{"\n"}, []string{"a", "word ", "\t"}, []string{"a", "é", "€uro ", "😀", ""}
	tests := []struct {
		name    string
		endings []string
		words   []string
		longest int
		make    func(text string) []byte
	}{
		{"lf", lf, ascii, 20, nil},
		{"utf-8", lf, wide, 20, nil},
		{"crlf", []string{"\r\n"}, wide, 20, nil},
		{"cr", []string{"\r"}, wide, 20, nil},
		{"mixed", []string{"\n", "\r\n", "\r", "\n\n"}, wide, 20, nil},
		{"no final newline", lf, wide, 20, func(s string) []byte { return []byte(s + "the end") }},
		{"cut in a character", lf, wide, 20, func(s string) []byte { return []byte(s + "\xe2\x82") }},
		{"long lines", lf, wide, 20_000, nil},
		{"bom", lf, ascii, 20, func(s string) []byte { return []byte("\ufeff" + s) }},
		{"utf-16le", []string{"\n", "\r\n"}, wide, 20, func(s string) []byte { b, _ := encodeNew(encoding.UTF16LE, s); return b }},
		{"utf-16be", lf, wide, 20, func(s string) []byte { b, _ := encodeNew(encoding.UTF16BE, s); return b }},
		{"latin-1", lf, []string{"a", "\xe9", "\xfc", " "}, 20, nil},
		{"binary", lf, []string{"a", "\x00"}, 20, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, uint64(len(tt.name))))
			p := newPages(t)
			text := textOf(r, memoryOnly+r.IntN(memoryOnly/4), tt.endings, tt.words, tt.longest)
			raw := []byte(text)
			if tt.make != nil {
				raw = tt.make(text)
			}
			p.put("f", string(raw))
			most := 2 + strings.Count(text, tt.endings[0])
			for range 6 {
				input := in{"path": "f", "offset": 1 + r.IntN(most), "limit": 1 + r.IntN(300)}
				if r.IntN(5) == 0 {
					input["offset"] = -1 - r.IntN(most)
				}
				p.compare(input)
			}
		})
	}
}

func TestPagesOfAFileThatChanges(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("a line with an é in it\n", n) }
	start := lines(memoryOnly / 16)
	tests := []struct {
		name   string
		change func(p *pages)
	}{
		{"not at all", func(p *pages) {}},
		{"appended", func(p *pages) { p.at("f", len(start), "more\nand more") }},
		{"appended much", func(p *pages) { p.at("f", len(start), lines(50_000)+"é") }},
		{"appended what is not UTF-8", func(p *pages) { p.at("f", len(start), "\xe9\n") }},
		{"appended NUL", func(p *pages) { p.at("f", len(start), "\x00") }},
		{"truncated", func(p *pages) { os.Truncate(p.path("f"), int64(len(start)-100)) }},
		{"truncated and written anew, longer", func(p *pages) { p.put("f", strings.Repeat("other\n", len(start)/4)) }},
		{"truncated and written anew, with two lines more", func(p *pages) { p.put("f", start[:24_000]+"\n\n"+start[24_000:]) }},
		{"three bytes in its middle, and appended", func(p *pages) { p.at("f", len(start)/3, "\n\n\n"); p.at("f", len(start), "x\n") }},
		{"NUL in its middle, and appended", func(p *pages) { p.at("f", len(start)/3, "\x00"); p.at("f", len(start), "x\n") }},
		{"rewritten in place", func(p *pages) { p.at("f", len(start)/2, strings.Repeat("\n", 1000)) }},
		{"replaced", func(p *pages) { p.put("g", start+"x"); os.Rename(p.path("g"), p.path("f")) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPages(t)
			p.put("f", start)
			for _, offset := range []int{500, 30_000, -3} { // a part of it, more, all
				p.compare(in{"path": "f", "offset": offset, "limit": 10})
			}
			tt.change(p)
			for _, offset := range []int{1, 500, 30_000, 60_000, -1, -3, -60_000} {
				p.compare(in{"path": "f", "offset": offset, "limit": 10})
			}
		})
	}
}

// A survey that did not see enough is gone on with, and not made again, as long as the file is the same.
func TestSurveyGoesOn(t *testing.T) {
	p := newPages(t)
	p.put("f", strings.Repeat("a line\n", memoryOnly))
	p.compare(in{"path": "f", "offset": 500_000, "limit": 1})
	before := p.kept.kept[0]
	p.put("g", strings.Repeat("\n", 7*memoryOnly)) // what is seen now shows where it was looked
	f := must[*os.File](t)(os.Open(p.path("g")))
	defer f.Close()
	c := &content{file: f, size: 7 * memoryOnly, identity: before.identity}
	if err := p.kept.survey(t.Context(), c, memoryOnly, encoding.Binary); err != nil {
		t.Fatal(err)
	}
	if want := before.known.form.lf + c.seen - before.known.seen; c.form.lf != want || c.seen <= before.known.seen {
		t.Errorf("%d lines end in %d bytes, want %d", c.form.lf, c.seen, want)
	}
}

// Of a file that is written to all the time what it held when it was opened is read.
func TestGrowingFile(t *testing.T) {
	p := newPages(t)
	p.put("f", strings.Repeat("a line\n", memoryOnly))
	f := must[*os.File](t)(os.Open(p.path("f")))
	defer f.Close()
	c := must[*content](t)(openContent(f))
	p.at("f", 7*memoryOnly, strings.Repeat("more\n", memoryOnly))
	if err := p.kept.survey(t.Context(), c, math.MaxInt64, encoding.Binary); err != nil {
		t.Fatal(err)
	}
	if c.total() != memoryOnly || c.partial || c.version != "" {
		t.Errorf("%d lines, partial %v, version %q", c.total(), c.partial, c.version)
	}
	page, err := c.pageOf(t.Context(), pageRequest{first: memoryOnly - 1, last: memoryOnly, lineChars: maxLineChars, room: pageChars, bytes: math.MaxInt})
	if want := "1048575\ta line\n1048576\ta line\n"; err != nil || string(page.out) != want {
		t.Errorf("page %q, %v, want %q", page.out, err, want)
	}
}

// Every size at which the scan of a file may end is one at which the total is known.
func TestTotalAtTheEndOfARound(t *testing.T) {
	const chunk, lines = 4 << 10, 4 << 10 / 8
	for chunks := memoryOnly/chunk + 1; chunks < memoryOnly/chunk+40; chunks++ {
		p := newProject(t, Options{})
		withSizes(p, sizes{large: memoryOnly, chunk: chunk})
		p.put("f", strings.Repeat("a line.\n", chunks*lines))
		r, _ := p.readInput(in{"path": "f", "offset": chunks*lines - 20, "limit": 10})
		if r.SeenBytes >= r.SizeBytes || r.TotalLines > int64(chunks*lines) || r.SeenBytes == 0 && r.TotalLines != int64(chunks*lines) {
			t.Fatalf("%d chunks: %d lines of %d, %d bytes of %d", chunks, r.TotalLines, chunks*lines, r.SeenBytes, r.SizeBytes)
		}
	}
}

// A file that changes between the survey and the page gives a page that says so and does not count as read.
func TestChangedBeforeThePage(t *testing.T) {
	for _, size := range []int64{memoryOnly, 1 << 40} { // known by its status, by its digest
		for _, kept := range []bool{false, true} {
			p := newPages(t)
			p.kept.size.large = size
			p.put("f", strings.Repeat("a line\n", memoryOnly/4))
			call := p.mustBind("read", in{"path": "f", "offset": 1000, "limit": 1}).(*readCall)
			if kept {
				p.read("f")
			}
			f := must[*os.File](t)(call.open())
			defer f.Close()
			c := must[*content](t)(openContent(f))
			if err := p.kept.survey(t.Context(), c, 1001, encoding.Binary); err != nil || c.version == "" {
				t.Fatalf("version %q, %v", c.version, err)
			}
			p.at("f", 0, "\n\n")
			out, err := call.showText(t.Context(), c, readResult{})
			if err != nil || !strings.Contains(out.Content[0].Text, "changed while it was read") {
				t.Errorf("kept %v: %v, %v", kept, out.Content, err)
			}
			if out.Shown != nil {
				t.Error("the page counts as read")
			}
			os.Truncate(p.path("f"), 0)
			_, err = call.showText(t.Context(), c, readResult{})
			wantError(t, err, agenttool.ExecutionFailed, "changed_while_read", "changed while it was read")
		}
	}
}

// at writes into a file as a writer does that keeps it. It writes again where the file system's clock is too slow to tell.
func (p *project) at(name string, offset int, text string) {
	p.t.Helper()
	f, err := os.OpenFile(p.path(name), os.O_WRONLY, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	before, _ := stat(f)
	for now := before; identify(&now) == identify(&before); now, _ = stat(f) {
		if _, err := f.WriteAt([]byte(text), int64(offset)); err != nil {
			p.t.Fatal(err)
		}
	}
}

// What is known of a file may be of a moment that its time stamp does not tell from the next one: then it is not kept.
func TestRacySurveyIsNotKept(t *testing.T) {
	for _, later := range []time.Duration{-time.Hour, 0, racy.Window / 2, 2 * racy.Window, racy.Coarse / 2, 2 * racy.Coarse} {
		p := newProject(t, Options{})
		s := withSizes(p, sizes{large: memoryOnly, chunk: chunkSize})
		p.put("f", strings.Repeat("x\n", memoryOnly))
		st := p.lstat("f")
		tick := racy.Window
		if st.Ctim.Nsec == 0 || st.Mtim.Nsec == 0 {
			tick = racy.Coarse
		}
		s.now = func() time.Time { return time.Unix(st.Ctim.Unix()).Add(later) }
		p.read("f")
		if kept := len(s.kept) == 1; kept != (later > tick) {
			t.Errorf("read %v after it was changed: kept is %v", later, kept)
		}
	}
}

func TestIdentityIsRacy(t *testing.T) {
	now := time.Unix(1_700_000_000, 5)
	stamp := func(before time.Duration) unix.Timespec { return unix.NsecToTimespec(now.Add(-before).UnixNano()) }
	old, recent, whole := stamp(time.Minute), stamp(racy.Window/2), unix.Timespec{Sec: now.Unix() - 1}
	for _, tt := range []struct {
		id   identity
		want bool
	}{
		{identity{mtime: old, ctime: old}, false}, {identity{mtime: recent, ctime: old}, true},
		{identity{mtime: old, ctime: recent}, true}, {identity{mtime: old, ctime: whole}, true},
	} {
		if got := tt.id.racy(now); got != tt.want {
			t.Errorf("%+v: %v, want %v", tt.id, got, tt.want)
		}
	}
}

func TestSurveysAreBounded(t *testing.T) {
	s := newSurveys()
	id := func(n int) identity { return identity{ino: uint64(n), size: int64(n)} }
	for i := range 3 * maxKept {
		c := &content{identity: id(i), cachedSurvey: cachedSurvey{index: lineIndex{stride: 1, ended: make([]int64, 11, 20)}}}
		s.keep(c)
		s.keep(c)
		s.recall(id(0)) // used all the time
	}
	if len(s.kept) != maxKept || s.find(id(0)) < 0 || s.find(id(3*maxKept-1)) < 0 || s.find(id(1)) >= 0 {
		t.Errorf("%d are kept: %v", len(s.kept), s.kept)
	}
	if c := cap(s.kept[0].known.index.ended); c != 11 { // in more, two calls that go on would write over each other
		t.Errorf("an index of 11 entries has room for %d", c)
	}
}

func TestReadersOfOneFile(t *testing.T) {
	p := newPages(t)
	p.put("f", strings.Repeat("a line\n", memoryOnly))
	var readers sync.WaitGroup
	for i := range 4 {
		readers.Go(func() {
			for n := range 20 {
				line := 1 + (i*20+n)*1000
				call := p.mustBind("read", in{"path": "f", "offset": line, "limit": 2})
				out, err := call.Run(t.Context(), nil)
				if want := fmt.Sprintf("%6d\ta line\n%6d\ta line\n", line, line+1); err != nil || !strings.HasPrefix(out.Content[0].Text, want) {
					t.Errorf("line %d: %v, %v", line, out.Content, err)
				}
			}
		})
	}
	readers.Go(func() {
		for range 20 {
			p.at("f", 7*memoryOnly, "more\n")
		}
	})
	readers.Wait()
}

func TestLargeReadIsBoundedAndHonoursContext(t *testing.T) {
	p := newProject(t, Options{})
	p.put("f", strings.Repeat(strings.Repeat("é", 30)+"\n", 3*digestLimit/2/61))
	var before, after runtime.MemStats
	call := p.mustBind("read", in{"path": "f", "offset": -10})
	runtime.ReadMemStats(&before)
	if _, err := call.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("%d bytes were allocated", took)
	}
	p.at("f", 0, "x") // nothing is known
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := call.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want canceled", err)
	}
}

// The first page of a large file says that not all of it was looked at, the last one tells what there is.
func TestTotalOfALargeFile(t *testing.T) {
	p := newProject(t, Options{})
	line := strings.Repeat("x", 99) + "\n"
	length := 3 * digestLimit / 2 / len(line)
	p.put("f", strings.Repeat(line, length))
	r, text := p.readInput(in{"path": "f", "limit": 2})
	if r.SeenBytes == 0 || r.SeenBytes >= r.SizeBytes || r.TotalLines >= int64(length) || r.NextOffset != 3 || !r.FinalNewline ||
		!strings.Contains(text, "[lines 1–2 of at least ") {
		t.Errorf("first page: %+v, %q", *r.shownPage, text)
	}
	for _, offset := range []int{-1, 1} {
		r, text = p.readInput(in{"path": "f", "offset": offset, "limit": 1})
		if r.SeenBytes != 0 && offset < 0 || offset < 0 && r.TotalLines != int64(length) || offset < 0 && strings.Contains(text, "at least") {
			t.Errorf("from %d: %+v, %q", offset, *r.shownPage, text)
		}
	}
	_, err := p.run("read", in{"path": "f", "offset": length + 1})
	wantError(t, err, agenttool.InvalidArguments, "bad_value", count.Thousands(length)+" lines")
}

func TestLineIndexStaysSmall(t *testing.T) {
	x := lineIndex{stride: 2}
	for offset := int64(0); offset < 10*maxMarks; offset += 2 {
		x.mark(offset, offset/2)
	}
	if len(x.ended) > maxMarks || x.stride != 16 {
		t.Errorf("%d entries, %d bytes apart", len(x.ended), x.stride)
	}
	for i, ended := range x.ended {
		if ended != int64(i)*x.stride/2 {
			t.Fatalf("%d lines end before byte %d", ended, int64(i)*x.stride)
		}
	}
	if offset, ended := x.before(1001); offset != 1984 || ended != 992 {
		t.Errorf("line 1001 is looked for from %d, after %d lines", offset, ended)
	}
}
