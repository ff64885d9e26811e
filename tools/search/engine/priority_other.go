//go:build !linux

package engine

// lowerPriority does nothing where priorities are those of processes.
func lowerPriority() {}
