package sandbox

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/permissions/protect"
	"toolhost/sandbox/enter"
	"toolhost/sandbox/notify"
)

// opening opens single names to a running command, when a user says yes while the command waits. The supervisor does such a call in the
// host's directory. It counts at level Full only.
type opening struct {
	p    *Process
	plan *plan
	asks bool // a user can be asked; set before the command runs

	mu     sync.Mutex
	closed bool
	opened []opened
	shown  []string // in places of the session, which other commands see
}

// opened is a name that a user has opened.
type opened struct {
	path   string
	dir    *os.File // the host's directory that the name is in, as a place
	sealed bool     // it is protected
}

// maxOpened bounds the names that are opened to one command: some are mounts.
const maxOpened = 256

// opens are the calls that a yes can let go on. Others give a name to a file that is there already.
var opens = []string{"open", "openat", "creat", "mkdir", "mkdirat", "unlink", "unlinkat", "rmdir", "rename", "renameat", "renameat2", "truncate"}

// ask is the question about a call that a read-only mount refused, or that names what is protected; nil if none is put.
func (o *opening) ask(a notify.Attempt) notify.Question {
	probes := strings.HasPrefix(a.Call, "open") && a.Flags&unix.O_ACCMODE == unix.O_RDWR && a.Flags&(unix.O_CREAT|unix.O_TRUNC) == 0 // programs go on and read
	wants, ok := o.protected(a)
	if !slices.Contains(opens, a.Call) || probes || !ok {
		return nil
	}
	for _, t := range a.Targets {
		sealed := slices.ContainsFunc(wants, func(v Violation) bool { return v.Path == t.Path })
		if sealed || !t.ReadOnly() || o.has(t) {
			continue
		}
		if !o.mayOpen(a.Call, t) {
			return nil
		}
		v := Violation{Wall: FileSystem, Path: t.Path, Call: a.Call, Grant: "write:" + t.Path, Certain: true, Program: a.Program()}
		if !o.p.mayAsk(v) {
			return nil
		}
		wants = append(wants, v)
	}
	if len(wants) == 0 {
		return nil
	}
	return func(ctx context.Context) {
		for _, v := range wants {
			if !o.p.ask(ctx, v) || o.open(v.Path, v.Wall == ProtectedName) != nil {
				return
			}
		}
	}
}

// protected are the wishes of a call that names what is protected. ok is false if it names something that no yes opens.
func (o *opening) protected(a notify.Attempt) (wants []Violation, ok bool) {
	for _, path := range a.Paths {
		rule, held := o.p.judge.holds(a.Call, path)
		if !held {
			continue
		}
		v := Violation{Wall: ProtectedName, Path: path, Call: a.Call, Rule: string(rule), Grant: "write:" + path, Certain: true, Program: a.Program()}
		if rule == protect.ToolhostSettings || isDir(path) || !isDir(filepath.Dir(path)) || o.plan.s.view.isHidden(path) || o.isSecret(path) || !o.p.mayAsk(v) {
			return nil, false
		}
		wants = append(wants, v)
	}
	return wants, true
}

// has reports whether a name is open already.
func (o *opening) has(t notify.Target) bool {
	_, ok := o.find(t.Path)
	return ok
}

func (o *opening) find(path string) (opened, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.opened, func(g opened) bool { return g.path == path })
	if i < 0 {
		return opened{}, false
	}
	return o.opened[i], true
}

// within reports whether a path is open, or lies below one that is.
func (o *opening) within(path string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.opened, func(g opened) bool { return agenttool.Within(g.path, path) })
}

