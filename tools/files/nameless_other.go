//go:build !linux

package files

import (
	"os"
	"syscall"

	"toolhost/tools/workspace"
)

// openNameless works only on Linux: elsewhere a file has a name from its start.
func openNameless(*workspace.Dir, os.FileMode) (*os.File, error) { return nil, syscall.ENOSYS }

func linkNameless(_, _ *os.File, _ string) error { return syscall.ENOSYS }
