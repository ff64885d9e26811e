package host

import (
	"cmp"
	"slices"

	"toolhost/agenttool"
	"toolhost/scheduler"
)

// batch is a set of calls whose results are handed over in order. live.mu guards it, but for start and dir, which places.mu guards.
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

// BatchRequest asks for several calls at once.
type BatchRequest struct {
	ID     string // unique among live batches; required
	Calls  []Request
	Policy *agenttool.SchedulerPolicy // nil, and each empty field: the session's
}

// maxBatch is the most calls that one batch may hold.
const maxBatch = 1000

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

// batchPolicy fills the empty fields of p from the session's policy, and refuses values that this host does not follow.
func batchPolicy(session agenttool.SchedulerPolicy, p *agenttool.SchedulerPolicy) (agenttool.SchedulerPolicy, error) {
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
