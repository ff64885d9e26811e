package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"toolhost/tools/encoding"
)

const (
	headSize  = 64 << 10  // bytes read before anything else, by which a large binary file is known
	pieceSize = 256 << 10 // bytes searched at once; fits the processor's cache
	keepSize  = 1 << 20   // largest buffer that is kept for the next file
	maxBuffer = 64 << 20  // largest line, largest text that is searched as a whole, and bytes by which a file is known to be text
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

	mark      int               // length of the byte order mark, which is not in buf
	decoder   *encoding.Decoder // nil: buf holds the bytes of the file
	decoded   bool              // buf does not hold the bytes of the file
	binary    bool              // the rest of the file is not shown
	malformed bool              // it has a mark of UTF-16 but is none, so it is binary
	dropped   bool              // the beginning of the file is not in buf any more
	raw       []byte            // bytes before they are decoded; reused between files

	source
	share
}

// source is the file that a window reads.
type source struct {
	fd   int
	size int64 // that the file's status promises; below 1: unknown
	left int64 // bytes that the file's status promises; below 1: unknown until read
}

// share is the window's share of the large buffers.
type share struct {
	large chan struct{} // limits the large buffers, except for the file whose turn it is
	turn  chan struct{} // readable when it is this file's turn: others wait for it then, so it waits for none of them
	most  int64         // bytes of the buffer; 0: maxBuffer
	held  bool          // this window has one of the large buffers
}

// open begins a file of size bytes. With all set, the window shows it in one piece. UTF-16 is decoded, and so is
// everything else if declared, the name of an encoding, is not empty. Of a binary file whose beginning is no text either only
// that is shown, unless a single read returns all of it. The error is errTooLarge, ctx's, or the file's.
func (w *window) open(ctx context.Context, fd int, size int64, all bool, declared string) error {
	if w.room == nil {
		w.room = make([]byte, 0, pieceSize+1)
	}
	*w = window{buf: w.room[:0], room: w.room, raw: w.raw, share: share{large: w.large, most: w.most, turn: w.turn}, source: source{fd: fd, size: size, left: size}}
	for len(w.buf) < headSize && !w.eof {
		if err := w.read(ctx); err != nil {
			return err
		}
	}
	mark := encoding.ByMark(w.buf)
	head := w.buf[:min(len(w.buf), nulSize)]
	switch {
	case declared != "":
		e, err := encoding.Parse(declared, w.buf)
		if err != nil {
			return err
		}
		return w.decode(ctx, encoding.Declared(e, w.buf), all)
	case mark == encoding.UTF8:
		w.mark = len(mark.Mark())
	case mark.IsUTF16() || !isText(head) && mayBeUTF16(head):
		found, err := w.recognise(ctx)
		if err != nil {
			return err
		}
		if mark.IsUTF16() && !found.Encoding.IsText() && !bytes.HasPrefix(w.buf[2:], []byte{0, 0}) { // that would be UTF-32
			w.malformed, found = true, encoding.Declared(mark, w.buf)
		}
		if found.Encoding.IsUTF16() {
			return w.decode(ctx, found, all)
		}
	}
	if !w.eof && !isText(w.buf[:headSize]) && !mostlyText(head) {
		w.binary, w.eof = true, true // the part that was read suffices to report a binary file
	}
	if all {
		if err := w.readAll(ctx); err != nil {
			return err
		}
	}
	if w.buf = w.buf[w.mark:]; all {
		w.showAll(w.buf)
		return nil
	}
	return w.complete(ctx)
}

// decode begins the file anew and shows its text as UTF-8. What has no encoding is shown as it is.
func (w *window) decode(ctx context.Context, found encoding.Recognition, all bool) error {
	mark := 0
	if found.Mark {
		mark = len(found.Encoding.Mark())
	}
	if _, err := unix.Seek(w.fd, int64(mark), unix.SEEK_SET); err != nil {
		return err
	}
	w.buf, w.whole, w.eof, w.mark, w.dropped, w.binary = w.buf[:0], 0, false, mark, false, false
	w.left = w.size - int64(mark)
	w.decoder, w.decoded = nil, false
	if found.Encoding.IsText() && found.Encoding != encoding.UTF8 {
		w.decoder, w.decoded = encoding.NewDecoder(found.Encoding), true
	}
	if !all {
		return w.complete(ctx)
	}
	if err := w.readAll(ctx); err != nil {
		return err
	}
	w.showAll(w.buf)
	return nil
}

