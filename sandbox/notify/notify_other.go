//go:build !linux

package notify

import "errors"

// Listener serves one filter; there is none on this system.
type Listener struct{}

// target would be the file of a call; this system has none.
type target struct{}

// Serve fails with errors.ErrUnsupported.
func Serve(int, Judges) (*Listener, error) { return nil, errors.ErrUnsupported }

// Close does nothing.
func (l *Listener) Close() error { return nil }

// Program returns "".
func (a Attempt) Program() string { return "" }
