package shell

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"toolhost/agenttool"
)

// Limits on expanding the patterns of one command. There is no time limit: the same files must give the same facts,
// however busy the machine or slow the disk is.
const (
	maxEntries = 20_000 // directory entries and directories
	maxMatches = 256
)

func pointers(list []agenttool.Path) []*agenttool.Path {
	all := make([]*agenttool.Path, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// refineGlobs adds the names that the command's patterns match to its reads, if these patterns are the only unknown
// paths. Then all paths are known, except for the content of directories outside the workspace, which are not
// examined. If there are too many names, the facts stay unchanged.
func refineGlobs(ctx context.Context, f *agenttool.Facts, locate func(*agenttool.Path) error) []*agenttool.Path {
	if len(f.Globs) == 0 {
		return nil
	}
	m := lookUp(ctx, f.Globs, locate)
	if m == nil {
		return nil
	}
	begin := len(f.Reads)
	f.Reads = append(slices.Clip(f.Reads), m.paths...)
	if !m.outside {
		f.PathsComplete = agenttool.Yes
		for i := range f.Parts {
			f.Parts[i].PathsComplete = agenttool.Yes
		}
	}
	refined := make([]*agenttool.Path, 0, len(m.paths))
	for i := range m.paths {
		refined = append(refined, &f.Reads[begin+i])
	}
	return refined
}

// lookUp returns the matches of patterns, nil if there are too many or ctx is done. A file system may block a system
// call forever; then its goroutine leaks, but the call ends with ctx.
func lookUp(ctx context.Context, globs []agenttool.Glob, locate func(*agenttool.Path) error) *matches {
	found := make(chan *matches, 1)
	go func() { // ends after its current system call when ctx is done
		var all *matches
		defer func() {
			if recover() != nil {
				all = nil // after a panic the paths stay unknown
			}
			found <- all
		}()
		m := &matches{ctx: ctx, locate: locate}
		for _, g := range globs {
			m.by, m.shown, m.demand = g.By, g.Names, g
			if !m.pattern(g.Pattern) {
				return
			}
		}
		all = m
	}()
	select {
	case m := <-found:
		return m
	case <-ctx.Done():
		return nil
	}
}

// matches collects the paths that patterns match, as far as reading them reads more than the named paths.
type matches struct {
	ctx     context.Context
	locate  func(*agenttool.Path) error
	by      int  // as in agenttool.Path
	shown   bool // only names are read
	demand  agenttool.Glob
	outside bool // there may be further matches in directories outside the workspace
	looked  int  // number of examined entries and directories
	paths   []agenttool.Path
}

// pattern adds the matches of one pattern, see [agenttool.Glob], and reports whether they are complete.
func (m *matches) pattern(pattern string) bool {
	if start, name, ok := strings.Cut(pattern, "/**/"); ok {
		return m.tree(unquoted(start), name) && (!m.demand.Index || m.index(unquoted(start)))
	}
	dir, components := "", strings.Split(strings.Trim(pattern, "/"), "/")
	for len(components) > 1 && !wild(components[0]) {
		dir, components = dir+"/"+unquoted(components[0]), components[1:]
	}
	return m.glob(dir, components)
}

// where returns the target of a path as the command sees it, if that is in the workspace.
func (m *matches) where(path string) (string, bool) {
	p := agenttool.Path{Spelling: path, Absolute: path}
	err := m.locate(&p)
	return p.Resolved, err == nil && p.Root != "" && !p.Private
}

// glob adds the matches of components in a directory.
func (m *matches) glob(dir string, components []string) bool {
	first, rest := components[0], components[1:]
	real, ok := m.where(dir + "/")
	if !ok {
		m.outside = true
		return true
	}
	if literal := unquoted(first); !wild(first) {
		info, err := os.Lstat(real + "/" + literal)
		return err != nil || m.matched(dir+"/"+literal, info.Mode().Type(), rest) // missing files do not match
	}
	return m.each(real, func(e fs.DirEntry) bool {
		name := e.Name()
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(first, ".") {
			return true
		}
		switch ok, err := filepath.Match(first, name); {
		case err != nil || ok && (strings.HasPrefix(name, "-") || !m.fits(name)): // the program would take the name as an option, which was never judged
			return false
		case !ok:
			return true
		}
		return m.matched(dir+"/"+name, e.Type(), rest)
	})
}

// matched adds a path with the given type, or the matches of further components in it.
func (m *matches) matched(path string, mode fs.FileMode, rest []string) bool {
	link, inside := mode&fs.ModeSymlink != 0, len(rest) > 0
	if m.demand.Flat && !inside && (link || mode.IsDir()) {
		return false
	}
	if (link || !inside) && !m.add(path, inside) {
		return false
	}
	if !inside || !link && !mode.IsDir() {
		return true
	}
	return m.glob(path, rest)
}

// add adds a path whose content is read, or only its names. It returns false if there is no room.
func (m *matches) add(path string, names bool) bool {
	if i := slices.IndexFunc(m.paths, func(p agenttool.Path) bool { return p.Absolute == path && p.By == m.by }); i >= 0 {
		m.paths[i].Names = m.paths[i].Names && (names || m.shown)
		return true
	}
	if len(m.paths) >= maxMatches {
		return false
	}
	m.paths = append(m.paths, agenttool.Path{Spelling: path, Absolute: path, Names: names || m.shown, By: m.by})
	return true
}

// tree adds the directory where find starts, and the links below it that match the pattern and lead out of the
// workspace. All other results lie below the start, which counts as read completely.
func (m *matches) tree(start, name string) bool {
	if !m.add(start, false) {
		return false
	}
	real, ok := m.where(start)
	if !ok {
		m.outside = true
		return true
	}
	return m.links(start, real, name)
}

// fits reports whether a name meets the assumptions behind the command's facts.
func (m *matches) fits(name string) bool {
	return name != "" && strings.IndexByte(m.demand.First, name[0]) < 0 && !strings.ContainsAny(name, m.demand.Without)
}

// index reports whether the names in git's index, which may not exist on disk, fit.
func (m *matches) index(dir string) bool {
	real, ok := m.where(dir)
	return ok && indexNames(real, func(path string) bool {
		for name := range strings.SplitSeq(path, "/") {
			if name == ".." || !m.fits(name) {
				return false
			}
		}
		return true
	})
}

// links adds the links below dir; real is its resolved path.
func (m *matches) links(dir, real, name string) bool {
	return m.each(real, func(e fs.DirEntry) bool {
		path := dir + "/" + e.Name()
		switch {
		case !m.fits(e.Name()):
			return false
		case e.IsDir():
			return m.links(path, real+"/"+e.Name(), name)
		case e.Type()&fs.ModeSymlink == 0:
			return true
		}
		if ok, err := filepath.Match(name, e.Name()); err != nil || !ok {
			return err == nil
		}
		_, inside := m.where(path)
		return inside || m.add(path, false)
	})
}

// each calls do for the names in a directory until do returns false, and reports whether do returned true for all. An
// unreadable directory has no names; the command cannot read it either.
func (m *matches) each(dir string, do func(fs.DirEntry) bool) bool {
	if m.looked++; m.looked > maxEntries || m.ctx.Err() != nil {
		return false
	}
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR)
	}
	defer d.Close()
	for {
		entries, err := d.ReadDir(128)
		if m.looked += len(entries); m.looked > maxEntries || m.ctx.Err() != nil {
			return false
		}
		for _, e := range entries {
			if !do(e) {
				return false
			}
		}
		if err != nil {
			return err == io.EOF
		}
	}
}

// wild reports whether a component matches more than one name.
func wild(component string) bool {
	for i := 0; i < len(component); i++ {
		switch component[i] {
		case '\\':
			i++
		case '*':
			return true
		}
	}
	return false
}

// unquoted removes the backslashes that quote from a component or several.
func unquoted(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}