// recognise returns the encoding of the whole file.
func (w *window) recognise(ctx context.Context) (encoding.Recognition, error) {
	var d encoding.Detector
	err := w.scan(ctx, math.MaxInt64, d.Add)
	return d.End(), err
}

// showsWhole reports whether buf holds all of the file.
func (w *window) showsWhole() bool { return w.eof && !w.dropped && !w.binary }

// isBinary reports whether there is a NUL in the file, or it is no UTF-16 against its mark. Of a file above maxBuffer only
// the first bytes count.
func (w *window) isBinary(ctx context.Context) (found bool, err error) {
	if found = w.malformed || !isText(w.buf); found || w.showsWhole() {
		return found, nil
	}
	err = w.scan(ctx, maxBuffer, func(chunk []byte) bool {
		found = !isText(chunk)
		return !found
	})
	return found, err
}

// isUTF8 reports whether the file is valid UTF-8; of a file above maxBuffer, whether it may be.
func (w *window) isUTF8(ctx context.Context) (valid bool, err error) {
	if valid = utf8.Valid(w.buf[:w.whole]); !valid || w.showsWhole() {
		return valid, nil
	}
	d := encoding.NewDecoder(encoding.UTF8)
	err = w.scan(ctx, maxBuffer, func(chunk []byte) bool {
		d.Next(chunk, false)
		return !d.Malformed()
	})
	return !d.Malformed(), err
}

// scan passes the bytes of the file, up to most of them or a few more, to use until that returns false. It does not change
// what the window shows.
func (w *window) scan(ctx context.Context, most int64, use func(chunk []byte) bool) error {
	w.needRaw()
	for offset := int64(0); offset < most; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := unix.Pread(w.fd, w.raw, offset)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case n == 0 || !use(w.raw[:n]):
			return nil
		}
		offset += int64(n)
	}
	return nil
}

func (w *window) needRaw() {
	if w.raw == nil {
		w.raw = make([]byte, headSize)
	}
}

// next drops the bytes before keep, an index into buf, and reads on. It must not be called at the end of the file.
func (w *window) next(ctx context.Context, keep int) error {
	w.dropped = true
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
	if w.decoder != nil {
		return w.readDecoded(ctx)
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

// readDecoded reads once and appends the text of what it read.
func (w *window) readDecoded(ctx context.Context) error {
	w.needRaw()
	n, err := readFD(w.fd, w.raw)
	if err != nil {
		return err
	}
	w.eof = n == 0 || w.left > 0 && int64(n) == w.left
	w.left -= int64(n)
	text := w.decoder.Next(w.raw[:n], w.eof)
	for cap(w.buf)-len(w.buf) < len(text) {
		if err := w.grow(ctx); err != nil {
			return err
		}
	}
	w.buf = append(w.buf, text...)
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

// nulSize is in how many of the first bytes of UTF-16 without a byte order mark there must be a NUL: the high half of a
// blank or a line end.
const nulSize = 4 << 10

// mayBeUTF16 reports whether a file that begins with head, which has a NUL, can be a text in UTF-16. It rejects nearly all
// other files.
func mayBeUTF16(head []byte) bool {
	return plausible(head, binary.LittleEndian) || plausible(head, binary.BigEndian)
}

// plausible reports whether head has characters of a text in UTF-16 only, and ASCII often enough.
func plausible(head []byte, order binary.ByteOrder) bool {
	ascii := 0
	for i := 0; i+1 < len(head); i += 2 {
		u := order.Uint16(head[i:])
		if u < ' ' && u != '\t' && u != '\n' && u != '\r' && u != '\f' || u == 0x7f || u >= 0xfffe {
			return false
		}
		if u < utf8.RuneSelf {
			ascii++
		}
	}
	return 400*ascii >= len(head)
}

// isText reports whether there is no NUL.
func isText(text []byte) bool { return bytes.IndexByte(text, 0) < 0 }

// mostlyText reports whether at most a twentieth of the bytes are control characters, as in a log with some NULs.
func mostlyText(head []byte) bool {
	control := 0
	for _, c := range head {
		if c < '\t' || c > '\r' && c < ' ' && c != 0x1b {
			control++
		}
	}
	return control <= len(head)/20
}
