package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

const (
	headSize  = 64 << 10  // bytes checked to tell text from binary
	pieceSize = 256 << 10 // bytes searched at once; fits the processor's cache
	keepSize  = 1 << 20   // largest buffer that is kept for the next file
	maxBuffer = 64 << 20  // largest line, and largest text that is searched as a whole
)

var (
	errBinary   = errors.New("binary file")
	errTooLarge = errors.New("too large")
	errSpecial  = errors.New("not a regular file")
)

// window reads an open file in pieces of whole lines; only the last line of the file may lack its end.
type window struct {
	buf   []byte // bytes that were read and not yet dropped
	whole int    // end of the last whole line in buf; its end once everything is read
	eof   bool   // everything is read
	room  []byte // reused between files
	encoding
	source
	share
}

// encoding is how the text of a file is encoded.
type encoding struct {
	mark    int  // length of the byte order mark, which is not in buf
	decoded bool // buf holds the decoded text, not the bytes of the file
	binary  bool // the rest of the file is not shown
}

// source is the file that a window reads.
type source struct {
	fd   int
	left int64 // bytes that the file's status promises; below 1: unknown until read
}

// share is the window's share of the large buffers.
type share struct {
	large chan struct{} // limits the large buffers, except for the file whose turn it is
	turn  chan struct{} // readable when it is this file's turn: others wait for it then, so it waits for none of them
	most  int64         // bytes of the buffer; 0: maxBuffer
	held  bool          // this window has one of the large buffers
}

// open begins a file of size bytes. With all set, the window shows it in one piece. Of a binary file only the
// beginning is shown, unless a single read returns all of it. The error is errTooLarge, ctx's, or the file's.
func (w *window) open(ctx context.Context, fd int, size int64, all bool) error {
	if w.room == nil {
		w.room = make([]byte, 0, pieceSize+1)
	}
	*w = window{buf: w.room[:0], room: w.room, share: share{large: w.large, most: w.most, turn: w.turn}, source: source{fd: fd, left: size}}
	for len(w.buf) < headSize && !w.eof {
		if err := w.read(ctx); err != nil {
			return err
		}
	}
	order, mark := byteOrder(w.buf)
	switch w.mark = mark; {
	case order != nil:
		return w.openUTF16(ctx, order)
	case !w.eof && !isText(w.buf):
		w.binary, w.eof = true, true // the part that was read suffices to report a binary file
	case all:
		if err := w.readAll(ctx); err != nil {
			return err
		}
	}
	if w.buf = w.buf[mark:]; all {
		w.showAll(w.buf)
		return nil
	}
	return w.complete(ctx)
}

// next drops the bytes before keep, an index into buf, and reads on. It must not be called at the end of the file.
func (w *window) next(ctx context.Context, keep int) error {
	w.buf = w.buf[:copy(w.buf, w.buf[keep:])]
	w.whole -= keep
	return w.complete(ctx)
}

// part loads the bytes from … to of a file, which are whole lines, into the buffer; fewer if the file ends before.
func (w *window) part(ctx context.Context, fd int, from, to int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if int64(cap(w.room)) < to-from {
		w.room = make([]byte, 0, max(to-from, pieceSize+1))
	}
	w.buf = w.room[:to-from]
	read := 0
	for read < len(w.buf) {
		n, err := unix.Pread(fd, w.buf[read:], from+int64(read))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		read += n
	}
	w.buf, w.whole, w.eof = w.buf[:read], read, true
	return nil
}

// complete reads until there is another whole line.
func (w *window) complete(ctx context.Context) error {
	for seen := w.whole; !w.eof; {
		if end := bytes.LastIndexByte(w.buf[seen:], '\n') + 1; end > 0 {
			w.whole = seen + end
			return nil
		}
		seen = len(w.buf)
		if err := w.read(ctx); err != nil {
			return err
		}
	}
	w.whole = len(w.buf)
	return nil
}

// showAll makes text, the whole decoded file, the buffer.
func (w *window) showAll(text []byte) {
	if bytes.Contains(text, []byte("\r\n")) {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	w.buf, w.whole, w.decoded = text, len(text), true
}

func (w *window) readAll(ctx context.Context) error {
	for !w.eof {
		if err := w.read(ctx); err != nil {
			return err
		}
	}
	return nil
}

// read reads once. A regular file ends where its status says, which saves a final empty read.
func (w *window) read(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if cap(w.buf)-len(w.buf) < pieceSize/4 {
		if err := w.grow(ctx); err != nil {
			return err
		}
	}
	n, err := readFD(w.fd, w.buf[len(w.buf):min(cap(w.buf), len(w.buf)+pieceSize)])
	if err != nil {
		return err
	}
	w.buf = w.buf[:len(w.buf)+n]
	w.eof = n == 0 || w.left > 0 && int64(n) == w.left
	w.left -= int64(n)
	return nil
}

// readFD reads the available bytes; files of /proc that would block are unreadable.
func readFD(fd int, b []byte) (n int, err error) {
	for {
		if n, err = unix.Read(fd, b); !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// grow doubles the buffer. A large buffer may have to wait until few others exist.
func (w *window) grow(ctx context.Context) error {
	size := 2 * cap(w.buf)
	if size > maxBuffer || w.most > 0 && int64(size) > w.most {
		return errTooLarge
	}
	if size > keepSize && !w.held {
		select {
		case w.large <- struct{}{}:
			w.held = true
		case <-w.turn:
			select { // the channel must stay readable; another sender may have been quicker
			case w.turn <- struct{}{}:
			default:
			}
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

// close releases the file's buffers.
func (w *window) close() {
	w.buf = nil
	if w.held {
		<-w.large
		w.held = false
	}
}

// byteOrder returns the byte order of UTF-16 text by its mark, and the length of the mark, which UTF-8 may have too.
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

// isText reports whether a file that begins with head is text.
func isText(head []byte) bool { return bytes.IndexByte(head[:min(headSize, len(head))], 0) < 0 }
