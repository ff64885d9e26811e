package sandbox

import (
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
	"toolhost/sandbox/enter"
)

// watch notices when a process outside replaces a name that is covered in running sandboxes: the mount goes away with the name,
// so it has to be made again, in each sandbox. That takes milliseconds, and is reported.
type watch struct {
	mu      sync.Mutex
	files   *inotify // one for the session: to make one takes as long as a sandbox
	running map[*Process]*processWatch
}

// processWatch are the watches of one process.
type processWatch struct {
	names   names
	covered []covering
	dirs    []string
}

// add watches the covered names of a process until leave is called. If the kernel has no more watches, replaced names
// stay open until the command ends, and that is reported.
func (w *watch) add(p *Process, n names, secrets []protect.Entry, others []covering) (leave func()) {
	covered := slices.Clone(others)
	for _, e := range secrets {
		covered = append(covered, p.session.maskOf(e))
	}
	if p.judge != nil {
		for _, e := range n.granted.Sealed {
			if e.Kind != protect.Symlink {
				covered = append(covered, covering{e.Path, enter.Seal})
			}
		}
	}
	dirs := watchedDirs(n, covered)
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.start(); err != nil {
		p.confinement.Partial = append(p.confinement.Partial, "names that are replaced from outside while the command runs: "+err.Error())
		return func() {}
	}
	for _, dir := range dirs {
		if err := w.files.add(dir); err != nil {
			p.confinement.Partial = append(p.confinement.Partial, dir+": not watched: "+err.Error())
		}
	}
	w.running[p] = &processWatch{n, covered, dirs}
	return func() { w.remove(p) }
}

// start makes the watcher. The lock is held.
func (w *watch) start() (err error) {
	if w.files != nil {
		return nil
	}
	if w.files, err = newInotify(); err != nil {
		return err
	}
	w.running = map[*Process]*processWatch{}
	go w.files.follow(w.replaced) // ends when it is closed
	return nil
}

// watchedDirs are the directories where a relevant name may be replaced or made: those above covered names, up to the root,
// and the tops of roots and work trees.
func watchedDirs(n names, covered []covering) []string {
	dirs := slices.Concat(n.all.Roots, n.all.Watch, n.granted.Pins)
	for _, c := range covered {
		dirs = append(dirs, filepath.Dir(c.path))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// replaced has a path covered again wherever it is covered; "" stands for every path.
func (w *watch) replaced(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p, on := range w.running {
		if slices.Contains(on.dirs, path) {
			_ = w.files.add(path) // another directory has the name now
		}
		known := false
		for _, c := range on.covered {
			if path == "" || agenttool.Within(path, c.path) {
				p.helper.cover(c)
			}
			known = known || c.path == path
		}
		if on.names.granted.MayBecome(path) && !known && path != "" && len(on.covered) < maxCovered && (p.judge == nil || !p.judge.made(path)) {
			on.covered = append(on.covered, covering{path, enter.Mask})
			p.helper.cover(on.covered[len(on.covered)-1])
		}
	}
}

// maxCovered bounds what is covered in one sandbox.
const maxCovered = 500

// remove forgets a process, and the directories that no other one needs.
func (w *watch) remove(p *Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	gone := w.running[p].dirs
	delete(w.running, p)
	for _, on := range w.running {
		gone = slices.DeleteFunc(gone, func(dir string) bool { return slices.Contains(on.dirs, dir) })
	}
	for _, dir := range gone {
		w.files.remove(dir)
	}
}

func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files != nil {
		w.files.close()
	}
}

// coveredAgain reads SaysSealed: the path, and an errno. The command did not write it.
func coveredAgain(parts []string) (v Violation, ok bool) {
	if len(parts) != 2 {
		return Violation{}, false
	}
	v = Violation{Wall: Changed, Path: parts[0], Detail: "was replaced from outside during the run, and is covered again", Certain: true}
	if number, _ := strconv.Atoi(parts[1]); number != 0 {
		v.Detail = "was replaced from outside during the run, and could not be covered again: " + syscall.Errno(number).Error()
	}
	return v, true
}
