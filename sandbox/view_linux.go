package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
)

// view is the part of the host's files that commands of a session see, as far as it does not depend on the command.
type view struct {
	roots   []identity
	hidden  []string   // directories of toolhost, which may not exist yet
	emptied []string   // directories of sockets, and closed directories: commands see them empty but for shown
	shown   []identity // places below emptied directories that commands see
	links   []link     // in emptied directories

	apart []string // directories that ReadOnly commands see empty, but for shown and roots: neither the system's nor a tool chain's

	home   protect.Home
	homes  []string // closed directories: the user's home, and those of others
	masked []string // files of home directories that are mounted elsewhere, too
}

// newView looks at the places that the options name.
func newView(o Options) (*view, error) {
	v := &view{hidden: o.Hidden}
	if err := v.identifyRoots(o.Roots); err != nil {
		return nil, err
	}
	for _, dir := range []string{"/run", "/var/run"} {
		if real, err := filepath.EvalSymlinks(dir); err == nil && real == dir {
			v.emptied = append(v.emptied, dir)
		}
	}
	if err := v.closeHomes(o.Home); err != nil {
		return nil, fmt.Errorf("find the home directories: %w", err)
	}
	if real, err := filepath.EvalSymlinks(o.Runtime); err == nil && real != "/" && !v.covered(real) {
		v.emptied = append(v.emptied, real)
	}
	v.emptied = protect.Outermost(v.emptied) // a place cannot be made in a place
	v.closeToReaders(o.Readable)
	for _, path := range slices.Concat([]string{"/run/current-system", "/run/opengl-driver", "/run/wrappers", "/home/linuxbrew/.linuxbrew", o.Go.ModCache, o.Go.Cache}, v.home.Shown()) {
		v.show(path)
	}
	for _, path := range o.Readable {
		if !v.isClosed(path) {
			v.show(path)
		}
	}
	if v.isApart(o.Program) { // go starts it for its cache
		v.show(o.Program)
	}
	for _, dir := range o.Show {
		v.showPrograms(dir)
	}
	for _, dir := range o.Beside {
		v.showBeside(dir)
	}
	for _, cache := range o.UserCaches {
		if dir := v.linkedDir(cache); dir != "" {
			v.links = append(v.links, link{dir, filepath.Join(cachePlace, cache.Name)})
		}
	}
	for _, name := range o.Named {
		v.showLinks(name)
	}
	if home := filepath.Clean(o.Home); v.home.Dir != "" && home != v.home.Dir && v.isClosed(home) {
		v.links = append(v.links, link{home, v.home.Dir})
	}
	return v, nil
}

// maxLinks bounds the links on the way of a name, as the kernel does.
const maxLinks = 40

// showLinks has commands see the links on the way of a name, where the sandbox has directories of its own in place of the host's. A link
// leads straight to where it leads in the end.
func (v *view) showLinks(name string) {
	for at, n := filepath.Clean(name), 0; n < maxLinks; n++ {
		first := firstLink(at)
		if first == "" {
			return
		}
		target, err := filepath.EvalSymlinks(first)
		if err != nil {
			return
		}
		known := slices.ContainsFunc(v.links, func(l link) bool { return l.path == first })
		if v.covered(first) && !v.inRoot(first) && !v.isHidden(first) && !known {
			v.links = append(v.links, link{first, target})
		}
		at = filepath.Join(target, strings.TrimPrefix(at, first))
	}
}

// firstLink is the first component of an absolute path that is a link; "" if none is.
func firstLink(path string) string {
	for end := 1; end <= len(path); end++ {
		if end < len(path) && path[end] != '/' {
			continue
		}
		if info, err := os.Lstat(path[:end]); err != nil {
			return ""
		} else if info.Mode()&os.ModeSymlink != 0 {
			return path[:end]
		}
	}
	return ""
}

// linkedDir is where commands see the workspace's own cache at the person's place, "" if they do not.
func (v *view) linkedDir(cache UserCache) string {
	dir := filepath.Clean(cache.Dir)
	if home := v.home.Dir; home != "" && agenttool.Within(home, dir) {
		if real, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil { // a link on the way leads elsewhere
			dir = filepath.Join(real, filepath.Base(dir))
		}
	}
	if !cache.Linked || !v.isClosed(dir) || v.inRoot(dir) {
		return ""
	}
	return dir
}

// taken are the directories that every sandbox replaces by its own, and those that hold them.
var taken = []string{"/", "/tmp", "/var/tmp", "/run", "/var/run", "/dev", "/dev/shm", "/proc", "/sys"}

func (v *view) identifyRoots(roots []string) error {
	if len(roots) == 0 {
		return errors.New("there is no workspace")
	}
	for _, root := range roots {
		id, err := identify(root)
		if err != nil {
			return fmt.Errorf("the workspace: %w", err)
		}
		if slices.Contains(taken, id.path) {
			return fmt.Errorf("the workspace is %s, and every sandbox has its own %s: name a directory in it", id.path, id.path)
		}
		v.roots = append(v.roots, id)
	}
	return nil
}

// inRoot reports whether path is a root or lies below one.
func (v *view) inRoot(path string) bool {
	return slices.ContainsFunc(v.roots, func(root identity) bool { return agenttool.Within(root.path, path) })
}

// below reports whether path lies below a root.
func (v *view) below(path string) bool {
	return slices.ContainsFunc(v.roots, func(root identity) bool { return path != root.path && agenttool.Within(root.path, path) })
}

// covered reports whether path lies in a directory that the sandbox replaces by one of its own.
func (v *view) covered(path string) bool {
	return slices.ContainsFunc(append([]string{"/tmp", "/var/tmp"}, v.emptied...), func(dir string) bool {
		return path != dir && agenttool.Within(dir, path)
	})
}

