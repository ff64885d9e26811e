package engine

import (
	"errors"

	"golang.org/x/sys/unix"

	"toolhost/tools/search/tree"
	"toolhost/tools/search/watch"
)

// maxTouched is how many names are looked at one by one.
const maxTouched = 1024

// told is what the events since the last call told.
//
// An event names the name by which a file was reached. The file may be known by another name, of whose directory there is
// no event: a hard link. So each name that was made, and each one that is not in the list, is looked at: whether it has a
// file now, and that no other name. What was written by a name that is another file's by now, or is no longer where events
// tell of it, cannot be looked at.
type told struct {
	*events
	any, all bool        // all: names may have changed in any directory
	lost     bool        // content may have changed by a name that cannot be looked at
	changed  []*tree.Dir // whose names or rules may have changed
	seen     map[*tree.Dir]bool
	touched  map[name]bool   // names to be looked at: whether content changed by it
	moves    map[uint32]bool // renames of which one name was told: whether content changed by it
}

// name is a name in a directory.
type name struct {
	dir  *tree.Dir
	name string
}

func newTold(ev *events) *told {
	return &told{events: ev, seen: map[*tree.Dir]bool{}, touched: map[name]bool{}, moves: map[uint32]bool{}}
}

func (t *told) event(e watch.Event) {
	d := t.dirs[e.Dir]
	if d == nil && e.Gone { // its watch was ended
		return
	}
	if d == nil { // it was moved, or left out, right before
		t.lost = true
		return
	}
	if e.Name == "" { // the directory itself: perhaps its files, and what is below it, cannot be reached any more
		unsure(d.Files())
		t.any, t.all = true, true
	} else {
		t.touch(d, e)
	}
	if (e.Names || e.Gone || rules(e.Name)) && !t.seen[d] {
		t.seen[d] = true
		t.changed = append(t.changed, d)
	}
	if e.Gone { // the same directory may come again, with another watch
		delete(t.dirs, e.Dir)
		delete(t.ids, d)
		t.left = append(t.left, e.Dir)
		t.list = nil
	}
}

// touch notes a change of, or by, a name.
func (t *told) touch(d *tree.Dir, e watch.Event) {
	n := name{d, e.Name}
	f := d.File(e.Name)
	if f != nil {
		f.Sure.Store(false)
		t.any = true
	}
	written, there := t.touched[n]
	if !e.Names {
		if f == nil || there { // else it is known by this name
			t.note(n, true)
		}
		return
	}
	from, renamed := t.moves[e.Move]
	switch {
	case e.Move == 0 || renamed: // what had the name before, has it no longer
		t.lost = t.lost || written
		t.note(n, from)
		delete(t.moves, e.Move)
	default: // the old name
		t.note(n, false)
		t.moves[e.Move] = written
	}
}

func (t *told) note(n name, written bool) {
	if _, there := t.touched[n]; !there && len(t.touched) == maxTouched {
		t.lost = true
		return
	}
	t.touched[n] = written
}

// linked reports whether content of a file may have changed by a name that is not the one by which it is known.
func (p *place) linked(t *told) bool {
	if t.lost || len(t.moves) > 0 { // moved out of the tree, or into it
		return true
	}
	open := dirs{tree: p.tree}
	defer open.closeAll()
	for n, content := range t.touched {
		switch links, err := open.links(n); {
		case err != nil && content: // it is gone, and was perhaps not the only name
			return true
		case links > 1:
			return true
		}
	}
	return false
}

// linkedIn reports whether a file in new directories has another name.
func (p *place) linkedIn(added []*tree.Dir) bool {
	open := dirs{tree: p.tree}
	defer open.closeAll()
	for _, d := range added {
		for _, f := range d.Files() {
			if links, _ := open.links(name{d, f.Name}); links > 1 {
				return true
			}
		}
	}
	return false
}

// errNoFile says that a name is that of something else.
var errNoFile = errors.New("it is no regular file")

// links returns how many names the regular file of a name has.
func (o *dirs) links(n name) (uint64, error) {
	dir, err := o.fd(n.dir)
	if err != nil {
		return 0, err
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dir, n.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return 0, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, errNoFile
	}
	return uint64(st.Nlink), nil
}
