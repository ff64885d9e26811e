package host

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"sync"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/near"
	"toolhost/scheduler"
)

// batch is a set of calls that run under one policy. live.mu guards it, but for its directories, which places.mu guards.
type batch struct {
	id    string
	group *scheduler.Group

	policy agenttool.SchedulerPolicy
	key    string           // of the policy; empty: the session's
	locks  []agenttool.Lock // of the policy: each call of the batch takes them

	last *call
	live []*call
	size int   // calls that it ever had
	held int64 // bytes of their results beyond what each may always have

	startDir string // where its calls start; "" until the first of them does
	endDir   string // where the session moves to when all have ended; "" leaves it
}

// policyKey tells the policy from others that bear its name.
func (b *batch) policyKey() string {
	if b == nil {
		return ""
	}
	return b.key
}

func (b *batch) add(c *call) {
	c.batch = b
	if b.last != nil && b.policy.OrderingPolicy != "allow_unordered" {
		c.before, b.last.next = b.last.handedOver, c
	}
	b.last = c
	b.live = append(b.live, c)
	b.size++
}

// leave takes c out and reports whether it was the last.
func (b *batch) leave(c *call) bool {
	b.live = slices.DeleteFunc(b.live, func(other *call) bool { return other.req.ID == c.req.ID })
	return len(b.live) == 0
}

// BatchRequest asks for several calls at once.
type BatchRequest struct {
	ID     string // unique among live batches; required
	Calls  []Request
	Policy *agenttool.SchedulerPolicy // nil, and each empty field: the session's
}

// maxBatch is the most calls that one batch may hold.
const maxBatch = 1000

// choice is a field of a policy that has one of a few values.
type choice struct {
	name   string
	value  *string
	usual  string
	values []string
}

// settle takes the usual value where none is given, and refuses one that is not known (X22).
func (c choice) settle() error {
	if *c.value == "" {
		*c.value = c.usual
	}
	if slices.Contains(c.values, *c.value) {
		return nil
	}
	if meant := near.Word(*c.value, c.values); meant != "" {
		return refuse("%s is %q; did you mean %q?", c.name, *c.value, meant)
	}
	return refuse("%s is %q; it can be one of %v", c.name, *c.value, c.values)
}

// batchPolicy fills the empty fields of p from the session's policy, and refuses values that are not known.
func batchPolicy(session agenttool.SchedulerPolicy, p *agenttool.SchedulerPolicy) (agenttool.SchedulerPolicy, error) {
	if p == nil {
		return session, nil
	}
	merged := *p
	merged.SchemaVersion, merged.Scope = agenttool.SchemaVersion, "batch"
	ordering, yield := session.OrderingPolicy, session.YieldPolicy
	if merged.YieldPolicy == "unordered_streaming" && merged.OrderingPolicy == "" {
		ordering = "allow_unordered"
	}
	if merged.OrderingPolicy == "allow_unordered" {
		yield = "unordered_streaming"
	}
	for _, c := range []choice{
		{"policy.ordering_policy", &merged.OrderingPolicy, ordering, []string{"preserve_terminal_order", "serial", "allow_unordered"}},
		{"policy.yield_policy", &merged.YieldPolicy, yield, []string{"progress_immediate_results_ordered", "all_ordered", "unordered_streaming"}},
		{"policy.interrupt_behavior", &merged.InterruptBehavior, session.InterruptBehavior, []string{"cancel", "block"}},
		{"policy.sibling_failure_policy", &merged.SiblingFailurePolicy, session.SiblingFailurePolicy, []string{"ignore", "cancel_siblings", "cancel_dependent"}},
		{"policy.context_modifier_policy", &merged.ContextModifierPolicy, session.ContextModifierPolicy, []string{"allow_serial_only", "defer_until_batch_complete", "forbid"}},
	} {
		if err := c.settle(); err != nil {
			return merged, err
		}
	}
	unordered := merged.OrderingPolicy == "allow_unordered"
	switch {
	case merged.MaxParallel < 0:
		return merged, refuse("policy.max_parallel is negative")
	case unordered && merged.YieldPolicy != "unordered_streaming", merged.OrderingPolicy == "preserve_terminal_order" && merged.YieldPolicy == "unordered_streaming":
		return merged, refuse("policy.yield_policy %s contradicts ordering_policy %s: give one of them", merged.YieldPolicy, merged.OrderingPolicy)
	}
	return named(merged, session), nil
}

