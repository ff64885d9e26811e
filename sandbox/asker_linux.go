package sandbox

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/sandbox/notify"
)

// asker asks the user about sockets of the host, while a connect waits, and knows those that the user has opened to the command. Its zero
// value asks about none.
type asker struct {
	p       *Process // nil: no user can be asked
	v       *view
	mayMake func(path string) bool // reports whether commands can have made the entry at a path, as they see it

	mu      sync.Mutex
	sockets map[inode]*hostSocket
}

// inode tells a socket from others as long as a descriptor holds it: then the number goes to no other one.
type inode struct{ dev, ino uint64 }

// hostSocket is a socket that a question is about. Its place is held until the command has ended.
type hostSocket struct {
	place int
	open  bool
}

// maxHostSockets bounds the sockets that a user hears of for one command.
const maxHostSockets = 64

// ask gives a connection a question about the socket at place, a descriptor, and reports whether it has one.
func (a *asker) ask(n *notify.Connection, v Violation, place int) bool {
	id, err := inodeAt(place)
	if a.p == nil || n.Final || a.v.isHidden(v.Path) || ofLibraries(v.Path) || !userMayConnect(place) || err != nil {
		return false
	}
	if _, secret := a.p.judge.names.Secret(v.Path, id.dev, id.ino); secret {
		return false
	}
	if v.Program = (notify.Attempt{PID: n.PID}).Program(); !a.p.mayAsk(v) {
		return false
	}
	socket := a.hold(id, place)
	n.Question = func(ctx context.Context) {
		if a.p.ask(ctx, v) {
			a.mu.Lock()
			defer a.mu.Unlock()
			socket.open = true
		}
	}
	return socket != nil
}

// hold keeps the socket at place until close; nil if there are too many.
func (a *asker) hold(id inode, place int) *hostSocket {
	a.mu.Lock()
	defer a.mu.Unlock()
	if socket := a.sockets[id]; socket != nil || len(a.sockets) >= maxHostSockets {
		return socket
	}
	held, err := unix.FcntlInt(uintptr(place), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	if a.sockets == nil {
		a.sockets = map[inode]*hostSocket{}
	}
	a.sockets[id] = &hostSocket{place: held}
	return a.sockets[id]
}

// close gives the sockets up, when nothing connects any more.
func (a *asker) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, socket := range a.sockets {
		_ = unix.Close(socket.place)
	}
	a.sockets = nil
}

// opened reports whether the socket at place is one that the user has opened, under any of its names.
func (a *asker) opened(place int) bool {
	id, err := inodeAt(place)
	a.mu.Lock()
	defer a.mu.Unlock()
	socket := a.sockets[id]
	return err == nil && socket != nil && socket.open
}

func inodeAt(place int) (inode, error) {
	var st unix.Stat_t
	err := unix.Fstat(place, &st)
	return inode{uint64(st.Dev), st.Ino}, err
}

// onHost decides about a name that the command does not see, where the host has a socket: it is connected if the user has opened it, and
// asked about if that is worth a question. ok is false for all others.
func (a *asker) onHost(n *notify.Connection) (verdict notify.Verdict, ok bool) {
	if a.p == nil || !filepath.IsAbs(n.Path) {
		return 0, false
	}
	real, err := filepath.EvalSymlinks(n.Path)
	if err != nil || a.mayMake(n.Path) || a.mayMake(real) {
		return 0, false
	}
	fd := openSocket(real)
	if fd < 0 {
		return 0, false
	}
	if a.opened(fd) {
		n.Place = fd
		return notify.Allow, true
	}
	defer unix.Close(fd)
	return notify.Pause, a.ask(n, socketViolation(real, ""), fd)
}

// openSocket opens a socket of the host as a place; -1: there is none, or a link leads there.
func openSocket(path string) int {
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
	if err == nil && !isSocket(fd) {
		_ = unix.Close(fd)
		return -1
	}
	if err != nil {
		return -1
	}
	return fd
}

// userMayConnect reports whether the user may connect to the socket at place: what the user may not do, no yes makes possible.
func userMayConnect(place int) bool {
	return unix.Faccessat(place, "", unix.W_OK, unix.AT_EACCESS|unix.AT_EMPTY_PATH) == nil
}

// ofLibraries reports whether a socket is one that libraries of most programs try by themselves, and do without: no question is worth that.
func ofLibraries(path string) bool {
	return slices.ContainsFunc([]string{
		"/run/systemd", "/run/nscd", "/run/dbus", "/run/avahi-daemon", "/run/cups", "/run/udev", "/run/sssd", "/run/pcscd", "/dev", "/tmp/.X11-unix", "/var/lib/sss",
	}, func(dir string) bool { return agenttool.Within(dir, path) }) || ofDesktop(path)
}

// ofDesktop reports whether a socket is one of the user's desktop: its bus, screen and sound.
func ofDesktop(path string) bool {
	rest, ok := strings.CutPrefix(path, "/run/user/")
	_, name, below := strings.Cut(rest, "/")
	first, _, _ := strings.Cut(name, "/")
	return ok && below && (slices.Contains([]string{"at-spi", "bus", "dbus-1", "doc", "gvfsd", "pulse", "systemd"}, first) ||
		strings.HasPrefix(first, "pipewire-") || strings.HasPrefix(first, "wayland-"))
}
