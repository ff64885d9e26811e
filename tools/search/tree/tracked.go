package tree

import (
	"io"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"toolhost/tools/gitindex"
	"toolhost/tools/search/ignore"
)

// maxIndexFile is the size of the largest index that is read, in bytes: about two million files. The files of a larger
// one count as not tracked.
const maxIndexFile = 256 << 20

const modeGitlink = 0o160000

// gitIndex is the index of a repository. It is read when a rule names something in the repository for the first time,
// because only then does it matter which files git tracks.
type gitIndex struct {
	path string // as ignore.Repository has it
	hash int    // size of an object name, in bytes
	from reader // opens the file

	mu      sync.Mutex
	loaded  bool
	stale   bool      // it must be read again even if its status is unchanged
	seen    []witness // the files that were read
	content tracked
}

// tracked holds the paths of the files that git tracks in one repository, relative to its top. The zero value is empty.
type tracked struct {
	text  string          // all paths, in byte order, one after the other
	ends  []uint32        // where each path ends in text
	links map[string]bool // the paths of submodules; each is also among the others
}

func (t *tracked) path(i int) string {
	if i == 0 {
		return t.text[:t.ends[0]]
	}
	return t.text[t.ends[i-1]:t.ends[i]]
}

// find returns the number of the first path that is not before prefix.
func (t *tracked) find(prefix string) int {
	return sort.Search(len(t.ends), func(i int) bool { return t.path(i) >= prefix })
}

// file reports whether path is a tracked file or link.
func (t *tracked) file(path string) bool {
	i := t.find(path)
	return i < len(t.ends) && t.path(i) == path
}

// below reports whether a tracked file lies in the directory path, which ends with a slash; "" is the top.
func (t *tracked) below(path string) bool {
	i := t.find(path)
	return i < len(t.ends) && strings.HasPrefix(t.path(i), path)
}

// only reports whether nothing below dir is tracked but the names in but, which lie in dir itself.
func (t *tracked) only(dir string, but ...string) bool {
	for i := t.find(dir); i < len(t.ends); i++ {
		name, inside := strings.CutPrefix(t.path(i), dir)
		if !inside {
			break
		}
		if !slices.Contains(but, name) {
			return false
		}
	}
	return true
}

// differences calls each with every path that is in one of a and b only.
func differences(a, b *tracked, each func(path string)) {
	i, j := 0, 0
	for i < len(a.ends) || j < len(b.ends) {
		switch {
		case j == len(b.ends) || i < len(a.ends) && a.path(i) < b.path(j):
			each(a.path(i))
			i++
		case i == len(a.ends) || b.path(j) < a.path(i):
			each(b.path(j))
			j++
		default:
			if path := a.path(i); a.links[path] != b.links[path] {
				each(path)
			}
			i, j = i+1, j+1
		}
	}
}

// indexIn returns the index of the repository of the sources, nil if it has none. The reader is the one that read them.
func (s *sources) indexIn(r *reader) *gitIndex {
	if s.repository == nil || s.repository.Index == "" {
		return nil
	}
	x := &gitIndex{path: s.repository.Index, hash: gitindex.SHA1, from: *r}
	if s.repository.SHA256 {
		x.hash = gitindex.SHA256
	}
	x.from.seen = nil
	return x
}

// keep returns the old index if now is the same file of the same repository, so that it need not be read again.
func (x *gitIndex) keep(now *gitIndex) *gitIndex {
	if x != nil && now != nil && x.path == now.path && x.hash == now.hash && x.from.top == now.from.top &&
		slices.Equal(x.from.borders, now.from.borders) {
		return x
	}
	return now
}

// get returns the tracked files. The error is a shortage of the machine: which files are tracked is unknown then.
func (x *gitIndex) get(root int) (*tracked, error) {
	if x == nil {
		return &tracked{}, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.loaded {
		return &x.content, nil
	}
	err := x.load(root)
	return &x.content, err
}

// renew reads the index again if it was read and may have changed since. It calls each with every path that is tracked
// now and was not, or the other way round.
func (x *gitIndex) renew(root int, each func(path string)) error {
	if x == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.loaded || !x.stale && !slices.ContainsFunc(x.seen, func(w witness) bool { return w.changed(root) }) {
		return nil
	}
	was := x.content
	err := x.load(root)
	if err == nil {
		differences(&was, &x.content, each)
	}
	return err
}

// distrust makes renew read the index again.
func (x *gitIndex) distrust() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.stale = true
}

// load reads the index. A file that is missing, denied or not understood tracks nothing.
func (x *gitIndex) load(root int) error {
	r := &x.from
	r.root, r.seen, r.short = root, nil, nil
	own, shared := x.read(x.path)
	content := own
	if shared != "" {
		rest, _ := x.read(filepath.Join(filepath.Dir(x.path), "sharedindex."+shared))
		content = merged(own, rest)
	}
	if r.short != nil {
		return r.short
	}
	x.content, x.seen, x.loaded, x.stale = content, r.seen, true, false
	return nil
}

