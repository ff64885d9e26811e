package persist

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
)

// tail is the end of a journal file, found without reading the rest.
type tail struct {
	line  line // the last whole line; zero if there is none
	chain chain
	end   int64 // after the last line feed
	torn  int64 // bytes after it
}

// readTail reads the end of a journal of size bytes. It fails with ErrDamaged if the last whole line is not a record.
func readTail(f io.ReaderAt, size int64) (tail, error) {
	lf, err := lastLineFeed(f, size)
	if err != nil || lf < 0 {
		return tail{torn: size}, err
	}
	before, err := lastLineFeed(f, lf)
	if err != nil {
		return tail{}, err
	}
	start := before + 1
	if lf-start > maxLine {
		return tail{}, ErrDamaged
	}
	b := make([]byte, lf-start)
	if _, err := f.ReadAt(b, start); err != nil {
		return tail{}, fmt.Errorf("read the last line: %w", err)
	}
	l, err := parseLine(b)
	if err != nil && saysNewer(b) {
		return tail{}, ErrNewer
	}
	if err != nil {
		return tail{}, ErrDamaged
	}
	return tail{line: l, chain: chain{seq: l.seq, head: sha256.Sum256(b)}, end: lf + 1, torn: size - lf - 1}, nil
}

// lastLineFeed returns the offset of the last line feed before end, or -1.
func lastLineFeed(f io.ReaderAt, end int64) (int64, error) {
	buf := make([]byte, 2<<10) // a closing record fits
	for end > 0 {
		b := buf[:min(end, int64(len(buf)))]
		end -= int64(len(b))
		if _, err := f.ReadAt(b, end); err != nil {
			return 0, fmt.Errorf("search the last line: %w", err)
		}
		if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
			return end + int64(i), nil
		}
		if len(buf) < 64<<10 {
			buf = make([]byte, 64<<10)
		}
	}
	return -1, nil
}
