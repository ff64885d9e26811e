package keep

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/tools/gitindex"
)

// index is git's index of a repository: files whose content git has.
type index struct {
	file    inode
	changed unix.Timespec
	size    int64
	objects string // the directory of git's objects
	entries map[string]indexed
}

// indexed is what an index has about a file.
type indexed struct {
	stat   [40]byte
	object string
}

// Bounds of an index that is read. Beyond them files are kept as if git had none.
const (
	maxIndex   = 32 << 20
	maxIndexed = 200_000
	maxIndexes = 4
)

// inGit returns the name of git's object with the content of a file, and the top of the work tree; "" if git does not have it. A file is
// as the index has it if all that git compares is equal, and the file is older than the index. loose is the object if it is a file of its
// own, which git does not sync; nil: it is packed.
func (s *Store) inGit(path string, st *unix.Stat_t) (object, top string, loose *os.File) {
	for top = filepath.Dir(path); ; top = filepath.Dir(top) {
		var git unix.Stat_t
		if unix.Lstat(agenttool.Join(top, ".git"), &git) == nil {
			break
		}
		if top == "/" {
			return "", "", nil
		}
	}
	if strings.HasPrefix(path, agenttool.Join(top, ".git")+"/") {
		return "", "", nil
	}
	ix := s.indexOf(agenttool.Join(top, ".git"))
	if ix == nil {
		return "", "", nil
	}
	rel, err := filepath.Rel(top, path)
	e, known := ix.entries[rel]
	if !known || err != nil || !isUnchanged(e.stat, st) || !isBefore(st.Mtim, ix.changed) || e.object == "" {
		return "", "", nil
	}
	loose, _ = os.Open(filepath.Join(ix.objects, e.object[:2], e.object[2:]))
	return e.object, top, loose
}

func isBefore(a, b unix.Timespec) bool { return a.Sec < b.Sec || a.Sec == b.Sec && a.Nsec < b.Nsec }

// isUnchanged compares the change and modification times, the inode and the size, see gitformat-index(5).
func isUnchanged(entry [40]byte, st *unix.Stat_t) bool {
	word := func(at int) uint32 { return binary.BigEndian.Uint32(entry[at:]) }
	return word(0) == uint32(st.Ctim.Sec) && word(4) == uint32(st.Ctim.Nsec) && word(8) == uint32(st.Mtim.Sec) && word(12) == uint32(st.Mtim.Nsec) &&
		word(20) == uint32(st.Ino) && word(36) == uint32(st.Size)
}

// indexOf returns the index of the repository at .git, a directory or a file that leads to one; nil if there is none that can be read.
func (s *Store) indexOf(git string) *index {
	if text, err := os.ReadFile(git); err == nil {
		to, found := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if !found {
			return nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(git), to)
		}
		git = to
	}
	f, err := os.Open(filepath.Join(git, "index"))
	if err != nil {
		return nil
	}
	defer f.Close()
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil || st.Size > maxIndex {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	file := inode{uint64(st.Dev), st.Ino}
	if ix := s.indexes[git]; ix != nil && ix.file == file && ix.changed == st.Mtim && ix.size == st.Size {
		return ix
	}
	common := git
	if text, err := os.ReadFile(filepath.Join(git, "commondir")); err == nil { // of a further work tree
		if common = strings.TrimSpace(string(text)); !filepath.IsAbs(common) {
			common = filepath.Join(git, common)
		}
	}
	ix := &index{file, st.Mtim, st.Size, filepath.Join(common, "objects"), map[string]indexed{}}
	err = gitindex.NewReader(io.LimitReader(f, maxIndex), gitindex.SHA1).Entries(func(e gitindex.Entry) error {
		if len(ix.entries) >= maxIndexed {
			return errTooMany
		}
		if e.Mode()&unix.S_IFMT == unix.S_IFREG {
			ix.entries[string(e.Path)] = indexed{[40]byte(e.Stat), hex.EncodeToString(e.Object)}
		}
		return nil
	})
	if err != nil {
		ix.entries = nil
	}
	if s.indexes == nil || len(s.indexes) >= maxIndexes {
		s.indexes = map[string]*index{}
	}
	s.indexes[git] = ix
	return ix
}

var errTooMany = errors.New("the index has too many files")
