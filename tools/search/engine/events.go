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

// events are the kernel's events of the directories of a place.
type events struct {
	watcher *watch.Watcher
	dirs    map[watch.ID]*tree.Dir
	ids     map[*tree.Dir]watch.ID
	left    []watch.ID // directories that were moved or removed: they are watched no longer, unless they are in the list again
	list    *tree.List // whose directories are all watched; nil: that is not known
	doubt   bool       // what events told was not looked at
}

func (ev *events) close() { ev.watcher.Close() }

// watch has the place watched, if it is to be and is not. The directories are watched first and looked at afterwards, so
// that no change falls between the two.
func (p *place) watch() {
	p.mu.Lock()
	list, wanted := p.list, p.list != nil && p.events == nil && !p.blind && p.watches(p.engine.index())
	p.mu.Unlock()
	if !wanted {
		return
	}
	ev := p.newEvents(list)
	p.mu.Lock()
	defer p.mu.Unlock()
	if ev == nil {
		p.blind = true
		return
	}
	p.events = ev
	ctx, cancel := context.WithTimeout(p.end, brief)
	defer cancel()
	list, err := p.tree.Refresh(ctx)
	if err == nil {
		err = p.settleLocked(ctx, list)
	}
	if err != nil {
		p.blindLocked()
	}
}

// newEvents watches the directories of a list; nil: events cannot be had, or not be trusted.
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

// reset forgets which directories are watched. To watch one again does no harm.
func (ev *events) reset() {
	ev.left = slices.AppendSeq(ev.left, maps.Keys(ev.dirs))
	ev.dirs, ev.ids, ev.list = map[watch.ID]*tree.Dir{}, map[*tree.Dir]watch.ID{}, nil
}

// errUntrusted says that a file system does not tell of all changes.
var errUntrusted = errors.New("its events cannot be trusted")

// add watches a directory, of whose files nothing is sure then. One that is gone needs no watch: what it was in has changed.
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

// blindLocked gives events up.
func (p *place) blindLocked() {
	p.closeEventsLocked()
	p.blind = true
}

// followLocked makes the list the present one by what the events tell.
func (p *place) followLocked(ctx context.Context) error {
	changed, all := p.drainLocked()
	all = all || p.events.doubt || p.list.Partial
	p.events.doubt = true
	var list *tree.List
	var err error
	if all {
		list, err = p.tree.Refresh(ctx)
	} else {
		list, err = p.tree.RefreshOnly(ctx, changed) // git's configuration, which is elsewhere, is looked at too
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

// drainLocked reads the events, and returns the directories whose names or rules may have changed; all: any may have.
func (p *place) drainLocked() (changed []*tree.Dir, all bool) {
	t := newTold(p.events)
	err := p.events.watcher.Drain(t.event)
	if err != nil { // events were lost: nothing is sure, not even what is watched
		p.events.reset()
	}
	lost := err != nil || p.linked(t)
	if lost {
		unsure(p.list.Files)
	}
	if lost || t.any {
		p.epoch++
	}
	return t.changed, err != nil || t.all
}

// unsure has the status of files asked for again.
func unsure(files []*tree.File) {
	for _, f := range files {
		f.Sure.Store(false)
	}
}

// rules reports whether a change of that name can change what is listed.
func rules(name string) bool { return name == ".gitignore" || name == ".ignore" || name == ".git" }

// maxRounds bounds how often new directories are watched and looked at, while they become more.
const maxRounds = 64

// settleLocked makes list that of the place, and has directories that are not watched yet watched, and looked at after that.
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
		if p.linkedIn(added) {
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

// removeGone ends the watches of directories that are gone, but for those that are the same directory at another place.
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
