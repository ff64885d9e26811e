package neutral

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// errIndex means that an index has an unknown format.
var errIndex = errors.New("the index is not understood")

const (
	modeGitlink = 0o160000
	maxGitlinks = 256
	maxEntries  = 5_000_000
)

// gitlinks returns the paths of the submodules in the index of a git directory, relative to the top of the work tree.
// hash is the size of an object name in bytes.
func gitlinks(gitDir string, hash int) ([]string, error) {
	links, shared, err := linksOf(filepath.Join(gitDir, "index"), hash)
	if err == nil && shared != "" {
		var more []string
		if more, _, err = linksOf(filepath.Join(gitDir, "sharedindex."+shared), hash); errors.Is(err, os.ErrNotExist) {
			return nil, errIndex
		}
		links = append(links, more...)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return links, err
}

// linksOf returns the submodules in one file, and the name of the file with the rest if the index is split.
func linksOf(name string, hash int) (links []string, shared string, err error) {
	f, err := openRegular(name)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	r := &indexReader{Reader: bufio.NewReaderSize(f, 64<<10), hash: hash}
	if err := r.entries(); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	if err := r.extensions(info.Size() - int64(hash)); err != nil {
		return nil, "", fmt.Errorf("%s: %w", name, err)
	}
	return r.links, r.shared, nil
}

// indexReader reads an index of version 2, 3 or 4, see gitformat-index(5).
type indexReader struct {
	*bufio.Reader
	hash   int
	read   int64
	name   []byte // of the last entry
	links  []string
	shared string
}

func (r *indexReader) next(n int) ([]byte, error) {
	b, err := r.Peek(n)
	if err != nil {
		return nil, errIndex
	}
	r.read += int64(n)
	_, err = r.Discard(n)
	return b, err
}

func (r *indexReader) entries() error {
	head, err := r.next(12)
	if err != nil || !bytes.HasPrefix(head, []byte("DIRC")) {
		return errIndex
	}
	version, count := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	if version < 2 || version > 4 || count > maxEntries {
		return errIndex
	}
	for range count {
		if err := r.entry(version); err != nil {
			return err
		}
	}
	return nil
}

func (r *indexReader) entry(version uint32) error {
	start := r.read
	fixed, err := r.next(40 + r.hash + 2)
	if err != nil {
		return err
	}
	mode, flags := binary.BigEndian.Uint32(fixed[24:]), binary.BigEndian.Uint16(fixed[40+r.hash:])
	if flags&0x4000 != 0 {
		if _, err := r.next(2); err != nil || version == 2 {
			return errIndex
		}
	}
	if version == 4 {
		strip, err := r.offset()
		if err != nil || strip > len(r.name) {
			return errIndex
		}
		r.name = r.name[:len(r.name)-strip]
	} else {
		r.name = r.name[:0]
	}
	rest, err := r.ReadSlice(0)
	if err != nil {
		return errIndex
	}
	r.read += int64(len(rest))
	r.name = append(r.name, rest[:len(rest)-1]...)
	if pad := (r.read - start) % 8; version < 4 && pad != 0 {
		if _, err := r.next(int(8 - pad)); err != nil {
			return err
		}
	}
	if mode&0o170000 == modeGitlink && (len(r.links) == 0 || r.links[len(r.links)-1] != string(r.name)) {
		if len(r.links) >= maxGitlinks {
			return errors.New("there are too many submodules")
		}
		r.links = append(r.links, string(r.name))
	}
	return nil
}

// offset reads a variable-length number.
func (r *indexReader) offset() (int, error) {
	n := 0
	for i := 0; ; i++ {
		b, err := r.next(1)
		if err != nil || i > 3 {
			return 0, errIndex
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

// extensions searches for the extension that names another index.
func (r *indexReader) extensions(end int64) error {
	for r.read < end {
		head, err := r.next(8)
		if err != nil {
			return err
		}
		name, size := string(head[:4]), int64(binary.BigEndian.Uint32(head[4:]))
		if size > end-r.read {
			return errIndex
		}
		skip := int(size)
		if name == "link" {
			id, err := r.next(min(r.hash, skip))
			if err != nil || len(id) < r.hash {
				return errIndex
			}
			if !bytes.Equal(id, make([]byte, r.hash)) {
				r.shared = hex.EncodeToString(id)
			}
			skip -= r.hash
		}
		if _, err := r.Discard(skip); err != nil {
			return errIndex
		}
		r.read += int64(skip)
	}
	return nil
}

// openRegular opens a regular file; it never blocks, and fails for devices, pipes and directories.
func openRegular(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is no file", name)
	}
	return f, nil
}

// maxFile bounds the size of a configuration file.
const maxFile = 1 << 20

// readRegular reads a small file.
func readRegular(name string) (string, error) {
	f, err := openRegular(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s is too large", name)
	}
	return string(b), err
}
