//go:build !linux

package protect

// farMounts is known on Linux only.
func farMounts() ([]string, error) { return nil, nil }

// OtherNames is known on Linux only.
func OtherNames([]string) ([]string, error) { return nil, nil }
