package scheduler

import "context"

// Acquire waits until the call described by r may run, and returns the function that ends it.
func (s *Scheduler) Acquire(ctx context.Context, r Request) (release func(), err error) {
	t := s.Enqueue(r)
	if err := t.Wait(ctx); err != nil {
		return nil, err
	}
	return t.Release, nil
}

// Snapshot returns how many calls hold a slot and how many wait for one.
func (s *Scheduler) Snapshot() (running, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.running), len(s.queue)
}
