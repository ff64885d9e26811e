package output

const (
	minPage   = 64     // bytes of text, so that every page gets on
	pageBytes = 30_000 // of text, unless told otherwise
)

// Request says what to read.
type Request struct {
	From    int64   // the cursor: an offset in the output; before the beginning counts as that, behind the end as that
	Max     int     // bytes of text, marks included; 0: 30,000; less than 64: 64
	Streams Streams // zero: both
}

// Page is a part of the output as text.
type Page struct {
	From int64  // where it begins
	Next int64  // where the next one does
	Text string // cleaned
	More bool   // there is more to read now, even behind a page without text: progress bars are long
	// Missing, if not nil, is not kept. It begins at From; the text begins behind it.
	Missing *Gap
}

// Read returns the text from a cursor on. It waits for nobody.
//
// A page of both streams says whose text it is where that changes: a line "[stderr]" is before a run of stderr, a line
// "[stdout]" before stdout that follows it, "[stdout or stderr]" before output whose label is forgotten. A page that
// begins with stdout has no mark. A page of one stream has none at all, and what may belong to it is in it.
//
// A page that is full ends at a newline, if there is one in its second half. It ends before a gap. While the output
// goes on, half a rune at its end is left to the next page.
func (l *Log) Read(r Request) Page {
	end, closed := l.end()
	return l.read(r, end, closed)
}

// read reads up to where the output ended a moment ago.
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
