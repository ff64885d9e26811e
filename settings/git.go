package settings

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// verdict is what git's index says about a file.
type verdict struct {
	supplied bool
	why      string
	busy     bool     // git is writing the index, and the verdict may be another one soon
	gitDirs  []string // where the index was looked for
}

// tracked reports whether git tracks a file. What cannot be known is tracked. The file need not be in a repository:
// then it is not.
func tracked(file string) verdict {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		gitDir, err := gitDirectory(dir)
		if err != nil {
			return verdict{supplied: true, why: err.Error()}
		}
		if gitDir == "" && dir != filepath.Dir(dir) {
			continue
		}
		if gitDir == "" {
			return verdict{}
		}
		v := verdict{gitDirs: []string{gitDir}}
		rel, err := filepath.Rel(dir, file)
		if err == nil {
			v.supplied, err = inIndexOf(gitDir, filepath.ToSlash(rel))
		}
		switch {
		case err != nil:
			v.supplied, v.busy = true, errors.Is(err, errBusy)
			v.why = "git may track it: " + err.Error()
		case v.supplied:
			v.why = "git tracks it"
		}
		return v
	}
}

// gitDirectory returns the git directory of a repository whose work tree begins at dir, empty if none does.
func gitDirectory(dir string) (string, error) {
	place := filepath.Join(dir, ".git")
	info, err := os.Stat(place)
	switch {
	case missing(err):
		if _, err := os.Lstat(place); err == nil {
			return "", fmt.Errorf("%s leads nowhere", shown(place))
		}
		return "", nil
	case err != nil:
		return "", fmt.Errorf("%s cannot be read", shown(place))
	case info.IsDir():
		return place, nil
	}
	content, _, err := readFile(place, false)
	target, found := strings.CutPrefix(string(content), "gitdir: ")
	if err != nil || !found {
		return "", fmt.Errorf("%s cannot be followed", shown(place))
	}
	target = strings.TrimRight(target, "\r\n")
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	if info, err := os.Stat(target); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%s leads to no git directory", shown(place))
	}
	return target, nil
}

// maxIndex bounds the index that is read: that of a million files has about 100 MB.
const maxIndex = 256 << 20

// inIndexOf reports whether a path is in the index of a git directory. Git holds index.lock from before it changes a
// file until the index says so.
func inIndexOf(gitDir, path string) (bool, error) {
	if _, err := os.Lstat(filepath.Join(gitDir, "index.lock")); !missing(err) {
		return false, errBusy
	}
	place := filepath.Join(gitDir, "index")
	info, err := os.Stat(place)
	if missing(err) {
		return false, nil // nothing was added yet
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIndex {
		return false, errors.New("its index cannot be read")
	}
	index, err := os.ReadFile(place)
	if err != nil {
		return false, errors.New("its index cannot be read")
	}
	for _, idSize := range []int{20, 32} { // SHA-1, SHA-256: the index does not say which
		if found, err := inIndex(index, idSize, path); !errors.Is(err, errMalformed) {
			return found, err
		}
	}
	return false, errMalformed
}

// What keeps an index from being read.
var (
	errMalformed = errors.New("its index is malformed")
	errBusy      = errors.New("git is writing its index")
)

// The layout of an index of version 2 or 3: a header, the entries, extensions, and a checksum of the size of an id.
const (
	indexHeader = 12 // DIRC, version, number of entries
	entryStat   = 40 // of each entry: what stat says; then come its id, flags, name, and NULs up to a multiple of 8
	nameBits    = 0x0fff
	moreFlags   = 0x4000 // of version 3: two more bytes of flags follow
)

// inIndex reports whether an index whose ids have a size holds the path, or a place above it that git does not look
// into: a link, another repository, a directory of a sparse index.
func inIndex(index []byte, idSize int, path string) (found bool, err error) {
	if len(index) < indexHeader+idSize || string(index[:4]) != "DIRC" {
		return false, errMalformed
	}
	version, count := binary.BigEndian.Uint32(index[4:]), binary.BigEndian.Uint32(index[8:])
	if version != 2 && version != 3 {
		return false, fmt.Errorf("its index has version %d", version)
	}
	wanted := fold(path)
	rest := index[indexHeader : len(index)-idSize]
	for range count {
		name, size, ok := indexEntry(rest, idSize, version)
		if !ok {
			return false, errMalformed
		}
		if covers(name, wanted) {
			found = true
		}
		rest = rest[size:]
	}
	return found, checkExtensions(rest)
}

// indexEntry returns the name of the first entry and the size of it.
func indexEntry(b []byte, idSize int, version uint32) (name []byte, size int, ok bool) {
	start := entryStat + idSize + 2
	if len(b) < start {
		return nil, 0, false
	}
	flags := binary.BigEndian.Uint16(b[start-2:])
	if flags&moreFlags != 0 {
		if version < 3 {
			return nil, 0, false
		}
		start += 2
	}
	if len(b) < start {
		return nil, 0, false
	}
	length := bytes.IndexByte(b[start:], 0)
	if length < 1 || length < nameBits && length != int(flags&nameBits) || length >= nameBits && flags&nameBits != nameBits {
		return nil, 0, false
	}
	size = (start + length + 8) &^ 7
	if len(b) < size || len(bytes.Trim(b[start+length:size], "\x00")) > 0 {
		return nil, 0, false
	}
	return b[start : start+length], size, true
}

// checkExtensions walks what follows the entries. An extension whose name begins with a small letter changes what the
// entries mean.
func checkExtensions(b []byte) error {
	for len(b) > 0 {
		if len(b) < 8 {
			return errMalformed
		}
		name, size := b[:4], int64(binary.BigEndian.Uint32(b[4:]))
		if size > int64(len(b)-8) {
			return errMalformed
		}
		if name[0] < 'A' || name[0] > 'Z' {
			return fmt.Errorf("its index has the extension %q", name)
		}
		b = b[8+size:]
	}
	return nil
}

// covers reports whether an entry is the folded path, or above it.
func covers(entry []byte, wanted string) bool {
	if entry[0] < 0x80 && wanted[0] < 0x80 && entry[0]|0x20 != wanted[0]|0x20 {
		return false // as nearly all
	}
	name := strings.TrimSuffix(fold(string(entry)), "/")
	rest, found := strings.CutPrefix(wanted, name)
	return found && (rest == "" || rest[0] == '/')
}

// fold is a path as file systems see it that know no case and leave out characters without a shape.
func fold(path string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, strings.ToLower(strings.ToUpper(path)))
}
