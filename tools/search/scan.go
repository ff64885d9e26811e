package search

import (
	"bytes"
	"context"
	"io"
)

const (
	maxStored        = 384 << 10 // JSON bytes of the matches that one result holds
	maxStoredContext = 256 << 10 // and of their context lines
	maxLocated       = 200_000   // matches of one text that are told apart with multiline
	stepsPerCheck    = 1 << 24   // instructions × bytes between two looks at the context
)

// wanted says what a scan is to find out of one file.
type wanted struct {
	lines         int // to count, then stop; at least 1
	skip          int // matching lines that are counted but not stored
	store         int // matching lines to store after those; 0 when only the count is asked
	before, after int // context lines to store with them
}

// scanned is what a scan found in one file.
type scanned struct {
	lines   int         // matching lines, as far as they were counted
	more    bool        // there may be others
	stored  []shownLine // in order, with context
	matches int         // how many of stored are matches
	err     error       // errBinary, errTooLarge, errSpecial, ctx's, or why the file could not be read
}

// shownLine is a line as it is shown.
type shownLine struct {
	number int
	column int // 1-based byte of the first match; 0 for a context line
	text   string
	spans  []span
}

// scanner searches one file after the other. It is used by one goroutine.
type scanner struct {
	pattern *pattern
	window  window
	seeker  *seeker // nil when there is no needle

	want  wanted
	out   scanned
	steps int // since the last look at the context

	// Of the file at hand, positions in window.buf:
	counted   int // the beginning of a line, whose number is
	number    int
	shown     int // end of the last line that was stored
	trailing  int // context lines that are still to be stored
	size      int // JSON bytes of the stored matches
	sizeAside int // and of the context lines
}

func newScanner(p *pattern, large chan struct{}) *scanner {
	s := &scanner{pattern: p, window: window{large: large}}
	if p.needles != nil {
		s.seeker = newSeeker(p.needles)
	}
	return s
}

// scan searches src from its beginning.
func (s *scanner) scan(ctx context.Context, src io.Reader, want wanted) scanned {
	s.want, s.out = want, scanned{}
	s.counted, s.number, s.shown, s.trailing, s.size, s.sizeAside = 0, 1, 0, 0, 0, 0
	defer s.window.close()
	err := s.window.open(ctx, src, s.pattern.multiline)
	from := 0
	for err == nil && !s.out.more {
		if s.pattern.multiline {
			err = s.text(s.window.buf)
		} else {
			err = s.lines(ctx, s.window.buf[:s.window.whole], from)
		}
		s.storeTrailing(s.window.whole)
		if err != nil || s.out.more || s.window.eof {
			break
		}
		keep := s.linesBefore(s.window.whole, s.want.before)
		from = s.window.whole - keep
		s.forget(keep)
		err = s.window.next(ctx, keep)
	}
	s.out.err = err
	return s.out
}

// forget moves positions when the window drops what is before keep.
func (s *scanner) forget(keep int) {
	s.numberOf(keep)
	s.counted = 0
	s.shown = max(0, s.shown-keep)
}

// lines searches the lines of buf from the line that begins at from.
func (s *scanner) lines(ctx context.Context, buf []byte, from int) error {
	if s.seeker != nil {
		s.seeker.reset()
	}
	for from < len(buf) && !s.out.more {
		start, at := from, from
		if s.seeker != nil {
			if at = s.seeker.next(buf, from); at == len(buf) {
				break
			}
			start += bytes.LastIndexByte(buf[from:at], '\n') + 1
		}
		end := indexFrom(bytes.IndexByte(buf[at:], '\n'), at, len(buf))
		spans, err := s.match(ctx, trimCR(buf[start:end]))
		if err != nil {
			return err
		}
		if spans != nil {
			s.hit(start, end, spans)
		}
		from = end + 1
	}
	return nil
}

func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\r")) }

