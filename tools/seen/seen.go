// Package seen records which text of which files a session was shown, so that nothing replaces text that nobody saw.
//
// A line counts as seen only if all of it was shown. The tool that reads a file knows the file's content and its
// lines: it reports them with [Ledger.Page]. Other tools print text of files without knowing all of them: they report
// the lines with [Ledger.Printed]. Such lines are compared with the file when somebody asks, so that what they print
// counts only if the file has exactly that.
//
//	ledger.Page(path, version, seen.Page{Whole: []seen.Span{{1, 40}}, Total: 80})
//	ledger.Printed(path, 41, lines)
//	ledger.Recall(path, seen.Content{Version: version, Text: text, Terminator: '\n', Lines: 80}).State // Whole
package seen

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
)

// The limits of a ledger. What it drops must be read again.
const (
	maxFiles   = 4096
	maxSpans   = 256     // separate spans and begun lines of one file
	maxPrinted = 1 << 18 // lines that other tools printed; of longer files they do not count
	maxPrints  = 1 << 13 // pieces of such lines
	hashSize   = 8       // bytes
)

// Ledger records what a session has seen. The zero value is empty and ready. It is safe for concurrent use.
type Ledger struct {
	mu    sync.Mutex
	files map[string]*file // by resolved path
	clock uint64

	seed         maphash.Seed
	printed      []printed // oldest first
	printedLines int
}

// file is the record of one file.
type file struct {
	version string          // of the content, see Content.Version
	whole   bool            // all of it was shown or written
	lines   []Span          // else the lines that were shown, in order and not adjacent
	begun   map[int64]int64 // of lines that were shown in part: how many characters from the line's beginning
	altered bool            // some text reached the caller changed, such as masked
	used    uint64
}

// printed are consecutive lines that a tool printed of a file.
type printed struct {
	path   string
	first  int64  // the number of the first line; 0: unknown
	hashes []byte // of the lines, hashSize bytes each
}

// Span is a range of lines from 1, both ends included.
type Span struct{ From, To int64 }

// Page is what was shown of a file whose content is known.
type Page struct {
	Whole   []Span // lines that were shown from their beginning to their end
	Parts   []Part // of other lines
	Total   int64  // lines of the file; math.MaxInt64: not known yet
	Altered bool   // some lines reached the caller changed, such as masked: they are not in Whole
}

// Part is the shown part of a long line.
type Part struct {
	Line     int64
	From, To int64 // characters from 1, both ends included
	Ends     bool  // To is the last character of the line
}

// Content is the present content of a file.
type Content struct {
	Version    string // is the same only for the same content
	Text       []byte // as it is shown; nil: it is not text
	Terminator byte   // that ends a line: LF, or CR. A CR before LF belongs to the line's end
	Lines      int64
}

// State is how much of a content was seen.
type State int

const (
	Unseen  State = iota // nothing
	Changed              // the file was seen with another content
	Partly               // this content, but not all of it
	Whole                // all of this content
)

// Knowledge is what a session knows of a content.
type Knowledge struct {
	State   State
	Missing []Span // if Partly: the lines that were not shown, or not to their ends
	Altered bool   // if Partly: some of them reached the caller changed, such as masked
}

// Page records a page of a file. Version is that of the file's content.
func (l *Ledger) Page(path, version string, p Page) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[path]
	if f == nil || f.version != version {
		f = &file{version: version}
		l.keep(path, f)
	}
	for _, s := range p.Whole {
		f.lines = join(f.lines, s)
	}
	for _, part := range p.Parts {
		f.extend(part)
	}
	f.altered = f.altered || p.Altered
	f.whole = f.whole || p.Total == 0 || covers(f.lines, p.Total)
	l.touch(f)
}

// extend adds a part of a line if the line was shown up to it.
func (f *file) extend(p Part) {
	known := f.begun[p.Line]
	switch {
	case p.From > known+1:
	case p.Ends:
		delete(f.begun, p.Line)
		f.lines = join(f.lines, Span{p.Line, p.Line})
	case known > 0 || len(f.begun) < maxSpans:
		if f.begun == nil {
			f.begun = map[int64]int64{}
		}
		f.begun[p.Line] = max(known, p.To)
	}
}

// Wrote records the new content of a file, and whether the session knows all of it.
func (l *Ledger) Wrote(path, version string, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &file{version: version, whole: all}
	l.keep(path, f)
	l.touch(f)
}

// Printed records consecutive lines, without their ends, that a tool showed and that may be those of a file. The first
// has that number; 0 means that the number is not known: then the lines count if the file has them once, or if they
// hold all lines of the file.
func (l *Ledger) Printed(path string, first int64, lines []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(lines) == 0 || len(lines) > maxPrinted {
		return
	}
	if l.seed == (maphash.Seed{}) {
		l.seed = maphash.MakeSeed()
	}
	p := printed{path: path, first: first, hashes: make([]byte, 0, hashSize*len(lines))}
	for _, line := range lines {
		p.hashes = binary.NativeEndian.AppendUint64(p.hashes, maphash.String(l.seed, strings.TrimSuffix(line, "\r")))
	}
	l.printed, l.printedLines = append(l.printed, p), l.printedLines+len(lines)
	dropped, enough := 0, 0
	if len(l.printed) > maxPrints {
		enough = maxPrints / 8 // at once: to drop the first moves all others
	}
	for ; l.printedLines > maxPrinted || dropped < enough; dropped++ {
		l.printedLines -= len(l.printed[dropped].hashes) / hashSize
	}
	l.printed = slices.Delete(l.printed, 0, dropped)
}

