package engine

import (
	"context"
	"sync"
)

// workerGroup runs goroutines and waits for them. A panic in one stops the others and is raised again in wait, so
// that it fails one call and not the host.
type workerGroup struct {
	group sync.WaitGroup
	stop  context.CancelFunc
	once  sync.Once
	fault any // nil: no panic
}

func (c *workerGroup) start(work func()) {
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

// wait waits for all workers.
func (c *workerGroup) wait() {
	c.stop()
	c.group.Wait()
	if c.fault != nil {
		panic(c.fault)
	}
}
