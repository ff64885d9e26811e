//go:build !linux

package streams

import "os"

// Pollable returns stdin as it is: there is no /proc to open it anew from.
func Pollable(stdin *os.File) *os.File { return stdin }

// blocking returns f as it is, for the same reason.
func blocking(_ int, f *os.File) (*os.File, error) { return f, nil }
