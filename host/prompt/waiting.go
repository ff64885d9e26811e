package prompt

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"toolhost/agenttool"
)

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
	claims
	answered chan Outcome  // buffered: the first answer wins
	gone     chan struct{} // closed when it can be answered no more
	over     chan struct{} // closed when it needs no answer any more
}

// claims say who may still answer a question. Broker.mu guards them.
type claims struct {
	left    bool          // the caller answers it no more
	claimed chan struct{} // not nil while an answer is processed; closed then
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
			if !p.broker.Reaches(p.listener()) {
				return Outcome{}, Unanswerable(p.Shown.Decision, Nobody)
			}
		}
	}
}

// listener returns the way to the caller, nil if it answers nothing, or no more.
func (p *Waiting) listener() Listener {
	p.broker.mu.Lock()
	defer p.broker.mu.Unlock()
	if p.left {
		return nil
	}
	return p.Asked
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
		claimed := p.claimed
		b.mu.Unlock()
		if claimed == nil {
			break
		}
		<-claimed // another answer is being checked and recorded
	}
	select {
	case a := <-p.answered:
		return a, true
	default:
		return Outcome{}, false
	}
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
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
