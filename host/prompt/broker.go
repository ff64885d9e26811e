package prompt

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/permissions"
)

// Call is the call that a question is about. Other goroutines than its own use it.
type Call interface {
	Invocation() agenttool.InvocationID
	Ended() bool                                      // it needs no answer any more
	Record(t agenttool.EventType, pairs ...any) error // writes an event and tells it
	Judge(p permissions.Policy) agenttool.Decision    // the decision of a policy about it
	Coverage(p permissions.Policy) []permissions.Covered
	CheckAnswer(input []byte, grants []string) error // an edited input (nil: none) and grants could be used
}

// Rules are the rules in force.
type Rules interface {
	Policy() permissions.Policy
	Parse(text string, origin agenttool.Origin) (permissions.Rule, error) // a rule that allows
	Add(rules []permissions.Rule)                                         // for the rest of the session
	SetMode(m permissions.Mode) error                                     // for the rest of the session
}

// Options are the options of a broker.
type Options struct {
	Rules     Rules
	Approvals Approvals
	IDs       *agenttool.IDs
	Now       func() time.Time
}

// Broker holds the prompts that wait for a person.
type Broker struct {
	o Options

	mu        sync.Mutex // guards what follows
	approvals Approvals
	viewers   int // attached users
	opened    bool
	pending   map[agenttool.DecisionID]*Waiting
}

// How many prompts may wait, and how many bytes of inputs and diffs they may hold together: users read no more.
const (
	maxPrompts     = 1000
	maxPromptBytes = 64 << 20
)

// New returns a broker without prompts.
func New(o Options) *Broker {
	return &Broker{o: o, approvals: o.Approvals, pending: map[agenttool.DecisionID]*Waiting{}}
}

// Amend changes how prompts are answered from now on.
func (b *Broker) Amend(a Approvals) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.approvals = a
}

func (b *Broker) inForce() Approvals {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.approvals
}

// Attend registers a user for prompts until detach is called. When the last one leaves, open prompts are
// rejected, unless they wait for others.
func (b *Broker) Attend() (detach func()) {
	b.mu.Lock()
	b.viewers++
	b.mu.Unlock()
	return sync.OnceFunc(func() {
		later := b.inForce().waitsAlone()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.viewers--
		for id, p := range b.pending {
			if p.callerGone && !b.reaches(nil, later) || !b.reaches(p.Asked, later) {
				close(p.gone)
				delete(b.pending, id)
			}
		}
	})
}

// Reaches reports whether a prompt would be waited for. Asked is the way to the caller, nil if that answers nothing.
func (b *Broker) Reaches(asked Listener) bool {
	later := b.inForce().waitsAlone()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reaches(asked, later)
}

// reaches is Reaches; later says whether a user may come later. The caller holds b.mu.
func (b *Broker) reaches(asked Listener, later bool) bool {
	return b.viewers > 0 || asked != nil || later
}

// Invite is Reaches for a prompt that is opened now. The first time it opens the channels to users.
func (b *Broker) Invite(asked Listener) bool {
	b.mu.Lock()
	first, opened := !b.opened, b.approvals.Opened
	b.opened = true
	b.mu.Unlock()
	if first && opened != nil {
		opened()
	}
	return b.Reaches(asked)
}

// withdraw notes that the caller of a call answers its prompt no more. It reports whether the prompt waits for others; if nobody else
// can answer it, nothing changes.
func (b *Broker) withdraw(id agenttool.DecisionID) (waits bool) {
	later := b.inForce().waitsAlone()
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pending[id]
	if p == nil || !b.reaches(nil, later) {
		return false
	}
	p.callerGone = true
	return true
}

// Wall is how long a running command is held while a user is asked; 0: it is not.
func (b *Broker) Wall() time.Duration {
	if wait := b.inForce().Wall; wait != 0 {
		return max(wait, 0)
	}
	return defaultWall
}

// Expires is when a prompt that is opened now is over.
func (b *Broker) Expires() string {
	return agenttool.Timestamp(b.o.Now().Add(b.inForce().timeout()))
}

