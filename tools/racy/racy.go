// Package racy detects file timestamps that are too recent to prove that a file is unchanged.
//
// A cache compares a file's times with the recorded ones to see whether the file changed. The times can be equal
// although the file changed: the clock of a file system ticks, and a change within the same tick leaves the same
// timestamp.
package racy

import "time"

const (
	Window = 20 * time.Millisecond  // how long a timestamp proves nothing; a coarse kernel clock ticks every 1 to 10 ms
	Coarse = 2*time.Second + Window // the same for a stamp without a fraction of a second
	second = int64(time.Second)
)

// At reports whether a change after now could leave one of the timestamps unchanged, in nanoseconds since 1970. A
// timestamp in whole seconds may come from a file system that keeps only seconds, or even seconds like FAT: it is
// racy for Coarse instead of Window. With a fine clock one in 10⁹ timestamps is whole. A timestamp in the future is
// racy until its time has come.
func At(now time.Time, stamps ...int64) bool {
	for _, s := range stamps {
		window := Window
		if s%second == 0 {
			window = Coarse
		}
		if s > now.Add(-window).UnixNano() {
			return true
		}
	}
	return false
}
