package mcp

import (
	"context"
	"sync"
	"time"
)

// streamKey is the key under which the context of a stream's requests has the stream; over HTTP there is none.
type streamKey struct{}

func withStream(ctx context.Context, st *Stream) context.Context {
	return context.WithValue(ctx, streamKey{}, st)
}

// waitRoom waits until the client of a request has read enough for another result; over HTTP none waits here.
func waitRoom(ctx context.Context) {
	if st, ok := ctx.Value(streamKey{}).(*Stream); ok {
		st.o.Room()
	}
}

// start is a call on its way from the line to the host.
type start struct {
	stream *Stream
	once   sync.Once
	begun  bool
}

type startKey struct{}

// starting returns the context of a call of the stream, and a function that ends the call. It does not count calls over HTTP.
func starting(ctx context.Context) (context.Context, func()) {
	st, ok := ctx.Value(streamKey{}).(*Stream)
	if !ok {
		return ctx, func() {}
	}
	s := &start{stream: st}
	return context.WithValue(ctx, startKey{}, s), func() {
		if s.begun {
			st.begun.Add(-1)
		}
	}
}

// hasBegun says that the host has the call now, or has refused it.
func hasBegun(ctx context.Context) {
	if s, ok := ctx.Value(startKey{}).(*start); ok {
		s.once.Do(func() { s.begun = true; s.stream.begun.Add(1) })
		s.stream.admission.begun()
	}
}

// Settle waits until every call that was received has begun in the host, or is answered: a host that drains takes no more.
// It returns soon after ctx ends, or when calls do not begin.
func (st *Stream) Settle(ctx context.Context) {
	limit := time.NewTimer(settleTime)
	defer limit.Stop()
	again := time.NewTicker(settlePause)
	defer again.Stop()
	for left := st.unbegun(); left > 0; {
		select {
		case <-again.C:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
		now := st.unbegun()
		if now < left {
			limit.Reset(settleTime) // on a busy machine it takes its time
		}
		left = now
	}
}

// unbegun is how many calls were received that have neither begun nor been answered.
func (st *Stream) unbegun() int64 {
	return int64(st.requests.unanswered(methodCall)) - st.begun.Load()
}
