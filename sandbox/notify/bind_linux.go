package notify

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// takeBind duplicates the socket and reads the address. A name in it is judged like that of any file.
func takeBind(r *request) unix.Errno {
	if err := r.from.take(int(int32(r.arg(0)))); err != nil {
		return errnoOf(err)
	}
	var err error
	if r.data, err = r.from.address(r.arg(1), r.arg(2)); err != nil {
		return errnoOf(err)
	}
	family, err := unix.GetsockoptInt(r.from.socket, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return errnoOf(err)
	}
	r.names = []string{}
	if family != unix.AF_UNIX {
		return 0
	}
	if name, ok := localName(r.data); ok {
		r.names, r.operands, r.alone = []string{name}, []operand{name0()}, true
	}
	return 0
}

// name0 is the operand of a bind, whose name is in its address.
func name0() operand { return operand{dir: none, path: none, flags: none, follow: never} }

// actBind binds the socket to its name. The bind must use the name as the caller wrote it, and not a path below a descriptor: the kernel keeps
// that text, and other processes find the socket by it. The request is alone, so no directory is renamed until it is done.
func actBind(r *request) unix.Errno {
	if len(r.targets) == 0 {
		var at unsafe.Pointer
		if len(r.data) > 0 {
			at = unsafe.Pointer(&r.data[0])
		}
		_, _, errno := unix.Syscall(unix.SYS_BIND, uintptr(r.from.socket), uintptr(at), uintptr(len(r.data)))
		return errno
	}
	t := r.targets[0]
	if r.l.judges.Bind == nil || t.byProc {
		return unix.EACCES
	}
	mask, err := r.from.umask()
	if err != nil {
		return unix.EACCES
	}
	dir, err := unix.Open(r.from.entry(unix.AT_FDCWD), placeOnly, 0)
	if err != nil {
		return errnoOf(err)
	}
	defer closeAll(dir)
	err = r.l.judges.Bind(Binding{Socket: r.from.socket, Dir: dir, Umask: mask, Name: r.names[0]})
	return errnoFrom(err)
}
