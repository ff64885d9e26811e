package tree

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/tools/search/ignore"
)

// maxIgnoreFile is how much of an ignore file is read, in bytes.
const maxIgnoreFile = 1 << 20

// reader reads the files with rules and records their status. It is the ignore.Reader of one repository.
//
// A person with write access to the tree must not be able to use its rules to learn the content of other files: which
// of many names are omitted reveals the lines of a rules file. So the tree's own files cannot name rules elsewhere,
// and no denied file is read under any name.
type reader struct {
	root    int    // the search root
	path    string // its absolute path
	denied  func(path string, dev, ino uint64) bool
	top     string   // of the repository that is read; absolute
	borders []string // the directories where the repository may name files; absolute
	seen    []witness
	short   error // a shortage of the machine prevented opening a file: its rules are unknown
}

// reader returns a reader for the repository at top, which need not be a repository.
func (t *Tree) reader(root int, top string) *reader {
	r := &reader{root: root, path: t.place.Path, denied: t.options.Denied, top: top, borders: []string{t.place.Path, top}}
	if agenttool.Within(t.place.Top, t.place.Path) {
		r.borders = append(r.borders, t.place.Top)
	}
	return r
}

// repository reads git's files for the repository.
func (r *reader) repository(env ignore.Environment) *ignore.Repository {
	repository := ignore.ReadRepository(r, env)
	return &repository
}

// ignoreFile returns the whole lines of the first MiB of an ignore file. Links are not followed, as in git. An
// unreadable file has no rules, so that it hides nothing. path is relative to the search root, or absolute.
func (r *reader) ignoreFile(path string) []byte {
	if !r.look(path) {
		return nil
	}
	return r.text(path)
}

// User reads one of the user's files or a file that one of them names. Outside the search root it may be behind
// links.
func (r *reader) User(path string) []byte {
	if !filepath.IsAbs(path) {
		return r.Own(path)
	}
	path, ok := r.resolve(path)
	if !ok {
		return nil
	}
	return r.text(path)
}

// Own reads a file that belongs to the repository or is named by it. Only files within the borders are read.
func (r *reader) Own(path string) []byte {
	path, ok := r.resolve(r.absolute(path))
	if !ok || !r.owns(path) {
		return nil
	}
	return r.text(path)
}

// Admit adds dir to the borders if its content shows that it is a git directory, such as those of worktrees and
// submodules, which may be anywhere. It records only the status of files that can change its answer: git changes its
// directories all the time.
func (r *reader) Admit(dir string) bool {
	dir = r.absolute(dir)
	if _, ok := r.inside(dir); ok {
		return true
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err == nil && r.owns(resolved) {
		return true
	}
	missing := func(name string) bool {
		_, err := statusAt(r.root, filepath.Join(resolved, name))
		return err != nil
	}
	if err == nil && !missing("HEAD") && (!missing("objects") || !missing("commondir")) {
		r.borders = append(r.borders, resolved)
		return true
	}
	for _, name := range []string{"HEAD", "objects", "commondir"} {
		r.look(filepath.Join(dir, name))
	}
	return false
}

// absolute resolves path relative to the top of the repository.
func (r *reader) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.top, path)
}

// owns reports whether the repository may name the file path: below the search root, or within the borders.
func (r *reader) owns(path string) bool {
	return !filepath.IsAbs(path) || slices.ContainsFunc(r.borders, func(dir string) bool { return agenttool.Within(dir, path) })
}

// resolve returns the path to pass to text, and whether the file exists. Below the search root the path keeps its
// links, which text does not follow; elsewhere links are resolved.
func (r *reader) resolve(path string) (resolved string, ok bool) {
	if below, ok := r.inside(path); ok {
		return below, r.look(below)
	}
	if !r.look(path) {
		return "", false
	}
	resolved, err := filepath.EvalSymlinks(path)
	return resolved, err == nil
}

// inside returns an absolute path relative to the search root.
func (r *reader) inside(path string) (below string, ok bool) {
	below, ok = strings.CutPrefix(filepath.Clean(path), strings.TrimSuffix(r.path, "/")+"/")
	return below, ok && below != ""
}