// read reads one file of the index, and returns the hash in the name of the file with the rest of a split one.
func (x *gitIndex) read(path string) (t tracked, shared string) {
	r := &x.from
	resolved, found := r.resolve(r.absolute(path))
	if !found || !r.owns(resolved) {
		return t, ""
	}
	fd, size := r.open(resolved)
	if fd < 0 {
		return t, ""
	}
	defer unix.Close(fd)
	if size > maxIndexFile {
		return t, ""
	}
	var text strings.Builder
	text.Grow(int(size / 2))
	last := ""
	index := gitindex.NewReader(descriptor(fd), x.hash)
	err := index.Entries(func(e gitindex.Entry) error {
		// A conflict has several entries for a path. A split index leaves out paths that the other file has. A sparse
		// one has directories without files.
		if len(e.Path) == 0 || string(e.Path) == last || e.Path[len(e.Path)-1] == '/' {
			return nil
		}
		from := text.Len()
		text.Write(e.Path)
		last = text.String()[from:]
		t.ends = append(t.ends, uint32(text.Len()))
		if e.Mode()&unix.S_IFMT == modeGitlink {
			if t.links == nil {
				t.links = map[string]bool{}
			}
			t.links[last] = true
		}
		return nil
	})
	if err != nil {
		return tracked{}, ""
	}
	t.text = text.String()
	shared, _ = index.Shared(size)
	return t, shared
}

// merged returns the paths of both.
func merged(a, b tracked) (both tracked) {
	paths := make([]string, 0, len(a.ends)+len(b.ends))
	for i := range a.ends {
		paths = append(paths, a.path(i))
	}
	for i := range b.ends {
		paths = append(paths, b.path(i))
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	both.text, both.links = strings.Join(paths, ""), map[string]bool{}
	end := 0
	for _, path := range paths {
		end += len(path)
		both.ends = append(both.ends, uint32(end))
		if a.links[path] || b.links[path] {
			both.links[path] = true
		}
	}
	return both
}

// descriptor reads an open file.
type descriptor int

func (d descriptor) Read(b []byte) (n int, err error) {
	err = retry(func() (err error) {
		n, err = unix.Read(int(d), b)
		return err
	})
	if n <= 0 && err == nil {
		return 0, io.EOF
	}
	return max(n, 0), err
}

// tracked returns the files that git tracks in the innermost repository around d, and the path of d in that
// repository, "" or with a trailing slash. Where a rule ignores d as a whole, that is the repository with the rule.
func (w *worker) tracked(d *Dir) (files *tracked, at string) {
	index, at := w.above.index, w.above.inRepository+d.Path
	for top := d; top != nil; top = top.parent {
		if top.sources.begins() {
			index, at = top.sources.index, d.Path[len(top.Path):]
			break
		}
	}
	files, err := index.get(w.fd)
	w.short.note(err)
	return files, at
}

// untracked reports whether git tracks nothing in the search root but files that keep the directory. index is that of
// a repository that begins in the root, nil if none does.
func (w *worker) untracked(index *gitIndex) bool {
	at := ""
	if index == nil {
		index, at = w.above.index, w.above.inRepository
	}
	files, err := index.get(w.fd)
	w.short.note(err)
	return files.only(at, ".gitignore", ".gitkeep", ".keep")
}

// inspectIndexes marks the directories where a change of an index can change the list.
func (r *refresh) inspectIndexes() {
	if r.above.index != nil {
		r.short.note(r.above.index.renew(r.fd, func(path string) {
			if below, inside := strings.CutPrefix(path, r.above.inRepository); inside {
				r.retrack(r.root, below)
			}
		}))
	}
	for _, d := range r.repos {
		if d.Gone() || !d.sources.begins() {
			continue
		}
		r.short.note(d.sources.index.renew(r.fd, func(path string) { r.retrack(d, path) }))
	}
}

// retrack marks the directories that are listed otherwise when git begins or ceases to track path, which is below d:
// the last listed directory on the way there, and those on the way that are listed for the sake of tracked files.
func (r *refresh) retrack(d *Dir, path string) {
	if d == r.root && d.sources != nil && ignore.Everything(d.sources.git) {
		r.mark(d)
	}
	for {
		end := strings.IndexByte(path, '/')
		next := d.child(path, end)
		if next == nil {
			r.mark(d)
			return
		}
		if next.ignored {
			r.mark(d)
		}
		d, path = next, path[end+1:]
	}
}

// child returns the directory in d that path[:end] names; nil if it is not listed, or end is negative.
func (d *Dir) child(path string, end int) *Dir {
	l := d.listing.Load()
	if l == nil || end < 0 {
		return nil
	}
	full := d.Path + path[:end+1]
	i, found := slices.BinarySearchFunc(l.dirs, full, func(c *Dir, full string) int { return strings.Compare(c.Path, full) })
	if !found {
		return nil
	}
	return l.dirs[i]
}
