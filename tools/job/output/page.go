package output

const (
	minPage   = 64     // bytes of text, so that every page makes progress
	pageBytes = 30_000 // bytes of text by default
)

// Request describes a page to read.
type Request struct {
	From    int64   // the cursor: an offset in the output, which is clamped to the output's range
	Max     int     // bytes of text, including marks; 0: 30,000; less than 64: 64
	Streams Streams // zero: both
}

// Page is a part of the output as text.
type Page struct {
	From int64  // where it begins
	Next int64  // where the next page begins
	Text string // cleaned
	More bool   // more output is available now, even after a page without text: progress bars are long
	// Missing, if not nil, is a lost part. It begins at From; the text begins after it.
	Missing *Gap
}

// Read returns the text from a cursor on. It does not block.
//
// A page of both streams marks changes of the stream: a line "[stderr]" precedes a run of stderr, "[stdout]" precedes
// stdout that follows it, and "[stdout or stderr]" precedes output whose label is lost. A page that begins with
// stdout has no mark. A page of one stream has no marks, and includes output whose label is lost.
//
// A full page ends at a newline, if there is one in its second half. A page ends before a gap. While the output is
// still open, an incomplete rune at its end is left to the next page.
func (l *Log) Read(r Request) Page {
	end, closed := l.end()
	return l.read(r, end, closed)
}

// read reads up to offset to, the end of the output a moment ago.
func (l *Log) read(r Request, to int64, closed bool) Page {
	if r.Max <= 0 {
		r.Max = pageBytes
	}
	from := min(max(r.From, 0), to)
	v := view{log: l, want: r.Streams, start: from, limit: max(r.Max, minPage)}
	p := Page{From: from}
	p.Next, p.More = v.read(from, to, closed)
	p.Text, p.Missing = string(v.t.b), v.missing
	return p
}
