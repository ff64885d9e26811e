package keep

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Save writes a copy under a name and returns its file; "" if there is nothing to copy. Files that end meanwhile are left out.
func (s *Store) Save(name string, found *Found) (file string, err error) {
	if !slices.ContainsFunc(found.entries, func(e entry) bool { return !e.info.IsDir() }) {
		return "", nil
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return "", err
	}
	s.trim(maxStore-found.size(), time.Now())
	f, err := os.CreateTemp(s.Dir, name+"-*.tar")
	if err != nil {
		return "", err
	}
	file = f.Name()
	w := tar.NewWriter(f)
	for _, e := range found.entries {
		if err = add(w, e); err != nil {
			break
		}
	}
	if closed := w.Close(); err == nil {
		err = closed
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		_ = os.Remove(file)
		return "", fmt.Errorf("copy of what the command removes: %w", err)
	}
	return file, nil
}

// add writes one file. It follows no link out of the root, and waits for no pipe.
func add(w *tar.Writer, e entry) error {
	root, err := os.OpenRoot(e.root)
	if err != nil {
		return err
	}
	defer root.Close()
	name, err := filepath.Rel(e.root, e.path)
	if err != nil {
		return err
	}
	target := ""
	if e.info.Mode().Type() == fs.ModeSymlink {
		if target, err = root.Readlink(name); err != nil {
			return ended(err)
		}
	}
	head, err := tar.FileInfoHeader(e.info, target)
	if err != nil {
		return err
	}
	head.Name = strings.TrimPrefix(e.path, "/")
	if e.info.IsDir() {
		head.Name += "/"
	}
	if !e.info.Mode().IsRegular() {
		return w.WriteHeader(head)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return ended(err)
	}
	defer f.Close()
	now, err := f.Stat()
	if err != nil || !now.Mode().IsRegular() || now.Size() != e.info.Size() {
		return errChanged
	}
	if err := w.WriteHeader(head); err != nil {
		return err
	}
	_, err = io.CopyN(w, f, head.Size)
	return err
}

var errChanged = errors.New("a file changed meanwhile: make the call again")

// ended is no error where a file no longer exists.
func ended(err error) error {
	if os.IsNotExist(err) {
		return nil
	}
	return err
}

// trim removes old copies, and the oldest ones until the rest fits into room.
func (s *Store) trim(room int64, now time.Time) {
	copies := s.copies()
	slices.SortFunc(copies, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	for _, c := range copies {
		if room -= c.Size(); room < 0 || now.Sub(c.ModTime()) > maxAge {
			_ = os.Remove(filepath.Join(s.Dir, c.Name()))
		}
	}
}

// copies are the files of the store.
func (s *Store) copies() (copies []fs.FileInfo) {
	entries, _ := os.ReadDir(s.Dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			copies = append(copies, info)
		}
	}
	return copies
}
