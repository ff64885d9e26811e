package host

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"toolhost/agenttool"
	"toolhost/scheduler"
)

// line waits for the calls that must succeed first, then for a place among the calls that are worked on.
func (c *call) line(ctx context.Context) error {
	for _, d := range c.after {
		c.held = true
		if d.call != nil {
			select {
			case <-d.call.ended:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			d.succeeded = d.call.rec.succeeded()
		}
		if !d.succeeded && (c.batch == nil || c.batch.policy.SiblingFailurePolicy != "ignore") {
			return agenttool.Failure(agenttool.SiblingCanceled, "sibling_error", "call "+d.id+", which must succeed before this one, did not")
		}
	}
	if len(c.after) > 0 { // a call that waits for another takes its turn after that: it must not hold up the calls behind it
		return c.again(ctx)
	}
	return c.turn.enter(ctx)
}

// again gives the call's turn up and waits for a new one behind all calls that were admitted meanwhile.
func (c *call) again(ctx context.Context) error {
	c.turn.free()
	c.turn.pass()
	c.host.live.mu.Lock()
	c.admit()
	c.host.live.mu.Unlock()
	if c.turn.place != nil && c.bound != nil {
		c.turn.place.Expect(c.locks())
		if !c.declared {
			c.host.places.stays(c)
		}
	}
	return c.turn.enter(ctx)
}

// admit takes the call's turn, after those of all calls admitted before. The caller holds h.live.mu.
func (c *call) admit() {
	if c.actsOnJobs() {
		return
	}
	var group *scheduler.Group
	if c.batch != nil {
		group = c.batch.group
	}
	c.turn = turn{gate: c.host.gate.Enqueue(scheduler.Request{}), place: c.host.sched.Admit(group)}
	c.host.places.mayMove(c, c.host.registry.names[c.req.Tool])
}

// locks are the locks that the call needs while it runs, as far as its facts say.
func (c *call) locks() []agenttool.Lock {
	locks := scheduler.Locks(c.bound.Facts(), c.host.o.Policy.Workspace)
	if c.batch != nil {
		locks = append(locks, c.batch.locks...)
	}
	return locks
}

// step is one phase of the pipeline, and the state of an invocation that fails in it.
type step struct {
	phase  agenttool.Phase
	do     func(context.Context) error
	failed agenttool.InvocationStatus
}

// through runs steps in order and stops at the first that fails. It returns the state of an invocation that fails so.
func (c *call) through(ctx context.Context, steps []step) (failed agenttool.InvocationStatus, err error) {
	for _, s := range steps {
		if ctx.Err() != nil {
			return s.failed, context.Cause(ctx)
		}
		if err := c.rec.phase(s.phase, c.host.o.PanicLog, func() error { return s.do(ctx) }); err != nil {
			return s.failed, err
		}
	}
	return "", nil
}

// resolveTool finds the tool by name or alias (AT-111, AT-113).
func (c *call) resolveTool(context.Context) error {
	e, err := c.host.registry.resolve(c.req.Tool)
	if err != nil {
		return err
	}
	if err := c.host.surfaces.admits(c.surface.SurfaceID, e); err != nil {
		return err
	}
	c.rec.to(agenttool.StatusSelected, "")
	c.rec.emit(agenttool.EventSelected, "phase", agenttool.PhaseResolveTool, "name", c.req.Tool)
	return nil
}

// parseSchema checks the input against the model's schema (AT-112).
func (c *call) parseSchema(context.Context) error {
	if c.adaptError != nil {
		return c.invalid(agenttool.PhaseParseSchema, c.adaptError)
	}
	schema, err := c.tool.compile()
	if err != nil {
		return agenttool.Failure(agenttool.SetupRequired, "bad_schema", fmt.Sprintf("the input schema of %s: %v", c.req.Tool, err))
	}
	return c.invalid(agenttool.PhaseParseSchema, schema.Check(c.input))
}

// bind turns the input into a Call and its facts (AT-114, the part without IO).
func (c *call) bind(ctx context.Context) error {
	if c.bound == nil {
		if err := c.start(ctx); err != nil {
			return err
		}
	}
	bound, err := c.tool.tool.Bind(c.scope(), c.input)
	if err != nil {
		return c.invalid(agenttool.PhaseValidateValues, agenttool.AsError(err, agenttool.InvalidArguments))
	}
	c.bound = bound
	if c.declared = c.moves(); !c.declared {
		c.host.places.stays(c)
	}
	return nil
}

// start settles where the call starts: where the calls admitted before it leave the session, except those that wait for a person. The
// calls of a batch start together, unless they come after one that may have moved it.
func (c *call) start(ctx context.Context) error {
	if c.turn.place != nil { // else it acts on jobs
		for m, found := c.host.places.moverBefore(c); found; m, found = c.host.places.moverBefore(c) {
			select {
			case <-m.over:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	if c.batch != nil && len(c.after) == 0 {
		c.dir = c.host.places.startOf(c.batch)
	} else {
		c.dir, c.moved = c.host.places.here()
	}
	return nil
}

// scope is the scope of the call's binding. The calls of a batch start where the session was when the batch began, unless they
// come after a call that may have moved it. The start is settled when the call is first bound, so that it runs
// where the prompt said.
func (c *call) scope() agenttool.Scope {
	s := c.host.o.Scope
	s.Dir, s.Old, s.Capacity = c.dir, c.host.places.before(), c.req.Caller.Capacity
	return s
}

// moves reports whether the call, which is bound, may move the session.
func (c *call) moves() bool {
	m, ok := c.tool.tool.(agenttool.Mover)
	return ok && m.Moves(c.bound)
}

// locate resolves the paths of the facts and writes down the input as others may see it (AT-115).
func (c *call) locate(ctx context.Context) error {
	facts := c.bound.Facts()
	if err := c.located(ctx, facts); err != nil {
		return c.invalid(agenttool.PhasePrepareObserved, err)
	}
	c.rec.update(func(inv *agenttool.Invocation) { inv.Facts = facts })
	input := encode(c.bound.Input())
	mutation := c.rec.observe(c.input, input, c.hooks.rewrites())
	c.rec.to(agenttool.StatusArgumentsReady, "")
	pairs := []any{"phase", agenttool.PhasePrepareObserved, "mutation", mutation}
	if !c.readOnly() { // the last record of it if the host dies while it runs
		pairs = append(pairs, "input", c.rec.shown(input), "facts", facts)
	}
	c.rec.emit(agenttool.EventArgumentsReady, pairs...)
	return nil
}

// located resolves the paths of the facts and says which locks they mean, so that later calls without a conflicting lock may
// pass while hooks and the decision take their time.
func (c *call) located(ctx context.Context, facts *agenttool.Facts) error {
	place := c.turn.place
	if place == nil {
		return c.locateAll(ctx, facts)
	}
	late := time.AfterFunc(locatePatience, place.Withdraw)
	defer late.Stop()
	err := c.locateAll(ctx, facts)
	if err == nil {
		place.Expect(c.locks())
	}
	return err
}

// locatePatience is how long a call whose paths cannot be found holds up later ones: a network file system may be dead.
const locatePatience = time.Second

func (c *call) locateAll(ctx context.Context, facts *agenttool.Facts) error {
	if facts.Dir != nil {
		if err := c.host.o.Locate(facts.Dir); err != nil {
			return err
		}
	}
	if err := c.locatePaths(facts); err != nil {
		return err
	}
	if r, ok := c.bound.(agenttool.Refiner); ok {
		for _, p := range r.Refine(ctx) {
			if err := c.host.o.Locate(p); err != nil {
				guess(c.host.o.Locate, facts, p)
			}
		}
	}
	return context.Cause(ctx)
}

func (c *admission) locatePaths(facts *agenttool.Facts) error {
	for _, paths := range [][]agenttool.Path{facts.Reads, facts.Writes} {
		for i := range paths {
			err := c.host.o.Locate(&paths[i])
			if err != nil && facts.Dir != nil {
				guess(c.host.o.Locate, facts, &paths[i])
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// guess locates a path of a command that does not resolve now: the command may make the missing directories
// (mkdir build && cd build && cmake ..), or fail by itself. The path is taken as it is spelled, and the facts no longer say that all
// paths are known.
func guess(locate func(*agenttool.Path) error, facts *agenttool.Facts, p *agenttool.Path) {
	facts.PathsComplete = agenttool.Unknown
	p.Absolute = filepath.Clean(p.Absolute)
	if locate(p) != nil {
		p.Resolved, p.Root = p.Absolute, ""
	}
}

// invalid emits the event of a failed check and returns the error.
func (c *call) invalid(p agenttool.Phase, err error) error {
	if err != nil {
		c.rec.emit(agenttool.EventValidationFailed, "phase", p, "error", agenttool.AsError(err, agenttool.InvalidArguments))
	}
	return err
}

// rebind binds an input anew, from the schema on: facts are never older than the input.
func (c *call) rebind(ctx context.Context, input []byte) error {
	c.input = input
	_, err := c.through(ctx, []step{
		{agenttool.PhaseParseSchema, c.parseSchema, agenttool.StatusSchemaParseFailed},
		{agenttool.PhaseValidateValues, c.bind, agenttool.StatusValidationFailed},
		{agenttool.PhasePrepareObserved, c.locate, agenttool.StatusValidationFailed},
	})
	return err
}
