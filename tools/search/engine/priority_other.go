//go:build !linux

package engine

// lowerPriority does nothing where priorities apply to processes.
func lowerPriority() {}
