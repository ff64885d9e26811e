package tree

import (
	"context"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/tools/search/ignore"
)

// perCheck is the number of names read between two checks of the context.
const perCheck = 1024

// list lists d. It reports whether the rules in d changed; deep: the rules above it changed.
func (w *worker) list(ctx context.Context, d *Dir, deep bool) bool {
	now := time.Now()
	fd, is, err := w.open(d)
	if w.short.note(err) {
		w.leave(d, deep)
		return false
	}
	if err != nil {
		w.lose(d, err)
		return false
	}
	defer unix.Close(fd)
	w.reset()
	err = readNames(fd, w.buf, func(name []byte, ino uint64, kind Kind) bool {
		return (len(w.entries)%perCheck != 0 || ctx.Err() == nil) && w.names.add(name, ino, kind)
	})
	if ctx.Err() != nil {
		w.leave(d, deep)
		return false
	}
	if err != nil && d == w.root && len(w.entries) == 0 {
		w.failed = err
		return false
	}
	deep = w.learn(d, deep)
	if w.short.cause() != nil {
		w.leave(d, deep)
		return false
	}
	lost := err != nil || len(w.entries) >= maxEntries
	l := w.sort(ctx, d)
	if ctx.Err() != nil || w.short.cause() != nil {
		w.leave(d, deep)
		return false
	}
	l.lost = lost
	w.store(d, l)
	d.status, d.suspect = is, err != nil || is.fresh(now) || d.sources.suspect()
	return deep
}

// open opens d, and returns its status from before it is read.
func (w *worker) open(d *Dir) (fd int, is status, err error) {
	fd, err = openBeneath(w.fd, d.place(), safely|unix.O_DIRECTORY)
	if err != nil {
		return fd, is, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
	}
	return fd, statusOf(&st), err
}

// lose records that d cannot be opened. A change of permissions above d may fix that, so every refresh tries again.
func (w *worker) lose(d *Dir, err error) {
	if d == w.root {
		w.failed = err
		return
	}
	w.text, w.entries = w.text[:0], w.entries[:0]
	w.source(d, nil)
	w.store(d, &listing{lost: true})
	d.status, d.suspect = status{}, true
}

// learn reads the rules of d and reports whether they changed.
func (w *worker) learn(d *Dir, deep bool) bool {
	var s *sources
	if !w.options.NoIgnore && w.has != (presentNames{}) && !d.ignored {
		s = w.read(d)
	}
	if d.sources != nil && s != nil {
		s.index = d.sources.index.keep(s.index)
	}
	deep = deep || !s.same(d.sources)
	w.source(d, s)
	if deep || d.status == (status{}) {
		above := w.above.rules
		if d.parent != nil {
			above = d.parent.rules
		}
		d.rules = s.over(above, w.above.prefix+d.Path)
	}
	return deep
}

// source sets the sources of d.
func (w *worker) source(d *Dir, s *sources) {
	if s.begins() != d.sources.begins() {
		w.moved.Store(true)
	}
	d.sources = s
}

// read reads the ignore files that were found in d.
func (w *worker) read(d *Dir) *sources {
	r := w.reader(w.fd, filepath.Join(w.place.Path, d.Path))
	s := &sources{}
	if w.has.repository {
		s.repository = r.repository(w.options.Git)
		s.index = s.indexIn(r)
	}
	if w.has.gitignore {
		s.git = r.ignoreFile(d.Path + ".gitignore")
	}
	if w.has.ignore {
		s.plain = r.ignoreFile(d.Path + ".ignore")
	}
	s.files = r.seen
	w.short.note(r.short)
	if d == w.root && ignore.Everything(s.git) {
		s.ignoresItself = w.untracked(s.index)
	}
	return s
}

// sort makes the listing of d from the names that were read.
func (w *worker) sort(ctx context.Context, d *Dir) *listing {
	text := string(w.text)
	ignored, hidden := w.leaveOut(ctx, d, text)
	sortEntries(w.entries, text)
	m := newMerge(d, text, w.entries)
	m.ignored, m.hidden = ignored, hidden
	return m.listing
}

// perRules is the number of names judged between two checks of the context; rules may take a millisecond per name.
const perRules = 64

// leaveOut removes and counts the entries that the list omits; it stops early when ctx ends.
func (w *worker) leaveOut(ctx context.Context, d *Dir, text string) (ignored, hidden int) {
	at := w.above.prefix + d.Path
	var files *tracked // of git; nil: not looked up yet
	inRepository := ""
	kept := w.entries[:0]
	for i, e := range w.entries {
		if i%perRules == perRules-1 && ctx.Err() != nil {
			break
		}
		name := text[e.at : e.at+e.size]
		switch {
		case e.kind == directory && w.options.Private != nil && w.options.Private(d.Path+name):
		case name[0] == '.' && !w.options.Hidden:
			hidden++
		case !d.ignored && !d.rules.Ignores(at, name, e.kind == directory):
			kept = append(kept, e)
		default:
			if files == nil {
				files, inRepository = w.tracked(d)
			}
			path := inRepository + name
			switch {
			case e.kind != directory && !files.file(path), d.rules.IgnoresPlain(at, name, e.kind == directory):
				ignored++
			case e.kind == directory && !files.links[path]:
				if e.ignored = true; files.below(path + "/") {
					kept = append(kept, e)
				} else {
					ignored++
				}
			default:
				kept = append(kept, e)
			}
		}
	}
	w.entries = kept
	return ignored, hidden
}

// store makes l the listing of d if it differs from the old one.
func (w *worker) store(d *Dir, l *listing) {
	cost := int64(len(w.entries) + (len(w.text)+len(w.entries)*len(d.Path))/nameCost + d.sources.size()/ruleCost)
	w.room.Add(d.cost - cost)
	d.cost = cost
	d.dirty, d.deep = false, false
	old := d.listing.Load()
	if l.same(old) {
		return
	}
	d.listing.Store(l)
	w.changed.Store(true)
	if old != nil {
		w.room.Add(old.vanish(l))
	}
}
