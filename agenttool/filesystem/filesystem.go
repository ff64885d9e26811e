// Package filesystem says what the file system of a directory can do, as far as toolhost needs it, and what is weaker where its state lies on
// one that cannot.
//
//	can, err := filesystem.Probe(state)
//	for _, line := range can.Weaker() { … }
package filesystem

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Order says in which order the changes of a file system come to its disk.
type Order uint8

// The orders.
const (
	AnyOrder  Order = iota // a change that is not synced may be missing, although later ones are there
	InOrder                // ext4 with a journal, XFS: a change of names, sizes and blocks is never there without those before it
	ByMoves                // btrfs: the same, but the removal of a name can be there before, unless the file was moved
	NeverKept              // tmpfs: nothing outlives the machine
)

// OrderOf is the order of the file system of an open file or place on a device.
func OrderOf(fd int, dev uint64) Order {
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil {
		return AnyOrder
	}
	switch uint32(fs.Type) {
	case unix.XFS_SUPER_MAGIC:
		return InOrder
	case unix.BTRFS_SUPER_MAGIC:
		return ByMoves
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC:
		return NeverKept
	case unix.EXT4_SUPER_MAGIC:
		if hasJournal(dev) {
			return InOrder
		}
	}
	return AnyOrder
}

// hasJournal reports whether an ext4 has a journal. The kernel lists journals by the names of their disks.
func hasJournal(dev uint64) bool {
	disk, err := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", unix.Major(dev), unix.Minor(dev)))
	if err != nil {
		return false
	}
	journals, err := filepath.Glob("/proc/fs/jbd2/" + filepath.Base(disk) + "-*")
	return err == nil && len(journals) > 0
}

// Sync waits until a file or directory is on the disk. Where the file system cannot do that it does nothing: [Probe] says so.
func Sync(f *os.File) error {
	err := f.Sync()
	if CannotSync(err) {
		return nil
	}
	return err
}

// CannotSync reports whether an error of a sync says that the file system cannot do that, and not that it failed.
func CannotSync(err error) bool {
	return errors.Is(err, unix.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}

// Abilities are what a file system can do. The zero value has none.
type Abilities struct {
	Kind  string // as the kernel names it: "ext4"
	Order Order

	SyncsFiles  bool
	SyncsNames  bool // of files, by their directory
	Links       bool // second names of files
	Symlinks    bool
	Replaces    bool // a file takes the name of another in one step
	Permissions bool // or those of all files keep other users out
	Attributes  bool // extended ones
	Locks       bool
}

// Complete reports, from the kind of the file system alone, whether the one of dir can do all that [Probe] tries. It costs one system call. The
// directory, or the deepest one above that is there, is looked at.
func Complete(dir string) bool {
	var fs unix.Statfs_t
	for unix.Statfs(dir, &fs) != nil {
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
	switch uint32(fs.Type) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, zfs:
		return true
	}
	return false
}

const zfs = 0x2fc12fc1 // not in package unix, as ZFS is not part of the kernel

// Probe tries what the file system of a directory can do, in a directory that it makes there and removes. It makes dir, too, if that is missing.
// The error says why nothing could be tried.
func Probe(dir string) (can Abilities, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return can, err
	}
	at, err := os.MkdirTemp(dir, ".probe-")
	if err != nil {
		return can, err
	}
	defer os.RemoveAll(at)
	d, err := os.Open(at)
	if err != nil {
		return can, err
	}
	defer d.Close()
	var st unix.Stat_t
	if err := unix.Fstat(int(d.Fd()), &st); err != nil {
		return can, err
	}
	can.Kind, can.Order = kind(at), OrderOf(int(d.Fd()), uint64(st.Dev))
	name, other := filepath.Join(at, "a"), filepath.Join(at, "b")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return can, err
	}
	defer f.Close()
	if _, err := f.WriteString("probe"); err != nil {
		return can, err
	}
	can.SyncsFiles = f.Sync() == nil
	can.SyncsNames = d.Sync() == nil
	can.Locks = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
	can.Attributes = unix.Fsetxattr(int(f.Fd()), "user.toolhost", []byte("1"), 0) == nil
	can.Symlinks = os.Symlink("a", filepath.Join(at, "link")) == nil
	if can.Links = os.Link(name, other) == nil; !can.Links {
		_ = os.WriteFile(other, nil, 0o600)
	}
	can.Permissions = OthersKeptOut(at) == nil && OthersKeptOut(name) == nil
	can.Replaces = os.WriteFile(filepath.Join(at, "c"), nil, 0o600) == nil && os.Rename(filepath.Join(at, "c"), other) == nil
	return can, nil
}

