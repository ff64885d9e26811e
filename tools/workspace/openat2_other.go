//go:build !linux

package workspace

import "syscall"

// pathOnly is of no use without openat2.
const pathOnly = 0

// openat2 is Linux's own: elsewhere each component is opened by itself.
func openat2(int, string, int, bool) (int, error) { return -1, syscall.ENOSYS }
