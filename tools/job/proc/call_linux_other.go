//go:build linux && !amd64

package proc

// oldKindOf knows none: this machine has only the newer calls.
func oldKindOf(int64) kind { return other }
