//go:build !amd64

package literal

// wide is false: this processor has no scan with wide registers.
const wide = false

func scanWide(*byte, int, *pair) (int, uint64) { panic("literal: no wide registers") }

func scanCrowd(*byte, int, *crowd) (int, uint64) { panic("literal: no wide registers") }
