package host

import (
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

// start settles where the call starts: where the session is now. A directory that is gone is left for the next one above it.
func (c *call) start() {
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
