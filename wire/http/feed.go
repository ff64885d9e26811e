package http

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/host"
)

// feed queues events for one client: most bytes, and one event more. It drops all events after that, so that the queue has
// no gap.
type feed struct {
	most  int
	ready chan struct{} // has one when there is something to take

	mu   sync.Mutex
	kept []byte
	full bool
}

func newFeed(most int) *feed {
	return &feed{most: most, ready: make(chan struct{}, 1)}
}

// tell keeps an event. The host calls it, in order, and does not wait.
func (f *feed) tell(e host.Notice) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.full:
		return
	case len(f.kept) >= f.most:
		f.full = true
	default:
		f.kept = appendEvent(f.kept, e.Seq, e.Type, e.Event)
	}
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

// take returns the queued events, and whether later ones were dropped.
func (f *feed) take() (events []byte, full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	events, f.kept = f.kept, nil
	return events, f.full
}

// appendEvent writes an event as a stream has it.
func appendEvent(b []byte, seq int64, t agenttool.EventType, event []byte) []byte {
	if strings.ContainsAny(string(t), "\r\n") {
		return b
	}
	if bytes.ContainsAny(event, "\r\n") { // the journal has a line for each, so this is for safety
		var line bytes.Buffer
		if json.Compact(&line, event) != nil {
			return b
		}
		event = line.Bytes()
	}
	b = append(b, "id: "...)
	b = strconv.AppendInt(b, seq, 10)
	b = append(b, "\nevent: "...)
	b = append(b, t...)
	b = append(b, "\ndata: "...)
	b = append(b, event...)
	return append(b, "\n\n"...)
}
