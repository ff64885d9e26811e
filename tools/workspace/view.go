package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"toolhost/agenttool"
)

// view maps places of calls to places of the host: commands in a sandbox see a directory of the session as /tmp, and
// later calls must read the files that they write there.
type view struct {
	shown map[string]string // from the place as calls see it to the place on the host
	at    map[string]string // the reverse
	tops  []string          // the places below which names differ from those of the host
	roots []string          // ... except here
}

// errElsewhere means that the kernel cannot resolve the path, because it knows nothing of a view.
var errElsewhere = errors.New("this place is shown elsewhere")

// Show makes places below at mean the directory dir in calls. dir belongs to the session: it is neither private nor a
// root of the workspace. Roots of the workspace and the further directories stays below at keep their places. It must
// be called before the first Locate. Where dir is no longer in its place, because a program that cleans up has removed
// it, the next call that opens something below it asks again to make it (nil: nothing makes it), and opens it anew.
func (w *Workspace) Show(at, dir string, again func() error, stays ...string) error {
	r, err := openRoot(dir)
	if err != nil {
		return err
	}
	r.again = again
	w.show(at, r, stays)
	return nil
}

// ShowNew is Show for a directory that does not exist yet: it counts as empty, and nothing below it can be opened.
func (w *Workspace) ShowNew(at, dir string, stays ...string) { w.show(at, &root{path: dir}, stays) }

func (w *Workspace) show(at string, r *root, stays []string) {
	if w.view.shown == nil {
		w.view.shown, w.view.at = map[string]string{}, map[string]string{}
	}
	w.view.add(at, r.path)
	w.view.tops = append(w.view.tops, at)
	for _, path := range append(w.Roots(), stays...) {
		if path != at && agenttool.Within(at, path) {
			w.view.add(filepath.Join(r.path, strings.TrimPrefix(path, at)), path)
			w.view.roots = append(w.view.roots, path)
		}
	}
	r.shown, r.opened = true, nil
	w.roots = append(w.roots, r)
}

// directory returns the opened directory of r; nil if there is none. One that is shown is opened again by its path if another
// directory or none is there now. It must be a directory of this user's, and no part of its path a link.
func (r *root) directory() (*Dir, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.shown || r.dir == nil {
		return r.dir, nil
	}
	opened, err := r.dir.f.Stat()
	if err != nil {
		return nil, pathError("open_failed", r.path, err)
	}
	if there, err := os.Lstat(r.path); err == nil && os.SameFile(there, opened) {
		return r.dir, nil
	}
	if r.again != nil {
		if err := r.again(); err != nil {
			return nil, err
		}
	}
	f, err := (&Dir{}).beneath(r.path, os.O_RDONLY|syscall.O_DIRECTORY)
	if err != nil {
		return nil, pathError("open_failed", r.path, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, pathError("open_failed", r.path, err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		f.Close()
		return nil, agenttool.Failure(agenttool.SetupRequired, "not_ours", r.path+" is not a directory of this user: remove it")
	}
	r.dir = &Dir{f: f} // other calls may still open files below the one before: it is closed when none refers to it
	return r.dir, nil
}

func (v *view) add(at, is string) { v.shown[at], v.at[is] = is, at }

// leads reports whether a shown place lies below a directory, which may not exist yet.
func (v view) leads(dir string) bool {
	for place := range v.shown {
		if place != dir && agenttool.Within(dir, place) {
			return true
		}
	}
	return false
}

// covers reports whether a path may have another meaning than on the host.
func (v view) covers(path string) bool {
	if strings.Contains(path, "..") {
		return len(v.tops) > 0
	}
	within := func(dirs []string) bool {
		for _, dir := range dirs {
			if agenttool.Within(dir, filepath.Clean(path)) {
				return true
			}
		}
		return false
	}
	return within(v.tops) && !within(v.roots)
}

// Seen returns a resolved path as calls see it.
func (w *Workspace) Seen(resolved string) string {
	r := w.rootOf(resolved)
	if r == nil || !r.shown {
		return resolved
	}
	return filepath.Join(w.view.at[r.path], strings.TrimPrefix(resolved, r.path))
}

// up returns the parent of a resolved directory.
func (v view) up(resolved string) string {
	if at, ok := v.at[resolved]; ok {
		resolved = at
	}
	return filepath.Dir(resolved)
}
