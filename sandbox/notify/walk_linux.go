package notify

import (
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// walk resolves a name for a process. The kernel does it in one step where no magic link of /proc is on the way, and
// none of the names there that mean something else to each reader ("/proc/self"); else it goes by single components.
type walk struct {
	p     *process
	at    int // the directory reached, opened as a place only; -1: none
	owned bool
	links int
	steps int
}

// Bounds of one walk: the kernel's own on links, and one on components that links can multiply.
const (
	maxLinks = 40
	maxSteps = 1 << 14
)

// placeOnly opens a place without access to what is there.
const placeOnly = unix.O_PATH | unix.O_CLOEXEC

func (w *walk) leave() {
	if w.owned {
		_ = unix.Close(w.at)
	}
	w.at, w.owned = -1, false
}

// move makes fd the directory reached.
func (w *walk) move(fd int) {
	w.leave()
	w.at, w.owned = fd, true
}

// names resolves name from the directory that the process calls dir. A slash at the end makes the kernel go through a
// link in most calls, so it counts as following.
func (w *walk) names(dir int, name string, follow bool) ([]string, error) {
	parent, last := split(name)
	if err := w.start(dir, parent); err != nil {
		return nil, err
	}
	return w.ends(last, follow || strings.HasSuffix(name, "/"))
}

// split cuts the last component off, slashes behind it dropped. It is empty when the name gives a directory by its
// place: "/", "." or "..".
func split(name string) (parent, last string) {
	bare := strings.TrimRight(name, "/")
	cut := strings.LastIndexByte(bare, '/') + 1
	parent, last = bare[:cut], bare[cut:]
	if last == "" || last == "." || last == ".." {
		return name, ""
	}
	return parent, last
}

// start goes to the directory at which a name begins, and from there to its parent.
func (w *walk) start(dir int, parent string) error {
	if !strings.HasPrefix(parent, "/") {
		fd, err := unix.Open(w.p.entry(dir), placeOnly, 0)
		if err != nil {
			return err
		}
		w.move(fd)
	}
	return w.enter(parent)
}

// ends returns the names under which the last component is known: as given, and, when it is followed, one for each
// link up to the last target.
func (w *walk) ends(last string, follow bool) ([]string, error) {
	var paths []string
	for {
		here, err := nameOf(w.at)
		if err != nil {
			return paths, err
		}
		if !strings.HasPrefix(here, "/") { // a pipe, for instance
			return paths, unix.ENOTDIR
		}
		paths = append(paths, path.Join(here, last))
		if last == "" {
			return paths, nil
		}
		target, err := readlinkAt(w.at, last)
		switch {
		case err == unix.EINVAL || err == unix.ENOENT: // no link, or nothing yet
			return paths, nil
		case err != nil:
			return paths, err
		case !follow:
			return paths, nil
		}
		if w.magic(last) { // what it leads to is no name to go on from
			if strings.HasPrefix(target, "/") {
				paths = append(paths, target)
			}
			return paths, nil
		}
		if w.links++; w.links > maxLinks {
			return paths, unix.ELOOP
		}
		parent, next := split(target)
		if err := w.enter(parent); err != nil {
			return paths, err
		}
		last = next
	}
}

// enter follows a name that must lead to a directory.
func (w *walk) enter(name string) error {
	if name == "" {
		return nil
	}
	from, how := w.at, unix.OpenHow{Flags: placeOnly | unix.O_DIRECTORY, Resolve: unix.RESOLVE_BENEATH}
	if name[0] == '/' {
		if err := w.p.root.open(w.p); err != nil {
			return err
		}
		from, how.Resolve = w.p.root.fd, unix.RESOLVE_IN_ROOT
	}
	fd, err := unix.Openat2(from, name, &how)
	if err != nil {
		return w.byHand(name)
	}
	if onProc(fd) {
		_ = unix.Close(fd)
		return w.byHand(name)
	}
	w.move(fd)
	return nil
}

// byHand is enter, one component at a time.
func (w *walk) byHand(name string) error {
	for name != "" {
		if name[0] == '/' {
			if err := w.toRoot(); err != nil {
				return err
			}
			name = strings.TrimLeft(name, "/")
			continue
		}
		component, rest, _ := strings.Cut(name, "/")
		rest = strings.TrimLeft(rest, "/")
		target, err := w.step(component)
		if err != nil {
			return err
		}
		if name = rest; target != "" {
			name = target + "/" + rest
		}
	}
	return nil
}

// toRoot goes to the root of the process.
func (w *walk) toRoot() error {
	if err := w.p.root.open(w.p); err != nil {
		return err
	}
	w.leave()
	w.at = w.p.root.fd
	return nil
}

// step enters one component. When that is a link with a name in it, step stays and returns the name.
func (w *walk) step(component string) (target string, err error) {
	if w.steps++; w.steps > maxSteps {
		return "", errTooFar
	}
	switch component {
	case ".":
		return "", nil
	case "..":
		return "", w.up()
	case "self", "thread-self":
		if dir, ok := w.self(component); ok {
			return "", w.jump(dir)
		}
	}
	target, err = readlinkAt(w.at, component)
	switch {
	case err == unix.EINVAL:
		return "", w.open(component, unix.O_NOFOLLOW)
	case err != nil:
		return "", err
	}
	if w.links++; w.links > maxLinks {
		return "", unix.ELOOP
	}
	if w.magic(component) {
		return "", w.open(component, 0)
	}
	return target, nil
}

// up goes to the parent, and stays at the root of the process.
func (w *walk) up() error {
	if err := w.p.root.open(w.p); err != nil {
		return err
	}
	if here, err := nameOf(w.at); err != nil || here == w.p.root.name {
		return err
	}
	return w.open("..", 0)
}

// jump goes to a directory of the host.
func (w *walk) jump(dir string) error {
	fd, err := unix.Open(dir, placeOnly|unix.O_DIRECTORY, 0)
	if err == nil {
		w.move(fd)
	}
	return err
}

func (w *walk) open(component string, flags int) error {
	fd, err := unix.Openat(w.at, component, placeOnly|unix.O_DIRECTORY|flags, 0)
	if err == nil {
		w.move(fd)
	}
	return err
}

// magic reports whether the component is a link that leads to an object and not to a name, like those in /proc/PID/fd.
func (w *walk) magic(component string) bool {
	if !onProc(w.at) {
		return false
	}
	how := unix.OpenHow{Flags: placeOnly, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(w.at, component, &how)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err == unix.ELOOP
}

// procRoot is the inode number of the top of every /proc.
const procRoot = 1

// self returns the directory, in the host's /proc, that the process reaches by "self" and "thread-self" at the top of
// its own. Read by the host these links name the host, or nobody.
func (w *walk) self(component string) (dir string, ok bool) {
	var stat unix.Stat_t
	if !onProc(w.at) || unix.Fstat(w.at, &stat) != nil || stat.Ino != procRoot {
		return "", false
	}
	tgid, err := w.p.tgid()
	if err != nil {
		return w.p.dir, true
	}
	if component == "self" {
		return "/proc/" + tgid, true
	}
	return "/proc/" + tgid + "/task/" + strconv.Itoa(w.p.pid), true
}

func onProc(fd int) bool {
	var fs unix.Statfs_t
	return unix.Fstatfs(fd, &fs) == nil && fs.Type == unix.PROC_SUPER_MAGIC
}

func readlinkAt(fd int, name string) (string, error) {
	var buf [maxName]byte
	n, err := unix.Readlinkat(fd, name, buf[:])
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}
