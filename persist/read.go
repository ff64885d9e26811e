package persist

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Entry is one record of a journal.
type Entry struct {
	Seq   int64           `json:"seq"`
	Event json.RawMessage `json:"event"` // an agenttool.Event as recorded
}

// Read yields the records of a journal from its first to its last whole line. For a line that is not a record it
// yields an error with the number of the line; the caller may continue with the next line. An error of r ends the
// sequence. For a line of a later format it yields [ErrNewer]. Read does not check that the records belong together:
// see [Verify].
func Read(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range read(r, parseLine) {
			e.Event = bytes.Clone(e.Event)
			if !yield(e, err) {
				return
			}
		}
	}
}

// Scan is a [Read] that looks at no event's JSON and copies none: an event is valid until the next one is yielded.
func Scan(r io.Reader) iter.Seq2[Entry, error] { return read(r, parseFrame) }

// read yields the records of a journal. Each is valid until the next.
func read(r io.Reader, parse func([]byte) (line, error)) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		lines := newLines(r)
		var written era
		for {
			b, err := lines.next()
			if errors.Is(err, io.EOF) {
				return
			}
			var l line
			if err == nil {
				l, err = parse(b)
			}
			recoverable := err == nil || errors.Is(err, errNotRecord)
			if recoverable && written.next(b, l, err) {
				l, err = line{}, ErrNewer
			}
			if err != nil {
				err = fmt.Errorf("line %d: %w", lines.number, err)
			}
			if !yield(Entry{Seq: l.seq, Event: l.event}, err) || !recoverable {
				return
			}
		}
	}
}

// lines splits a stream at line feeds and holds one line at a time.
type lines struct {
	r      *bufio.Reader
	long   []byte // buffer for a line that is longer than r's buffer
	number int64  // of the last returned line
	end    int64  // after the last returned line, in bytes
	torn   int64  // bytes after the last line feed, known at the end
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its line feed; it is valid until the following call. A line of more than maxLine
// bytes is skipped with an error that wraps errNotRecord. At the end the error is io.EOF, and torn is set.
func (s *lines) next() ([]byte, error) {
	b, err := s.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return s.nextLong(b)
	}
	if err != nil {
		return nil, s.stop(err, len(b))
	}
	s.number++
	s.end += int64(len(b))
	return b[:len(b)-1], nil
}

// nextLong collects a line that begins with b.
func (s *lines) nextLong(b []byte) ([]byte, error) {
	if cap(s.long) > 1<<20 {
		s.long = nil // release the buffer of a rare long line
	}
	s.long = append(s.long[:0], b...)
	total, err := len(b), bufio.ErrBufferFull
	for errors.Is(err, bufio.ErrBufferFull) {
		b, err = s.r.ReadSlice('\n')
		if total += len(b); total <= maxLine+1 {
			s.long = append(s.long, b...)
		}
	}
	if err != nil {
		return nil, s.stop(err, total)
	}
	s.number++
	s.end += int64(total)
	if total > maxLine+1 {
		return nil, fmt.Errorf("%d bytes long: %w", total-1, errNotRecord)
	}
	return s.long[:total-1], nil
}

func (s *lines) stop(err error, rest int) error {
	s.torn = int64(rest)
	return err
}
