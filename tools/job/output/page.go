package output

const (
	minPage   = 64     // bytes of text, so that every page makes progress
	pageBytes = 30_000 // bytes of text by default
)

// Request describes a page to read.
type Request struct {
	From    int64   // the cursor: an offset in the output, which is clamped to the output's range
	Max     int     // bytes of text, including marks; 0: 30,000; less than 64: 64
	Lines   int     // at most; 0: any number
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
	Binary  string // the kind of data, if the output is no text: then Text makes no sense
}

// Shown is the text of the page, and of a page that is no text what it is.
func (p Page) Shown() string {
	if p.Binary != "" {
		return binaryText(p.Binary, p.Next-p.From, "")
	}
	return p.Text
}
