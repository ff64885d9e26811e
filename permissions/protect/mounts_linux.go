package protect

import (
	"slices"

	"golang.org/x/sys/unix"
)

// maxMountinfo is how much of the list of mounts is read, in bytes.
const maxMountinfo = 4 << 20

// farMounts returns where file systems are mounted that may never answer. Where that cannot be read there are none.
func farMounts() []string { return farIn(mountinfo()) }

// OtherNames returns the other paths under which the directories, or parts of them, are mounted.
func OtherNames(dirs []string) []string {
	return slices.DeleteFunc(otherNames(dirs, mountsIn(mountinfo())), func(file string) bool {
		var stat unix.Stat_t
		return systemPlace(file) || unix.Lstat(file, &stat) != nil
	})
}

// mountinfo returns the list of mounts, "" if it cannot be read.
func mountinfo() string {
	fd, err := unix.Open("/proc/self/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	text, err := readRegular(fd, maxMountinfo)
	if err != nil {
		return ""
	}
	return string(text)
}
