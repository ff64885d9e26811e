package engine

import (
	"runtime/debug"
	"sync"
)

// collector holds the garbage collector back while a first list grows: it would run several times over what all stays, a
// fifth of the time of a listing. It is one for the process, and so is this.
var collector struct {
	sync.Mutex
	users, percent int
}

// patience is the percentage by which memory may grow meanwhile: some 20 MiB from a small host's.
const patience = 500

// holdCollector holds the collector back until release is called.
func holdCollector() (release func()) {
	c := &collector
	c.Lock()
	defer c.Unlock()
	if c.users++; c.users == 1 {
		c.percent = debug.SetGCPercent(patience)
	}
	return func() {
		c.Lock()
		defer c.Unlock()
		if c.users--; c.users == 0 {
			debug.SetGCPercent(c.percent)
		}
	}
}