// Open adds a prompt, if a user can answer it. Prompts that ask the same are answered together.
func (b *Broker) Open(q Question) (*Waiting, error) {
	p := &Waiting{
		Question: q, broker: b, key: q.key(),
		answered: make(chan Outcome, 1), gone: make(chan struct{}), over: make(chan struct{}),
	}
	p.Shown.Scopes = b.scopes(Channel{})
	later := b.inForce().waitsAlone()
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.reaches(q.Asked, later):
		return nil, Unanswerable(q.Shown.Decision, Nobody)
	case len(b.pending) >= maxPrompts:
		return nil, agenttool.Failure(agenttool.ApprovalRejected, "approval_unavailable",
			fmt.Sprintf("%d prompts wait for an answer already; ask again when some are answered", maxPrompts))
	}
	held := q.size()
	for _, other := range b.pending {
		held += other.size()
	}
	if held > maxPromptBytes && len(b.pending) > 0 {
		return nil, agenttool.Failure(agenttool.ApprovalRejected, "approval_unavailable",
			fmt.Sprintf("the %d prompts that wait hold %d MiB already; ask again when some are answered", len(b.pending), maxPromptBytes>>20))
	}
	for _, other := range b.pending {
		if other.key == p.key && other.with == "" {
			p.with = other.id()
		}
	}
	b.pending[p.id()] = p
	return p, nil
}

// List returns the open prompts, oldest first; those that ask the same as another are counted with it.
func (b *Broker) List() []Prompt {
	return b.list(func(p *Waiting) bool { return p.with == "" || b.pending[p.with] == nil })
}

// All returns all open prompts, oldest first.
func (b *Broker) All() []Prompt { return b.list(func(*Waiting) bool { return true }) }

func (b *Broker) list(listed func(*Waiting) bool) []Prompt {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := []Prompt{}
	for _, p := range b.pending {
		if listed(p) {
			list = append(list, p.Shown)
		}
	}
	slices.SortFunc(list, func(x, y Prompt) int {
		return strings.Compare(string(x.Decision.DecisionID), string(y.Decision.DecisionID))
	})
	return list
}

// Complete fills the fields of a decision that are the call's own.
func (b *Broker) Complete(d agenttool.Decision, of agenttool.InvocationID) agenttool.Decision {
	now := b.o.Now()
	d.DecisionID, d.DecidedAt = agenttool.DecisionID(b.o.IDs.New("perm_", now)), agenttool.Timestamp(now)
	d.InvocationID = of
	return d
}

// key identifies a question: questions with the same key are answered together.
func (q Question) key() [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%q\x00%v", q.Alone, q.Shown.Tool, q.Shown.Dir, q.Shown.Input, q.Shown.Grants, q.Override))
}

// size is how many bytes the question holds, near enough.
func (q Question) size() int {
	n := len(q.Shown.Input)
	for _, block := range q.Shown.Decision.ContentBlocks {
		n += len(block.Diff)
	}
	return n
}

// scopes returns those that answers of a channel may have.
func (b *Broker) scopes(c Channel) []Scope {
	if c.Scopes != nil {
		return c.Scopes
	}
	widest := cmp.Or(b.inForce().Widest, ScopeSession)
	return Scopes[:slices.Index(Scopes, widest)+1]
}

// Listener hears a prompt, and answers it with [Broker.Decide]. It must not block. over is closed when the prompt needs no answer any more.
type Listener func(p Prompt, over <-chan struct{})

// Question is the question of a call.
type Question struct {
	Call     Call
	Shown    Prompt
	Input    any    // as the event of the prompt tells it
	Alone    string // not empty: it is answered together with no other, but with those of the same word
	Override bool   // no rule answers it

	MayOpen func(of string) bool // whether one of Shown.Opens may still stay open; nil: none may
	Asked   Listener             // the way to the caller; nil: it answers nothing
}

// Waiting is a question that waits for its answer.
type Waiting struct {
	Question
	broker *Broker
	key    [sha256.Size]byte
	with   agenttool.DecisionID // an earlier one that asks the same; empty: none

	answered chan Outcome  // buffered: the first answer wins
	gone     chan struct{} // closed when it can be answered no more
	over     chan struct{} // closed when it needs no answer any more

	// Broker.mu guards what follows.
	callerGone bool          // the caller answers it no more
	processing chan struct{} // not nil while an answer is checked and recorded; closed then
}

// Outcome is an answer with its effect.
type Outcome struct {
	Answer
	Decision agenttool.Decision // the record of the answer
	ByRule   bool               // a new rule answered it, and no user
}

