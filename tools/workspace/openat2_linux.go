package workspace

import "golang.org/x/sys/unix"

// pathOnly opens a path without access to its content.
const pathOnly = unix.O_PATH

// openat2 opens name without following links; with beneath, the kernel confines it below dirfd.
func openat2(dirfd int, name string, flags int, beneath bool) (int, error) {
	how := unix.OpenHow{Flags: uint64(flags) | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	if beneath {
		how.Resolve |= unix.RESOLVE_BENEATH
	}
	return unix.Openat2(dirfd, name, &how)
}
