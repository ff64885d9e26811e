//go:build !amd64

package literal

// wide says that there is no scan by wide registers for this processor.
const wide = false

func scanWide(*byte, int, *pair) (int, uint64) { panic("literal: no wide registers") }

func scanCrowd(*byte, int, *crowd) (int, uint64) { panic("literal: no wide registers") }
