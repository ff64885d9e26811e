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

	byProc bool // the way leads through what means something else to each reader
}

// Bounds of one walk: the kernel's own on links, and one on components that links can multiply.
const (
	maxLinks = 40
	maxSteps = 1 << 14
)

// placeOnly opens a place without access to its content.
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

// start goes to the first directory of a name, and from there to its parent.
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

// ends goes on from the last component while that is a link to be followed. It returns the names under which the
// component is known: as given, and one for each link up to the last target, which is t's.
func (t *target) ends(o operand, follow bool) (paths []string, err error) {
	for {
		here, err := nameOf(t.at)
		if err != nil {
			return paths, err
		}
		if !strings.HasPrefix(here, "/") { // a pipe, for instance
			return paths, unix.ENOTDIR
		}
		t.path = path.Join(here, t.last)
		paths = append(paths, t.path)
		if t.last == "" {
			t.open, err = unix.FcntlInt(uintptr(t.at), unix.F_DUPFD_CLOEXEC, 0)
			return paths, err
		}
		if o.follow == never {
			return paths, nil
		}
		target, err := readlinkAt(t.at, t.last)
		switch {
		case err == unix.EINVAL: // no link
			return paths, nil
		case err == unix.ENOENT:
			t.absent = true
			return paths, nil
		case err != nil:
			return paths, err
		case !follow && !t.slash:
			return paths, nil
		}
		if t.links++; t.links > maxLinks {
			return paths, unix.ELOOP
		}
		if t.magic(t.last) { // its target is no name to go on from
			return t.through(paths)
		}
		parent, next := split(target)
		if err := t.enter(parent); err != nil {
			return paths, err
		}
		t.last, t.slash = next, next != "" && (t.slash || strings.HasSuffix(target, "/"))
	}
}

// through goes through a link of /proc to the object itself.
func (t *target) through(paths []string) ([]string, error) {
	if !t.own() {
		return paths, unix.EACCES
	}
	fd, err := unix.Openat(t.at, t.last, placeOnly, 0)
	if err != nil {
		return paths, err
	}
	t.open = fd
	if err := t.findPath(); err != nil {
		return paths, err
	}
	if t.path != "" {
		paths = append(paths, t.path)
	}
	return paths, nil
}

// own reports whether the place reached is the process's own directory in the host's /proc, or in it. Links of other processes
// lead to their open files, and we might follow them where the process may not.
func (w *walk) own() bool {
	here, err := nameOf(w.at)
	if err != nil {
		return false
	}
	tgid, err := w.p.tgid()
	if err != nil {
		return false
	}
	var proc, at unix.Stat_t
	if unix.Stat("/proc", &proc) != nil || unix.Fstat(w.at, &at) != nil || proc.Dev != at.Dev {
		return false
	}
	return here == "/proc/"+tgid || strings.HasPrefix(here, "/proc/"+tgid+"/")
}

// enter follows a name that must lead to a directory.
func (w *walk) enter(name string) error {
	if name == "" {
		return nil
	}
	from, how := w.at, unix.OpenHow{Flags: placeOnly | unix.O_DIRECTORY, Resolve: unix.RESOLVE_BENEATH}
	if name[0] == '/' {
		root, _, err := w.p.root.open(w.p)
		if err != nil {
			return err
		}
		from, how.Resolve = root, unix.RESOLVE_IN_ROOT
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
	root, _, err := w.p.root.open(w.p)
	if err != nil {
		return err
	}
	w.leave()
	w.at = root
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
	default:
		if dir, ok := w.self(component); ok {
			w.byProc = true
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
		if !w.own() {
			return "", unix.EACCES
		}
		return "", w.open(component, 0)
	}
	return target, nil
}

// up goes to the parent, and stays at the root of the process.
func (w *walk) up() error {
	_, root, err := w.p.root.open(w.p)
	if err != nil {
		return err
	}
	if here, err := nameOf(w.at); err != nil || here == root {
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

// self returns the directory, in the host's /proc, that "self", "thread-self" and its own number mean for the process
// in its own /proc. For the host these links mean the host, or nothing.
func (w *walk) self(component string) (dir string, ok bool) {
	number := component[0] >= '0' && component[0] <= '9'
	if component != "self" && component != "thread-self" && !number {
		return "", false
	}
	var stat unix.Stat_t
	if !onProc(w.at) || unix.Fstat(w.at, &stat) != nil || stat.Ino != procRoot {
		return "", false
	}
	s, err := w.p.status()
	switch {
	case err != nil:
		return w.p.dir, !number
	case number && component != s.inner:
		return "", false
	case component == "thread-self":
		return "/proc/" + s.tgid + "/task/" + strconv.Itoa(w.p.pid), true
	}
	return "/proc/" + s.tgid, true
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
