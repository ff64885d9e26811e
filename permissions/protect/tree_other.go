//go:build !linux

package protect

import (
	"os"

	"golang.org/x/sys/unix"
)

// searchOnly opens a directory to look for names in it.
const searchOnly = unix.O_RDONLY

func openRoot(root string) (int, error) {
	return unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
}

func openBeneath(dir int, rel string, flags int) (int, error) { return openStepwise(dir, rel, flags) }

// list calls yield for each name in the open directory, until it returns false.
func list(fd int, _ []byte, yield func(name []byte, kind Kind) bool) error {
	again, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(again), "")
	defer dir.Close()
	for {
		names, err := dir.Readdirnames(512)
		for _, name := range names {
			if !yield([]byte(name), Absent) {
				return nil
			}
		}
		if err != nil || len(names) == 0 {
			return nil
		}
	}
}

// renameAside renames within the directory. Another name made at the same moment may be replaced.
func renameAside(dir int, from, to string) error {
	var stat unix.Stat_t
	if statAt(dir, to, &stat) == nil {
		return unix.EEXIST
	}
	return unix.Renameat(dir, from, dir, to)
}
