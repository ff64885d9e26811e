//go:build !linux

package main

import "os"

// pollable returns stdin as it is: there is no /proc to open it anew from.
func pollable(stdin *os.File) *os.File { return stdin }

// blocking returns f as it is, for the same reason.
func blocking(_ int, f *os.File) (*os.File, error) { return f, nil }
