package shell

import (
	"bytes"
	"io"
	"sync"

	"toolhost/agenttool"
)

// inlineBytes is how much of a stream is held in memory as it came. A stream that is longer goes to a payload, from
// its first byte on.
const inlineBytes = 32 << 10

// capture keeps what one stream of a command says: its text for the model within fixed bounds, and every byte in a
// payload once it is more than what is held.
type capture struct {
	name string
	open func(name, mediaType string) (agenttool.Payload, error)

	// Only the stream's reader touches these, so that a slow disk holds up nobody else.
	raw     []byte // every byte so far, until there is a payload
	payload agenttool.Payload
	lost    error // why not every byte is in the payload

	mu    sync.Mutex
	clean cleaner
	text  kept
	bytes int64 // raw
}

func newCapture(name string, r agenttool.Reporter) *capture {
	c := &capture{name: name, open: r.Payload}
	c.clean.sink = c.text.write
	return c
}

// Write never fails: what cannot be stored is still cut and counted in memory.
func (c *capture) Write(p []byte) (int, error) {
	c.store(p)
	c.mu.Lock()
	c.bytes += int64(len(p))
	c.clean.write(p)
	c.mu.Unlock()
	return len(p), nil
}

// store holds the bytes of p or passes them on to the payload.
func (c *capture) store(p []byte) {
	switch {
	case c.lost != nil:
	case c.payload != nil:
		c.append(p)
	case len(c.raw)+len(p) <= inlineBytes:
		c.raw = append(c.raw, p...)
	default:
		c.spill()
		c.append(p)
	}
}

// spill opens the payload and moves what is held to it.
func (c *capture) spill() {
	if c.payload != nil || c.lost != nil {
		return
	}
	payload, err := c.open(c.name, "text/plain; charset=utf-8")
	if err != nil {
		c.lost = err
	} else {
		c.payload = payload
		c.append(c.raw)
	}
	c.raw = nil
}

func (c *capture) append(p []byte) {
	if c.lost != nil {
		return
	}
	if n, err := c.payload.Write(p); err != nil {
		c.lost = err
	} else if n < len(p) {
		c.lost = io.ErrShortWrite
	}
}

// seal ends the stream. The text is complete after it.
func (c *capture) seal() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clean.close()
}

// ref closes the payload. It returns nil when there is none or when it does not hold every byte.
func (c *capture) ref() *agenttool.Ref {
	if c.payload == nil {
		return nil
	}
	ref, err := c.payload.Close()
	if c.lost == nil {
		c.lost = err
	}
	c.payload = nil
	if c.lost != nil {
		return nil
	}
	ref.Relation = c.name
	return &ref
}

// glimpse is what a progress report says of a stream.
type glimpse struct {
	bytes, lines int64
	last         string // the last line that is not blank, as far as it is known
}

func (c *capture) glimpse() glimpse {
	c.mu.Lock()
	defer c.mu.Unlock()
	g := glimpse{bytes: c.bytes, lines: c.text.lines}
	end := c.text.head
	if len(c.text.tail) > 0 {
		end = c.text.end()
	}
	for _, p := range [][]byte{c.clean.line, end} {
		if p = bytes.TrimSpace(p); len(p) > 0 {
			g.last = string(bytes.ToValidUTF8(p[bytes.LastIndexByte(p, '\n')+1:], nil))
			break
		}
	}
	return g
}
