//go:build !linux

package shell

import "os"

// holders finds nobody: there is no cheap way to ask who has a pipe open.
func holders([]*os.File, int) []holder { return nil }
