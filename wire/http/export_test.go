package http

import "net"

// Addr returns the address that is listened on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Close ends serving at once, without grace, and gives the port back.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	cut := s.cut
	s.mu.Unlock()
	if cut != nil {
		cut()
		<-s.ended
		return nil
	}
	if !first {
		return nil
	}
	return s.listener.Close()
}

// held is how many places are taken.
func (r *room) held() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}
