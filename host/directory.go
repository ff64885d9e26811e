package host

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"toolhost/agenttool"
)

// places knows where the session is, and which calls may move it.
type places struct {
	locate func(*agenttool.Path) error
	scope  agenttool.Scope

	mu       sync.Mutex // guards what follows
	dir      string     // where calls start
	old      string     // where they started before; "" if the session never moved
	movers   []mover    // in the order of admission
	admitted int64
	active   map[*call]bool
}

// modifier is a call's request to move the session's directory, and its outcome.
//
// Agent Tool v0.2.0, "Context modifiers" (AT-123, AT-136).
type modifier struct {
	Type    string `json:"type"` // working_directory
	From    string `json:"from"`
	To      string `json:"to"`
	Applied bool   `json:"applied"`
	Reason  string `json:"reason,omitempty"` // why it was not applied, or when it will be
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

// current is where calls start that are admitted now.
func (p *places) current() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dir
}

// before is where the session was before it moved to where it is; "" if it never moved.
func (p *places) before() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.old
}

// leave notes that a batch has ended, which may have deferred a move until then.
func (p *places) leave(b *batch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.endDir != "" {
		p.old, p.dir = p.dir, b.endDir
	}
}

// mover is a call that may yet move the session.
type mover struct {
	call *call
	over chan struct{} // closed when it moves the session no more
}

// mayMove notes that a call was admitted, which may move the session if its tool can, until stays.
func (p *places) mayMove(c *call, e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.admitted++
	c.order = p.admitted
	if e != nil {
		if _, ok := e.tool.(agenttool.Mover); ok {
			p.movers = append(p.movers, mover{c, make(chan struct{})})
		}
	}
}

// stays says that a call moves the session no more: later ones may start where it is now.
func (p *places) stays(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.movers = slices.DeleteFunc(p.movers, func(m mover) bool {
		if m.call == c {
			close(m.over)
		}
		return m.call == c
	})
}

// moverBefore returns a call admitted before c that may yet move the session from where c starts, if there is one: the calls of a
// batch start where the session was before it.
func (p *places) moverBefore(c *call) (m mover, found bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.movers {
		if m.call.order < c.order && (c.batch == nil || m.call.batch != c.batch || len(c.after) > 0) {
			return m, true
		}
	}
	return mover{}, false
}

// startOf is where the calls of a batch start: where the session is when the first of them does.
func (p *places) startOf(b *batch) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	b.startDir = cmp.Or(b.startDir, p.dir)
	return b.startDir
}

// here is where a call starts that starts where the session is now. If that directory was removed, it is the next existing one above it.
func (p *places) here() (dir string, moved *modifier) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.dir
	for at != p.scope.Dir && filepath.Dir(at) != at && !isDir(at) {
		at = filepath.Dir(at)
	}
	if at != p.dir {
		moved = &modifier{Type: "working_directory", From: p.dir, To: at, Applied: true, Reason: "since " + p.dir + " is gone"}
		p.dir = at
	}
	return at, moved
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// begin notes that the call runs now, and beside whom.
func (p *places) begin(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for other := range p.active {
		if c.mayMove != other.mayMove && (c.batch == nil || c.batch != other.batch) {
			continue // it is known which of them starts where: see startDir
		}
		other.ranBeside, c.ranBeside = true, true
	}
	p.active[c] = true
}

// end notes that the call runs no longer.
func (p *places) end(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.active, c)
}

// move takes the session to a directory, if it is one of the workspace and the policy of the call lets it. Beside other
// calls it would be unknown where each of them started, so the directory stays. If it is there already, nothing changes.
func (p *places) move(c *call, to string) *modifier {
	path := agenttool.Path{Spelling: to, Absolute: to}
	err := p.locate(&path)
	policy := c.policy().ContextModifierPolicy
	p.mu.Lock()
	defer p.mu.Unlock()
	m := &modifier{Type: "working_directory", From: p.dir, To: to}
	switch {
	case err == nil && path.Resolved == p.dir:
		return c.move
	case err != nil || !slices.Contains(p.scope.Roots, path.Root) || path.Private:
		m.Reason = "it is outside the workspace"
	case !isDir(path.Resolved):
		m.Reason = "it is no directory any more"
	case policy == "forbid":
		m.Reason = "the batch's context_modifier_policy is forbid"
	case policy == "defer_until_batch_complete":
		c.batch.endDir, m.Applied, m.Reason = path.Resolved, true, "when the batch is complete"
	case c.ranBeside:
		m.Reason = "other calls ran at the same time"
	default:
		p.old, p.dir, m.Applied = p.dir, path.Resolved, true
	}
	return m
}