// look records the status of path and reports whether it exists. It must be called before the file is read, so that a
// later change is noticed.
func (r *reader) look(path string) bool {
	now := time.Now()
	st, err := statusAt(r.root, path)
	if err != nil {
		r.seen = append(r.seen, witness{path: path})
		return false
	}
	is := statusOf(&st)
	r.seen = append(r.seen, witness{path, is, is.fresh(now)})
	return true
}

// text returns the whole lines of the first MiB of a regular file that is not denied, and nil for anything else.
func (r *reader) text(path string) []byte {
	fd, size := r.open(path)
	if fd < 0 {
		return nil
	}
	defer unix.Close(fd)
	return readText(fd, size)
}

// open opens a regular file that is not denied, and returns its size in bytes; fd is negative for anything else. It
// follows no link, so the denied check and the read concern the same file. The caller closes fd with unix.Close.
func (r *reader) open(path string) (fd int, size int64) {
	dir, rel := r.root, path
	if filepath.IsAbs(path) {
		top, err := openIn(unix.AT_FDCWD, "/", safely|unix.O_DIRECTORY)
		if err != nil {
			r.missed(err)
			return -1, 0
		}
		defer unix.Close(top)
		dir, rel = top, strings.TrimLeft(path, "/")
	}
	st, err := statusAt(dir, rel) // opening a device can have side effects
	if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return -1, 0
	}
	fd, err = openBeneath(dir, rel, safely)
	if err != nil {
		r.missed(err)
		return -1, 0
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.path, path)
	}
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG || r.denied != nil && r.denied(path, uint64(st.Dev), st.Ino) {
		unix.Close(fd)
		return -1, 0
	}
	return fd, st.Size
}

func (r *reader) missed(err error) {
	if agenttool.IsShortage(err) {
		r.short = err
	}
}

// readText returns the whole lines of the first MiB of fd; its status reports size bytes.
func readText(fd int, size int64) []byte {
	text := make([]byte, 0, min(max(size, 0), maxIgnoreFile)+1)
	for len(text) <= maxIgnoreFile {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		n := 0
		err := retry(func() (err error) {
			n, err = unix.Read(fd, text[len(text):cap(text)])
			return err
		})
		if err != nil {
			return nil
		}
		if n <= 0 {
			return text
		}
		text = text[:len(text)+n]
	}
	return text[:bytes.LastIndexByte(text[:maxIgnoreFile], '\n')+1]
}

// readAbove reads the rules above the search root: those of the directories from the nearest one with a repository
// down, and those from the place's Top down.
//
// The error is a shortage of the machine; then some rules are unknown.
func (t *Tree) readAbove(root int) (a *above, err error) {
	a = &above{}
	repository, found := a.find(root, t.place.Path)
	start := t.place.Path
	if agenttool.Within(t.place.Top, start) {
		start = t.place.Top
	}
	if found && agenttool.Within(repository, start) {
		start = repository
	}
	a.prefix = strings.TrimPrefix(strings.TrimPrefix(t.place.Path, start), "/")
	if a.prefix != "" {
		a.prefix += "/"
	}
	a.inRepository = a.prefix
	at, size := "", 0
	for name := range strings.SplitAfterSeq(a.prefix, "/") {
		if name == "" || size > maxAbove {
			break
		}
		dir := filepath.Join(start, at)
		r := t.reader(root, dir)
		s := &sources{git: r.ignoreFile(filepath.Join(dir, ".gitignore")), plain: r.ignoreFile(filepath.Join(dir, ".ignore"))}
		if found && dir == repository {
			s.repository = r.repository(t.options.Git)
			s.index = s.indexIn(r)
			a.index, a.inRepository = s.index, a.prefix[len(at):]
		}
		s.files = r.seen
		err = cmp.Or(err, r.short)
		a.layers = append(a.layers, layer{at, s})
		a.rules = s.over(a.rules, at)
		if a.rules.Ignores(at, strings.TrimSuffix(name, "/"), true) {
			a.rules = nil // the caller named a directory below one that is ignored: what ignores it does not count there
		}
		at += name
		size += s.size()
	}
	return a, err
}
