// Package keep copies what a command would remove, before the command runs, so that the user can take it back:
//
//	found, ok := store.Find(keep.Places{{Root: "/ws", Path: "/ws/build"}})
//	if ok {
//		file, err := store.Save("inv-1", found)
//	}
//
// A copy is a tar file with absolute names, without their first slash: tar -xf FILE -C / puts everything back. The store is bounded, and
// copies that are a day old make room for new ones. Large files, and files that may hold secrets, are not copied.
package keep

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Store is a directory with copies.
type Store struct {
	Dir     string                 // absolute, and of no use to commands
	Refuses func(path string) bool // reports whether a file holds secrets; nil: none does
}

// The bounds of a copy, and of the store.
const (
	maxEntries = 10_000
	maxVisited = 50_000
	maxBytes   = 64 << 20
	maxStore   = 512 << 20
	maxAge     = 14 * 24 * time.Hour
	minAge     = 24 * time.Hour // of a copy that makes room for others
)

// Place is a file or directory that a command removes or overwrites.
type Place struct {
	Root  string                                 // of the workspace, absolute, without links; no link is followed out of it
	Path  string                                 // absolute, below Root or Root itself
	Skip  func(path string, fi fs.FileInfo) bool // reports whether the command leaves a file, or a directory and all below; nil: none
	Holds func(path string) bool                 // reports whether a file is one that no copy makes up for; nil: none
	Git   bool                                   // Path is in a git directory
}

// Places are those of one command.
type Places []Place

// Found are the files and directories of places now.
type Found struct {
	entries []entry
	leads   map[string]bool // the directories that lead to places
	bytes   int64
	visited int
}

type entry struct {
	root, path string
	info       fs.FileInfo
}

var errKeepsNot = errors.New("it cannot be copied")

// Find looks at places. It is not ok if they hold more than a copy may have or the store has room for, a secret, a repository, or what cannot
// be read.
func (s *Store) Find(places Places) (found *Found, ok bool) {
	found = &Found{}
	for _, p := range places {
		if err := s.find(found, p); err != nil {
			return nil, false
		}
	}
	return found, len(found.entries) == 0 || found.size() <= maxStore-s.recent(time.Now())
}

// size is about that of the copy.
func (f *Found) size() int64 { return f.bytes + int64(len(f.entries))<<10 }

// recent is the size of the copies that make no room yet.
func (s *Store) recent(now time.Time) (size int64) {
	for _, c := range s.copies() {
		if now.Sub(c.ModTime()) < minAge {
			size += c.Size()
		}
	}
	return size
}

func (s *Store) find(found *Found, p Place) error {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	top, err := filepath.Rel(p.Root, p.Path)
	if err != nil || !filepath.IsLocal(top) {
		return errKeepsNot
	}
	if _, err := root.Lstat(top); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing is lost there
	}
	if err := found.lead(root, p.Root, filepath.Dir(top)); err != nil {
		return err
	}
	return fs.WalkDir(root.FS(), filepath.ToSlash(top), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return s.visit(found, p, filepath.Join(p.Root, name), d)
	})
}

// lead adds the directories that lead to a place, so that tar makes directories of those that are links by then. A link leads nowhere.
func (f *Found) lead(root *os.Root, at, name string) error {
	if name == "." || f.leads[filepath.Join(at, name)] {
		return nil
	}
	if err := f.lead(root, at, filepath.Dir(name)); err != nil {
		return err
	}
	info, err := root.Lstat(name)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return errKeepsNot
	case f.leads == nil:
		f.leads = map[string]bool{}
	}
	f.leads[filepath.Join(at, name)] = true
	f.entries = append(f.entries, entry{at, filepath.Join(at, name), info})
	return nil
}

// visit adds a file.
func (s *Store) visit(found *Found, p Place, path string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	found.visited++
	switch {
	case found.visited > maxVisited:
		return errKeepsNot
	case p.Skip != nil && p.Skip(path, info):
		if d.IsDir() && path != p.Path {
			return fs.SkipDir
		}
		return nil
	case !p.Git && strings.EqualFold(d.Name(), ".git"), s.Refuses != nil && s.Refuses(path), p.Holds != nil && p.Holds(path):
		return errKeepsNot
	}
	if kind := info.Mode().Type(); kind != 0 && kind != fs.ModeDir && kind != fs.ModeSymlink {
		return nil // a socket or a pipe holds nothing
	}
	if info.Mode().IsRegular() {
		found.bytes += info.Size()
	}
	if found.entries = append(found.entries, entry{p.Root, path, info}); len(found.entries) > maxEntries || found.bytes > maxBytes {
		return errKeepsNot
	}
	return nil
}
