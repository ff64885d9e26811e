package tree

import (
	"sync/atomic"

	"toolhost/agenttool"
)

// shortage records the first shortage of the machine during a refresh.
type shortage struct{ met atomic.Pointer[error] }

// note reports whether err is a shortage, and records it.
func (s *shortage) note(err error) bool {
	if err == nil || !agenttool.IsShortage(err) {
		return false
	}
	s.met.CompareAndSwap(nil, &err)
	return true
}

// cause returns the shortage, nil if there was none.
func (s *shortage) cause() error {
	if err := s.met.Load(); err != nil {
		return *err
	}
	return nil
}
