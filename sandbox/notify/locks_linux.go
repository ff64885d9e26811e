package notify

import (
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Locks of files hold up whoever else wants them, and need no right to write. One on a file that the judge does not leave to the command is private:
// the call succeeds, and nothing is locked. Any other is taken here, through a duplicate of the caller's descriptor, which shares its locks, so
// that it is the judged file that is locked. Those of fcntl(2) that belong to a process the kernel takes itself.

// isLock reports whether a call locks a file.
func isLock(n *notification) bool {
	return n.data.nr == unix.SYS_FLOCK || n.data.nr == unix.SYS_FCNTL
}

// lock is a lock that is wanted.
type lock struct {
	fd    int           // the caller's file
	op    int           // of flock
	owned *unix.Flock_t // of fcntl, which belongs to the open file; nil: of flock
}

// takeLock serves one call.
func (l *Listener) takeLock(n *notification) error {
	from := newCaller(n)
	defer func() { from.leave() }()
	err := from.take(int(int32(n.data.args[0])))
	if !l.valid(n.id) {
		return nil
	}
	if err != nil {
		return l.answer(n, Verdict(errnoOf(err)))
	}
	how := int(int32(n.data.args[1]))
	k, blocks := lock{fd: from.socket, op: how}, how&unix.LOCK_NB == 0
	switch {
	case !l.locksOf(k.fd):
		return l.answer(n, Allow)
	case n.data.nr == unix.SYS_FCNTL && how != unix.F_OFD_SETLK && how != unix.F_OFD_SETLKW:
		return l.send(response{id: n.id, flags: flagContinue})
	case n.data.nr == unix.SYS_FCNTL:
		blocks, k.owned = how == unix.F_OFD_SETLKW, new(unix.Flock_t)
		if err := from.readInto(unsafe.Slice((*byte)(unsafe.Pointer(k.owned)), unsafe.Sizeof(*k.owned)), n.data.args[2]); err != nil {
			return l.answer(n, Verdict(unix.EFAULT))
		}
	}
	errno := k.take()
	if errno != unix.EAGAIN || !blocks {
		return l.answer(n, Verdict(errno))
	}
	waiting := from
	from = newCaller(n)
	return l.judges.Room.waits.begin(&waiter{l: l, n: n, leave: waiting.leave, try: func(*worker) bool {
		errno := k.take()
		if errno == unix.EAGAIN && waiting.interrupted() {
			errno = restart
		}
		if errno != unix.EAGAIN {
			_ = l.answer(n, Verdict(errno)) // an error ends the listener, and the next receive returns it
		}
		return errno != unix.EAGAIN
	}})
}

// take takes the lock if nobody else has it, else it fails with EAGAIN.
func (k *lock) take() unix.Errno {
	if k.owned == nil {
		return errnoFrom(unix.Flock(k.fd, k.op|unix.LOCK_NB))
	}
	wanted := *k.owned
	err := unix.FcntlFlock(uintptr(k.fd), unix.F_OFD_SETLK, &wanted)
	if err == unix.EACCES {
		err = unix.EAGAIN
	}
	return errnoFrom(err)
}

// locksOf reports whether the command may lock a file: it has opened it for writing, which was judged, or it may; or the file has no name.
func (l *Listener) locksOf(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return false
	}
	if flags&unix.O_ACCMODE != unix.O_RDONLY && flags&unix.O_PATH == 0 {
		return true
	}
	path, err := nameOf(fd)
	var fs unix.Statfs_t
	if err != nil || unix.Fstatfs(fd, &fs) != nil {
		return false
	}
	if !strings.HasPrefix(path, "/") {
		return true
	}
	return l.judges.Locks != nil && l.judges.Locks(strings.TrimSuffix(path, " (deleted)"), fs.Flags&unix.ST_RDONLY != 0)
}

// restart is ERESTARTSYS: the kernel delivers the signal that waits, and begins the call anew or lets it fail with EINTR.
const restart = unix.Errno(512)

// interrupted reports whether a signal waits for the thread that it does not block. A call that was taken over is interrupted by deadly ones only.
func (p *process) interrupted() bool {
	text := readProc(p.dir + "/status")
	mask := func(key string) uint64 {
		_, rest, _ := strings.Cut(text, "\n"+key+":\t")
		line, _, _ := strings.Cut(rest, "\n")
		n, _ := strconv.ParseUint(line, 16, 64)
		return n
	}
	return (mask("SigPnd")|mask("ShdPnd"))&^mask("SigBlk") != 0
}

// readInto reads a structure out of the process's memory.
func (p *process) readInto(into []byte, from uint64) error {
	if runtime.GOARCH == "arm64" {
		from &= 1<<56 - 1
	}
	n, err := p.read(into, from)
	if err == nil && n < len(into) {
		err = unix.EFAULT
	}
	return err
}

// readProc reads a file of /proc, "" if it cannot.
func readProc(path string) string {
	var buffer [4096]byte
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	n, _ := unix.Read(fd, buffer[:])
	return string(buffer[:max(n, 0)])
}
