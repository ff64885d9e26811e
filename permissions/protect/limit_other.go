//go:build !linux

package protect

import "golang.org/x/sys/unix"

// rusageThread counts all threads: these systems report no usage of a single thread.
const rusageThread = unix.RUSAGE_SELF