// onCall judges a call about a name that is open: it is done in the host's directory, if that is the one that the command sees, or if it
// makes a file that neither has. ok is false for other calls.
func (o *opening) onCall(a notify.Attempt, t notify.Target) (verdict notify.Verdict, ok bool) {
	g, found := o.find(t.Path)
	if !found {
		return o.beside(a, t)
	}
	if !slices.Contains(opens, a.Call) {
		return notify.Allow, false
	}
	mode := t.Mode()
	switch mode & unix.S_IFMT {
	case 0, unix.S_IFREG, unix.S_IFDIR, unix.S_IFLNK:
	default:
		return notify.Verdict(unix.EACCES), true
	}
	switch fd := int(g.dir.Fd()); {
	case t.IsIn(fd):
	case slices.Contains(removes, a.Call) && isHosts(t, g): // a mount of the command's covers it, or it is in another place
	case mode != 0 || !slices.Contains(makes, a.Call):
		return notify.Allow, false
	case exists(g.dir, filepath.Base(g.path)):
		return notify.Verdict(unix.EEXIST), true
	}
	if t.Redirect(int(g.dir.Fd())) != nil {
		return notify.Verdict(unix.EACCES), true
	}
	return notify.Allow, true
}

// isHosts reports whether what the command sees under an open name is what the host has there.
func isHosts(t notify.Target, g opened) bool {
	dev, ino, err := t.Identity()
	var st unix.Stat_t
	return err == nil && unix.Fstatat(int(g.dir.Fd()), filepath.Base(g.path), &st, unix.AT_SYMLINK_NOFOLLOW) == nil && uint64(st.Dev) == dev && st.Ino == ino
}

// beside judges the other name of a rename to or from a protected name that is open, in the same directory: it is used in the host's
// directory, too, since no file moves between mounts. A file with further names stays where it is: each of them would be a name of the protected file.
func (o *opening) beside(a notify.Attempt, t notify.Target) (verdict notify.Verdict, ok bool) {
	if !strings.HasPrefix(a.Call, "rename") {
		return notify.Allow, false
	}
	for _, other := range a.Targets {
		g, open := o.find(other.Path)
		if !open || !g.sealed || !t.IsIn(int(g.dir.Fd())) {
			continue
		}
		if !o.plan.s.view.inRoot(t.Path) || o.isSecret(t.Path) || t.Links() > 1 || t.Redirect(int(g.dir.Fd())) != nil {
			return notify.Verdict(unix.EACCES), true
		}
		return notify.Allow, true
	}
	return notify.Allow, false
}

// mayOpen reports whether a yes can open a name, and whether that is worth a question: programs try many places, and do without.
func (o *opening) mayOpen(call string, t notify.Target) bool {
	v, path := o.plan.s.view, t.Path
	if !filepath.IsAbs(path) || v.inRoot(path) || v.isHidden(path) || slices.Contains(taken, path) {
		return false
	}
	if ofSystem(path) || ofPrograms(path) || o.isToolChain(path) || o.isSecret(path) {
		return false
	}
	if o.isEmptied(filepath.Dir(path)) { // the host's file does not show there, and no question depends on it
		return slices.Contains(makes, call)
	}
	dir, err := hostDir(path)
	if err != nil {
		return false
	}
	defer dir.Close()
	if t.Mode() != 0 && (strings.HasPrefix(call, "open") || call == "truncate") {
		return t.IsIn(int(dir.Fd())) // and the kernel has found that the user may write it
	}
	return t.IsIn(int(dir.Fd())) && unix.Faccessat(unix.AT_FDCWD, dir.Name(), unix.W_OK|unix.X_OK, unix.AT_EACCESS) == nil
}

// ofSystem reports whether a path belongs to the system, which no yes changes.
func ofSystem(path string) bool {
	return slices.ContainsFunc([]string{
		"/bin", "/boot", "/dev", "/etc", "/gnu", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/proc", "/run", "/sbin", "/snap", "/sys", "/usr", "/var",
	}, func(dir string) bool { return agenttool.Within(dir, path) && !underScratch(path) })
}

// ofPrograms reports whether a path is one that programs keep for themselves, and do without: names that begin with a dot, and files that
// Python compiles.
func ofPrograms(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool { return strings.HasPrefix(name, ".") || name == "__pycache__" })
}

