package watch

import "golang.org/x/sys/unix"

const zfs = 0x2fc12fc1 // not in package unix, as ZFS is not part of the kernel

// Trusted reports whether the kernel reports all changes of the file system of the open file fd: ext2 to ext4, XFS,
// Btrfs, F2FS, tmpfs, ZFS and overlays. An overlay reports changes through itself; its layers must not be changed
// while it is mounted. On network file systems, FUSE, 9p and virtiofs other machines can make changes that this
// kernel does not see. These and all unknown file systems are not trusted. Each mount below a directory must be
// checked separately.
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
