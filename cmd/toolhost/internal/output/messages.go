package output

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/streams"
)

// Stderr is where every command says what happened, and what went wrong. What a terminal would act on, or would not show, is visible in it: a
// message may name files of strangers. Each write is a whole message. A write succeeds without the message being written where nobody reads
// stderr, such as a pipe that is full: see [Flush].
func Stderr() io.Writer { return stderr() }

// Flush waits until the messages to [Stderr] are written: a second at most where nobody reads it, and five where a busy machine keeps this
// process from writing. It is for the end of the process.
func Flush() { stderr().flush(time.Second) }

// stderr has the messages of the process.
var stderr = sync.OnceValue(func() *messages {
	s := streams.Steady{File: os.Stderr}
	m := newMessages(s)
	m.takes = s.Takes
	return m
})

// messages writes to a stream that may have no reader, and keeps nobody waiting for one. It queues what cannot be written yet, leaves out
// what the queue has no room for, and says how many messages that were.
type messages struct {
	to    io.Writer
	takes func() bool // whether the stream has room now; nil: that is not known

	mu      sync.Mutex
	waiting []said
	size    int  // bytes of them
	writing bool // a goroutine writes them
	late    bool // a writer has waited in vain since the queue was last empty
	leftOut int
}

// said is one message.
type said struct {
	text []byte
	over chan struct{} // closed when it is written, or cannot be
}

// Limits of the messages.
const (
	maxUnread    = 64 << 10              // bytes that wait
	turnPatience = 50 * time.Millisecond // for a message to be written, so that it stands before what its writer prints elsewhere afterwards
)

func newMessages(to io.Writer) *messages { return &messages{to: to} }

// Write takes a whole message.
func (m *messages) Write(text []byte) (int, error) {
	m.mu.Lock()
	shown := []byte(visible.Message(string(text)))
	if m.size > 0 && m.size+len(shown) > maxUnread {
		m.leftOut++
		m.mu.Unlock()
		return len(text), nil
	}
	m.countLeftOutLocked()
	over := m.addLocked(shown)
	late := m.late
	m.mu.Unlock()
	if late {
		return len(text), nil
	}
	select {
	case <-over:
	case <-time.After(turnPatience):
		m.mu.Lock()
		m.late = m.size > 0
		m.mu.Unlock()
	}
	return len(text), nil
}

// addLocked queues a message, and has the queue written.
func (m *messages) addLocked(text []byte) (over chan struct{}) {
	over = make(chan struct{})
	m.waiting = append(m.waiting, said{text, over})
	m.size += len(text)
	if !m.writing {
		m.writing = true
		go m.drain() // ends with the queue; the end of the process waits for it in flush
	}
	return over
}

// countLeftOutLocked queues how many messages are left out at this place.
func (m *messages) countLeftOutLocked() {
	if m.leftOut > 0 {
		text := fmt.Sprintf("toolhost: %s left out here, since nobody read stderr\n", Count(m.leftOut, "message"))
		m.leftOut = 0
		m.addLocked([]byte(text))
	}
}

// drain writes what waits.
func (m *messages) drain() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.waiting) > 0 {
		next := m.waiting[0]
		m.mu.Unlock()
		_, _ = m.to.Write(next.text) // there is no other place to say that it failed
		m.mu.Lock()
		close(next.over)
		m.waiting = slices.Delete(m.waiting, 0, 1)
		if m.size -= len(next.text); m.size == 0 {
			m.late = false
			m.countLeftOutLocked()
		}
	}
	m.writing = false
}

// flush waits until nothing waits any more, for a limited time, and for a few times that while the stream has room: then only this process is
// late.
func (m *messages) flush(patience time.Duration) {
	limit := time.After(patience)
	for more := 4; ; {
		m.mu.Lock()
		if len(m.waiting) == 0 {
			m.mu.Unlock()
			return
		}
		over := m.waiting[len(m.waiting)-1].over
		m.mu.Unlock()
		select {
		case <-over:
		case <-limit:
			if more == 0 || m.takes == nil || !m.takes() {
				return
			}
			more--
			limit = time.After(patience)
		}
	}
}
