package seen

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// contentOf is the content of a file of lines, with that version.
func contentOf(version string, lines ...string) Content {
	return Content{Version: version, Text: []byte(strings.Join(lines, "\n") + "\n"), Terminator: '\n', Lines: int64(len(lines))}
}

func lines(n int64) Content { return Content{Version: "v", Lines: n} }

func TestLedgerForgets(t *testing.T) {
	l := &Ledger{}
	for i := range maxFiles + 10 {
		l.Wrote(fmt.Sprint(i), "v", true)
		l.Recall("0", lines(1)) // used all the time
	}
	if len(l.files) > maxFiles || len(l.files) < maxFiles/2 {
		t.Errorf("%d files are remembered, want about %d", len(l.files), maxFiles)
	}
	if l.Recall("0", lines(1)).State != Whole || l.Recall("1", lines(1)).State != Unseen {
		t.Error("not the file that was used last is remembered")
	}
	for i := range int64(2 * maxSpans) {
		l.Page("sparse", "v", Page{Whole: []Span{{3*i + 1, 3*i + 1}}, Parts: []Part{{Line: 3*i + 2, From: 1, To: 9}}, Total: 1e6})
	}
	if f := l.files["sparse"]; len(f.lines) > maxSpans || len(f.begun) > maxSpans {
		t.Errorf("%d spans and %d parts are remembered", len(f.lines), len(f.begun))
	}
	for range 3 {
		l.Printed("big", 1, make([]string, maxPrinted/2))
	}
	if l.printedLines != maxPrinted || len(l.printed) != 2 {
		t.Errorf("%d printed lines are remembered, in %d pieces", l.printedLines, len(l.printed))
	}
	for i := range 2 * maxPrints {
		l.Printed("small", int64(i+1), []string{fmt.Sprint("line ", i)})
	}
	if n := len(l.printed); n > maxPrints || n < maxPrints/2 || l.printedLines != n {
		t.Errorf("%d pieces of printed lines are remembered, of %d lines", n, l.printedLines)
	}
	if last := l.printed[len(l.printed)-1]; last.first != 2*maxPrints {
		t.Errorf("the last piece is of line %d", last.first)
	}
}

func TestLedgerJoinsPages(t *testing.T) {
	tests := []struct {
		name  string
		reads []Span
		want  State
	}{
		{"at once", []Span{{1, 10}}, Whole},
		{"in pages", []Span{{1, 5}, {6, 10}}, Whole},
		{"backwards", []Span{{6, 10}, {1, 5}}, Whole},
		{"overlapping", []Span{{1, 7}, {4, 10}}, Whole},
		{"filling a gap", []Span{{1, 3}, {7, 10}, {4, 6}}, Whole},
		{"with a gap", []Span{{1, 4}, {6, 10}}, Partly},
		{"the end only", []Span{{6, 10}}, Partly},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &Ledger{}
			for _, s := range tt.reads {
				l.Page("a", "v", Page{Whole: []Span{s}, Total: 10})
			}
			if got := l.Recall("a", lines(10)).State; got != tt.want {
				t.Errorf("state = %v, want %v", got, tt.want)
			}
			if got := l.Recall("a", Content{Version: "w", Lines: 10}).State; got != Changed {
				t.Errorf("of another content: state = %v, want changed", got)
			}
		})
	}
}

// Of a large file the total may be known only when its last page is read: then all of it was.
func TestLedgerLearnsTheTotalLast(t *testing.T) {
	l := &Ledger{}
	l.Page("a", "v", Page{Whole: []Span{{1, 10}}, Total: math.MaxInt64})
	if got := l.Recall("a", lines(20)); got.State != Partly || fmt.Sprint(got.Missing) != "[{11 20}]" {
		t.Errorf("%+v, want lines 11 to 20 missing", got)
	}
	l.Page("a", "v", Page{Whole: []Span{{11, 20}}, Total: 20})
	if got := l.Recall("a", lines(20)).State; got != Whole {
		t.Errorf("state = %v, want whole", got)
	}
}

