package keep

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/tools/gitindex"
	"toolhost/tools/neutral"
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

// inGit returns the name of git's object with the content of the file at place, and the top of the work tree; "" if git does not have it. It
// serves where there can be no copy. The index, which commands write, says which object that may be; git has to give the very bytes of the
// file. loose is the object if it is a file of its own, which git does not sync; nil: it is packed.
func (s *Store) inGit(path string, place int, st *unix.Stat_t) (object, top string, loose *os.File) {
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
	if !known || err != nil || !isUnchanged(e.stat, st) || !isBefore(st.Mtim, ix.changed) || e.object == "" || !gives(top, e.object, place) {
		return "", "", nil
	}
	loose, err = openRegular(filepath.Join(ix.objects, e.object[:2], e.object[2:]))
	if err != nil {
		loose = nil
	}
	return e.object, top, loose
}

// gitPatience is how long git may take to show an object.
const gitPatience = 30 * time.Second

// gives reports whether git's object is the content of the file at place.
func gives(top, object string, place int) bool {
	file, err := openRegular(atProc(place))
	if err != nil {
		return false
	}
	defer file.Close()
	ctx, cancel := context.WithTimeout(context.Background(), gitPatience)
	defer cancel()
	git := showObject(ctx, top, object)
	shown, err := git.StdoutPipe()
	if err != nil || git.Start() != nil {
		return false
	}
	same := isSame(shown, file)
	cancel() // what follows does not matter
	_ = git.Wait()
	return same
}

// showObject is git's command that prints an object as it is. The repository may name a program to fetch it with, which does not run.
func showObject(ctx context.Context, top, object string) *exec.Cmd {
	git := exec.CommandContext(ctx, "git", "--no-replace-objects", "-C", top, "cat-file", "blob", object)
	git.Env = append(os.Environ(), neutral.Closed()...)
	return git
}

// isSame reports whether two readers have the same bytes.
func isSame(a, b io.Reader) bool {
	one, other := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errOne := io.ReadFull(a, one)
		m, errOther := io.ReadFull(b, other)
		if !bytes.Equal(one[:n], other[:m]) {
			return false
		}
		if errOne != nil || errOther != nil {
			ended := func(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }
			return ended(errOne) && ended(errOther)
		}
	}
}

// openRegular opens a regular file for reading. Nothing else is opened, since a pipe would keep us waiting.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return f, nil
}

// readPointer returns what a file says that git uses to name a directory, "" if there is none that is so short.
func readPointer(path string) string {
	f, err := openRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, unix.PathMax+16))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
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
	if pointer := readPointer(git); pointer != "" {
		to, found := strings.CutPrefix(pointer, "gitdir: ")
		if !found {
			return nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(git), to)
		}
		git = to
	}
	f, err := openRegular(filepath.Join(git, "index"))
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
	if pointer := readPointer(filepath.Join(git, "commondir")); pointer != "" { // of a further work tree
		if common = pointer; !filepath.IsAbs(common) {
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
