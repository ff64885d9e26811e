package protect

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// wallFactor is how much longer than its limit a pass may take by the clock: a pass must not find less on a busy machine, since
// another process could keep the machine busy on purpose.
const wallFactor = 20

// bounded runs a pass under a limit of its own, of processor time. The pass asks its context often whether it is over.
func bounded(ctx context.Context, limit time.Duration, pass func(context.Context)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(ctx, wallFactor*limit)
	defer cancel()
	pass(&spending{Context: ctx, limit: threadTime() + limit})
}

// spending is a context that is over when the thread has spent its time.
type spending struct {
	context.Context
	limit time.Duration
}

// Err says whether it is over.
func (s *spending) Err() error {
	if threadTime() > s.limit {
		return context.DeadlineExceeded
	}
	return s.Context.Err()
}

// threadTime is the processor time that the calling thread has used.
func threadTime() time.Duration {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &used) != nil {
		return 0 // the clock still counts
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
