package protect

import (
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
)

// maxMountinfo is how much of the list of mounts is read, in bytes.
const maxMountinfo = 4 << 20

// farMounts returns the mount points of file systems that may never answer. The error says why the list of mounts cannot be read.
func farMounts() ([]string, error) {
	text, err := mountinfo("self")
	return farIn(text), err
}

// OtherNames returns the other paths under which the directories, or parts of them, are mounted.
//
// It fails only if the machine is short of something.
func OtherNames(dirs []string) ([]string, error) {
	text, err := mountinfo("self")
	if agenttool.IsShortage(err) {
		return nil, err
	}
	return slices.DeleteFunc(otherNames(dirs, mountsIn(text)), func(file string) bool {
		var stat unix.Stat_t
		return systemPlace(file) || unix.Lstat(file, &stat) != nil
	}), nil
}

// Mounts are those that a process sees.
type Mounts struct {
	text string
	all  []mountPoint
}

// MountsOf returns the mounts of a process. It reports whether they can be read: those of a process that has ended cannot.
func MountsOf(pid int) (Mounts, bool) {
	text, err := mountinfo(strconv.Itoa(pid))
	return Mounts{text, mountsIn(text)}, err == nil && text != ""
}

// Same reports whether two processes live among the same mounts.
func (m Mounts) Same(other Mounts) bool { return m.text == other.text }

// Changes reports whether a process with these mounts may, if nothing else keeps it, change a directory that this process, which has the
// mounts ours, knows by a path without links; if below is set, also whether it may change one below that directory.
func (m Mounts) Changes(ours Mounts, dir string, below bool) bool {
	home, place := placeOf(dir, ours.all)
	return slices.ContainsFunc(m.all, func(m mountPoint) bool {
		return m.writable && m.device == home.device && (agenttool.Within(m.root, place) || below && agenttool.Within(place, m.root))
	})
}

// mountinfo returns the list of mounts of a process.
func mountinfo(process string) (string, error) {
	fd, err := unix.Open("/proc/"+process+"/mountinfo", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	text, err := readRegular(fd, maxMountinfo)
	if err != nil {
		return "", err
	}
	return string(text), nil
}
