//go:build !linux

package workspace

import (
	"os"
	"syscall"
)

// pathOnly is unused without openat2.
const pathOnly = 0

// openat2 works only on Linux: elsewhere components are opened one by one.
func openat2(int, string, int, bool) (int, error) { return -1, syscall.ENOSYS }

// inMemory needs Linux.
func inMemory(string, []byte) (*os.File, error) { return nil, syscall.ENOSYS }
