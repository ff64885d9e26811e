package host

import (
	"context"
	"slices"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/host/prompt"
	"toolhost/permissions"
)

// wall is what a running call was answered when its sandbox refused it something. Its methods may be called from several goroutines.
type wall struct {
	mu      sync.Mutex // held while a user is asked: one question of a call at a time
	answers map[string]bool
}

// maxWallAnswers bounds the questions of one call: a command can try hosts without end.
const maxWallAnswers = 64

// wallWait is how long a command is held while a user is asked.
const wallWait = 2 * time.Minute

// Ask implements agenttool.Asker. The same access is asked about once in a call; without an answer the command is refused, as it is
// where no user is there.
func (r reporter) Ask(ctx context.Context, w agenttool.Wish) bool {
	a := &r.c.approval
	a.wall.mu.Lock()
	defer a.wall.mu.Unlock()
	allowed, known := a.wall.answers[w.Grant]
	if known || len(a.wall.answers) >= maxWallAnswers || !r.mayAsk(w.Grant) {
		return allowed
	}
	ctx, cancel := context.WithTimeout(ctx, wallWait)
	defer cancel()
	answer, err := r.put(ctx, w)
	if err != nil && ctx.Err() == nil {
		return false // no user was there; one may come
	}
	if a.wall.answers == nil {
		a.wall.answers = map[string]bool{}
	}
	_, denied := r.c.host.rules.Policy().Forbids(w.Grant) // a rule may have come meanwhile
	a.wall.answers[w.Grant] = err == nil && answer.Behavior == agenttool.Allow && !denied
	return a.wall.answers[w.Grant]
}

// mayAsk reports whether a user can be asked for a grant, and may give it.
func (r reporter) mayAsk(grant string) bool {
	a := &r.c.approval
	if _, denied := a.c.host.rules.Policy().Forbids(grant); denied || a.c.host.grants.opensOwn(grant) {
		return false
	}
	return a.c.ctx.Err() == nil && a.policy.Mode.Asks() && a.c.host.prompts.Reaches(a.c.req.Caller.Asked)
}

// put shows what a running call wants and waits for the answer. The call keeps its locks: it is at work.
func (r reporter) put(ctx context.Context, w agenttool.Wish) (prompt.Outcome, error) {
	a, h := &r.c.approval, r.c.host
	d := a.complete(agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, Behavior: agenttool.Ask, Mode: string(a.policy.Mode), BlockedPath: w.Object,
		Reason: &agenttool.DecisionReason{Type: "sandbox_override", Detail: "it runs and waits: it wants " + w.Object + ", which needs " + w.Grant},
	})
	d.ExpiresAt = agenttool.Timestamp(h.o.Now().Add(wallWait))
	d.SuggestedUpdates = permissions.SuggestGrant(w.Grant)
	if !h.prompts.Invite(a.c.req.Caller.Asked) {
		return prompt.Outcome{}, prompt.Unanswerable(d, prompt.Nobody)
	}
	a.c.rec.decided(d)
	q := a.question(d, true)
	q.Shown.Grants, q.Shown.Attempt = []string{w.Grant}, 0
	p, err := h.prompts.Open(q)
	if err != nil {
		return prompt.Outcome{}, err
	}
	defer p.Over()
	r.Progress(agenttool.Progress{Status: "running", Message: "waits for a user: may it reach " + w.Object + "?"})
	answer, err := p.Answer(ctx)
	if err != nil {
		a.withdrawn(d, err)
		return prompt.Outcome{}, err
	}
	a.c.rec.decided(answer.Decision)
	return answer, nil
}

// refused reports whether a user was asked for a grant while the call ran, and did not give it.
func (w *wall) refused(grant string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	allowed, known := w.answers[grant]
	return known && !allowed
}

// given are the grants that users gave while the call ran.
func (w *wall) given() (grants []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for grant, allowed := range w.answers {
		if allowed {
			grants = append(grants, grant)
		}
	}
	slices.Sort(grants)
	return grants
}
