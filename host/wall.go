package host

import (
	"context"
	"errors"
	"fmt"
	"regexp"
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

// The bounds of the questions of one call: a command can try hosts without end, and rm -r of a repository meets a protected name in
// each hook. After three paths that a user refused, the call gets no more questions about paths.
const (
	maxWallAnswers  = 64
	maxWallPaths    = 16
	maxRefusedPaths = 3
)

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
		if _, known := w.answers[h.Grant]; known || seen[h.Grant] || h.ctx.Err() != nil || w.full(h.Grant, len(wishes)) {
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

// full reports whether the call got as many answers as it may. Paths have a bound of their own: a program tries them one after another.
func (w *wall) full(grant string, more int) bool {
	paths, refused := 0, 0
	for known, allowed := range w.answers {
		if ofFiles(known) {
			paths++
			if !allowed {
				refused++
			}
		}
	}
	return len(w.answers)+more >= maxWallAnswers || ofFiles(grant) && (paths+more >= maxWallPaths || refused >= maxRefusedPaths)
}

// ofFiles reports whether a grant is about a path or a socket.
func ofFiles(grant string) bool { return !strings.HasPrefix(grant, "host:") }

// knows reports whether a grant has its answer, or gets none.
func (w *wall) knows(grant string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, known := w.answers[grant]
	return known || w.full(grant, 0)
}

// refused reports whether a user was asked for a grant while the call ran, and did not give it.
func (w *wall) refused(grant string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	allowed, known := w.answers[grant]
	return known && !allowed
}

// given are the grants that users gave while the call ran, but for those of sockets: the yes was to the very socket, and a grant is
// by name.
func (w *wall) given() (grants []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for grant, allowed := range w.answers {
		if allowed && !strings.HasPrefix(grant, "socket:") {
			grants = append(grants, grant)
		}
	}
	slices.Sort(grants)
	return grants
}

// Ask implements agenttool.Asker. The same access is asked about once in a call. Those that come while a prompt is open are asked about
// together when it is answered. Without an answer the command is refused, as it is where no user is there.
func (r reporter) Ask(ctx context.Context, w agenttool.Wish) bool {
	c, wall, wait := r.c, &r.c.approval.wall, r.c.host.prompts.Wall()
	if c.ruleGives(w.Grant) {
		return true
	}
	if !c.mayAskFor(w.Grant) {
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
	answer, err := r.askAbout(ctx, wishes, wait)
	switch {
	case err == nil:
	case ctx.Err() == nil:
		return false // no user was there; one may come
	case !errors.Is(context.Cause(ctx), errUnanswered):
		wishes = wishes[:1] // this connection has ended; the others are asked about again
	}
	for _, w := range wishes {
		_, denied := c.host.rules.Policy().Forbids(w.Grant) // a rule may have come meanwhile
		given := len(answer.Grants) == 0 || slices.Contains(answer.Grants, w.Grant)
		wall.answer(w.Grant, err == nil && answer.Behavior == agenttool.Allow && given && !denied)
	}
	return wall.allowed(w.Grant)
}

// errUnanswered ends a question.
var errUnanswered = errors.New("it was not answered in time")

// MayAsk implements agenttool.Asker.
func (r reporter) MayAsk(w agenttool.Wish) bool {
	return r.c.ruleGives(w.Grant) || r.c.mayAskFor(w.Grant) && !r.c.approval.wall.knows(w.Grant)
}

// ruleGives reports whether a rule gives a path or a host to every command that runs: one that came with an earlier answer of the
// same call, for instance.
func (c *call) ruleGives(grant string) bool {
	policy := c.rulesInForce()
	return c.runs() && (policy.Writes(grant) || policy.Reaches(grant)) && !c.host.grants.opensOwn(grant)
}

// mayAskFor reports whether a user can be asked for a grant while the call runs, and may give it.
func (c *call) mayAskFor(grant string) bool {
	if _, denied := c.host.rules.Policy().Forbids(grant); denied || c.host.grants.opensOwn(grant) {
		return false
	}
	return c.runs() && c.host.prompts.Wall() > 0 && c.approval.policy.Mode.Asks() && c.host.prompts.Reaches(c.listener())
}

// askAbout shows the wishes of a running call and waits for the answer. The call keeps its locks: it is at work.
func (r reporter) askAbout(ctx context.Context, wishes []agenttool.Wish, wait time.Duration) (prompt.Outcome, error) {
	c, h := r.c, r.c.host
	var grants, lasting []string // those that a rule can give
	for _, w := range wishes {
		grants = append(grants, w.Grant)
		if w.Rule == "" {
			lasting = append(lasting, w.Grant)
		}
	}
	does := wanted(wishes)
	d := c.completeDecision(agenttool.Decision{
		SchemaVersion: agenttool.SchemaVersion, Behavior: agenttool.Ask, Mode: string(c.approval.policy.Mode), BlockedPath: wishes[0].Object,
		Reason: &agenttool.DecisionReason{Type: "sandbox_override", Detail: "it runs and waits: it wants to " + does + protectedOf(wishes) + "; needed: " + strings.Join(grants, ", ")},
	})
	d.ExpiresAt = agenttool.Timestamp(h.o.Now().Add(wait))
	d.SuggestedUpdates = permissions.SuggestGrants(lasting)
	if !h.prompts.Invite(c.listener()) {
		return prompt.Outcome{}, prompt.Unanswerable(d, prompt.Nobody)
	}
	c.rec.decided(d)
	q := c.question(d, true)
	q.Shown.Grants, q.Shown.Attempt = grants, 0
	p, err := h.prompts.Open(q)
	if err != nil {
		return prompt.Outcome{}, err
	}
	defer p.Over()
	r.Progress(agenttool.Progress{Status: "waiting_for_permission", Message: "waits for a user: may it " + does + "?"})
	answer, err := p.Answer(ctx)
	if err != nil {
		c.promptEnded(d, err)
		return prompt.Outcome{}, err
	}
	c.rec.decided(answer.Decision)
	return answer, nil
}

var programName = regexp.MustCompile(`^[A-Za-z0-9._+-]+$`)

// wanted names the wish: "reach a:80", "write /x (touch)"; of several, their kind and number.
func wanted(wishes []agenttool.Wish) string {
	objects := map[string][]string{}
	for _, w := range wishes {
		kind, _, _ := strings.Cut(w.Grant, ":")
		object := w.Object
		if kind != "host" && programName.MatchString(w.Program) { // it gives itself the name
			object += " (" + w.Program + ")"
		}
		objects[kind] = append(objects[kind], object)
	}
	var all []string
	for _, of := range []struct{ kind, one, many string }{
		{"host", "reach", "reach %d hosts"}, {"write", "write", "write %d paths"}, {"socket", "connect to the socket", "connect to %d sockets"},
	} {
		switch named := objects[of.kind]; {
		case len(named) == 1:
			all = append(all, of.one+" "+named[0])
		case len(named) > 1:
			all = append(all, fmt.Sprintf(of.many, len(named))+": "+strings.Join(named, ", "))
		}
	}
	return strings.Join(all, ", and to ")
}

// protectedOf says which of the paths are protected, and why.
func protectedOf(wishes []agenttool.Wish) string {
	var paths []string
	for _, w := range wishes {
		if w.Rule != "" {
			paths = append(paths, w.Object)
		}
	}
	switch len(paths) {
	case 0:
		return ""
	case 1:
		return "; " + paths[0] + " is protected: other programs run or obey it"
	}
	return "; protected, since other programs run or obey them: " + strings.Join(paths, ", ")
}
