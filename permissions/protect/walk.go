package protect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// area is the kind of tree that a directory belongs to; it decides which names count in it.
type area uint8

const (
	ordinary     area = iota
	packages          // below node_modules: git directories and secrets
	closed            // below a sealed directory: secrets
	gitInside         // a git directory that nothing else is in
	gitModules        // below the modules of a git directory: more git directories
	gitWorktrees      // the worktrees of a git directory: each entry is one
	gitObjects        // the objects of a probable git directory: everything except objects counts
)

// item is a directory to visit.
type item struct {
	path, folded string
	area         area
	tails        []tail // names of the table that begin above
}

// openDir is a directory being visited.
type openDir struct {
	item
	fd      int
	touched bool // entries may be denied for more than their base names
}

// child is one entry of the directory being visited.
type child struct {
	name, folded string
	kind         Kind
}

// walk visits directories breadth first, so that a limit costs the deepest ones; the least relevant directories wait in a second
// queue.
type walk struct {
	*builder
	limit    int
	entries  int
	first    []item
	later    []item
	visited  []string
	heads    int // files that were looked into
	children []child
	buf      []byte
}

func (w *walk) run(ctx context.Context) {
	for _, root := range w.tree.roots {
		w.m.dirs[fold(root)] = struct{}{}
		if !w.options.Shallow {
			w.first = append(w.first, item{path: root, folded: fold(root)})
		}
	}
	for _, queue := range []*[]item{&w.first, &w.later} {
		for i := 0; i < len(*queue); i++ {
			reason := w.spent(ctx)
			if reason != "" {
				w.cut((*queue)[i].path, reason)
				continue
			}
			w.visit((*queue)[i])
		}
	}
}

// spent says why the walk must not go on.
func (w *walk) spent(ctx context.Context) string {
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("not looked into: the walk took its %v", w.options.MaxTime)
	case w.entries >= w.limit:
		return fmt.Sprintf("not looked into: the walk saw its %d entries", w.limit)
	}
	return ""
}

func (w *walk) visit(it item) {
	if slices.Contains(w.far, it.path) {
		w.missed(it.path, "not looked into: another machine's file system, or one that a program serves, is mounted here")
		return
	}
	fd, err := w.tree.open(it.path, unix.O_RDONLY|unix.O_DIRECTORY)
	switch {
	case gone(err):
		return
	case err != nil:
		if w.ownedNow(it.path) {
			w.cut(it.path, "not looked into: "+err.Error())
		} else {
			w.missed(it.path, "not looked into: "+err.Error())
		}
		w.probe(it)
		return
	}
	defer unix.Close(fd)
	w.visited = append(w.visited, it.path)
	in := openDir{it, fd, w.m.deny.touches(it.folded)}
	if !w.relisted(it, fd) {
		begun := time.Now()
		if reason := w.list(fd); reason != "" {
			w.cut(it.path, reason)
			w.probe(it)
		} else {
			w.keepListing(in, begun)
		}
	}
	if it.area != gitInside && it.area != closed && w.looksLikeGit() {
		w.repository(it.path, "")
	}
	for _, c := range w.children {
		w.consider(in, c)
	}
}

// ownedNow reports whether a directory that cannot be read is the user's own, who can make it readable again at any time. Of others git obeys
// nothing.
func (w *walk) ownedNow(dir string) bool {
	stat, err := w.tree.lstat(dir)
	return err == nil && int(stat.Uid) == os.Geteuid()
}

// gone reports whether a name vanished, or became something else, since it was listed: the same process may as well make another
// one in its place.
func gone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// list reads the directory into w.children, and says why it stopped before the end. One directory takes at most a
// quarter of all entries, so that a heap of files does not hide its neighbours.
func (w *walk) list(fd int) (reason string) {
	w.children = w.children[:0]
	most := min(w.limit-w.entries, max(w.limit/4, 1))
	err := list(fd, w.buf, func(name []byte, kind Kind) bool {
		if most--; most < 0 {
			reason = "not looked into further: it has too many entries"
			return false
		}
		w.entries++
		w.children = append(w.children, child{name: string(name), kind: kind})
		return true
	})
	if w.tree.noted(err) != nil {
		reason = "not looked into further: " + err.Error()
	}
	for i := range w.children {
		c := &w.children[i]
		c.folded = fold(c.name)
		if c.kind == Absent {
			c.kind = w.kindAt(fd, c.name)
		}
	}
	return reason
}

func (w *walk) kindAt(fd int, name string) Kind {
	var stat unix.Stat_t
	if statAt(fd, name, &stat) != nil {
		return Absent
	}
	return kindOf(&stat)
}

// probe looks for the names of the table one by one in a directory that could not be listed to its end.
func (w *walk) probe(it item) {
	fd, err := w.tree.open(it.path, searchOnly|unix.O_DIRECTORY)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	listed := make(map[string]bool)
	for _, c := range w.children {
		listed[c.name] = true
	}
	in := openDir{it, fd, w.m.deny.touches(it.folded)}
	for _, name := range append(slices.Collect(maps.Keys(table().exact)), w.m.deny.plainBases()...) {
		if kind := w.kindAt(fd, name); kind != Absent && !listed[name] {
			w.consider(in, child{name, name, kind})
		}
	}
}

