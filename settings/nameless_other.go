//go:build !linux

package settings

import (
	"os"
	"syscall"
)

// createNameless works only on Linux: elsewhere a file has a name from its start.
func createNameless(string) (*os.File, error) { return nil, syscall.ENOSYS }

func nameFile(*os.File, string) error { return syscall.ENOSYS }
