//go:build !amd64

package files

// hasWide is false: this processor has no tallyWide.
const hasWide = false

func tallyWide(*byte, int) (int, uint32, uint32, uint32) { panic("files: no wide registers") }
