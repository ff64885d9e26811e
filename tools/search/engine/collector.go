package engine

import (
	"runtime/debug"
	"sync"
)

// collector relaxes the garbage collector while a first list grows. Otherwise the collector would run several times
// over data that all stays in use, which takes a fifth of the listing time. GC settings are per process, so this is a
// global.
var collector struct {
	sync.Mutex
	users, percent int
}

// gcPercent is the GC percentage meanwhile: the heap of a small host may grow by some 20 MiB.
const gcPercent = 500

// holdCollector relaxes the collector until release is called.
func holdCollector() (release func()) {
	c := &collector
	c.Lock()
	defer c.Unlock()
	if c.users++; c.users == 1 {
		c.percent = debug.SetGCPercent(gcPercent)
	}
	return func() {
		c.Lock()
		defer c.Unlock()
		if c.users--; c.users == 0 {
			debug.SetGCPercent(c.percent)
		}
	}
}
