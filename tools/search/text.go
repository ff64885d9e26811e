package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	headSize  = 8 << 10   // what is looked at to tell text from binary
	chunkSize = 128 << 10 // what is read at once; fits the processor's cache
	keepSize  = 1 << 20   // the largest buffer that a worker keeps
	maxBuffer = 64 << 20  // the largest line, and the largest text that is searched as a whole
)

var (
	errBinary   = errors.New("binary file")
	errTooLarge = errors.New("too large")
)

// window shows a file piece by piece: whole lines, except that the last line of the file may lack its end.
type window struct {
	buf   []byte // what has been read and not yet dropped
	whole int    // end of the last whole line in buf; its end once everything is read
	src   io.Reader
	room  []byte        // kept between files
	eof   bool          // everything is read
	large chan struct{} // how many buffers may be large at once
	held  bool          // this one is
}

// open begins a file. With all it is shown in one piece. The error is errBinary, errTooLarge, ctx's or of the file.
func (w *window) open(ctx context.Context, src io.Reader, all bool) error {
	if w.room == nil {
		w.room = make([]byte, 0, chunkSize)
	}
	w.buf, w.whole, w.src, w.eof = w.room[:0], 0, src, false
	for len(w.buf) < headSize && !w.eof {
		if err := w.read(ctx); err != nil {
			return err
		}
	}
	order, mark := byteOrder(w.buf)
	switch {
	case order != nil:
		return w.openUTF16(ctx, order)
	case bytes.IndexByte(w.buf[:min(headSize, len(w.buf))], 0) >= 0:
		return errBinary
	case all:
		if err := w.readAll(ctx); err != nil {
			return err
		}
		w.showAll(w.buf[mark:])
		return nil
	}
	w.buf = w.buf[:copy(w.buf, w.buf[mark:])]
	return w.complete(ctx)
}

// next drops what is before keep, an index into buf, and reads on. It is not called at the end of the file.
func (w *window) next(ctx context.Context, keep int) error {
	w.buf = w.buf[:copy(w.buf, w.buf[keep:])]
	w.whole -= keep
	return w.complete(ctx)
}

// complete reads until there is another whole line.
func (w *window) complete(ctx context.Context) error {
	for !w.eof {
		if err := w.read(ctx); err != nil {
			return err
		}
		if end := bytes.LastIndexByte(w.buf[w.whole:], '\n') + 1; end > 0 && !w.eof {
			w.whole += end
			return nil
		}
	}
	w.whole = len(w.buf)
	return nil
}

// showAll makes text, which is the whole file, the buffer.
func (w *window) showAll(text []byte) {
	if bytes.Contains(text, []byte("\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	w.buf, w.whole = text, len(text)
}

func (w *window) readAll(ctx context.Context) error {
	for !w.eof {
		if err := w.read(ctx); err != nil {
			return err
		}
	}
	return nil
}

// read reads once.
func (w *window) read(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if cap(w.buf)-len(w.buf) < chunkSize/4 {
		if err := w.grow(ctx); err != nil {
			return err
		}
	}
	n, err := w.src.Read(w.buf[len(w.buf):cap(w.buf)])
	w.buf = w.buf[:len(w.buf)+n]
	if errors.Is(err, io.EOF) {
		w.eof, err = true, nil
	}
	return err
}

// grow doubles the buffer. Before it becomes large it waits until few others are.
func (w *window) grow(ctx context.Context) error {
	size := 2 * cap(w.buf)
	if size > maxBuffer {
		return errTooLarge
	}
	if size > keepSize && !w.held {
		select {
		case w.large <- struct{}{}:
			w.held = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	grown := make([]byte, len(w.buf), size)
	copy(grown, w.buf)
	w.buf = grown
	if size <= keepSize {
		w.room = grown
	}
	return nil
}

// close ends the file.
func (w *window) close() {
	w.buf, w.src = nil, nil
	if w.held {
		<-w.large
		w.held = false
	}
}

// byteOrder returns the order of UTF-16 text by its mark, and the length of the mark, which UTF-8 may have too.
func byteOrder(head []byte) (order binary.ByteOrder, mark int) {
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return nil, 3
	case bytes.HasPrefix(head, []byte("\xff\xfe\x00\x00")): // UTF-32
		return nil, 0
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		return binary.LittleEndian, 2
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		return binary.BigEndian, 2
	}
	return nil, 0
}

// openUTF16 reads the whole text and shows it as UTF-8 with \n for line ends.
func (w *window) openUTF16(ctx context.Context, order binary.ByteOrder) error {
	if err := w.readAll(ctx); err != nil {
		return err
	}
	out := make([]byte, 0, len(w.buf))
	for i := 2; i+1 < len(w.buf); i += 2 {
		r := rune(order.Uint16(w.buf[i:]))
		if utf16.IsSurrogate(r) {
			low := utf8.RuneError
			if i+3 < len(w.buf) {
				low = rune(order.Uint16(w.buf[i+2:]))
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				i += 2
			}
		}
		out = utf8.AppendRune(out, r)
	}
	w.showAll(out)
	return nil
}
