// Package racy says which time stamps of files prove nothing yet.
//
// Who keeps something about a file asks later whether the file's times are still what they were. They can be although
// the file changed in between: a file system's clock ticks, and a change in the same tick leaves the same stamp.
package racy

import "time"

const (
	Window = 20 * time.Millisecond  // how long a stamp proves nothing; a coarse kernel clock ticks every 1 to 10 ms
	Coarse = 2*time.Second + Window // the same for a stamp without a fraction of a second
	second = int64(time.Second)
)

// At reports whether a change after now could leave one of the stamps as it is, in nanoseconds since 1970. Where a file
// system keeps seconds, or as FAT even seconds, all stamps are whole: a whole one has Coarse to pass. On a fine clock
// one in 10⁹ is whole. A stamp of the future is racy until its time has come.
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
