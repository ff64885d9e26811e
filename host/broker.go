package host

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// Approvals says how prompts are answered. The zero value waits only while somebody is attached.
type Approvals struct {
	Timeout time.Duration // how long a prompt waits for its answer; 0: 10 minutes
	Wait    Wait          // whether a prompt waits though nobody may be there; empty: WaitAttached
	Widest  Scope         // the widest scope of an answer of the client; empty: ScopeSession

	Recent   func() bool                             // somebody who can answer was there not long ago; nil: nobody was
	Opened   func()                                  // told of the first prompt, before it is shown; nil: nobody
	Remember func(scope Scope, rules []string) error // keeps rules for longer than the session; nil: nothing does
}

// Wait says when a prompt waits for an answer.
type Wait string

// When prompts wait.
const (
	WaitAttached Wait = "attached" // while somebody is there who answers, or was not long ago
	WaitAlways   Wait = "always"
	WaitNever    Wait = "never" // but for the client that says that it answers
)

// Scope is for what an answer counts.
type Scope string

// The scopes, the narrowest first.
const (
	ScopeOnce    Scope = "once"
	ScopeSession Scope = "session"
	ScopeProject Scope = "project"
	ScopeUser    Scope = "user"
)

// Scopes lists them, the narrowest first.
var Scopes = []Scope{ScopeOnce, ScopeSession, ScopeProject, ScopeUser}

// Channel is a way by which a person answers. The zero value is the client's.
type Channel struct {
	Name   string  // for the record; empty: the client
	Scopes []Scope // that its answers may have; nil: those of the client
}

// broker holds the prompts that wait for a person.
type broker struct {
	mu      sync.Mutex
	viewers int // who said that they can answer
	opened  bool
	pending map[agenttool.DecisionID]*prompt
}

// How many prompts may wait, and how many bytes of inputs and diffs they may hold together: nobody reads more.
const (
	maxPrompts     = 1000
	maxPromptBytes = 64 << 20
)

// Attend says that somebody can answer prompts until detach is called. When the last one leaves, open prompts are
// rejected, unless they are to wait for others.
func (h *Host) Attend() (detach func()) {
	h.prompts.mu.Lock()
	h.prompts.viewers++
	h.prompts.mu.Unlock()
	return sync.OnceFunc(h.leave)
}

func (h *Host) leave() {
	stay := h.waitsAlone()
	b := &h.prompts
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.viewers--; b.viewers > 0 || stay {
		return
	}
	for id, p := range b.pending {
		if !p.call.attended() {
			close(p.gone)
			delete(b.pending, id)
		}
	}
}

// waitsAlone reports whether prompts wait though nobody is attached.
func (h *Host) waitsAlone() bool {
	a := h.approvals()
	switch a.Wait {
	case WaitAlways:
		return true
	case WaitNever:
		return false
	}
	return a.Recent != nil && a.Recent()
}

// answerable reports whether a prompt of the call would be waited for.
func (c *call) answerable() bool {
	h := c.host
	h.prompts.mu.Lock()
	viewed := h.prompts.viewers > 0
	h.prompts.mu.Unlock()
	return viewed || c.attended() || h.waitsAlone()
}

// attended reports whether the caller itself answers prompts.
func (c *call) attended() bool { return c.req.Caller.Asked != nil }

// approvals returns how prompts are answered now.
func (h *Host) approvals() Approvals {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.o.Approvals
}

// open adds a prompt, if somebody can answer it. Those that ask the same are answered together.
func (h *Host) open(p *prompt) error {
	alone := h.waitsAlone()
	b := &h.prompts
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.viewers == 0 && !alone && !p.call.attended():
		return unanswerable(p.decision, nobody)
	case len(b.pending) >= maxPrompts:
		return agenttool.Failure(agenttool.ApprovalRejected, "approval_unavailable",
			fmt.Sprintf("%d prompts wait for an answer already; ask again when some are answered", maxPrompts))
	}
	held := p.size()
	for _, other := range b.pending {
		held += other.size()
	}
	if held > maxPromptBytes && len(b.pending) > 0 {
		return agenttool.Failure(agenttool.ApprovalRejected, "approval_unavailable",
			fmt.Sprintf("the %d prompts that wait hold %d MiB already; ask again when some are answered", len(b.pending), maxPromptBytes>>20))
	}
	for _, other := range b.pending {
		if other.key == p.key && other.with == "" {
			p.with = other.decision.DecisionID
		}
	}
	b.pending[p.decision.DecisionID] = p
	return nil
}

