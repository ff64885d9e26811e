package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"toolhost/agenttool"
)

// modifier is a call's wish to move the session's directory, and what came of it.
//
// Agent Tool v0.2.0, "Context modifiers" (AT-123, AT-136).
type modifier struct {
	Type    string `json:"type"` // working_directory
	From    string `json:"from"`
	To      string `json:"to"`
	Applied bool   `json:"applied"`
	Reason  string `json:"reason,omitempty"` // why it was not applied, or when it will be
}

// Workspace is the first root.
func (h *Host) Workspace() string { return h.o.Policy.Workspace }

// Dir is where calls start that are admitted now.
func (h *Host) Dir() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.dir
}

// mover is a call that may yet move the session.
type mover struct {
	call *call
	over chan struct{} // closed when it moves the session no more
}

// mayMove notes that a call was admitted which may move the session, until stays. The caller holds h.mu.
func (h *Host) mayMove(c *call) {
	h.admitted++
	c.order = h.admitted
	if e := h.registry.names[c.req.Tool]; e != nil {
		if _, ok := e.tool.(agenttool.Mover); ok {
			h.movers = append(h.movers, mover{c, make(chan struct{})})
		}
	}
}

// stays says that a call moves the session no more: later ones may start where it is now.
func (h *Host) stays(c *call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.movers = slices.DeleteFunc(h.movers, func(m mover) bool {
		if m.call == c {
			close(m.over)
		}
		return m.call == c
	})
}

// moves reports whether the call, which is bound, may move the session.
func (c *call) moves() bool {
	m, ok := c.tool.tool.(agenttool.Mover)
	return ok && m.Moves(c.bound)
}

// moverBefore returns a call admitted before c that may yet move the session from where c starts, if there is one: the calls of a batch start
// where the session was before it.
func (h *Host) moverBefore(c *call) (m mover, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range h.movers {
		if m.call.order < c.order && (c.batch == nil || m.call.batch != c.batch || len(c.after) > 0) {
			return m, true
		}
	}
	return mover{}, false
}

// start settles where the call starts: where the calls admitted before it leave the session, except those that wait for a person. The
// calls of a batch start together, unless they come after one that may have moved it.
func (c *call) start(ctx context.Context) error {
	if c.turn.place != nil { // else it acts on jobs
		for m, found := c.host.moverBefore(c); found; m, found = c.host.moverBefore(c) {
			select {
			case <-m.over:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	if c.batch != nil && len(c.after) == 0 {
		c.dir = c.host.startOf(c.batch)
	} else {
		c.here()
	}
	return nil
}

// startOf is where the calls of a batch start: where the session is when the first of them does.
func (h *Host) startOf(b *batch) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if b.start == "" {
		b.start = h.dir
	}
	return b.start
}

// here settles that the call starts where the session is now. A directory that is gone is left for the next one above it.
func (c *call) here() {
	h := c.host
	h.mu.Lock()
	defer h.mu.Unlock()
	at := h.dir
	for at != h.o.Scope.Dir && filepath.Dir(at) != at && !isDir(at) {
		at = filepath.Dir(at)
	}
	if at != h.dir {
		c.moved = &modifier{Type: "working_directory", From: h.dir, To: at, Applied: true, Reason: "since " + h.dir + " is gone"}
		h.dir = at
	}
	c.dir = at
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// scope is what the call is bound in. The calls of a batch start where the session was when the batch began, unless they
// come after a call that may have moved it. Where a call starts is settled when it is bound first: what a person is shown
// stays what runs.
func (c *call) scope() agenttool.Scope {
	s := c.host.o.Scope
	s.Dir = c.dir
	return s
}

// begin notes that the call runs now, and beside whom.
func (h *Host) begin(c *call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for other := range h.active {
		if c.declared != other.declared && (c.batch == nil || c.batch != other.batch) {
			continue // it is known which of them starts where: see start
		}
		other.others, c.others = true, true
	}
	h.active[c] = true
}

// end notes that the call runs no longer.
func (h *Host) end(c *call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.active, c)
}

// move takes the session to a directory, if it is one of the workspace and the policy of the call lets it. Beside other
// calls nobody could say which of them started where: then it stays.
func (c *call) move(to string) {
	h := c.host
	path := agenttool.Path{Spelling: to, Absolute: to}
	err := h.o.Locate(&path)
	policy := "allow_serial_only"
	if c.batch != nil {
		policy = c.batch.policy.ContextModifierPolicy
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	m := &modifier{Type: "working_directory", From: h.dir, To: to}
	switch {
	case err == nil && path.Resolved == h.dir:
		return // it is there already
	case err != nil || !slices.Contains(h.o.Scope.Roots, path.Root) || path.Private:
		m.Reason = "it is outside the workspace"
	case !isDir(path.Resolved):
		m.Reason = "it is no directory any more"
	case policy == "forbid":
		m.Reason = "the batch's context_modifier_policy is forbid"
	case policy == "defer_until_batch_complete":
		c.batch.dir, m.Applied, m.Reason = path.Resolved, true, "when the batch is complete"
	case c.others:
		m.Reason = "other calls ran at the same time"
	default:
		h.dir, m.Applied = path.Resolved, true
	}
	c.moved = m
}

// note says to the model where it is.
func (m *modifier) note() string {
	switch {
	case !m.Applied:
		return fmt.Sprintf("[the session's directory stays %s and does not become %s: %s]", m.From, m.To, m.Reason)
	case m.Reason != "":
		return fmt.Sprintf("[the session's directory is %s %s]", m.To, m.Reason)
	}
	return fmt.Sprintf("[the session's directory is now %s]", m.To)
}
