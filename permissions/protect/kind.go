package protect

import "golang.org/x/sys/unix"

// Kind is the type of a directory entry.
type Kind uint8

// The kinds. The zero value is that there is nothing.
const (
	Absent Kind = iota
	File
	Dir
	Symlink
	Other // socket, device, pipe
)

func kindOf(stat *unix.Stat_t) Kind {
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return File
	case unix.S_IFDIR:
		return Dir
	case unix.S_IFLNK:
		return Symlink
	}
	return Other
}

// identity is a file, whatever its name.
type identity struct{ dev, ino uint64 }

func identityOf(stat *unix.Stat_t) identity {
	return identity{uint64(stat.Dev), stat.Ino} //nolint:unconvert // Dev is int32 elsewhere
}

// stamp is the state of a protected place when a Map was made.
type stamp struct {
	path  string
	kind  Kind
	id    identity
	ctime unix.Timespec // of directories where new names matter, else zero
}
