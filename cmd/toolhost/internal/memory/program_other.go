//go:build !linux

package memory

// ForgetProgram does nothing on this system.
func ForgetProgram() {}