// openChannels has the channels opened by which a person can answer, once.
func (h *Host) openChannels() {
	b := &h.prompts
	b.mu.Lock()
	first := !b.opened
	b.opened = true
	b.mu.Unlock()
	if opened := h.approvals().Opened; first && opened != nil {
		opened()
	}
}

// close takes a prompt back and returns the answer that it may have had in the same moment: an answer that was
// accepted counts.
func (b *broker) close(p *prompt) (Answer, bool) {
	for {
		b.mu.Lock()
		delete(b.pending, p.decision.DecisionID)
		claimed := p.claimed
		b.mu.Unlock()
		if claimed == nil {
			break
		}
		<-claimed // somebody's answer is being checked and written down
	}
	select {
	case a := <-p.answered:
		return a, true
	default:
		return Answer{}, false
	}
}

// claim takes a prompt, with all that ask the same unless it is taken alone, so that nobody else answers it. settle ends that: with answers they are
// over, without they wait again.
func (b *broker) claim(id agenttool.DecisionID, alone bool) (group []*prompt, settle func(answered bool), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pending[id]
	switch {
	case p == nil:
		return nil, nil, refuse("no prompt %q waits for an answer: it was answered, it expired, or it never was", id)
	case p.call.ctx.Err() != nil:
		return nil, nil, refuse("the call of prompt %q has ended", id)
	}
	done := make(chan struct{})
	for _, other := range b.pending {
		if other == p || !alone && other.key == p.key && other.call.ctx.Err() == nil {
			group = append(group, other)
			other.claimed = done
			delete(b.pending, other.decision.DecisionID)
		}
	}
	slices.SortFunc(group, func(x, y *prompt) int { // the one that was answered first, then in their order
		return cmp.Or(boolean(y == p)-boolean(x == p), strings.Compare(string(x.decision.DecisionID), string(y.decision.DecisionID)))
	})
	return group, func(answered bool) {
		b.mu.Lock()
		for _, other := range group {
			other.claimed = nil
			if !answered {
				b.pending[other.decision.DecisionID] = other
			}
		}
		b.mu.Unlock()
		close(done)
	}, nil
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Prompts returns the open prompts, oldest first; those that ask the same as another are counted with it.
func (h *Host) Prompts() []Prompt {
	b := &h.prompts
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []Prompt{}
	for _, p := range b.pending {
		if p.with == "" || b.pending[p.with] == nil {
			list = append(list, p.shown)
		}
	}
	slices.SortFunc(list, func(x, y Prompt) int {
		return strings.Compare(string(x.Decision.DecisionID), string(y.Decision.DecisionID))
	})
	return list
}

// reconsider answers the prompts that the policy, as it is now, decides: a new rule may cover or forbid what they ask.
func (h *Host) reconsider() {
	policy := h.snapshot()
	b := &h.prompts
	b.mu.Lock()
	var waiting []*prompt
	for _, p := range b.pending {
		waiting = append(waiting, p)
	}
	b.mu.Unlock()
	for _, p := range waiting {
		if d := p.call.hinted.on(policy.Decide(p.request)); d.Behavior != agenttool.Ask && !p.override {
			h.release(p, d)
		}
	}
}

// release answers a prompt with a decision of the rules.
func (h *Host) release(p *prompt, d agenttool.Decision) {
	group, settle, err := h.prompts.claim(p.decision.DecisionID, false)
	if err != nil {
		return // somebody was faster
	}
	for _, member := range group {
		a := Answer{DecisionID: member.decision.DecisionID, Behavior: d.Behavior, Grants: d.Grants, byRule: true}
		a.decision = h.complete(d, member.call)
		a.decision.RequestRef = member.decision.DecisionID
		_ = member.call.record(agenttool.EventPermissionDecided, "phase", agenttool.PhasePermission, "decision", a.decision)
		member.answered <- a
	}
	settle(true)
}

// grant adds rules for the rest of the session, and answers the prompts that they cover.
func (h *Host) grant(rules []permissions.Rule) {
	if len(rules) == 0 {
		return
	}
	h.mu.Lock()
	h.policy = h.policy.With(rules...)
	h.mu.Unlock()
	h.reconsider()
}
