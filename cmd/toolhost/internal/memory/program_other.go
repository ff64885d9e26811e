//go:build !linux

package memory

// ForgetProgram does nothing on this system.
func ForgetProgram() {}

// MapSingly does nothing on this system.
func MapSingly() error { return nil }
