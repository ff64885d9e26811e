package sandbox

import (
	"strings"
	"sync/atomic"

	"toolhost/sandbox/notify"
)

// hostChanges are the changes of a command in places of the host. The sandbox's own places, as /tmp, are not the host's.
type hostChanges struct {
	changes
	in      []string    // the places that the command may write
	opening *opening    // ... and those that are opened to it
	seen    atomic.Bool // a supervisor is there
}

// note notes an effect of a call.
func (h *hostChanges) note(c notify.Change) {
	ours, others := h.has(c.Path), c.To != "" && h.has(c.To)
	if !ours && !others {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case c.Kind == notify.Removed, c.Kind == notify.Renamed && !others:
		h.remove(c.Path)
	case c.Kind == notify.Created:
		h.create(c.Path, "")
	case c.Kind == notify.Written:
		h.write(c.Path)
	case c.Kind == notify.Linked && !others:
	case c.Kind == notify.Linked && ours && !strings.HasSuffix(c.Path, " (deleted)"):
		h.create(c.To, c.Path)
	case c.Kind == notify.Linked, c.Kind == notify.Renamed && !ours && !c.Replaced:
		h.create(c.To, "")
	case c.Kind == notify.Renamed && !ours:
		h.write(c.To)
	case c.Kind == notify.Renamed:
		h.rename(c.Path, c.To, c.Replaced)
	case c.Kind == notify.Exchanged && ours && others:
		h.exchange(c.Path, c.To)
	case c.Kind == notify.Exchanged && ours:
		h.write(c.Path)
	default:
		h.write(c.To)
	}
	if c.Tree && ours && others {
		h.exchangeBelow(c.Path, c.To)
	}
}

// has reports whether the file at path is one of the host's, which the command may write.
func (h *hostChanges) has(path string) bool { return inAny(h.in, path) || h.opening.within(path) }
