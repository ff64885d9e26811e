package shell

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
)

// maxIndex bounds the bytes read of git's index.
const maxIndex = 16 << 20

// indexNames calls do for each path in the index of the repository of dir, relative to its top, until do returns
// false. It reports whether do returned true for all. Without a repository or an index there are none.
func indexNames(dir string, do func(path string) bool) bool {
	git, found := findGit(dir)
	return !found || readIndex(git, func(path string, _ []byte) bool { return do(path) })
}

// readIndex does the same for the index of a git directory. do gets the bytes that git stores about the file, too.
func readIndex(git string, do func(path string, entry []byte) bool) bool {
	f, err := os.Open(filepath.Join(git, "index"))
	if err != nil {
		return os.IsNotExist(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIndex+1))
	if err != nil || len(data) > maxIndex || len(data) < 12 || string(data[:4]) != "DIRC" {
		return false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return false
	}
	rest, path := data[12:], []byte(nil)
	for range count {
		entry := rest
		if rest, path = indexEntry(rest, path, version); rest == nil || !do(string(path), entry) {
			return false
		}
	}
	return true
}

// indexEntry parses one entry of the index, see gitformat-index(5), and returns the rest of the data and the path.
// rest is nil for invalid data.
func indexEntry(data, last []byte, version uint32) (rest, path []byte) {
	const fixed, extended = 62, 0x4000
	if len(data) < fixed {
		return nil, nil
	}
	head := fixed
	if version >= 3 && binary.BigEndian.Uint16(data[fixed-2:])&extended != 0 {
		head += 2
	}
	if version == 4 {
		return shortEntry(data[min(head, len(data)):], last)
	}
	end := bytes.IndexByte(data[min(head, len(data)):], 0)
	if end < 0 {
		return nil, nil
	}
	size := (head + end + 8) / 8 * 8
	if size > len(data) {
		return nil, nil
	}
	return data[size:], data[head : head+end]
}

// shortEntry parses a path that is stored as a number of bytes to remove from the end of the last path, and the bytes
// to append.
func shortEntry(data, last []byte) (rest, path []byte) {
	cut := 0
	for i := 0; ; i++ {
		if i >= len(data) || i > 4 {
			return nil, nil
		}
		cut = cut<<7 | int(data[i]&0x7f)
		if data[i]&0x80 == 0 {
			data = data[i+1:]
			break
		}
		cut++
	}
	end := bytes.IndexByte(data, 0)
	if end < 0 || cut > len(last) {
		return nil, nil
	}
	return data[end+1:], append(last[:len(last)-cut:len(last)-cut], data[:end]...)
}
