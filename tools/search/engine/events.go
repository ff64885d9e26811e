package engine

import (
	"context"
	"errors"
	"maps"
	"slices"

	"golang.org/x/sys/unix"

	"toolhost/tools/search/tree"
	"toolhost/tools/search/watch"
)

// events reads the kernel's events for the directories of a place.
type events struct {
	watcher *watch.Watcher
	dirs    map[watch.ID]*tree.Dir
	ids     map[*tree.Dir]watch.ID
	left    []watch.ID // directories that were moved or removed: their watches end unless they are in the list again
	list    *tree.List // the list whose directories are all watched; nil: unknown
	doubt   bool       // events were read but not yet applied
}

func (ev *events) close() { ev.watcher.Close() }

// newEvents watches the directories of a list. It returns nil if events are not available or cannot be trusted.
func (p *place) newEvents(list *tree.List) *events {
	w, err := watch.New()
	if err != nil {
		return nil
	}
	ev := &events{watcher: w}
	ev.reset()
	for _, d := range list.Dirs {
		if err := p.add(ev, d); err != nil {
			ev.close()
			return nil
		}
	}
	return ev
}

// reset forgets which directories are watched. Adding a watch twice is harmless.
func (ev *events) reset() {
	ev.left = slices.AppendSeq(ev.left, maps.Keys(ev.dirs))
	ev.dirs, ev.ids, ev.list = map[watch.ID]*tree.Dir{}, map[*tree.Dir]watch.ID{}, nil
}

// errUntrusted means that the file system does not report all changes.
var errUntrusted = errors.New("its events cannot be trusted")

// add watches a directory and marks its files as unverified. A removed directory needs no watch: its parent has
// changed too.
func (p *place) add(ev *events, d *tree.Dir) error {
	fd, err := p.tree.Open(d)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	if !watch.Trusted(fd) {
		return errUntrusted
	}
	id, err := ev.watcher.Add(fd)
	if err != nil {
		return err
	}
	ev.dirs[id], ev.ids[d] = d, id
	unsure(d.Files())
	return nil
}

// blindLocked stops using events for this place.
func (p *place) blindLocked() {
	p.closeEventsLocked()
	p.blind = true
}

// followLocked updates the list of the place from the events.
func (p *place) followLocked(ctx context.Context) error {
	changed, all := p.drainLocked()
	all = all || p.events.doubt || p.list.Partial
	p.events.doubt = true
	var list *tree.List
	var err error
	if all {
		list, err = p.tree.Refresh(ctx)
	} else {
		list, err = p.tree.RefreshOnly(ctx, changed) // git's configuration lies elsewhere and is also checked
	}
	if err != nil {
		return err
	}
	p.events.doubt = false
	if p.settleLocked(ctx, list) == nil {
		return nil
	}
	p.blindLocked()
	return p.refreshLocked(ctx)
}

// drainLocked reads the events and returns the directories whose names or rules may have changed. all: any directory
// may have.
func (p *place) drainLocked() (changed []*tree.Dir, all bool) {
	t := newEventBatch(p.events)
	err := p.events.watcher.Drain(t.event)
	if err != nil { // events were lost: neither files nor watches can be relied on
		p.events.reset()
	}
	lost := err != nil || t.linked(p.tree)
	if lost {
		unsure(p.list.Files)
	}
	if lost || t.any {
		p.epoch++
	}
	return t.changed, err != nil || t.all
}

// unsure marks files so that their status is checked again.
func unsure(files []*tree.File) {
	for _, f := range files {
		f.Sure.Store(false)
	}
}

// rules reports whether changing a file of that name can change the list.
func rules(name string) bool { return name == ".gitignore" || name == ".ignore" || name == ".git" }

// maxRounds bounds how often newly found directories are watched and read.
const maxRounds = 64

// settleLocked makes list the list of the place. It watches directories that are not watched yet, and reads them
// afterwards.
func (p *place) settleLocked(ctx context.Context, list *tree.List) error {
	for range maxRounds {
		p.list = list
		if p.events.list == list {
			return nil
		}
		added, err := p.addNew(list)
		if err != nil {
			return err
		}
		p.removeGone()
		p.events.list = list
		if len(added) == 0 {
			return nil
		}
		if list, err = p.tree.RefreshOnly(ctx, added); err != nil {
			return err
		}
		if linkedIn(p.tree, added) {
			unsure(list.Files)
			p.epoch++
		}
	}
	return errors.New("its directories become more all the time")
}

func (p *place) addNew(list *tree.List) (added []*tree.Dir, err error) {
	for _, d := range list.Dirs {
		if _, there := p.events.ids[d]; there {
			continue
		}
		if err := p.add(p.events, d); err != nil {
			return nil, err
		}
		added = append(added, d)
	}
	return added, nil
}

// removeGone ends the watches of removed directories, except for directories that only moved.
func (p *place) removeGone() {
	for d, id := range p.events.ids {
		if !d.Gone() {
			continue
		}
		delete(p.events.ids, d)
		if p.events.dirs[id] == d {
			delete(p.events.dirs, id)
			p.events.watcher.Remove(id)
		}
	}
	for _, id := range p.events.left {
		if p.events.dirs[id] == nil {
			p.events.watcher.Remove(id)
		}
	}
	p.events.left = nil
}
