package keep

import "golang.org/x/sys/unix"

// identity tells a file apart from all that were there before and will come: the number of an inode goes to a new file when the old one is
// gone.
type identity struct {
	inode
	born   unix.StatxTimestamp // when the inode was made
	handle string              // of a file system that does not know when: the inode with its generation, as NFS servers name files
}

// identityOf is the identity of an open file or place. known is false if the file system tells nothing but the number.
func identityOf(file int, st *unix.Stat_t) (id identity, known bool) {
	id.inode = inode{uint64(st.Dev), st.Ino}
	var stx unix.Statx_t
	if unix.Statx(file, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, unix.STATX_BTIME, &stx) == nil && stx.Mask&unix.STATX_BTIME != 0 {
		id.born = stx.Btime
		return id, true
	}
	handle, _, err := unix.NameToHandleAt(file, "", unix.AT_EMPTY_PATH)
	if err != nil {
		return id, false
	}
	id.handle = string(handle.Bytes())
	return id, true
}
