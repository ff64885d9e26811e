//go:build !linux

package watch

import "errors"

// Watcher is not available on this system.
type Watcher struct{}

// New fails with errors.ErrUnsupported.
func New() (*Watcher, error) { return nil, errors.ErrUnsupported }

// Add fails with errors.ErrUnsupported.
func (w *Watcher) Add(int) (ID, error) { return 0, errors.ErrUnsupported }

// Remove does nothing.
func (w *Watcher) Remove(ID) {}

// Drain fails with errors.ErrUnsupported.
func (w *Watcher) Drain(func(Event)) error { return errors.ErrUnsupported }

// Close does nothing.
func (w *Watcher) Close() {}

// Trusted returns false: no file system is.
func Trusted(int) bool { return false }
