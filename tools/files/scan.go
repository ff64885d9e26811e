package files

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"unicode/utf8"

	"toolhost/tools/encoding"
)

const (
	maxWorkers = 4  // goroutines that scan one file
	maxSpan    = 16 // chunks per goroutine in one round
)

// scan is the survey of the beginning of a UTF-8 file. Its form describes the scanned bytes alone.
type scan struct {
	form      form
	seen      int64
	lines     lineIndex
	carry     []byte // incomplete character at the end of the scanned bytes
	malformed bool
}

// newScan returns an empty scan of a file that begins with head, and reports whether the file may be UTF-8.
func newScan(head []byte, stride int64) (scan, bool) {
	mark := encoding.ByMark(head)
	s := scan{form: form{encoding: encoding.UTF8, bom: mark == encoding.UTF8, empty: true}, lines: lineIndex{stride: stride}}
	return s, !mark.IsUTF16()
}

// add appends the next piece of the file to the scan.
func (s *scan) add(p piece) {
	if p.size == 0 {
		return
	}
	s.lines.mark(s.seen, s.form.lf)
	if s.form.last == '\r' && p.first == '\n' {
		s.form.crlf++
	}
	if len(s.carry)+len(p.head) > 0 {
		s.malformed = s.malformed || !utf8.Valid(append(s.carry[:len(s.carry):len(s.carry)], p.head...))
	}
	s.malformed, s.carry = s.malformed || p.malformed, p.tail
	s.form.lf, s.form.cr, s.form.crlf = s.form.lf+p.lf, s.form.cr+p.cr, s.form.crlf+p.crlf
	s.form.last, s.form.empty = p.last, false
	s.seen += p.size
	if p.nul {
		s.form.binary, s.form.encoding, s.form.bom = true, encoding.Binary, false
	}
}

// enough reports whether the scan can stop: reach lines have ended, or the file is not UTF-8.
func (s *scan) enough(reach int64) bool { return s.form.lf >= reach || s.form.binary || s.malformed }

// scanner scans the first size bytes of a file with several goroutines. It ignores later bytes.
type scanner struct {
	file    io.ReaderAt
	size    int64
	buffers [][]byte // one per goroutine; all pieces of the file except the last are as long as a buffer
}

func newScanner(file io.ReaderAt, size, chunk int64) *scanner {
	r := &scanner{file: file, size: size, buffers: make([][]byte, min(runtime.GOMAXPROCS(0), maxWorkers))}
	for i := range r.buffers {
		r.buffers[i] = make([]byte, chunk)
	}
	return r
}

// until extends s until it is enough or the file ends, and reports whether the file ended.
func (r *scanner) until(ctx context.Context, s *scan, reach int64) (ended bool, err error) {
	for span := 1; !ended && !s.enough(reach); span = min(2*span, maxSpan) {
		pieces, err := r.round(ctx, s.seen, span)
		if err != nil {
			return false, err
		}
		for _, p := range pieces {
			s.add(p)
			if ended = s.seen >= r.size || p.size < int64(len(r.buffers[0])); ended || s.form.binary {
				break
			}
		}
	}
	s.malformed = s.malformed || ended && len(s.carry) > 0
	return ended, nil
}

// round scans span chunks per goroutine, from offset on. It returns the pieces in order, up to the first short one,
// where the file ends.
func (r *scanner) round(ctx context.Context, offset int64, span int) ([]piece, error) {
	found := make([][]piece, len(r.buffers))
	errs := make([]error, len(r.buffers))
	var workers sync.WaitGroup
	for i, buf := range r.buffers {
		workers.Go(func() { found[i], errs[i] = r.look(ctx, buf, offset+int64(i*span*len(buf)), span) })
	}
	workers.Wait()
	var all []piece
	for i := range found {
		all = append(all, found[i]...)
		if n := len(all); errs[i] != nil || n > 0 && all[n-1].size < int64(len(r.buffers[0])) {
			return all, errs[i]
		}
	}
	return all, nil
}

// look scans up to n chunks from offset on. It stops after a short one or one that makes the file binary.
func (r *scanner) look(ctx context.Context, buf []byte, offset int64, n int) (pieces []piece, err error) {
	for range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		size, err := r.file.ReadAt(buf[:max(0, min(int64(len(buf)), r.size-offset))], offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		p := pieceOf(buf[:size])
		pieces = append(pieces, p)
		if size < len(buf) || p.nul {
			break
		}
		offset += int64(size)
	}
	return pieces, nil
}
