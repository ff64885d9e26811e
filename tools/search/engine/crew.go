package engine

import (
	"context"
	"sync"
)

// crew is goroutines that one waits for. A panic in one of them ends the others and is that of who waits: it costs a call,
// and not the host.
type crew struct {
	group sync.WaitGroup
	stop  context.CancelFunc
	once  sync.Once
	fault any // nil: there was none
}

func (c *crew) start(work func()) {
	c.group.Go(func() {
		defer func() {
			if fault := recover(); fault != nil {
				c.once.Do(func() { c.fault = fault })
				c.stop()
			}
		}()
		work()
	})
}

// wait waits for all.
func (c *crew) wait() {
	c.stop()
	c.group.Wait()
	if c.fault != nil {
		panic(c.fault)
	}
}
