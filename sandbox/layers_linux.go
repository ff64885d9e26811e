package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/sandbox/enter"
)

// layers are the caches of a session that have two layers: the user's, which is only read, and one that takes what commands write. A
// directory is the upper one of one session at a time, as the kernel wants it: the workspace's own are the first session's, and another
// session beside it has its own, above both, for as long as it lives. The zero value has none.
type layers struct {
	all  []layer
	lock *os.File // of the workspace's own as upper directories; nil where another session has it
}

// layer is one of them.
type layer struct {
	name        string     // in the directory of caches
	lowers      []identity // the first above the others
	upper, work string
}

// workName is the directory among the caches that the kernel works in. It is no cache, and commands see it empty.
const workName = ".work"

// newLayers makes the directories for those of the user's caches that commands see at their own place as well.
func newLayers(v *view, d *dirs, users []UserCache) (l layers) {
	root, err := os.OpenRoot(d.cache.path)
	if err != nil || len(users) == 0 || root.MkdirAll(workName, 0o700) != nil {
		return l
	}
	defer root.Close()
	upper := root
	if l.lock, err = openLocked(filepath.Join(d.cache.path, workName)); err != nil {
		own := filepath.Join(d.own.path, "layers")
		if os.MkdirAll(own, 0o700) != nil {
			return l
		}
		if upper, err = os.OpenRoot(own); err != nil {
			return l
		}
		defer upper.Close()
	}
	for _, cache := range users {
		linked := v.linkedDir(cache) != ""
		if linked { // it is there without a layer, too
			_ = root.MkdirAll(cache.Name, 0o700)
		}
		users, err := identify(cache.Dir)
		if err != nil || !isOwn(users.path) || !v.sees(users.path) && !linked || root.MkdirAll(cache.Name, 0o700) != nil {
			continue
		}
		made := layer{name: cache.Name, lowers: []identity{users}}
		work := filepath.Join(workName, strings.ReplaceAll(cache.Name, "/", "-"))
		if own, err := identify(filepath.Join(d.cache.path, cache.Name)); upper != root && err == nil {
			made.lowers = []identity{own, users}
		}
		if upper.MkdirAll(cache.Name, 0o700) == nil && upper.MkdirAll(work, 0o700) == nil {
			made.upper, made.work = filepath.Join(upper.Name(), cache.Name), filepath.Join(upper.Name(), work)
			l.all = append(l.all, made)
		}
	}
	return l
}

// isOwn reports whether a path is a directory of this user and group, the only ones that a holder's namespace has: the kernel copies no file
// of another one up.
func isOwn(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && int(st.Uid) == os.Getuid() && int(st.Gid) == os.Getgid()
}

// places are where commands see what is at a path, or the part of it that a cache has, besides the path itself.
func (l *layers) places(path string) (places []string) {
	for _, at := range l.all {
		users, place := at.lowers[len(at.lowers)-1].path, filepath.Join(cachePlace, at.name)
		if rel, err := filepath.Rel(users, path); err == nil && filepath.IsLocal(rel) {
			places = append(places, filepath.Join(place, rel))
		} else if agenttool.Within(path, users) {
			places = append(places, place)
		}
	}
	return places
}

// mounted are the places of all.
func (l *layers) mounted() (places []string) {
	for _, at := range l.all {
		places = append(places, filepath.Join(cachePlace, at.name))
	}
	return places
}

// close lets another session have the workspace's own directories.
func (l *layers) close() { l.lock.Close() }

// place is where the holder builds the caches if number places come before; "" if none has layers.
func (l *layers) place(number int) string {
	if len(l.all) == 0 {
		return ""
	}
	return enter.BuildPlace(number)
}

// hold tells the holder to keep the directory of the caches.
func (l *layers) hold(p *enter.Plan, cache identity) {
	if len(l.all) > 0 {
		p.Add(enter.Hold, cache.args()...)
	}
}

// mount tells the holder how to build the caches.
func (l *layers) mount(p *enter.Plan, cache identity, number int) {
	built := l.place(number)
	if built == "" {
		return
	}
	p.Add(enter.Place, cache.path, built, "")
	for _, at := range l.all {
		args := []string{filepath.Join(built, at.name), at.upper, at.work}
		for _, lower := range at.lowers {
			args = append(args, lower.args()...)
		}
		p.Add(enter.Overlay, args...)
	}
	p.Add(enter.Memory, filepath.Join(built, workName), emptyPlace)
}

// failedLayer is a cache whose layers the kernel did not mount: commands have the upper one alone.
type failedLayer struct {
	name  string
	errno syscall.Errno
}

// failedLayers reads the holder's list of them.
func failedLayers(list string) (failed []failedLayer) {
	for _, word := range strings.Fields(list) {
		number, place, _ := strings.Cut(word, "=")
		errno, _ := strconv.Atoi(number)
		_, name, _ := strings.Cut(strings.TrimPrefix(place, enter.BuildPlace(0)[:len(enter.BuildPlace(0))-1]), "/")
		failed = append(failed, failedLayer{name, syscall.Errno(errno)})
	}
	return failed
}

// emptyPlace are the mount options of a directory with only shown entries.
const emptyPlace = "mode=755,size=1m"

// TryLayers reports why commands that keep their caches in a directory do not see the user's below them, nil if they do. The level must be Full.
// It makes its files in dir and removes them.
func TryLayers(dir string) error {
	dir, lock, err := probeDir(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	root, users := filepath.Join(dir, "root"), filepath.Join(dir, "root", "users")
	if err := os.MkdirAll(users, 0o700); err != nil {
		return err
	}
	s, err := Open(Options{Roots: []string{root}, Dir: filepath.Join(dir, "scratch", "session"), Cache: filepath.Join(dir, "cache"),
		UserCaches: []UserCache{{Name: "users", Dir: users}}})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Make(); err != nil {
		return err
	}
	h, err := s.hold()
	if err == nil && len(h.failed) > 0 {
		err = h.failed[0].errno
	}
	return err
}
