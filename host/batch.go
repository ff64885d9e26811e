package host

import (
	"cmp"
	"fmt"
	"slices"

	"toolhost/agenttool"
	"toolhost/scheduler"
)

// batch is a set of calls whose results are handed over in order. Host.mu guards it.
type batch struct {
	id     string
	policy agenttool.SchedulerPolicy
	group  *scheduler.Group
	last   *call
	live   []*call
	size   int    // calls that it ever had
	held   int64  // bytes of their results beyond what each may always have
	start  string // where its calls start; "" until the first of them does
	dir    string // where the session moves to when all have ended; "" leaves it
}

func (b *batch) add(c *call) {
	c.batch, c.prev = b, b.last
	b.last = c
	b.live = append(b.live, c)
	b.size++
}

// leave takes c out and reports whether it was the last.
func (b *batch) leave(c *call) bool {
	b.live = slices.DeleteFunc(b.live, func(other *call) bool { return other.req.ID == c.req.ID })
	return len(b.live) == 0
}

// movedTo returns where the session is when the batch has ended.
func (b *batch) movedTo(dir string) string {
	if b.dir != "" {
		return b.dir
	}
	return dir
}

// joinBatch returns the live batch of that id, or a new one under the session's policy.
func (h *Host) joinBatch(id string) *batch {
	b := h.batches[id]
	if b == nil {
		b = &batch{id: id, policy: h.schedulerPolicy(), group: h.sched.Group(0)}
		h.batches[id] = b
	}
	return b
}

// BatchRequest asks for several calls at once.
type BatchRequest struct {
	ID     string // unique among live batches; required
	Calls  []Request
	Policy *agenttool.SchedulerPolicy // nil, and each empty field: the session's
}

// maxBatch is the most calls that one batch may hold.
const maxBatch = 1000

// Batch admits all calls of a batch, or none, and returns at once. done is called exactly once, when all have ended,
// with their completions in the order of the calls.
func (h *Host) Batch(r BatchRequest, done func([]Completion)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case r.ID == "":
		return refuse("the batch has no id")
	case h.batches[r.ID] != nil:
		return refuse("batch %q is still running: use another id", r.ID)
	case len(r.Calls) == 0 || len(r.Calls) > maxBatch:
		return refuse("a batch holds 1 to %d calls, not %d", maxBatch, len(r.Calls))
	}
	policy, err := h.batchPolicy(r.Policy)
	if err != nil {
		return err
	}
	if err := h.admissible(r.Calls); err != nil {
		return err
	}
	if err := h.holds(len(r.Calls)); err != nil {
		return err
	}
	b := &batch{id: r.ID, policy: policy, group: h.sched.Group(groupLimit(policy))}
	h.batches[r.ID] = b
	calls := make([]*call, len(r.Calls))
	for i, req := range r.Calls {
		calls[i] = h.register(req, b)
	}
	completions := make([]Completion, len(calls))
	for i, c := range calls {
		h.start(c, func(got Completion) {
			completions[i] = got
			if i == len(calls)-1 { // handed over in order: the last is last
				done(completions)
			}
		})
	}
	return nil
}

// holds reports whether memory has room for the results of a batch of n calls, which wait for each other, beside those of the batches that
// run. The caller holds h.mu.
func (h *Host) holds(n int) error {
	most := int(h.share(memberBytes, maxLive))
	if n > most {
		return refuse("a batch holds 1 to %d calls where memory is limited as it is here, not %d", most, n)
	}
	for _, b := range h.batches {
		n += b.size
	}
	if n > most {
		return fmt.Errorf("%w: the results of other batches are not complete yet; send this again when they are", ErrBusy)
	}
	return nil
}

// keep reports whether memory has room for a result until those before it in its batch, or all of them, have been handed over, and counts it
// if so. A change that was made is always reported.
func (h *Host) keep(c *call, out agenttool.Output) error {
	if c.batch == nil || h.o.Memory <= 0 || !c.readOnly() {
		return nil
	}
	size := int64(-memberBytes)
	for _, part := range out.Content {
		size += int64(len(part.Data) + len(part.Text))
	}
	if size <= 0 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	held := size
	for _, b := range h.batches {
		held += b.held
	}
	if held > h.o.Memory/batchShare {
		return agenttool.Failure(agenttool.ResultTooLarge, "batch_full",
			"memory is limited here and holds no more of what the calls of batches return: make this call again by itself")
	}
	c.batch.held += size
	return nil
}

func groupLimit(p agenttool.SchedulerPolicy) int {
	if p.OrderingPolicy == "serial" {
		return 1
	}
	return p.MaxParallel
}

// choice is a field of a policy that has one of a few values.
type choice struct {
	name   string
	value  *string
	usual  string
	works  []string
	others []string // the standard knows them, and this host refuses them
}

// settle takes the usual value where none is given, and refuses one that this host does not follow (X22).
func (c choice) settle() error {
	switch {
	case *c.value == "":
		*c.value = c.usual
	case slices.Contains(c.others, *c.value):
		return refuse("policy.%s %q is not supported by this host; it can be one of %v", c.name, *c.value, c.works)
	case !slices.Contains(c.works, *c.value):
		return refuse("policy.%s is %q; it can be one of %v", c.name, *c.value, c.works)
	}
	return nil
}

// batchPolicy fills the empty fields of p, and refuses values that this host does not follow.
func (h *Host) batchPolicy(p *agenttool.SchedulerPolicy) (agenttool.SchedulerPolicy, error) {
	session := h.schedulerPolicy()
	if p == nil {
		return session, nil
	}
	merged := *p
	merged.SchemaVersion = agenttool.SchemaVersion
	merged.SchedulerPolicyID = cmp.Or(merged.SchedulerPolicyID, session.SchedulerPolicyID)
	for _, c := range []choice{
		{"ordering_policy", &merged.OrderingPolicy, session.OrderingPolicy, []string{"preserve_terminal_order", "serial"}, []string{"allow_unordered"}},
		{"yield_policy", &merged.YieldPolicy, session.YieldPolicy, []string{"progress_immediate_results_ordered"}, []string{"all_ordered", "unordered_streaming"}},
		{"interrupt_behavior", &merged.InterruptBehavior, session.InterruptBehavior, []string{"cancel", "block"}, nil},
		{"sibling_failure_policy", &merged.SiblingFailurePolicy, session.SiblingFailurePolicy, []string{"ignore", "cancel_siblings", "cancel_dependent"}, nil},
		{"context_modifier_policy", &merged.ContextModifierPolicy, session.ContextModifierPolicy, []string{"allow_serial_only", "defer_until_batch_complete", "forbid"}, nil},
	} {
		if err := c.settle(); err != nil {
			return merged, err
		}
	}
	switch {
	case merged.MaxParallel < 0:
		return merged, refuse("policy.max_parallel is negative")
	case len(merged.ResourceLocks) > 0:
		return merged, refuse("policy.resource_locks is not supported by this host: each call locks what its input names")
	}
	return merged, nil
}

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
