package mcp

import "time"

// Bounds of the ended calls that are kept for clients with a question about them: time, number and bytes of results.
const (
	keptFor   = 10 * time.Minute
	maxKept   = 256
	maxKeptAt = 16 << 20
)

// endedFlight is a call that has ended, for a client that brings its state back.
type endedFlight struct {
	flight *flight
	until  time.Time
	bytes  int
}

// hand notes that the client was given a state of the call, so that it is kept when it ends. It reports whether the call
// has not ended yet.
func (f *flights) hand(one *flight) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.handed = true
	return f.all[one.id] == one && !one.over()
}

// keep adds a call that has ended. The oldest make room for it. f.mu is held.
func (f *flights) keep(one *flight) {
	now := time.Now()
	k := endedFlight{flight: one, until: now.Add(keptFor), bytes: one.size()}
	f.kept, f.bytes = append(f.kept, k), f.bytes+k.bytes
	f.trim(now)
}

// trim forgets calls that were kept long enough, and the oldest of too many. f.mu is held.
func (f *flights) trim(now time.Time) {
	n := 0
	for n < len(f.kept) && (now.After(f.kept[n].until) || len(f.kept)-n > maxKept || f.bytes > maxKeptAt && len(f.kept)-n > 1) {
		f.bytes -= f.kept[n].bytes
		delete(f.all, f.kept[n].flight.id)
		n++
	}
	f.kept = append(f.kept[:0:0], f.kept[n:]...)
}
