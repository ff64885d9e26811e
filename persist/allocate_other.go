//go:build !linux

package persist

import "os"

// allocate works only on Linux: elsewhere no space is reserved.
func allocate(*os.File, int64, int64) error { return errNoAllocate }

// startWriting does nothing.
func startWriting(*os.File) {}