// named gives a policy without a name of its own one that follows from its fields.
func named(p, session agenttool.SchedulerPolicy) agenttool.SchedulerPolicy {
	if p.SchedulerPolicyID != "" && p.SchedulerPolicyID != session.SchedulerPolicyID {
		return p
	}
	p.SchedulerPolicyID = ""
	sum := sha256.Sum256(encode(p))
	p.SchedulerPolicyID = "toolhost.scheduler.batch." + hex.EncodeToString(sum[:6])
	return p
}

// policyLocks reads the locks of a policy: {"path":ABSOLUTE,"write":BOOL} each.
func policyLocks(p agenttool.SchedulerPolicy) ([]agenttool.Lock, error) {
	var locks []agenttool.Lock
	for i, raw := range p.ResourceLocks {
		var l agenttool.Lock
		if err := json.Unmarshal(raw, &l); err != nil || !filepath.IsAbs(l.Path) {
			return nil, refuse(`policy.resource_locks[%d] is not a lock: give {"path":"/absolute/path","write":true}`, i)
		}
		locks = append(locks, l)
	}
	return locks, nil
}

// ordered reports whether events of a call wait until the calls before it in its batch have been handed over.
func (b *batch) ordered() bool { return b != nil && b.policy.YieldPolicy == "all_ordered" }

// failed ends the other calls of a batch whose policy says so when one of them failed.
func (b *batch) failed(c *call) {
	if b.policy.SiblingFailurePolicy != "cancel_siblings" {
		return
	}
	for _, other := range b.live {
		if other.req.ID != c.req.ID {
			other.cancel(errSibling)
		}
	}
}

// newBatch makes a batch under the policy of a request.
func newBatch(sched *scheduler.Scheduler, session agenttool.SchedulerPolicy, r BatchRequest) (*batch, error) {
	policy, err := batchPolicy(session, r.Policy)
	if err != nil {
		return nil, err
	}
	locks, err := policyLocks(policy)
	if err != nil {
		return nil, err
	}
	parallel := policy.MaxParallel
	if policy.OrderingPolicy == "serial" {
		parallel = 1
	}
	b := &batch{id: r.ID, policy: policy, locks: locks, group: sched.Group(parallel)}
	if r.Policy != nil {
		b.key = string(encode(policy))
	}
	return b, nil
}

// collector gathers the completions of a batch: in the order of its calls, or as they come.
type collector struct {
	ordered bool
	done    func([]Completion)

	mu   sync.Mutex
	list []Completion
	come int
}

func (b *collector) add(i int, got Completion) {
	b.mu.Lock()
	if !b.ordered {
		i = b.come
	}
	b.list[i] = got
	b.come++
	complete := b.come == len(b.list)
	b.mu.Unlock()
	if complete {
		b.done(b.list)
	}
}

// Batch admits all calls of a batch, or none, and returns at once. done is called exactly once, when all have ended,
// with their completions in the order of the calls, or in that of their ends if the policy says allow_unordered.
func (h *Host) Batch(r BatchRequest, done func([]Completion)) error {
	read := make([]adapted, min(len(r.Calls), maxBatch)) // more are refused
	for i := range read {
		read[i] = h.registry.adapt(r.Calls[i])
	}
	h.live.mu.Lock()
	defer h.live.mu.Unlock()
	switch {
	case r.ID == "":
		return refuse("the batch has no id")
	case h.live.batches[r.ID] != nil:
		return refuse("batch %q is still running: use another id", r.ID)
	case len(r.Calls) == 0 || len(r.Calls) > maxBatch:
		return refuse("a batch holds 1 to %d calls, not %d", maxBatch, len(r.Calls))
	}
	b, err := newBatch(h.sched, sessionPolicy(h.o.MaxParallel), r)
	if err != nil {
		return err
	}
	if err := h.live.admissible(&h.surfaces, r.Calls...); err != nil {
		return err
	}
	if err := h.live.holds(len(r.Calls)); err != nil {
		return err
	}
	h.live.batches[r.ID] = b
	calls := make([]*call, len(r.Calls))
	for i, req := range r.Calls {
		calls[i] = h.register(req, read[i], b)
	}
	collect := collector{ordered: b.policy.OrderingPolicy != "allow_unordered", list: make([]Completion, len(calls)), done: done}
	for i, c := range calls {
		c.start(func(got Completion) { collect.add(i, got) })
	}
	return nil
}
