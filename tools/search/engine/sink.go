package engine

import "toolhost/tools/search/tree"

// maxHeld is the number of bytes of lines that a batch buffers before it sends them.
const maxHeld = 256 << 10

// sink collects the results of a batch.
type sink struct {
	*resultBuffer
	base    int // length of the prefix that a Part's path leaves out
	free    chan *resultBuffer
	send    func(*resultBuffer) bool
	stopped bool // the reader wants no more results
	sent    sent
}

// sent is what was sent of the current file while it was searched.
type sent struct {
	matches int // matching lines
	last    int // number of the last line
}

// resultBuffer is a buffer of results. All lines share one text buffer and one span buffer.
type resultBuffer struct {
	parts []Part
	lines []Line
	text  []byte
	ends  []int // of each line's text in text
	spans []Span
	marks []int // end of each line's spans in spans
}

// fresh provides an empty buffer for the next results.
func (s *sink) fresh() {
	select {
	case s.resultBuffer = <-s.free:
		f := s.resultBuffer
		*f = resultBuffer{f.parts[:0], f.lines[:0], f.text[:0], f.ends[:0], f.spans[:0], f.marks[:0]}
	default:
		s.resultBuffer = &resultBuffer{}
	}
}

// release returns a buffer for reuse.
func (f *resultBuffer) release(free chan *resultBuffer) {
	select {
	case free <- f:
	default:
	}
}

// begin starts the results of file. before is the summary of the batch without it.
func (s *sink) begin(file *tree.File, before Summary) {
	s.parts = append(s.parts, Part{File: file, first: len(s.lines), end: len(s.lines), before: before})
}

// count counts a matching line.
func (s *sink) count() { s.parts[len(s.parts)-1].Count++ }

// line stores a line of the current file.
func (s *sink) line(number, column int, text []byte, spans []Span) {
	s.lines = append(s.lines, Line{Number: number, Column: column})
	s.text = append(s.text, text...)
	s.ends = append(s.ends, len(s.text))
	s.spans = append(s.spans, spans...)
	s.marks = append(s.marks, len(s.spans))
	s.parts[len(s.parts)-1].end = len(s.lines)
	if len(s.text)+64*len(s.lines) > maxHeld {
		s.hand()
	}
}

// hand sends the collected results. Further results of the current file go to a new part.
func (s *sink) hand() {
	present := s.parts[len(s.parts)-1]
	s.sent.matches += present.Count
	s.sent.last = s.lines[len(s.lines)-1].Number
	if f := s.finish(); len(f.parts) > 0 && !s.send(f) {
		s.stopped = true
	}
	s.begin(present.File, present.before)
}

// takeBack drops the results of the current file that were not sent.
func (s *sink) takeBack() {
	present := &s.parts[len(s.parts)-1]
	s.lines = s.lines[:present.first]
	texts, spans := 0, 0
	if present.first > 0 {
		texts, spans = s.ends[present.first-1], s.marks[present.first-1]
	}
	s.text, s.ends, s.spans, s.marks = s.text[:texts], s.ends[:present.first], s.spans[:spans], s.marks[:present.first]
	present.end, present.Count = present.first, 0
}

// finish returns the collected results, without files that have none.
func (s *sink) finish() *resultBuffer {
	f := s.resultBuffer
	from, begin := 0, 0
	for i := range f.lines {
		f.lines[i].Text = f.text[from:f.ends[i]:f.ends[i]]
		f.lines[i].Spans = f.spans[begin:f.marks[i]:f.marks[i]]
		from, begin = f.ends[i], f.marks[i]
	}
	kept := f.parts[:0]
	for _, p := range f.parts {
		if p.Count > 0 || p.end > p.first {
			if p.File != nil {
				p.Path = p.File.Path()[s.base:]
			}
			p.Lines = f.lines[p.first:p.end:p.end]
			kept = append(kept, p)
		}
	}
	f.parts = kept
	s.fresh()
	return f
}
