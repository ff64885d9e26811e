//go:build linux && !amd64

package proc

// oldKindOf handles none: this architecture has only the newer calls.
func oldKindOf(int64) kind { return other }