// OthersKeptOut makes sure that no other user can read a file or directory of this user's: by its permissions, or where the file system has none
// by those of a directory above. The error says what to do.
func OthersKeptOut(path string) error {
	const others = 0o077
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&others == 0 {
		return nil
	}
	changed := os.Chmod(path, info.Mode().Perm()&^others)
	if info, err = os.Lstat(path); err != nil || info.Mode().Perm()&others == 0 {
		return err
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if up, err := os.Stat(dir); err == nil && up.Mode().Perm()&0o011 == 0 {
			return nil
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	why := "its file system keeps no permissions"
	if changed != nil && !errors.Is(changed, unix.EPERM) {
		why = "its permissions cannot be changed: " + changed.Error()
	}
	return fmt.Errorf("other users can read %s, and %s: mount it so that only you can enter it (umask=077), or name another directory with XDG_STATE_HOME", path, why)
}

// Weaker returns a sentence for each guarantee that toolhost cannot give while its state lies on such a file system.
func (can Abilities) Weaker() (all []string) {
	for _, row := range []struct {
		can   bool
		words string
	}{
		{can.SyncsFiles, "it cannot sync files: a power cut can take records, outputs, copies and settings that an answer said were kept"},
		{can.SyncsNames || !can.SyncsFiles, "it cannot sync names: a power cut can take files that were made or renamed just before"},
		{can.Replaces, "no file can take the place of another in one step: settings and answers for ever cannot be changed"},
		{can.Locks, "it has no locks: no log can be kept, and calls that change something are refused"},
		{can.Permissions, "it keeps no permissions, and other users can read it: no log is kept, and calls that change something are refused, " +
			"until it is mounted so that only you can enter it (umask=077), or XDG_STATE_HOME names another directory"},
		{can.Links, "it has no hard links: a file that a command removes is copied for undo, which takes time and room"},
		{can.Symlinks, "it has no symbolic links: commands cannot make any in their /tmp"},
		{can.Attributes, "it has no extended attributes: commands see only the caches of their workspace, not yours below them"},
	} {
		if !row.can {
			all = append(all, row.words)
		}
	}
	return all
}

// Costs returns a sentence about what a safe order of writes costs on such a file system; "" if it costs nothing.
func (can Abilities) Costs() string {
	switch can.Order {
	case AnyOrder:
		return "the order in which it writes is not known: each file that a command removes or overwrites waits for the disk once"
	case NeverKept:
		return "it is in memory: logs, copies for undo and answers are gone with the machine"
	}
	return ""
}

// kind is the name of a file system's kind, of the mount that a directory is on.
func kind(dir string) string {
	var st unix.Statx_t
	mounts, err := os.Open("/proc/self/mountinfo")
	if err == nil {
		defer mounts.Close()
		err = unix.Statx(unix.AT_FDCWD, dir, 0, unix.STATX_MNT_ID, &st)
	}
	if err != nil {
		return "an unknown file system"
	}
	for lines := bufio.NewScanner(mounts); lines.Scan(); {
		head, tail, _ := strings.Cut(lines.Text(), " - ")
		id, _, _ := strings.Cut(head, " ")
		if name, _, _ := strings.Cut(tail, " "); id == strconv.FormatUint(st.Mnt_id, 10) && name != "" {
			return name
		}
	}
	return "an unknown file system"
}
