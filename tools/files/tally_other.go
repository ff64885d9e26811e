//go:build !amd64

package files

// hasWide says that there is no tallyWide for this processor.
const hasWide = false

func tallyWide(*byte, int) (int, uint32, uint32, uint32) { panic("files: no wide registers") }