// A line that was shown in parts counts once they reach from its beginning to its end.
func TestPartsOfALine(t *testing.T) {
	tests := []struct {
		name  string
		parts []Part
		want  State
	}{
		{"the beginning", []Part{{2, 1, 2000, false}}, Partly},
		{"the end", []Part{{2, 2001, 5000, true}}, Partly},
		{"all", []Part{{2, 1, 2000, false}, {2, 2001, 5000, true}}, Whole},
		{"overlapping", []Part{{2, 1, 2000, false}, {2, 1500, 3000, false}, {2, 1, 50, false}, {2, 3001, 5000, true}}, Whole},
		{"with a gap", []Part{{2, 1, 2000, false}, {2, 2002, 5000, true}}, Partly},
		{"of another line", []Part{{3, 1, 2000, false}, {2, 2001, 5000, true}}, Partly},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &Ledger{}
			l.Page("a", "v", Page{Whole: []Span{{1, 1}, {3, 3}}, Total: 3})
			for _, p := range tt.parts {
				l.Page("a", "v", Page{Parts: []Part{p}, Total: 3})
			}
			if got := l.Recall("a", lines(3)); got.State != tt.want || got.State == Partly && fmt.Sprint(got.Missing) != "[{2 2}]" {
				t.Errorf("%+v, want %v", got, tt.want)
			}
		})
	}
}

// What other tools printed counts if the file has exactly that.
func TestPrintedLines(t *testing.T) {
	type out struct {
		first int64
		lines []string
	}
	content := []string{"a", "b", "}", "", "}", "c"}
	tests := []struct {
		name  string
		out   []out
		want  State
		lacks string
	}{
		{"all", []out{{0, content}}, Whole, ""},
		{"all, among other output", []out{{0, []string{"$ ls", "a", "b", "}", "", "}", "c", "done"}}}, Whole, ""},
		{"with CRLF", []out{{0, []string{"a\r", "b\r", "}\r", "\r", "}\r", "c\r"}}}, Whole, ""},
		{"head and tail", []out{{0, content[:3]}, {0, content[3:]}}, Whole, ""},
		{"the head", []out{{0, content[:3]}}, Partly, "[{4 6}]"},
		{"lines that the file has twice", []out{{0, []string{"}"}}}, Unseen, ""},
		{"the same with their numbers", []out{{5, []string{"}"}}}, Partly, "[{1 4} {6 6}]"},
		{"numbered, all", []out{{1, content[:4]}, {5, content[4:]}}, Whole, ""},
		{"a line that was clipped", []out{{1, []string{"a", "b", "}", "", "}", "…c"}}}, Partly, "[{6 6}]"},
		{"a number that is too high", []out{{7, []string{"c"}}}, Unseen, ""},
		{"another text", []out{{0, []string{"a", "B"}}}, Unseen, ""},
		{"nothing", []out{{0, nil}}, Unseen, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &Ledger{}
			for _, o := range tt.out {
				l.Printed("f", o.first, o.lines)
			}
			got := l.Recall("f", contentOf("v", content...))
			if got.State != tt.want || got.Missing != nil && fmt.Sprint(got.Missing) != tt.lacks {
				t.Errorf("%+v, want %v without %s", got, tt.want, tt.lacks)
			}
			if other := l.Recall("g", contentOf("v", content...)); other.State != Unseen {
				t.Errorf("of another file: %+v", other)
			}
		})
	}
	l := &Ledger{}
	l.Printed("f", 0, []string{"old", "text"})
	l.Page("f", "v1", Page{Whole: []Span{{1, 1}}, Total: 2})
	if got := l.Recall("f", contentOf("v2", "new", "text")); got.State != Changed {
		t.Errorf("a file that changed: %+v", got)
	}
	if got := l.Recall("f", contentOf("v3", "old", "text")); got.State != Whole {
		t.Errorf("a file that has the printed lines again: %+v", got)
	}
	if got := l.Recall("f", Content{Version: "v4", Lines: 2}); got.State != Changed {
		t.Errorf("a file that is no text: %+v", got)
	}
}

// Long runs of the same lines take time in proportion to the file.
func TestPrintedLinesAreFoundQuickly(t *testing.T) {
	l := &Ledger{}
	l.Printed("f", 0, append(make([]string, maxPrinted/2), "x"))
	c := contentOf("v", make([]string, maxPrinted)...)
	if got := l.Recall("f", c); got.State != Unseen {
		t.Errorf("%+v", got)
	}
}
