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

// What is looked at for the patterns of one command, at most. Time is no limit: the same files give the same facts, however busy the
// machine or slow the disk is.
const (
	maxEntries = 20_000 // in directories, the directories included
	maxMatches = 256
)

// Refine completes what only the disk tells: what the repositories in which git runs would have it run, which configuration it means,
// and which files patterns of names match.
func (c *call) Refine(ctx context.Context) []*agenttool.Path {
	changed := c.refineReaders()
	refined := c.refineGit()
	c.refineRemotes()
	c.refineLocks()
	refined = append(refined, c.refineGlobs(ctx)...)
	if looked, ok := c.refineNames(ctx); ok {
		return looked
	}
	if changed {
		refined = append(pointers(c.facts.Reads), pointers(c.facts.Writes)...)
	}
	return refined
}

func pointers(list []agenttool.Path) []*agenttool.Path {
	all := make([]*agenttool.Path, len(list))
	for i := range list {
		all[i] = &list[i]
	}
	return all
}

// refineGlobs puts the names that the command's patterns match into what it reads, if no more than those was not known of it. All
// paths are known then, but for what directories outside the workspace hold, which are not looked at. If the names are too many
// everything stays as it is.
func (c *call) refineGlobs(ctx context.Context) []*agenttool.Path {
	f := &c.facts
	if len(f.Globs) == 0 {
		return nil
	}
	m := lookUp(ctx, f.Globs, c.tool.w.Locate)
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

// lookUp returns what patterns match, nil if that is too much or ctx is done. A file system may keep a system call for ever, and then
// the goroutine that waits for it; the call ends with ctx.
func lookUp(ctx context.Context, globs []agenttool.Glob, locate func(*agenttool.Path) error) *matches {
	found := make(chan *matches, 1)
	go func() { // ends with its last system call, and at the next one when ctx is done
		var all *matches
		defer func() {
			if recover() != nil {
				all = nil // a fault of ours leaves the paths unknown
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

// matches are the paths that patterns match, as far as a command that reads them would read more than what is named anyway.
type matches struct {
	ctx     context.Context
	locate  func(*agenttool.Path) error
	by      int  // as in agenttool.Path
	shown   bool // only names are read
	demand  agenttool.Glob
	outside bool // there may be more, in directories outside the workspace
	looked  int  // at entries and directories
	paths   []agenttool.Path
}

// pattern adds what one pattern matches, see [agenttool.Glob], and reports whether that is all.
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

// where returns where a path leads to as the command sees it, if that is in the workspace.
func (m *matches) where(path string) (string, bool) {
	p := agenttool.Path{Spelling: path, Absolute: path}
	err := m.locate(&p)
	return p.Resolved, err == nil && p.Root != "" && !p.Private
}

// glob adds what components match in a directory.
func (m *matches) glob(dir string, components []string) bool {
	first, rest := components[0], components[1:]
	real, ok := m.where(dir + "/")
	if !ok {
		m.outside = true
		return true
	}
	if literal := unquoted(first); !wild(first) {
		info, err := os.Lstat(real + "/" + literal)
		return err != nil || m.matched(dir+"/"+literal, info.Mode().Type(), rest) // what is not there the shell does not find either
	}
	return m.each(real, func(e fs.DirEntry) bool {
		name := e.Name()
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(first, ".") {
			return true
		}
		switch ok, err := filepath.Match(first, name); {
		case err != nil || ok && (strings.HasPrefix(name, "-") || !m.fits(name)): // an option for the program, which nobody has judged
			return false
		case !ok:
			return true
		}
		return m.matched(dir+"/"+name, e.Type(), rest)
	})
}

// matched adds a path of a type, or what further components match in it.
func (m *matches) matched(path string, mode fs.FileMode, rest []string) bool {
	link, inside := mode&fs.ModeSymlink != 0, len(rest) > 0
	if (link || !inside) && !m.add(path, inside) {
		return false
	}
	if !inside || !link && !mode.IsDir() {
		return true
	}
	return m.glob(path, rest)
}

// add adds a path of which the contents are read, or only the names in it. It reports whether there was room.
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

// tree adds the place where find starts, and the links below it that are named like a pattern and lead out of the workspace. What
// else is found lies where the place lies, which is read as a whole.
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

// fits reports whether a name is as the facts of the command take it to be.
func (m *matches) fits(name string) bool {
	return name != "" && strings.IndexByte(m.demand.First, name[0]) < 0 && !strings.ContainsAny(name, m.demand.Without)
}

// index reports whether the names that git's index holds, of files that may not be there, fit.
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

// links looks at the links below a directory, which really is at another place.
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

// each calls do for the names in a directory until it returns false, and reports whether it was called for all. A directory that
// cannot be read has none, neither for the command.
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

// unquoted returns a component, or several, without the backslashes that quote.
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
