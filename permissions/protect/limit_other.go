//go:build !linux

package protect

import "golang.org/x/sys/unix"

// rusageThread counts all threads: elsewhere one alone cannot be asked for.
const rusageThread = unix.RUSAGE_SELF
