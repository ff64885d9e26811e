package native

import (
	"encoding/json"
	"slices"

	"toolhost/wire/stdio"
)

// Forward is an address of the machine that leads to a port of a job.
type Forward interface {
	Address() string
	Port() int
	Done() <-chan struct{} // closed when it has ended
	Close() error
}

// forward makes a port of a job reachable on the machine's loopback, on the word of the person, until their connection ends.
func (f *Family) forward(id json.RawMessage, p struct {
	Job  string `json:"job"`
	Port int    `json:"port"`
	As   int    `json:"as"`
}) error {
	person := f.o.Person
	switch {
	case person == nil || person.Forward == nil:
		return stdio.Errorf(stdio.CodeInvalidParams, "a client cannot forward ports, because only the user may: run toolhost jobs forward in a terminal")
	case !f.vetted.May:
		return stdio.Errorf(stdio.CodeInvalidParams, "no word is taken from here: %s", f.vetted.Why)
	case p.Port < 0 || p.Port > 65535 || p.As < 0 || p.As > 65535:
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: a port is a number from 1 to 65535")
	}
	f.slow.Go(func() { // it looks at the processes of the job
		forward, err := person.Forward(p.Job, p.Port, p.As)
		if err != nil {
			f.fail(id, err)
			return
		}
		f.mu.Lock()
		left := f.left
		if !left {
			f.forwards = append(f.forwards, forward)
		}
		f.mu.Unlock()
		if left { // the other end has gone meanwhile
			_ = forward.Close()
			return
		}
		f.reply(id, map[string]any{"address": forward.Address(), "port": forward.Port()})
	})
	return nil
}

// forwarded answers when a forward of this connection has ended.
func (f *Family) forwarded(id json.RawMessage, p struct {
	Address string `json:"address"`
}) error {
	f.mu.Lock()
	i := slices.IndexFunc(f.forwards, func(forward Forward) bool { return forward.Address() == p.Address })
	var forward Forward
	if i >= 0 {
		forward = f.forwards[i]
	}
	f.mu.Unlock()
	if forward == nil {
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: nothing is forwarded from %q", p.Address)
	}
	f.slow.Go(func() {
		<-forward.Done() // at the latest when the connection ends
		f.reply(id, struct{}{})
	})
	return nil
}

// endForwards ends the forwards for the other end.
func (f *Family) endForwards() {
	f.mu.Lock()
	forwards := f.forwards
	f.forwards, f.left = nil, true
	f.mu.Unlock()
	for _, forward := range forwards {
		_ = forward.Close()
	}
}
