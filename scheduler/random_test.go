package scheduler_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
	"toolhost/scheduler"
)

// witness keeps its own books of what runs, and judges conflicts in its own way.
type witness struct {
	t      *testing.T
	mu     sync.Mutex
	held   map[int][]agenttool.Lock
	groups map[*scheduler.Group]int
	max    int
	peak   int
}

func (w *witness) start(id int, r scheduler.Request, groupMax int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for other, locks := range w.held {
		if collide(locks, r.Locks) {
			w.t.Errorf("call %d with %v runs beside call %d with %v", id, r.Locks, other, locks)
		}
	}
	w.held[id] = r.Locks
	if w.peak = max(w.peak, len(w.held)); len(w.held) > w.max {
		w.t.Errorf("%d calls run, at most %d may", len(w.held), w.max)
	}
	if w.groups[r.Group]++; r.Group != nil && w.groups[r.Group] > groupMax {
		w.t.Errorf("%d calls of a group of %d run", w.groups[r.Group], groupMax)
	}
}

func (w *witness) end(id int, r scheduler.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.held, id)
	w.groups[r.Group]--
}

func collide(a, b []agenttool.Lock) bool {
	for _, x := range a {
		for _, y := range b {
			px, py := x.Path+"/", y.Path+"/"
			if (x.Write || y.Write) && (strings.HasPrefix(px, py) || strings.HasPrefix(py, px)) {
				return true
			}
		}
	}
	return false
}

// Of 10,000 random calls no two that conflict ever run together, limits hold, and all of them end.
func TestRandomCalls(t *testing.T) {
	const workers, callsPerWorker, maxParallel, groupMax = 50, 200, 7, 2
	synctest.Test(t, func(t *testing.T) {
		s := scheduler.New(maxParallel)
		groups := []*scheduler.Group{nil, nil, s.Group(groupMax), s.Group(groupMax)}
		w := &witness{t: t, held: map[int][]agenttool.Lock{}, groups: map[*scheduler.Group]int{}, max: maxParallel}
		var all sync.WaitGroup
		for worker := range workers {
			all.Go(func() {
				rnd := rand.New(rand.NewPCG(1, uint64(worker)))
				for i := range callsPerWorker {
					r := scheduler.Request{Locks: randomLocks(rnd), Group: groups[rnd.IntN(len(groups))]}
					randomCall(s, w, rnd, worker*callsPerWorker+i, r, groupMax)
				}
			})
		}
		all.Wait()
		if running, waiting := s.Snapshot(); running+waiting != 0 {
			t.Errorf("at the end %d calls run and %d wait", running, waiting)
		}
		if w.peak < 3 {
			t.Errorf("at most %d calls ran together: the test shows nothing", w.peak)
		}
	})
}

func randomCall(s *scheduler.Scheduler, w *witness, rnd *rand.Rand, id int, r scheduler.Request, groupMax int) {
	ctx := context.Background()
	if rnd.IntN(5) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rnd.IntN(20))*time.Millisecond)
		defer cancel()
	}
	release, err := s.Acquire(ctx, r)
	if err != nil {
		return
	}
	w.start(id, r, groupMax)
	time.Sleep(time.Duration(rnd.IntN(10)) * time.Millisecond) // the bubble's clock
	w.end(id, r)
	release()
}

func randomLocks(rnd *rand.Rand) []agenttool.Lock {
	paths := []string{"/w", "/w/a", "/w/ab", "/w/a/x", "/w/a/y", "/w/b", "/w/b/x/deep", "/v", "/v/a"}
	locks := make([]agenttool.Lock, rnd.IntN(3))
	for i := range locks {
		locks[i] = agenttool.Lock{Path: paths[rnd.IntN(len(paths))], Write: rnd.IntN(3) == 0}
	}
	return locks
}
