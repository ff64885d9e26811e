package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/persist"
)

// world checks, while calls run, what must hold for any batches: it runs the calls, and hears the events.
type world struct {
	t      *testing.T
	random *rand.Rand // of the goroutine that makes batches

	mu      sync.Mutex
	plans   map[string]*plan // by the id of a call
	running map[string]*plan
	heard   []string        // calls by their results
	ended   map[string]bool // invocations that have a result
	bad     []string
}

// plan is one call: how it behaves, and what happened to it.
type plan struct {
	id, path, batch string
	writes, deaf    bool
	lasts           time.Duration
	fails           bool
	policy          agenttool.SchedulerPolicy

	results, ends int // events
	handed        int // completions

	canceled time.Time // when it was told to end
}

func (w *world) wrong(format string, args ...any) {
	w.bad = append(w.bad, fmt.Sprintf(format, args...))
}

// run is the work of every call.
func (w *world) run(ctx context.Context, in fakeInput, r agenttool.Reporter) (agenttool.Output, error) {
	p := w.enter(in.Say)
	defer w.leave(p)
	r.Progress(agenttool.Progress{Message: p.id})
	if p.deaf { // it goes on after its call was answered
		context.AfterFunc(ctx, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			p.canceled = time.Now()
		})
		time.Sleep(p.lasts + 2*time.Minute)
	} else {
		select {
		case <-time.After(p.lasts):
		case <-ctx.Done():
			return agenttool.Output{}, context.Cause(ctx)
		}
	}
	r.Progress(agenttool.Progress{Message: p.id})
	if p.fails {
		return agenttool.Output{}, errors.New("it fails")
	}
	return agenttool.Output{}, nil
}

func (w *world) enter(id string) *plan {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, beside := w.plans[id], 0
	for _, other := range w.running {
		if other.batch == p.batch {
			beside++
		}
		if w.conflict(p, other) {
			w.wrong("%s runs beside %s: %+v, %+v", id, other.id, *p, *other)
		}
	}
	if most := p.policy.MaxParallel; most > 0 && beside >= most {
		w.wrong("%s runs beside %d calls of its batch, whose policy says %d", id, beside, most)
	}
	w.running[id] = p
	return p
}

// conflict reports whether a call must not begin beside another. One that goes on for a second after it was told to end, as what the kernel
// holds does, keeps only those waiting that write what it writes.
func (w *world) conflict(begins, runs *plan) bool {
	stuck := !runs.canceled.IsZero() && time.Since(runs.canceled) > time.Second
	locked := len(begins.policy.ResourceLocks) > 0 && len(runs.policy.ResourceLocks) > 0
	serial := begins.batch == runs.batch && begins.policy.OrderingPolicy == "serial"
	return begins.path == runs.path && (begins.writes && runs.writes || (begins.writes || runs.writes) && !stuck) || locked || serial
}

func (w *world) leave(p *plan) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, p.id)
}

// hear checks one event.
func (w *world) hear(n host.Notice) {
	var e agenttool.Event
	if err := json.Unmarshal(n.Event, &e); err != nil || e.InvocationID == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended[string(e.InvocationID)] {
		w.wrong("%s of %s comes after its result", e.EventType, e.Subject)
	}
	p := w.plans[e.Subject]
	switch e.EventType {
	case agenttool.EventResultCreated:
		p.results++
		w.ended[string(e.InvocationID)] = true
		w.heard = append(w.heard, e.Subject)
	case agenttool.EventSucceeded, agenttool.EventFailed, agenttool.EventCanceled, agenttool.EventTimedOut, agenttool.EventYielded:
		p.ends++
	}
}

// pick returns one of the words.
func (w *world) pick(words ...string) string { return words[w.random.IntN(len(words))] }

// policy makes a policy, nil for the session's.
func (w *world) policy() *agenttool.SchedulerPolicy {
	if w.random.IntN(5) == 0 {
		return nil
	}
	p := &agenttool.SchedulerPolicy{
		OrderingPolicy: w.pick("", "preserve_terminal_order", "serial", "allow_unordered"), InterruptBehavior: w.pick("", "cancel", "block"),
		SiblingFailurePolicy: w.pick("", "ignore", "cancel_siblings", "cancel_dependent"), MaxParallel: w.random.IntN(4),
	}
	if p.OrderingPolicy != "allow_unordered" {
		p.YieldPolicy = w.pick("", "all_ordered", "progress_immediate_results_ordered")
	}
	if w.random.IntN(3) == 0 {
		p.ResourceLocks = []json.RawMessage{[]byte(`{"path":"/port/80","write":true}`)}
	}
	return p
}