// Recall returns what the session knows of a file's present content.
func (l *Ledger) Recall(path string, c Content) Knowledge {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.files[path]
	if f != nil {
		l.touch(f)
	}
	same := f != nil && f.version == c.Version
	if same && f.whole {
		return Knowledge{State: Whole}
	}
	var lines []Span
	if same {
		lines = f.lines
	}
	lines = l.addPrinted(lines, path, c)
	switch {
	case covers(lines, c.Lines) && len(lines) > 0:
		all := &file{version: c.Version, whole: true}
		l.keep(path, all)
		l.touch(all)
		return Knowledge{State: Whole}
	case f != nil && !same:
		return Knowledge{State: Changed}
	case f == nil && len(lines) == 0:
		return Knowledge{State: Unseen}
	}
	return Knowledge{State: Partly, Missing: missing(lines, c.Lines), Altered: f != nil && f.altered}
}

// addPrinted adds the lines that other tools printed and that the content has.
func (l *Ledger) addPrinted(lines []Span, path string, c Content) []Span {
	if c.Text == nil || c.Lines > maxPrinted {
		return lines
	}
	var present []byte
	for _, p := range l.printed {
		if p.path != path {
			continue
		}
		if present == nil {
			present = l.hashes(c)
		}
		if p.first > 0 {
			for i := 0; i < len(p.hashes); i += hashSize {
				at := (int(p.first)-1)*hashSize + i
				if at < len(present) && bytes.Equal(present[at:at+hashSize], p.hashes[i:i+hashSize]) {
					number := int64(at/hashSize) + 1
					lines = join(lines, Span{number, number})
				}
			}
			continue
		}
		if at := find(present, p.hashes); at >= 0 && find(present[at+hashSize:], p.hashes) < 0 {
			lines = join(lines, Span{int64(at/hashSize) + 1, int64((at + len(p.hashes)) / hashSize)})
		}
		if len(present) > 0 && find(p.hashes, present) >= 0 {
			lines = join(lines, Span{1, int64(len(present) / hashSize)})
		}
	}
	return lines
}

// hashes returns the hashes of a content's lines.
func (l *Ledger) hashes(c Content) []byte {
	hashes := make([]byte, 0, hashSize*c.Lines)
	for text := c.Text; len(text) > 0; {
		line, rest, _ := bytes.Cut(text, []byte{c.Terminator})
		hashes = binary.NativeEndian.AppendUint64(hashes, maphash.Bytes(l.seed, bytes.TrimSuffix(line, []byte{'\r'})))
		text = rest
	}
	return hashes
}

// find returns the offset of the first place of part among whole hashes, or -1.
func find(all, part []byte) int {
	for from := 0; ; {
		at := bytes.Index(all[from:], part)
		if at < 0 {
			return -1
		}
		if from += at; from%hashSize == 0 {
			return from
		}
		from++
	}
}

// keep stores f. If there are too many files it drops the eighth of them that was not used for longest.
func (l *Ledger) keep(path string, f *file) {
	if l.files == nil {
		l.files = map[string]*file{}
	}
	if _, known := l.files[path]; !known && len(l.files) >= maxFiles {
		var used []uint64
		for _, other := range l.files {
			used = append(used, other.used)
		}
		slices.Sort(used)
		for p, other := range l.files {
			if other.used < used[maxFiles/8] {
				delete(l.files, p)
			}
		}
	}
	l.files[path] = f
}

func (l *Ledger) touch(f *file) {
	l.clock++
	f.used = l.clock
}

// join adds s to ordered, separate spans and keeps them ordered and separate.
func join(spans []Span, s Span) []Span {
	joined := make([]Span, 0, len(spans)+1)
	for _, other := range spans {
		if other.To+1 < s.From || s.To+1 < other.From {
			joined = append(joined, other)
			continue
		}
		s = Span{min(s.From, other.From), max(s.To, other.To)}
	}
	at, _ := slices.BinarySearchFunc(joined, s, func(a, b Span) int { return int(a.From - b.From) })
	joined = slices.Insert(joined, at, s)
	return joined[max(0, len(joined)-maxSpans):]
}

// covers reports whether spans hold all lines up to total.
func covers(spans []Span, total int64) bool {
	return len(spans) == 1 && spans[0].From <= 1 && spans[0].To >= total
}

// missing returns the lines up to total that are not in spans.
func missing(spans []Span, total int64) (rest []Span) {
	next := int64(1)
	for _, s := range spans {
		if s.From > next {
			rest = append(rest, Span{next, s.From - 1})
		}
		next = s.To + 1
	}
	if next <= total {
		rest = append(rest, Span{next, total})
	}
	return rest
}
