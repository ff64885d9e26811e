package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"os"

	"toolhost/agenttool"
	"toolhost/tools/encoding"
	"toolhost/tools/seen"

	"golang.org/x/sys/unix"
)

const (
	chunkSize  = 256 << 10 // bytes read at once
	memoryOnly = 1 << 20   // contents up to this size are read once and kept during the call
)

// content reads an open file in bounded memory.
type content struct {
	file     *os.File
	size     int64  // math.MaxInt64 if the status gives no size, until survey has counted
	held     []byte // the whole content; nil if it is larger than memoryOnly
	identity identity
	cachedSurvey
}

// identity identifies a state of a file without reading it.
type identity struct {
	dev, ino     uint64
	size         int64
	mtime, ctime unix.Timespec
}

func identify(st *unix.Stat_t) identity {
	return identity{dev: uint64(st.Dev), ino: st.Ino, size: st.Size, mtime: st.Mtim, ctime: st.Ctim}
}

// version returns the state's name in a ledger.
func (id identity) version() string {
	return fmt.Sprintf("stat:%d:%d:%d:%d:%d", id.dev, id.ino, id.size, id.mtime.Nano(), id.ctime.Nano())
}

// stat returns the status of an open file.
func stat(f *os.File) (st unix.Stat_t, err error) {
	if err = unix.Fstat(int(f.Fd()), &st); err != nil {
		err = &os.PathError{Op: "stat", Path: f.Name(), Err: err}
	}
	return st, err
}

// openContent reads a file that is small enough to keep. A file whose status gives no size (in /proc) is read to its
// end.
func openContent(f *os.File) (*content, error) {
	st, err := stat(f)
	if err != nil {
		return nil, err
	}
	c := &content{file: f, size: st.Size, identity: identify(&st)}
	if st.Size > memoryOnly {
		return c, nil
	}
	held := make([]byte, max(st.Size, 512)+1)
	n, err := f.ReadAt(held, 0)
	for err == nil && len(held) <= memoryOnly { // the file has grown, or its status gave no size
		held = append(held, make([]byte, len(held))...)
		var more int
		more, err = f.ReadAt(held[n:], int64(n))
		n += more
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err == nil { // the file is larger than its status said, and too large to keep
		c.size = math.MaxInt64
		return c, nil
	}
	c.held, c.size = held[:n:n], int64(n)
	return c, nil
}

// chunks passes the bytes from offset on to use until it returns false. Only the last call has last set.
func (c *content) chunks(ctx context.Context, offset int64, use func(chunk []byte, last bool) bool) error {
	if c.held != nil {
		use(c.held[offset:], true)
		return ctx.Err()
	}
	buf := make([]byte, chunkSize)
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		want := min(chunkSize, c.size-offset)
		n, err := c.file.ReadAt(buf[:want], offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		offset += int64(n)
		last := offset >= c.size || int64(n) < want
		more = use(buf[:n], last) && !last
	}
	return nil
}

// survey reads the whole content once, and again if its encoding is doubtful, and fills in cachedSurvey. declared is the encoding that the
// input names, Binary if it names none.
func (c *content) survey(ctx context.Context, declared encoding.Encoding) error {
	s := newSurvey(c.size, declared)
	if err := c.pass(ctx, s); err != nil {
		return err
	}
	if c.size == math.MaxInt64 {
		c.size = c.seen
	}
	c.digest = s.sum()
	if !s.doubtful {
		c.form, c.malformed = s.form, declared != encoding.Binary && s.decoder.Malformed()
		return c.settle()
	}
	var detector encoding.Detector
	err := c.chunks(ctx, 0, func(chunk []byte, _ bool) bool { return detector.Add(chunk) })
	found := detector.End()
	if err == nil && found.Encoding.IsUTF16() {
		s = newSurvey(digestLimit+1, found.Encoding)
		err = c.pass(ctx, s)
	}
	if err != nil {
		return err
	}
	s.settle(found)
	c.form = s.form
	if err = c.settle(); err == nil && c.version == "" {
		err = agenttool.Failure(agenttool.ExecutionFailed, "changed_while_read",
			"the file changed while its encoding was recognised: read it again")
	}
	return err
}

// pass reads the content for a survey, and indexes its lines.
func (c *content) pass(ctx context.Context, s *survey) error {
	c.cachedSurvey = cachedSurvey{index: lineIndex{stride: chunkSize}, digest: c.digest}
	return c.chunks(ctx, 0, func(chunk []byte, last bool) bool {
		c.index.mark(c.seen, s.lf)
		c.seen += int64(len(chunk))
		return s.add(chunk, last)
	})
}

// settle sets the version if the file did not change since it was opened. It is called again after the lines of a
// page were read.
func (c *content) settle() error {
	c.version = c.digest
	if c.held != nil {
		return nil
	}
	st, err := stat(c.file)
	switch {
	case err != nil:
		return err
	case identify(&st) != c.identity:
		c.version = ""
	case c.digest == "":
		c.version = c.identity.version()
	}
	return nil
}

// all returns the whole content, which was surveyed and has a digest, or errMoved if the file changed since then.
func (c *content) all() ([]byte, error) {
	if c.held != nil {
		return c.held, nil
	}
	data := make([]byte, c.size)
	_, err := c.file.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if digestOf(data) != c.digest {
		return nil, errMoved
	}
	return data, nil
}

// before returns an offset before the given line, and the number of lines that end before that offset.
func (c *content) before(line int64) (offset, ended int64) {
	if c.form.terminator() != '\n' {
		return 0, 0
	}
	return c.index.before(line)
}

// head returns the first bytes, for guessing a media type.
func (c *content) head() []byte {
	if c.held != nil {
		return c.held
	}
	buf := make([]byte, 512)
	n, _ := c.file.ReadAt(buf, 0) // an unreadable file has no type
	return bytes.Clone(buf[:n])
}

// lastByte returns the last byte of a file that is not kept, 0 if the file became shorter.
func (c *content) lastByte() byte {
	var last [1]byte
	if _, err := c.file.ReadAt(last[:], c.size-1); err != nil {
		return 0 // the changed status is noticed later
	}
	return last[0]
}

// document is the content of a file at one moment, and the session's knowledge of it.
type document struct {
	path     agenttool.Path
	limit    int64 // maximum size in bytes
	exists   bool
	declared bool // the input names the encoding
	contents
	knowledge seen.Knowledge
	version   string // identifies the content in a ledger
}

// contents are the bytes of a file at one moment.
type contents struct {
	raw    []byte
	text   []byte // raw as UTF-8 without byte order mark; nil for binary content
	form   form
	found  encoding.Recognition
	digest string // of raw; empty when there is no file
}

// revision is the new content of a file.
type revision struct {
	raw          []byte
	text         []byte // raw as UTF-8; nil for binary content
	replacements int
	note         string
}

// cachedSurvey is the result of surveying a file.
type cachedSurvey struct {
	form    form // of the scanned bytes
	partial bool // the file continues after the scanned bytes

	malformed bool  // the encoding was declared, and does not decode the content
	seen      int64 // number of scanned bytes
	digest    string
	version   string // as document.version; empty if the file changed while it was read
	index     lineIndex
	begun     scan // if partial: the state to continue the scan of the same file from
}

// fileURI is the address of a file.
func fileURI(p agenttool.Path) string {
	return (&url.URL{Scheme: "file", Path: p.Absolute}).String()
}
