package job

import (
	"sync"

	"toolhost/tools/job/output"
)

// Cursor is the position for readings of a job's output without a cursor of their own. It is safe for concurrent use.
type Cursor struct {
	log *output.Log

	mu     sync.Mutex
	at     int64
	readOn bool // [Cursor.ReadOn] moved it
}

// Advance records that the output was read up to a cursor.
func (c *Cursor) Advance(to int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = max(c.at, to)
}

// At returns the start of the next reading.
func (c *Cursor) At() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// ReadOn reads a page at the cursor. Each byte is read once, even with several readers.
func (c *Cursor) ReadOn(r output.Request) output.Page {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.From = c.at
	page := c.log.Read(r)
	c.at, c.readOn = page.Next, true
	return page
}

// Unmatched returns the start of a search without a cursor. Until the first ReadOn that is the beginning, since the
// result of the command itself may contain the match.
func (c *Cursor) Unmatched() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.readOn {
		return 0
	}
	return c.at
}
