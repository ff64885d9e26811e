package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"toolhost/agenttool"
	"toolhost/host/prompt"
	"toolhost/permissions"
)

// wall is the answers that a running call got when its sandbox refused it something. Its methods may be called from several goroutines.
type wall struct {
	mu      sync.Mutex
	turn    chan struct{}   // one prompt of a call at a time
	answers map[string]bool // by grant
	waiting []*heldAccess
}

// heldAccess is a wish that waits for an answer until ctx is over.
type heldAccess struct {
	agenttool.Wish
	ctx context.Context
}

// maxWallAnswers bounds the questions of one call: a command can try hosts without end.
const maxWallAnswers = 64

// Ask implements agenttool.Asker. The same access is asked about once in a call. Those that come while a prompt is open are asked about
// together when it is answered. Without an answer the command is refused, as it is where no user is there.
func (r reporter) Ask(ctx context.Context, w agenttool.Wish) bool {
	wall, wait := &r.c.approval.wall, r.c.host.prompts.Wall()
	if !r.mayAsk(w.Grant) {
		return wall.allowed(w.Grant)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errUnanswered)
	defer cancel()
	mine := &heldAccess{w, ctx}
	turn := wall.join(mine)
	defer wall.leave(mine)
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return false
	}
	wishes := wall.unanswered(mine)
	if len(wishes) == 0 {
		return wall.allowed(w.Grant)
	}
	answer, err := r.put(ctx, wishes, wait)
	switch {
	case err == nil:
	case ctx.Err() == nil:
		return false // no user was there; one may come
	case !errors.Is(context.Cause(ctx), errUnanswered):
		wishes = wishes[:1] // this connection has ended; the others are asked about again
	}
	for _, w := range wishes {
		_, denied := r.c.host.rules.Policy().Forbids(w.Grant) // a rule may have come meanwhile
		given := len(answer.Grants) == 0 || slices.Contains(answer.Grants, w.Grant)
		wall.answer(w.Grant, err == nil && answer.Behavior == agenttool.Allow && given && !denied)
	}
	return wall.allowed(w.Grant)
}

// errUnanswered ends a question.
var errUnanswered = errors.New("it was not answered in time")

// mayAsk reports whether a user can be asked for a grant, and may give it.
func (r reporter) mayAsk(grant string) bool {
	a := &r.c.approval
	if _, denied := a.c.host.rules.Policy().Forbids(grant); denied || a.c.host.grants.opensOwn(grant) {
		return false
	}
	return a.c.ctx.Err() == nil && a.policy.Mode.Asks() && a.c.host.prompts.Reaches(a.c.req.Caller.Asked)
}

// put shows what a running call wants and waits for the answer. The call keeps its locks: it is at work.
func (r reporter) put(ctx context.Context, wishes []agenttool.Wish, wait time.Duration) (prompt.Outcome, error) {
	a, h := &r.c.approval, r.c.host
	var objects, grants []string
	for _, w := range wishes {
		objects, grants = append(objects, w.Object), append(grants, w.Grant)
	}
	wanted := strings.Join(objects, ", ")
	if len(objects) > 1 {
		wanted = fmt.Sprintf("%d hosts: %s", len(objects), wanted)
	}
	d := a.complete(agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, Behavior: agenttool.Ask, Mode: string(a.policy.Mode), BlockedPath: objects[0],
		Reason: &agenttool.DecisionReason{Type: "sandbox_override", Detail: "it runs and waits: it wants " + wanted + "; needed: " + strings.Join(grants, ", ")},
	})
	d.ExpiresAt = agenttool.Timestamp(h.o.Now().Add(wait))
	d.SuggestedUpdates = permissions.SuggestGrants(grants)
	if !h.prompts.Invite(a.c.req.Caller.Asked) {
		return prompt.Outcome{}, prompt.Unanswerable(d, prompt.Nobody)
	}
	a.c.rec.decided(d)
	q := a.question(d, true)
	q.Shown.Grants, q.Shown.Attempt = grants, 0
	p, err := h.prompts.Open(q)
	if err != nil {
		return prompt.Outcome{}, err
	}
	defer p.Over()
	r.Progress(agenttool.Progress{Status: "running", Message: "waits for a user: may it reach " + wanted + "?"})
	answer, err := p.Answer(ctx)
	if err != nil {
		a.withdrawn(d, err)
		return prompt.Outcome{}, err
	}
	a.c.rec.decided(answer.Decision)
	return answer, nil
}

// join adds an access to those that the next prompt is about. A send to turn succeeds when it may open that prompt.
func (w *wall) join(h *heldAccess) (turn chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.turn == nil {
		w.turn = make(chan struct{}, 1)
	}
	w.waiting = append(w.waiting, h)
	return w.turn
}

func (w *wall) leave(h *heldAccess) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = slices.DeleteFunc(w.waiting, func(other *heldAccess) bool { return other == h })
}

// unanswered are the accesses that a prompt opened by one of them is about, that one first; nil if that has its answer, or if the call got
// too many.
func (w *wall) unanswered(first *heldAccess) (wishes []agenttool.Wish) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := map[string]bool{}
	for _, h := range slices.Concat([]*heldAccess{first}, w.waiting) {
		if _, known := w.answers[h.Grant]; known || seen[h.Grant] || h.ctx.Err() != nil || len(w.answers)+len(wishes) >= maxWallAnswers {
			if h == first && len(wishes) == 0 {
				return nil
			}
			continue
		}
		seen[h.Grant] = true
		wishes = append(wishes, h.Wish)
	}
	return wishes
}

func (w *wall) answer(grant string, allowed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answers == nil {
		w.answers = map[string]bool{}
	}
	w.answers[grant] = allowed
}

func (w *wall) allowed(grant string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answers[grant]
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
