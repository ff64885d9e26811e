//go:build !linux

// Package caller looks at the process at the other end of a socket.
package caller

// Suspect says why a process cannot act for the person. On this system nothing is known.
func Suspect(int) string { return "" }

// Terminal names the controlling terminal of a process, which is not known here.
func Terminal(int) string { return "" }
