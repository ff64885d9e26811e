package scheduler_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"toolhost/scheduler"
)

// A ticket keeps its place in the line whether somebody waits for it yet or not.
func TestTicketKeepsItsPlace(t *testing.T) {
	s := scheduler.New(0)
	first := s.Enqueue(scheduler.Request{Locks: write("/w/f")})
	second := s.Enqueue(scheduler.Request{Locks: write("/w/f")})
	third := s.Enqueue(scheduler.Request{Locks: read("/w/f")})
	want := func(a, b, c bool) {
		t.Helper()
		if first.Started() != a || second.Started() != b || third.Started() != c {
			t.Errorf("started: %v %v %v, want %v %v %v", first.Started(), second.Started(), third.Started(), a, b, c)
		}
	}
	want(true, false, false)
	first.Release()
	want(false, true, false)
	if err := second.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	second.Release()
	want(false, false, true)
}

func TestReleaseOfAWaitingTicketFreesThePlace(t *testing.T) {
	s := scheduler.New(0)
	s.Enqueue(scheduler.Request{Locks: read("/w/f")})
	writer := s.Enqueue(scheduler.Request{Locks: write("/w/f")})
	reader := s.Enqueue(scheduler.Request{Locks: read("/w/f")})
	writer.Release()
	writer.Release()
	if !reader.Started() {
		t.Error("the reader waits for a writer that gave up")
	}
	if running, waiting := s.Snapshot(); running != 2 || waiting != 0 {
		t.Errorf("%d running, %d waiting", running, waiting)
	}
}

// Who waits for a ticket that another releases is told so: it neither hangs nor runs without a slot.
func TestWaitForAReleasedTicket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := scheduler.New(1)
		running := s.Enqueue(scheduler.Request{})
		waiting := s.Enqueue(scheduler.Request{})
		got := make(chan error, 1)
		go func() { got <- waiting.Wait(t.Context()) }()
		synctest.Wait()
		waiting.Release()
		synctest.Wait()
		select {
		case err := <-got:
			if !errors.Is(err, scheduler.ErrReleased) {
				t.Errorf("released while waiting: %v", err)
			}
		default:
			t.Error("Wait hangs on a ticket that was released")
		}
		running.Release()
		if err := running.Wait(t.Context()); !errors.Is(err, scheduler.ErrReleased) {
			t.Errorf("released while running: %v", err)
		}
	})
}

// A cancelled call does not run, though its turn had come.
func TestWaitWithAnEndedContext(t *testing.T) {
	reason := errors.New("the person pressed escape")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	s := scheduler.New(1)
	ticket := s.Enqueue(scheduler.Request{})
	if !ticket.Started() {
		t.Fatal("the first call has to wait")
	}
	if err := ticket.Wait(ctx); !errors.Is(err, reason) {
		t.Errorf("got %v, want %v", err, reason)
	}
	if running, waiting := s.Snapshot(); running+waiting != 0 {
		t.Errorf("%d running, %d waiting: the slot is lost", running, waiting)
	}
}
