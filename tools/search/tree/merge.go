package tree

import "strings"

// maxPath is the maximum length of a directory's path in bytes; no program could open a longer one.
const maxPath = 4096

// merge builds the new listing of a directory from its sorted entries. It reuses unchanged files of the old listing.
type merge struct {
	dir   *Dir
	text  string  // all names
	files []*File // of the old listing, from the first that may still be reused
	dirs  []*Dir
	slab  []File // allocates the files of a first listing together
	*listing
}

// newMerge lists d from its sorted entries, whose names are in text.
func newMerge(d *Dir, text string, entries []entry) *merge {
	m := &merge{dir: d, text: text, listing: &listing{}}
	count := 0
	for i := range entries {
		if entries[i].kind != directory {
			count++
		}
	}
	m.listing.files = make([]*File, 0, count)
	if n := len(entries) - count; n > 0 {
		m.listing.dirs, m.before = make([]*Dir, 0, n), make([]int32, 0, n)
	}
	if old := d.listing.Load(); old != nil {
		m.files, m.dirs = old.files, old.dirs
	} else {
		m.slab = make([]File, count)
	}
	for i := range entries {
		m.add(&entries[i])
	}
	return m
}

func (m *merge) add(e *entry) {
	name := m.text[e.at : e.at+e.size]
	if e.kind != directory {
		m.listing.files = append(m.listing.files, m.file(name, e))
		return
	}
	path := m.dir.Path + name + "/"
	if len(path) > maxPath {
		m.unreadable++
		return
	}
	m.listing.dirs = append(m.listing.dirs, m.subdirectory(path, e))
	m.before = append(m.before, int32(len(m.listing.files)))
}

// file returns the file for e: the old one if it is unchanged.
func (m *merge) file(name string, e *entry) *File {
	for len(m.files) > 0 && m.files[0].Name < name {
		m.files = m.files[1:]
	}
	if len(m.files) > 0 {
		if f := m.files[0]; f.Name == name && f.ino == e.ino && f.Kind == e.kind {
			return f
		}
	}
	f := m.room()
	if m.slab == nil {
		name = strings.Clone(name) // so that one new file does not keep all names in memory
	}
	f.Dir, f.Name, f.ino, f.Kind = m.dir, name, e.ino, e.kind
	return f
}

// room returns a new File.
func (m *merge) room() *File {
	if len(m.slab) == 0 {
		return new(File)
	}
	return &m.slab[len(m.listing.files)]
}

// subdirectory returns the directory at path: the old one if it is unchanged.
func (m *merge) subdirectory(path string, e *entry) *Dir {
	for len(m.dirs) > 0 && m.dirs[0].Path < path {
		m.dirs = m.dirs[1:]
	}
	if len(m.dirs) > 0 && m.dirs[0].Path == path && m.dirs[0].ino == e.ino {
		d := m.dirs[0]
		if d.ignored != e.ignored {
			d.ignored, d.dirty = e.ignored, true
		}
		return d
	}
	return &Dir{Path: path, parent: m.dir, ino: e.ino, state: state{dirty: true, ignored: e.ignored}}
}