// closeToReaders finds the directories in / and /var that a command which only reads must not see. Readable directories, the sandbox's own and
// the roots stay open.
func (v *view) closeToReaders(readable []string) {
	if len(readable) == 0 {
		return
	}
	entries, err := os.ReadDir("/")
	if err != nil {
		return
	}
	for _, e := range entries {
		dir := "/" + e.Name()
		if e.IsDir() && dir != "/etc" && !slices.Contains(taken, dir) && !slices.Contains(readable, dir) && !slices.Contains(v.emptied, dir) && !v.inRoot(dir) {
			v.apart = append(v.apart, dir)
		}
	}
	if slices.Contains(v.apart, "/var") { // its links lead to places that every sandbox has
		for _, name := range []string{"/var/run", "/var/lock"} {
			if target, err := os.Readlink(name); err == nil {
				v.links = append(v.links, link{name, target})
			}
		}
	}
}

// isApart reports whether a path is in a directory that is closed to ReadOnly commands.
func (v *view) isApart(path string) bool {
	return slices.ContainsFunc(v.apart, func(dir string) bool { return agenttool.Within(dir, path) })
}

// sees reports whether commands see the host's file at a path, as far as that does not depend on the command.
func (v *view) sees(path string) bool {
	return !v.isHidden(path) && (!v.covered(path) || v.inRoot(path) ||
		slices.ContainsFunc(v.shown, func(at identity) bool { return agenttool.Within(at.path, path) }))
}

// isHidden reports whether path is toolhost's own.
func (v *view) isHidden(path string) bool {
	return slices.ContainsFunc(v.hidden, func(dir string) bool { return agenttool.Within(dir, path) })
}

// ownDirs are the directories of toolhost that exist.
func (v *view) ownDirs() []string {
	var dirs []string
	for _, dir := range v.hidden {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dirs = append(dirs, real)
		}
	}
	return dirs
}

// writable are the places outside the roots that a profile lets a command write. In a root, [Profile].Write only unseals.
func (v *view) writable(p Profile) ([]identity, error) {
	var places []identity
	for _, path := range p.Write {
		own := isReplaced(v, filepath.Clean(path)) && slices.Contains(p.Real, path) // a decision means the sandbox's, and a grant the host's
		if filepath.IsAbs(path) && v.inRoot(filepath.Clean(path)) || own {
			continue
		}
		id, err := identify(path)
		if _, _, ok := firstMissing(filepath.Clean(path)); errors.Is(err, os.ErrNotExist) && ok && !isReplaced(v, filepath.Clean(path)) {
			continue // a loan
		}
		if errors.Is(err, os.ErrNotExist) && filepath.IsAbs(path) {
			return nil, fmt.Errorf("write:%s: it does not exist, and no command can make it there: make it first", path)
		}
		if err != nil {
			return nil, fmt.Errorf("write:%s: %w", path, err)
		}
		if id.path != filepath.Clean(path) && slices.Contains(p.Real, path) {
			return nil, fmt.Errorf("write:%s: it has become a link to %s since it was decided about: try again", path, id.path)
		}
		if slices.Contains(taken, id.path) {
			return nil, fmt.Errorf("write:%s: every sandbox has its own %s: grant a path in it", path, id.path)
		}
		if !v.inRoot(id.path) {
			places = append(places, id)
		}
	}
	return places, nil
}

// isReplaced reports whether a path is in a directory that every sandbox has of its own.
func isReplaced(v *view, path string) bool {
	if slices.Contains(taken, path) {
		return true
	}
	return !v.isClosed(path) && (v.covered(path) || slices.ContainsFunc([]string{"/dev", "/proc", "/sys", "/run"}, func(dir string) bool {
		return agenttool.Within(dir, path)
	}))
}

// firstMissing finds the first missing name on the way to a path, and the directory in which it is made. ok is false where none is lent: in
// directories that every sandbox has of its own, in the root, and behind a link.
func firstMissing(path string) (dir, first string, ok bool) {
	for first = path; ; first = dir {
		dir = filepath.Dir(first)
		if _, err := os.Lstat(dir); err == nil {
			break
		}
	}
	real, err := filepath.EvalSymlinks(dir)
	return dir, first, err == nil && real == dir && !slices.Contains(taken, dir)
}

// makeMountPoints makes names in the session's /tmp and /var/tmp for host files below /tmp and /var/tmp that commands see.
func (v *view) makeMountPoints(d *dirs) error {
	placeOf := func(path string) string {
		if rel, ok := strings.CutPrefix(path, "/tmp/"); ok {
			return filepath.Join(d.tmp.path, rel)
		} else if rel, ok := strings.CutPrefix(path, "/var/tmp/"); ok {
			return filepath.Join(d.varTmp.path, rel)
		}
		return ""
	}
	for _, l := range v.links {
		if place := placeOf(l.path); place != "" && !v.isClosed(l.path) {
			if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
				return err
			}
			if err := os.Symlink(l.target, place); err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
		}
	}
	for _, path := range slices.Concat(paths(v.roots), paths(v.shown), v.homes) {
		place := placeOf(path)
		if place == "" || v.isClosed(path) && !slices.Contains(v.homes, path) {
			continue
		}
		if err := makeMountPoint(place, isDir(path)); err != nil {
			return err
		}
	}
	return nil
}

// makeMountPoint makes a directory or a file.
func makeMountPoint(path string, dir bool) error {
	if dir {
		return os.MkdirAll(path, 0o755)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}
