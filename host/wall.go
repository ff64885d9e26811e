package host

import (
	"context"
	"slices"
	"strings"
	"sync"

	"toolhost/agenttool"
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

// The bounds of the questions of one call: a command can try hosts without end, and rm -r of a repository meets a protected name in each hook.
// After three paths that a user refused, the call gets no more questions about paths.
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

// given are the grants that users gave while the call ran, but for those of sockets: the yes was to the very socket, and a grant is by name.
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
