package session

import (
	"toolhost/agenttool/filesystem"
	"toolhost/cmd/toolhost/internal/dirs"
)

// tellState says what is weaker in this session because of the file system that the state lies on. Most kinds of file systems can all that is asked
// of them, which costs one system call to know; what others can is tried, beside the first call.
func (s *Session) tellState() {
	state, err := dirs.State()
	if err != nil || s.Store.Path() == "" || filesystem.Complete(state) {
		return
	}
	done := make(chan struct{})
	if !s.atClose(func() error { <-done; return nil }) {
		return
	}
	go func() { // ends when the disk answers; the end of the session waits for that as for all of the disk
		defer close(done)
		can, err := filesystem.Probe(state)
		if err != nil {
			return // the log says more
		}
		for _, words := range can.Weaker() {
			message := state + " is on " + can.Kind + ": " + words
			s.live.report(message)
			s.Host.Warn(message)
			s.o.Log(message)
		}
	}()
}
