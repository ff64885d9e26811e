package engine

import (
	"errors"

	"golang.org/x/sys/unix"

	"toolhost/tools/search/tree"
	"toolhost/tools/search/watch"
)

// maxTouched limits the names that are checked one by one.
const maxTouched = 1024

// eventBatch collects the events since the last call.
//
// An event carries the name that was used to reach a file. The list may know the file by another name, a hard link in a
// directory without an event. So each created name, and each name that is not in the list, is checked: it must belong
// to a file that has no other name. Content that was written through a name that now belongs to another file, or that
// left the watched tree, cannot be checked.
type eventBatch struct {
	*events
	any, all bool        // all: names may have changed in any directory
	lost     bool        // content may have changed through a name that cannot be checked
	changed  []*tree.Dir // directories whose names or rules may have changed
	seen     map[*tree.Dir]bool
	touched  map[name]bool   // names to check; true: content changed through the name
	moves    map[uint32]bool // half-seen renames; true: content changed through the old name
}

// name is a name in a directory.
type name struct {
	dir  *tree.Dir
	name string
}

func newEventBatch(ev *events) *eventBatch {
	return &eventBatch{events: ev, seen: map[*tree.Dir]bool{}, touched: map[name]bool{}, moves: map[uint32]bool{}}
}

func (t *eventBatch) event(e watch.Event) {
	d := t.dirs[e.Dir]
	if d == nil && e.Gone { // its watch has ended
		return
	}
	if d == nil { // the directory was moved or dropped just before
		t.lost = true
		return
	}
	if e.Name == "" { // the event is for the directory itself: its files and subdirectories may be unreachable now
		unsure(d.Files())
		t.any, t.all = true, true
	} else {
		t.touch(d, e)
	}
	if (e.Names || e.Gone || rules(e.Name)) && !t.seen[d] {
		t.seen[d] = true
		t.changed = append(t.changed, d)
	}
	if e.Gone { // the same directory may return with another watch
		delete(t.dirs, e.Dir)
		delete(t.ids, d)
		t.left = append(t.left, e.Dir)
		t.list = nil
	}
}

// touch records a change of a name, or of content through it.
func (t *eventBatch) touch(d *tree.Dir, e watch.Event) {
	n := name{d, e.Name}
	f := d.File(e.Name)
	if f != nil {
		f.Sure.Store(false)
		t.any = true
	}
	written, there := t.touched[n]
	if !e.Names {
		if f == nil || there { // else the list knows the file by this name
			t.note(n, true)
		}
		return
	}
	from, renamed := t.moves[e.Move]
	switch {
	case e.Move == 0 || renamed: // a file that had this name before lost it
		t.lost = t.lost || written
		t.note(n, from)
		delete(t.moves, e.Move)
	default: // the old name
		t.note(n, false)
		t.moves[e.Move] = written
	}
}

func (t *eventBatch) note(n name, written bool) {
	if _, there := t.touched[n]; !there && len(t.touched) == maxTouched {
		t.lost = true
		return
	}
	t.touched[n] = written
}

// linked reports whether a file's content may have changed through a name that the list does not know.
func (t *eventBatch) linked(in *tree.Tree) bool {
	if t.lost || len(t.moves) > 0 { // a file moved out of the tree, or into it
		return true
	}
	open := dirs{tree: in}
	defer open.closeAll()
	for n, content := range t.touched {
		switch links, err := open.links(n); {
		case err != nil && content: // it was removed, and may have other names
			return true
		case links > 1:
			return true
		}
	}
	return false
}

// linkedIn reports whether a file in new directories has another name.
func linkedIn(in *tree.Tree, added []*tree.Dir) bool {
	open := dirs{tree: in}
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

// errNoFile means that a name does not belong to a regular file.
var errNoFile = errors.New("not a regular file")

// links returns the number of names of a regular file.
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