func (p *Waiting) id() agenttool.DecisionID { return p.Shown.Decision.DecisionID }

// Answer tells of the prompt and waits for its answer, its expiry, or the end of ctx. Then it can be answered no more.
func (p *Waiting) Answer(ctx context.Context) (Outcome, error) {
	answer, err := p.await(ctx)
	if late, answered := p.close(); answered {
		return late, nil
	}
	return answer, err
}

// Over says that the prompt needs no answer any more.
func (p *Waiting) Over() { close(p.over) }

// lookEvery is how often a prompt looks whether a user is still there.
const lookEvery = time.Second

func (p *Waiting) await(ctx context.Context) (Outcome, error) {
	if err := p.tell(); err != nil { // no user heard of it, so none will answer
		return Outcome{}, err
	}
	limit := p.broker.inForce().timeout()
	expired, look := time.After(limit), time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case a := <-p.answered:
			return a, nil
		case <-ctx.Done():
			return Outcome{}, context.Cause(ctx)
		case <-p.gone:
			return Outcome{}, Unanswerable(p.Shown.Decision, Nobody)
		case <-expired:
			return Outcome{}, agenttool.Failure(agenttool.ApprovalRejected, "approval_expired",
				fmt.Sprintf("nobody answered the prompt within %s; ask again when somebody is there", limit))
		case <-look.C:
			if !p.answerable() {
				return Outcome{}, Unanswerable(p.Shown.Decision, Nobody)
			}
		}
	}
}

// answerable reports whether somebody may still answer the prompt.
func (p *Waiting) answerable() bool {
	b := p.broker
	later := b.inForce().waitsAlone()
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reaches(nil, later) || p.Asked != nil && !p.callerGone
}

// tell tells of the prompt: by its event those who attend, then the caller.
func (p *Waiting) tell() error {
	shown := p.Shown
	shown.Coalesced = string(p.with)
	pairs := []any{"phase", agenttool.PhasePermission, "decision", shown.Decision, "tool", shown.Tool, "input", p.Input, "facts", shown.Facts,
		"dir", shown.Dir, "asked_at", shown.AskedAt}
	for _, optional := range []struct {
		name  string
		value any
		there bool
	}{
		{"sandbox", shown.Sandbox, shown.Sandbox != nil}, {"suggested_grants", shown.Grants, len(shown.Grants) > 0},
		{"opens", shown.Opens, len(shown.Opens) > 0}, {"attempt", shown.Attempt, shown.Attempt > 0}, {"coalesced_with", shown.Coalesced, shown.Coalesced != ""},
	} {
		if optional.there {
			pairs = append(pairs, optional.name, optional.value)
		}
	}
	if err := p.Call.Record(agenttool.EventPermissionRequested, pairs...); err != nil {
		return err
	}
	if p.Asked != nil {
		p.Asked(shown, p.over)
	}
	return nil
}

// close takes a prompt back and returns the answer that it may have had in the same moment: an answer that was
// accepted counts.
func (p *Waiting) close() (Outcome, bool) {
	b := p.broker
	for {
		b.mu.Lock()
		delete(b.pending, p.id())
		processing := p.processing
		b.mu.Unlock()
		if processing == nil {
			break
		}
		<-processing
	}
	select {
	case a := <-p.answered:
		return a, true
	default:
		return Outcome{}, false
	}
}

// Nobody is the usual reason why a prompt has no answer.
const Nobody = "no prompt can be shown"

// Unanswerable is the error of a call that no user can answer, with a remedy (AT-165).
func Unanswerable(d agenttool.Decision, why string) error {
	message := "approval is needed: " + d.Reason.Detail + ", and " + why + ". "
	var flags []string
	if narrowest := d.SuggestedRules(); narrowest >= 0 {
		for _, rule := range d.SuggestedUpdates[narrowest].Rules {
			flags = append(flags, "--allow '"+strings.ReplaceAll(rule, "'", `'\''`)+"'")
		}
	}
	message += "Start `toolhost approve` in a terminal"
	if len(flags) > 0 {
		message += ", add " + strings.Join(flags, " ")
	}
	message += ", or connect a client that answers prompts (elicitation in MCP, approvals: true in agenttool/hello)"
	return agenttool.Failure(agenttool.ApprovalRejected, "approval_unavailable", message)
}
