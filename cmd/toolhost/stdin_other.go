//go:build !linux

package main

import "os"

// pollable returns stdin as it is: there is no /proc to open it anew from.
func pollable(stdin *os.File) *os.File { return stdin }