// looksLikeGit says whether git would take the directory for a git directory, or one made for a worktree.
func (w *walk) looksLikeGit() bool {
	return gitShaped(func(name string) bool {
		name = fold(name)
		return slices.ContainsFunc(w.children, func(c child) bool { return c.folded == name })
	})
}

// consider files one entry of the directory.
func (w *walk) consider(it openDir, c child) {
	next := item{area: it.area}
	if c.kind == Dir || it.touched || w.m.deny.names.mean(c.folded) {
		next.path, next.folded = agenttool.Join(it.path, c.name), agenttool.Join(it.folded, c.folded)
		d := w.m.deny.denied(next.folded, fold(w.tree.root(next.path)))
		if d.denied && (d.content == 0 || w.holds(next.path, c, it.fd, d.content)) && w.secret(next.path, c, it.fd) {
			return
		}
	}
	switch it.area {
	case gitInside:
		w.insideGit(next, c)
		return
	case gitWorktrees:
		next.area = gitInside
		if c.kind == Dir {
			w.repository(next.path, "")
		}
	case gitObjects:
		if next.area = ordinary; isObjects(c.folded) {
			return
		}
	case ordinary, packages:
		if c.folded == ".git" {
			w.gitEntry(it.path, c)
			next.area = gitInside
		} else if it.area == ordinary {
			next = w.named(it.item, next, c)
		}
	}
	if c.kind == Dir {
		w.enqueue(it.item, next, c)
	}
}

// named seals the entry if the table says so, unless it contains a root: a user who makes an editor's directory a root wants to
// work in it.
func (w *walk) named(it, next item, c child) item {
	next.tails = advance(it.tails, c.folded)
	if len(next.tails) > 0 && slices.ContainsFunc(w.m.inner, within(agenttool.Join(it.path, c.name))) {
		if slices.Contains(w.m.inner, next.path) {
			next.tails = nil
		}
		return next
	}
	for _, t := range next.tails {
		if t.rest == "" && t.name.Hold == Reports {
			w.reported = append(w.reported, Entry{agenttool.Join(it.path, c.name), t.name.Rule, c.kind})
		}
		if t.rest == "" && t.name.Hold == Seals {
			w.seal(agenttool.Join(it.path, c.name), t.name.Rule, c.kind)
			next.area = closed
			break
		}
	}
	return next
}

// insideGit goes on from a git directory to those that it holds.
func (w *walk) insideGit(next item, c child) {
	switch {
	case c.kind != Dir:
		return
	case c.folded == "modules":
		next.area = gitModules
	case c.folded == "worktrees":
		next.area = gitWorktrees
	default:
		return
	}
	w.push(&w.first, next)
}

// gitEntry notes what is called .git: a directory, a file that points to one, or a link.
func (w *walk) gitEntry(top string, c child) {
	file := agenttool.Join(top, c.name)
	w.watch[top] = true
	kind := c.kind
	if kind == Symlink {
		file, kind = w.through(file, VCSConfig)
	}
	switch kind {
	case Dir:
		w.repository(file, top)
	case File:
		w.seal(file, VCSConfig, File)
		w.pointer(file, top)
	}
}

// enqueue puts a directory into the queue that fits its possible content.
func (w *walk) enqueue(it, next item, c child) {
	queue := &w.first
	_, bare := w.git[it.path]
	switch {
	case next.area == closed, it.area == packages:
		queue = &w.later
	case next.area == ordinary && c.folded == nodeModules:
		next.area, queue = packages, &w.later
	case next.area == ordinary && bare && c.folded == "objects":
		next.area, queue = gitObjects, &w.later
	case next.area == gitModules && slices.Contains([]string{"objects", "refs", "logs", "lfs"}, c.folded):
		if bare && c.folded == "objects" {
			next.area = gitObjects
		}
		queue = &w.later
	}
	w.push(queue, next)
}

// maxDepth is how deep below a root the walk goes. Real projects are less deep, and every pin would be a mount.
const maxDepth = 128

func (w *walk) push(queue *[]item, next item) {
	if tooDeep(w.tree.root(next.path), next.path) {
		w.cut(next.path[:min(len(next.path), 512)], "not looked into: it lies too deep")
		return
	}
	w.m.dirs[next.folded] = struct{}{}
	*queue = append(*queue, next)
}

// isObjects says whether git keeps objects in a directory of this name, and nothing else.
func isObjects(name string) bool {
	return name == "pack" || name == "info" || len(name) == 2 && strings.Trim(name, "0123456789abcdef") == ""
}

// tooDeep says whether the path is beyond what is looked at: leave some room for names below the deepest directory.
func tooDeep(root, file string) bool {
	return len(file) >= unix.PathMax-256 || strings.Count(file[len(root):], "/") > maxDepth
}

// secret notes an entry that the patterns deny. A virtual environment of Python that is called .env is none.
func (w *walk) secret(file string, c child, fd int) bool {
	var stat unix.Stat_t
	if c.kind == Dir && c.folded == ".env" && statAt(fd, agenttool.Join(c.name, "pyvenv.cfg"),
		&stat) == nil && w.except(fold(file)) {
		return false
	}
	if statAt(fd, c.name, &stat) == nil {
		w.mask(file, &stat)
	}
	return true
}
