package protect

import (
	"golang.org/x/sys/unix"
)

// stamp is the state of a protected place when a Map was made.
type stamp struct {
	path  string
	kind  Kind
	id    identity
	ctime unix.Timespec // of directories where new names matter, else zero
}

// maxStamps bounds what is looked at before each use of a Map. Only names that do not exist are left out.
const maxStamps = 1024
