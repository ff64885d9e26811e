//go:build !linux

package protect

// farMounts is known on Linux only.
func farMounts() []string { return nil }

// OtherNames is known on Linux only.
func OtherNames([]string) []string { return nil }
