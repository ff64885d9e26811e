package sandbox

import (
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"toolhost/protect"
	"toolhost/sandbox/enter"
)

// watch sees when somebody outside replaces what is covered in running sandboxes: a mount goes away with the name that it
// covers, so it has to be made again, in each. It is done within milliseconds, and said.
type watch struct {
	mu      sync.Mutex
	files   *fsnotify.Watcher // one for the session: to make one takes as long as a sandbox
	running map[*Process][]covering
}

// covering is a path that is covered in a sandbox, and the operation that covers it.
type covering struct {
	path string
	op   enter.Op
}

// add watches over what is covered for a process until leave is called. Where the kernel watches no more, replaced names
// stay open until the command ends, and that is reported.
func (w *watch) add(p *Process, n names) (leave func()) {
	var covered []covering
	for _, e := range n.granted.Secrets {
		covered = append(covered, covering{e.Path, enter.Mask})
	}
	if p.judge != nil {
		for _, e := range n.granted.Sealed {
			if e.Kind != protect.Symlink {
				covered = append(covered, covering{e.Path, enter.Seal})
			}
		}
	}
	if len(covered) == 0 {
		return func() {}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.start(); err != nil {
		p.confinement.Partial = append(p.confinement.Partial, "names that are replaced from outside while the command runs: "+err.Error())
		return func() {}
	}
	for _, dir := range parents(covered) {
		if err := w.files.Add(dir); err != nil {
			p.confinement.Partial = append(p.confinement.Partial, dir+": not watched: "+err.Error())
		}
	}
	w.running[p] = covered
	return func() { w.remove(p) }
}

// start makes the watcher. The lock is held.
func (w *watch) start() (err error) {
	if w.files != nil {
		return nil
	}
	if w.files, err = fsnotify.NewWatcher(); err != nil {
		return err
	}
	w.running = map[*Process][]covering{}
	go w.follow(w.files)
	return nil
}

func parents(covered []covering) []string {
	var dirs []string
	for _, c := range covered {
		if dir := filepath.Dir(c.path); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// follow covers again what was replaced, until the watcher is closed.
func (w *watch) follow(files *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-files.Events:
			if !ok {
				return
			}
			if e.Has(fsnotify.Create) || e.Has(fsnotify.Rename) {
				w.replaced(e.Name)
			}
		case _, ok := <-files.Errors: // events were lost: every name may have been replaced
			if !ok {
				return
			}
			w.replaced("")
		}
	}
}

// replaced has a path covered again wherever it is covered; "" stands for every path.
func (w *watch) replaced(path string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p, covered := range w.running {
		for _, c := range covered {
			if path == "" || c.path == path {
				p.cover(c)
			}
		}
	}
}

// remove forgets a process, and the directories that nobody else needs.
func (w *watch) remove(p *Process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	gone := parents(w.running[p])
	delete(w.running, p)
	for _, covered := range w.running {
		still := parents(covered)
		gone = slices.DeleteFunc(gone, func(dir string) bool { return slices.Contains(still, dir) })
	}
	for _, dir := range gone {
		_ = w.files.Remove(dir)
	}
}

func (w *watch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files != nil {
		_ = w.files.Close()
	}
}

// cover covers a path once more. That is no writing by the command: what was done to it is said, not undone.
func (p *Process) cover(c covering) {
	_ = p.control.SetWriteDeadline(time.Now().Add(time.Second)) // a helper that does not read is about to end
	_, _ = p.control.Write(append([]byte{enter.SaySeal}, string(c.op)+"\x00"+c.path...))
	p.violations.add(Violation{Wall: Changed, Path: c.path, Detail: "was replaced from outside during the run, and is covered again", Certain: true})
}