// calls plans the calls of a batch.
func (w *world) calls(batch string, policy *agenttool.SchedulerPolicy) []host.Request {
	var requests []host.Request
	for i := range 1 + w.random.IntN(5) {
		p := &plan{id: fmt.Sprintf("%s.%d", batch, i), batch: batch, path: w.pick("a", "b", "c", "d"), writes: w.random.IntN(2) == 0,
			deaf: w.random.IntN(40) == 0, lasts: time.Duration(w.random.IntN(50)) * time.Millisecond, fails: w.random.IntN(6) == 0}
		if policy != nil {
			p.policy = *policy
		}
		w.mu.Lock()
		w.plans[p.id] = p
		w.mu.Unlock()
		r := host.Request{ID: p.id, Tool: "look", Input: fmt.Appendf(nil, `{"path":%q,"say":%q}`, p.path, p.id)}
		if p.writes {
			r.Tool = "put"
		}
		if i > 0 && w.random.IntN(5) == 0 {
			r.After = []string{requests[w.random.IntN(i)].ID}
		}
		if w.random.IntN(10) == 0 {
			r.Timeout = time.Duration(1+w.random.IntN(40)) * time.Millisecond
		}
		requests = append(requests, r)
	}
	return requests
}

// batch runs one batch, as one request or call by call, and checks the order of its results.
func (w *world) batch(f *fixture, id string, all *sync.WaitGroup) (ids []string) {
	policy := w.policy()
	requests := w.calls(id, policy)
	for _, r := range requests {
		ids = append(ids, r.ID)
	}
	all.Add(1)
	if policy == nil && w.random.IntN(2) == 0 {
		rest := len(requests)
		var order []string
		for i := range requests {
			requests[i].Batch = id
			if err := f.Invoke(requests[i], func(c host.Completion) {
				w.mu.Lock()
				defer w.mu.Unlock()
				order = append(order, c.Invocation.NativeCallID)
				if rest--; rest == 0 {
					w.handed(requests, order, nil)
					all.Done()
				}
			}); err != nil {
				w.t.Error(err)
			}
		}
		return ids
	}
	err := f.Batch(host.BatchRequest{ID: id, Policy: policy, Calls: requests}, func(got []host.Completion) {
		w.mu.Lock()
		defer w.mu.Unlock()
		var order []string
		for _, c := range got {
			order = append(order, c.Invocation.NativeCallID)
		}
		w.handed(requests, order, policy)
		all.Done()
	})
	if err != nil {
		w.t.Error(err)
	}
	return ids
}

// handed checks the completions of a batch. The caller holds mu.
func (w *world) handed(requests []host.Request, order []string, policy *agenttool.SchedulerPolicy) {
	var asked, results []string
	for _, r := range requests {
		asked = append(asked, r.ID)
	}
	for _, id := range order {
		w.plans[id].handed++
	}
	for _, id := range w.heard {
		if slices.Contains(asked, id) {
			results = append(results, id)
		}
	}
	unordered := policy != nil && policy.OrderingPolicy == "allow_unordered"
	if !unordered && !slices.Equal(asked, order) {
		w.wrong("the results of %v come as %v", asked, order)
	}
	if policy != nil && policy.YieldPolicy == "all_ordered" && !slices.Equal(asked, results) {
		w.wrong("the events of the results of %v come as %v", asked, results)
	}
}

// disturb cancels calls at random times.
func (w *world) disturb(f *fixture, ids []string) {
	for range w.random.IntN(4) {
		time.Sleep(time.Duration(w.random.IntN(30)) * time.Millisecond)
		kind := host.CancelKinds[w.random.IntN(len(host.CancelKinds))]
		f.CancelAs(kind, ids[w.random.IntN(len(ids))], "no longer wanted")
	}
}

// TestBatchesHoldTheirPromises makes random batches with random policies, locks, dependencies, deadlines, cancellations and fallbacks.
// Each call has exactly one end and one result, conflicting calls do not run at once, results come in the order of the policy, and no
// event follows a result.
func TestBatchesHoldTheirPromises(t *testing.T) {
	batches, each := 1_000, 50
	switch {
	case os.Getenv("TOOLHOST_LONG") != "": // testdata/long.sh
		batches = 10_000
	case testing.Short():
		batches = 100
	}
	for seed := range batches / each {
		synctest.Test(t, func(t *testing.T) {
			w := &world{t: t, random: rand.New(rand.NewPCG(uint64(seed), 21)), plans: map[string]*plan{}, running: map[string]*plan{}, ended: map[string]bool{}}
			tools := []agenttool.Tool{&fake{name: "look", reads: true, run: w.run}, &fake{name: "put", run: w.run}}
			f := newFixture(t, tools, allowing("put"), func(o *host.Options) { o.Store, o.MaxParallel = persist.New(persist.Options{Ephemeral: true}), 4 })
			f.Subscribe(&host.Subscription{Level: host.EventsAll, Tell: w.hear})
			for at := 0; at < each; {
				var all sync.WaitGroup
				var ids []string
				for range 1 + w.random.IntN(3) {
					ids = append(ids, w.batch(f, fmt.Sprint("b", at), &all)...)
					at++
				}
				w.disturb(f, ids)
				all.Wait()
			}
			time.Sleep(time.Hour) // deaf calls end
			w.check(seed)
			f.Host.Close()
		})
	}
}

func (w *world) check(seed int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.plans {
		if p.results != 1 || p.ends != 1 || p.handed != 1 {
			w.wrong("%s has %d results, %d ends and %d completions", p.id, p.results, p.ends, p.handed)
		}
	}
	if len(w.bad) > 0 {
		w.t.Fatalf("seed %d:\n%s", seed, strings.Join(w.bad[:min(len(w.bad), 20)], "\n"))
	}
}
