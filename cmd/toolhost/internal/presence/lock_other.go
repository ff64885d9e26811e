//go:build !linux

package presence

import "golang.org/x/sys/unix"

const (
	query = unix.F_GETLK
	set   = unix.F_SETLK
)
