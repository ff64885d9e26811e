package enter

import (
	"runtime"
	"syscall"
	"unsafe"
)

// The calls that package syscall lacks. x/sys/unix has them, but a package that imports it is initialised after packages
// that take time. Numbers from 424 are the same on every architecture.
const (
	sysPidfdSendSignal  = 424
	sysOpenTree         = 428
	sysMoveMount        = 429
	sysFsopen           = 430
	sysFsconfig         = 431
	sysFsmount          = 432
	sysPidfdOpen        = 434
	sysCloseRange       = 436
	sysOpenat2          = 437
	sysMountSetattr     = 442
	sysLandlockRestrict = 446
)

const (
	atFDCWD   = -100
	atEmpty   = 0x1000
	recursive = 0x8000

	oPath = 0x200000

	attrReadOnly = 1
	attrNoSuid   = 2
	attrNoDev    = 4
	attrNoExec   = 8

	noMagicLinks = 2
	noSymlinks   = 4

	prSetDumpable       = 4
	prCapbsetDrop       = 24
	prSetChildSubreaper = 36
	prSetNoNewPrivs     = 38
	prCapAmbient        = 47
	prCapAmbientClear   = 4
)

// sys is a system call. Memory that its arguments point to must not move meanwhile, so it must not be on a stack.
//
//go:uintptrescapes
func sys(nr uintptr, args ...uintptr) (int, syscall.Errno) {
	var a [6]uintptr
	copy(a[:], args)
	r, _, errno := syscall.Syscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
	return int(r), errno
}

func prctl(option, arg2, arg3 uintptr) syscall.Errno {
	_, errno := sys(syscall.SYS_PRCTL, option, arg2, arg3)
	return errno
}

// cString is NUL-terminated. A path with a NUL in it, which no plan has, would end there.
func cString(s string) *byte { return unsafe.SliceData(append([]byte(s), 0)) }

// at is a system call that takes a descriptor and a path, and then up to three further arguments.
//
//go:uintptrescapes
func at(nr uintptr, dir int, path string, args ...uintptr) (int, syscall.Errno) {
	var a [3]uintptr
	copy(a[:], args)
	p := cString(path)
	r, _, errno := syscall.Syscall6(nr, uintptr(dir), uintptr(unsafe.Pointer(p)), a[0], a[1], a[2], 0)
	runtime.KeepAlive(p)
	return int(r), errno
}

// executable returns a descriptor of a new file in memory that may be executed, also where the machine wants that to be said.
func executable(name string) (int, syscall.Errno) {
	const closeOnExec, exec = 1, 0x10
	n := cString(name)
	defer runtime.KeepAlive(n)
	fd, _, errno := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(n)), closeOnExec|exec, 0)
	if errno == syscall.EINVAL { // a kernel before 6.3
		fd, _, errno = syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(n)), closeOnExec, 0)
	}
	return int(fd), errno
}

// memoryFile returns a descriptor of a new file in memory, which programs do not inherit.
func memoryFile(name string) (int, syscall.Errno) {
	const closeOnExec = 1
	n := cString(name)
	fd, _, errno := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(n)), closeOnExec, 0)
	runtime.KeepAlive(n)
	return int(fd), errno
}

func ioctl(fd int, request uintptr, argument *[64]byte) (int, syscall.Errno) {
	r, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(argument)))
	return int(r), errno
}

// open opens an absolute path without following a link anywhere in it.
func open(path string, flags int) (int, syscall.Errno) {
	how := struct{ flags, mode, resolve uint64 }{uint64(flags | syscall.O_CLOEXEC), 0, noSymlinks | noMagicLinks}
	fd, errno := at(sysOpenat2, atFDCWD, path, uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how))
	runtime.KeepAlive(&how)
	return fd, errno
}

// cloneTree returns a detached copy of the mounts at and below fd.
func cloneTree(fd int) (int, syscall.Errno) {
	const clone = 1
	return at(sysOpenTree, fd, "", clone|syscall.O_CLOEXEC|recursive|atEmpty)
}

// setAttr sets attributes of the mount fd and, if flags is recursive, of those below it. It becomes private: no mount
// comes from the host any more.
func setAttr(fd int, set uint64, flags uintptr) syscall.Errno { return changeAttr(fd, set, 0, flags) }

// changeAttr is setAttr that also clears attributes.
func changeAttr(fd int, set, clear uint64, flags uintptr) syscall.Errno {
	attr := struct{ set, clear, propagation, userns uint64 }{set: set, clear: clear, propagation: syscall.MS_PRIVATE}
	_, errno := at(sysMountSetattr, fd, "", atEmpty|flags, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
	runtime.KeepAlive(&attr)
	return errno
}

// attach mounts the detached tree at the place that the descriptor to is.
func attach(tree, to int) syscall.Errno {
	const fromEmpty, toEmpty = 4, 0x40
	none := cString("")
	_, _, errno := syscall.Syscall6(sysMoveMount, uintptr(tree), uintptr(unsafe.Pointer(none)), uintptr(to),
		uintptr(unsafe.Pointer(none)), fromEmpty|toEmpty, 0)
	runtime.KeepAlive(none)
	return errno
}

// newMount returns a detached mount of a new file system. Options are NAME=VALUE or NAME, separated by commas.
func newMount(kind, options string, attrs uintptr) (int, syscall.Errno) {
	const setFlag, setString, create, cloexec = 0, 1, 6, 1
	name := cString(kind)
	r, _, errno := syscall.Syscall(sysFsopen, uintptr(unsafe.Pointer(name)), cloexec, 0)
	runtime.KeepAlive(name)
	if errno != 0 {
		return -1, errno
	}
	fs := int(r)
	defer syscall.Close(fs)
	for key, value, rest, ok := option(options); ok; key, value, rest, ok = option(rest) {
		k, v, kind := cString(key), cString(value), uintptr(setString)
		if value == "" {
			v, kind = nil, setFlag
		}
		_, _, errno := syscall.Syscall6(sysFsconfig, uintptr(fs), kind, uintptr(unsafe.Pointer(k)), uintptr(unsafe.Pointer(v)), 0, 0)
		runtime.KeepAlive(k)
		runtime.KeepAlive(v)
		if errno != 0 {
			return -1, errno
		}
	}
	if _, errno := sys(sysFsconfig, uintptr(fs), create, 0, 0, 0); errno != 0 {
		return -1, errno
	}
	return sys(sysFsmount, uintptr(fs), cloexec, attrs)
}

// option cuts the first NAME=VALUE.
func option(s string) (key, value, rest string, ok bool) {
	if s == "" {
		return "", "", "", false
	}
	end := index(s, ',')
	if end == len(s) {
		rest = ""
	} else {
		rest = s[end+1:]
	}
	eq := index(s[:end], '=')
	if eq == end {
		return s[:end], "", rest, true
	}
	return s[:eq], s[eq+1 : end], rest, true
}

// index is where c is in s, its length where it is not. (Package strings would cost us our early start.)
func index(s string, c byte) int {
	for i := range len(s) {
		if s[i] == c {
			return i
		}
	}
	return len(s)
}