// isToolChain reports whether a path is in a place of a home directory that commands see.
func (o *opening) isToolChain(path string) bool {
	return slices.ContainsFunc(o.plan.s.view.shown, func(at identity) bool { return o.plan.s.view.isClosed(at.path) && agenttool.Within(at.path, path) })
}

func (o *opening) isSecret(path string) bool {
	_, secret := o.p.judge.names.Secret(path, 0, 0)
	return secret
}

// isEmptied reports whether the command sees a directory of the sandbox's own in place of the host's.
func (o *opening) isEmptied(dir string) bool { return !o.plan.layout.visible(dir) }

// hostDir is the directory of the host that a path is in, as a place.
func hostDir(path string) (*os.File, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, filepath.Dir(path), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), filepath.Dir(path)), nil
}

// open opens a name. A file that is there, and that the command does not see, is shown to it.
func (o *opening) open(path string, sealed bool) error {
	dir, err := hostDir(path)
	if err != nil {
		return err
	}
	g := opened{path, dir, sealed}
	var st unix.Stat_t
	there := unix.Fstatat(int(dir.Fd()), filepath.Base(path), &st, unix.AT_SYMLINK_NOFOLLOW) == nil
	switch _, secret := o.p.judge.names.Secret(path, uint64(st.Dev), st.Ino); {
	case there && secret: // under another name
		err = unix.EACCES
	case there && st.Mode&unix.S_IFMT == unix.S_IFREG && o.isEmptied(g.dir.Name()):
		err = o.show(path)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || err != nil || len(o.opened) >= maxOpened {
		g.dir.Close()
		return cmp.Or(err, os.ErrClosed)
	}
	if o.opened = append(o.opened, g); sealed {
		o.p.judge.allow(path)
	}
	return nil
}

// named shows what the command has made under a name that is open: a directory for writing, and a file that it would not see.
func (o *opening) named(path string) {
	if g, ok := o.find(path); ok && (isDir(path) != g.sealed || o.isEmptied(filepath.Dir(path))) { // the mode of a hook changes, too
		_ = o.show(path) // else it is there, and the command fails as if it were shut
	}
}

// removed has the helper take a name that was removed out of a place of the sandbox's own.
func (o *opening) removed(path string) {
	if _, ok := o.find(path); ok && o.isEmptied(filepath.Dir(path)) {
		o.plan.s.shown.mu.Lock()
		defer o.plan.s.shown.mu.Unlock()
		o.p.helper.lend(enter.SayReturn, path+"\x00"+o.plan.layout.places[o.plan.layout.placeOf(path)].dir, o.p.silent)
	}
}

// show has the helper show what the host has at a path.
func (o *opening) show(path string) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return err
	}
	if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFDIR {
		return unix.EINVAL
	}
	h, err := o.plan.s.hold()
	if err != nil {
		return err
	}
	tree, err := h.tree(identity{path, uint64(st.Dev), st.Ino})
	if err != nil {
		return err
	}
	defer tree.Close()
	o.plan.s.shown.mu.Lock() // nobody drops the name meanwhile
	defer o.plan.s.shown.mu.Unlock()
	place := ""
	if o.isEmptied(filepath.Dir(path)) {
		number := o.plan.layout.placeOf(path)
		if place = o.plan.layout.places[number].dir; o.plan.layout.fits[number] {
			o.plan.s.shown.take(path)
			o.mu.Lock()
			o.shown = append(o.shown, path)
			o.mu.Unlock()
		}
	}
	return o.p.helper.show(path, place, tree, o.p.silent)
}

// close gives up what was opened, when no process of the command is left.
func (o *opening) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	for _, g := range o.opened {
		g.dir.Close()
	}
	o.opened = nil
	for _, path := range o.shown {
		number := o.plan.layout.placeOf(path)
		o.plan.s.shown.drop(o.plan.s, path, number, o.plan.layout.places[number].dir)
	}
	o.shown = nil
}