// match returns the matches in a line, or nil. When no line is to be stored it does not look for more than one.
func (s *scanner) match(ctx context.Context, line []byte) ([]span, error) {
	if s.pattern.literal != nil {
		return s.matchLiteral(line), nil
	}
	if s.pattern.tooCostly(len(line)) {
		return nil, errTooLarge
	}
	if s.steps += (len(line) + 1) * s.pattern.instructions; s.steps > stepsPerCheck {
		s.steps = 0
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if !s.storing() {
		if !s.pattern.re.Match(line) {
			return nil, nil
		}
		return []span{{}}, nil
	}
	var spans []span
	for _, loc := range s.pattern.re.FindAllIndex(line, maxSpans) {
		spans = append(spans, span{loc[0], loc[1]})
	}
	return spans, nil
}

// matchLiteral returns where the literal is in line, or nil.
func (s *scanner) matchLiteral(line []byte) (spans []span) {
	for at := 0; len(spans) < maxSpans; {
		i := bytes.Index(line[at:], s.pattern.literal)
		if i < 0 {
			break
		}
		spans = append(spans, span{at + i, at + i + len(s.pattern.literal)})
		at += i + len(s.pattern.literal)
		if !s.storing() {
			break
		}
	}
	return spans
}

// text searches the whole of a file for matches that may span lines. Every line that a match touches is a hit.
func (s *scanner) text(buf []byte) error {
	if s.seeker != nil {
		s.seeker.reset()
		if s.seeker.next(buf, 0) == len(buf) {
			return nil
		}
	}
	if s.pattern.tooCostly(len(buf)) {
		return errTooLarge
	}
	all := s.pattern.re.FindAllIndex(buf, maxLocated)
	var line span
	var spans []span
	flush := func() {
		if spans != nil && !s.out.more {
			s.hit(line.Start, line.End, spans)
		}
		spans = nil
	}
	for _, loc := range all {
		if loc[0] == len(buf) && (loc[0] == 0 || buf[loc[0]-1] == '\n') {
			break // an empty match after the last line
		}
		for at := loc[0]; !s.out.more; at = line.End + 1 {
			if spans == nil || at > line.End {
				flush()
				line.Start = bytes.LastIndexByte(buf[:at], '\n') + 1
				line.End = indexFrom(bytes.IndexByte(buf[at:], '\n'), at, len(buf))
			}
			if len(spans) < maxSpans {
				spans = append(spans, span{at - line.Start, min(loc[1], line.End) - line.Start})
			}
			if loc[1] <= line.End+1 {
				break
			}
		}
	}
	flush()
	if len(all) == maxLocated && !s.out.more {
		return errTooLarge
	}
	return nil
}

// storing reports whether the next hit is to be stored.
func (s *scanner) storing() bool {
	return s.want.store > 0 && s.out.lines >= s.want.skip && s.out.matches < s.want.store && s.size < maxStored
}

// hit counts the matching line buf[start:end], and stores it with its context if it is among those wanted.
func (s *scanner) hit(start, end int, spans []span) {
	s.storeTrailing(start)
	if s.storing() {
		number := s.numberOf(start)
		first := s.linesBefore(start, s.want.before)
		s.storeContext(max(first, s.shown), start)
		line := trimCR(s.window.buf[start:end])
		text, shown := clip(line, spans)
		s.out.stored = append(s.out.stored, shownLine{number, spans[0].Start + 1, text, shown})
		s.size += 2*jsonSize(text) + 40*len(shown) + 60
		s.out.matches++
		s.shown, s.trailing = end+1, s.want.after
	} else {
		s.trailing = 0
	}
	s.out.lines++
	s.out.more = s.out.lines >= s.want.lines
}

// storeTrailing stores what is due of the lines after the last match, up to the index end.
func (s *scanner) storeTrailing(end int) {
	for ; s.trailing > 0 && s.shown < end; s.trailing-- {
		stop := indexFrom(bytes.IndexByte(s.window.buf[s.shown:end], '\n'), s.shown, end-1) + 1
		s.storeContext(s.shown, stop)
	}
}

// storeContext stores the lines in buf[from:to] as context.
func (s *scanner) storeContext(from, to int) {
	for from < to {
		end := indexFrom(bytes.IndexByte(s.window.buf[from:to], '\n'), from, to)
		if s.sizeAside < maxStoredContext {
			text, _ := clip(trimCR(s.window.buf[from:end]), nil)
			s.out.stored = append(s.out.stored, shownLine{number: s.numberOf(from), text: text})
			s.sizeAside += jsonSize(text) + 10
		}
		from = end + 1
		s.shown = from
	}
}

// linesBefore returns the beginning of the line that is n lines before the one that begins at i.
func (s *scanner) linesBefore(i, n int) int {
	for ; n > 0 && i > 0; n-- {
		i = bytes.LastIndexByte(s.window.buf[:i-1], '\n') + 1
	}
	return i
}

// numberOf returns the number of the line that begins at i.
func (s *scanner) numberOf(i int) int {
	if i >= s.counted {
		s.number += bytes.Count(s.window.buf[s.counted:i], []byte("\n"))
	} else {
		s.number -= bytes.Count(s.window.buf[i:s.counted], []byte("\n"))
	}
	s.counted = i
	return s.number
}

// jsonSize returns the size of s in JSON, with the escapes of encoding/json.
func jsonSize(s string) int {
	size := len(s) + 2
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			size++
		case c < ' ' || c == '<' || c == '>' || c == '&' || c == 0x7f:
			size += 5
		}
	}
	return size
}
