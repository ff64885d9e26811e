package watch

import "golang.org/x/sys/unix"

const zfs = 0x2fc12fc1 // ZFS has no constant in the package unix, as it is not part of the kernel

// Trusted reports whether the open file fd is on a file system all of whose changes pass through this kernel, so that
// they are events: ext2 to ext4, XFS, Btrfs, F2FS, tmpfs, ZFS and overlays. An overlay tells of what is changed
// through itself; changing its layers below it is forbidden while it is mounted. On network file systems, on FUSE, 9p
// and virtiofs others can make changes that this kernel does not see; these, and all that are not known, are not
// trusted. Each mount below a directory must be asked about on its own.
func Trusted(fd int) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil {
		return false
	}
	switch uint32(st.Type) { // the field is wider, or signed, on some machines
	case unix.EXT4_SUPER_MAGIC, // of ext2 and ext3 too
		unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, zfs:
		return true
	}
	return false
}
