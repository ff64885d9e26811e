// Package gitindex reads the index of a repository, see gitformat-index(5).
package gitindex

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
)

// Err means that an index has an unknown format.
var Err = errors.New("the index is not understood")

// SHA1 and SHA256 are the sizes of object names in bytes.
const (
	SHA1   = 20
	SHA256 = 32
)

// maxEntries bounds the entries of an index.
const maxEntries = 5_000_000

// An Entry is an index's record of a file. It is valid until the next one is read.
type Entry struct {
	Path   []byte // relative to the top of the work tree
	Stat   []byte // 40 bytes: times, device, inode, mode, owner and size
	Object []byte // the name of the object with its content
}

// Mode is the type and the permissions of the file.
func (e Entry) Mode() uint32 { return binary.BigEndian.Uint32(e.Stat[24:]) }

// Reader reads an index of version 2, 3 or 4.
type Reader struct {
	from *bufio.Reader
	hash int
	read int64
	name []byte // of the last entry

	object [SHA256]byte // of the last entry
}

// NewReader returns a reader of an index whose object names have hash bytes.
func NewReader(from io.Reader, hash int) *Reader {
	return &Reader{from: bufio.NewReaderSize(from, 64<<10), hash: hash}
}

func (r *Reader) next(n int) ([]byte, error) {
	b, err := r.from.Peek(n)
	if err != nil {
		return nil, Err
	}
	r.read += int64(n)
	_, err = r.from.Discard(n)
	return b, err
}

// Entries calls each with the entries, in order, until it fails.
func (r *Reader) Entries(each func(Entry) error) error {
	head, err := r.next(12)
	if err != nil || !bytes.HasPrefix(head, []byte("DIRC")) {
		return Err
	}
	version, count := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if version < 2 || version > 4 || count > maxEntries {
		return Err
	}
	for range count {
		stat, err := r.entry(version)
		if err != nil {
			return err
		}
		if err := each(Entry{r.name, stat[:], r.object[:r.hash]}); err != nil {
			return err
		}
	}
	return nil
}

// entry reads an entry up to the next one. It leaves the path in r.name.
func (r *Reader) entry(version uint32) (stat [40]byte, err error) {
	start := r.read
	fixed, err := r.next(len(stat) + r.hash + 2)
	if err != nil {
		return stat, err
	}
	copy(stat[:], fixed)
	copy(r.object[:], fixed[len(stat):len(stat)+r.hash])
	if flags := binary.BigEndian.Uint16(fixed[len(stat)+r.hash:]); flags&0x4000 != 0 {
		if _, err := r.next(2); err != nil || version == 2 {
			return stat, Err
		}
	}
	if version == 4 {
		strip, err := r.offset()
		if err != nil || strip > len(r.name) {
			return stat, Err
		}
		r.name = r.name[:len(r.name)-strip]
	} else {
		r.name = r.name[:0]
	}
	rest, err := r.from.ReadSlice(0)
	if err != nil {
		return stat, Err
	}
	r.read += int64(len(rest))
	r.name = append(r.name, rest[:len(rest)-1]...)
	if pad := (r.read - start) % 8; version < 4 && pad != 0 {
		_, err = r.next(int(8 - pad))
	}
	return stat, err
}

// offset reads a variable-length number.
func (r *Reader) offset() (int, error) {
	n := 0
	for i := 0; ; i++ {
		b, err := r.next(1)
		if err != nil || i > 3 {
			return 0, Err
		}
		if i > 0 {
			n++
		}
		n = n<<7 | int(b[0]&0x7f)
		if b[0]&0x80 == 0 {
			return n, nil
		}
	}
}

// Shared returns the hash in the name of the file with the rest of a split index, "" if it is not split. It reads the extensions, which
// follow the entries of an index of size bytes.
func (r *Reader) Shared(size int64) (shared string, err error) {
	for end := size - int64(r.hash); r.read < end; {
		head, err := r.next(8)
		if err != nil {
			return "", err
		}
		name, size := string(head[:4]), int64(binary.BigEndian.Uint32(head[4:]))
		if size > end-r.read {
			return "", Err
		}
		skip := int(size)
		if name == "link" {
			id, err := r.next(min(r.hash, skip))
			if err != nil || len(id) < r.hash {
				return "", Err
			}
			if !bytes.Equal(id, make([]byte, r.hash)) {
				shared = hex.EncodeToString(id)
			}
			skip -= r.hash
		}
		if _, err := r.from.Discard(skip); err != nil {
			return "", Err
		}
		r.read += int64(skip)
	}
	return shared, nil
}
