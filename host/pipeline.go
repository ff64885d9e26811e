package host

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"toolhost/agenttool"
	"toolhost/host/hook"
	"toolhost/persist"
	"toolhost/scheduler"
)

// step is one phase of the pipeline, and the state of an invocation that fails in it.
type step struct {
	phase  agenttool.Phase
	do     func(context.Context) error
	failed agenttool.InvocationStatus
}

// maxAttempts is how often a call whose approved change went stale is shown to a person again.
const maxAttempts = 3

// run takes the call through the phases of the standard, in its order, until one fails.
//
// The standard's value checks are made in two steps. Those that look only at the input come before permission. Those that look at the
// disk come after it, so that a denied call does no IO (AT-114, AT-393, X23), and they hold the call's locks, so that they see the
// changes of earlier calls. The phases map_result, post_hooks, persist_result and emit_terminal are in [ending.finish].
//
// Agent Tool v0.2.0, "Pipeline" (AT-111 … AT-123).
func (c *call) run(ctx context.Context) error {
	failed, err := c.through(ctx, []step{
		{agenttool.PhaseResolveTool, c.resolveTool, agenttool.StatusBlocked},
		{agenttool.PhaseParseSchema, c.parseSchema, agenttool.StatusSchemaParseFailed},
		{agenttool.PhaseValidateValues, c.bind, agenttool.StatusValidationFailed},
		{agenttool.PhasePrepareObserved, c.locate, agenttool.StatusValidationFailed},
		{agenttool.PhasePreHooks, c.approval.preHooks, agenttool.StatusDenied},
	})
	for attempt := 1; err == nil; attempt++ {
		failed, err = c.through(ctx, []step{
			{agenttool.PhasePermission, c.approval.permission, agenttool.StatusDenied},
			{agenttool.PhaseSchedule, c.schedule, agenttool.StatusCanceled},
			{agenttool.PhaseValidateValues, c.preflight, agenttool.StatusValidationFailed},
			{agenttool.PhaseExecute, c.execute, agenttool.StatusFailed},
		})
		if err == nil || attempt == maxAttempts {
			break
		}
		switch {
		case errors.Is(err, agenttool.ErrPreviewStale): // the change that was approved is no longer what would be done: ask again
			if err = c.again(ctx); err == nil {
				err = c.rebind(ctx, c.input)
			}
		case c.approval.wasKept(err):
			err = c.approval.override(ctx, err)
		}
	}
	if err != nil {
		c.rec.fail(failed, agenttool.AsError(err, agenttool.ExecutionFailed))
	}
	return err
}

// through runs steps in order and stops at the first that fails. It returns the state of an invocation that fails so.
func (c *call) through(ctx context.Context, steps []step) (failed agenttool.InvocationStatus, err error) {
	for _, s := range steps {
		if ctx.Err() != nil {
			return s.failed, context.Cause(ctx)
		}
		if err := c.host.phase(c.rec, s.phase, func() error { return s.do(ctx) }); err != nil {
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

// locate resolves the paths of the facts and writes down the input as others may see it (AT-115).
func (c *call) locate(ctx context.Context) error {
	facts := c.bound.Facts()
	if err := c.located(ctx, facts); err != nil {
		return c.invalid(agenttool.PhasePrepareObserved, err)
	}
	c.rec.update(func(inv *agenttool.Invocation) { inv.Facts = facts })
	input := encode(c.bound.Input())
	mutation := c.rec.observe(input, c.hooks.rewrites())
	if c.req.Meant != nil && mutation.SourceType == "runtime" {
		mutation.Reason = "read as the model meant it, and " + mutation.Reason
	}
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

func (c *call) locatePaths(facts *agenttool.Facts) error {
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

// preflight lets the call look, before any side effect, whether it can work (AT-114, the part with IO).
func (c *call) preflight(ctx context.Context) error {
	p, ok := c.bound.(agenttool.Preflighter)
	if !ok {
		return nil
	}
	return c.invalid(agenttool.PhaseValidateValues, p.Preflight(ctx))
}

// schedule waits for a slot and for the call's locks (AT-118).
func (c *call) schedule(ctx context.Context) error {
	if c.actsOnJobs() {
		c.queued(nil)
		return nil
	}
	locks := c.locks()
	c.queued(locks)
	start := c.host.o.Now()
	if !c.turn.place.Enter(locks) { // it was slow, and lost its place
		if err := c.again(ctx); err != nil {
			return err
		}
		c.turn.place.Enter(locks)
	}
	ticket := c.turn.place
	if atOnce := ticket.Started(); !c.host.live.mayStart(c, atOnce) {
		return errShutdown
	} else if !atOnce {
		_ = c.rec.flush() // subscribers see that it waits
	}
	defer announceWait(c, agenttool.StatusQueued, agenttool.PhaseSchedule, agenttool.Progress{Status: "queued", Message: "waits for other calls"})()
	if err := ticket.Wait(ctx); err != nil {
		return err
	}
	c.host.live.started(c)
	waited := c.host.o.Now().Sub(start)
	c.rec.update(func(inv *agenttool.Invocation) { inv.Scheduler.WaitedUS = waited.Microseconds() })
	return nil
}

// again gives the call's turn up and waits for a new one behind all calls that were admitted meanwhile.
func (c *call) again(ctx context.Context) error {
	c.turn.free()
	c.turn.pass()
	c.host.live.mu.Lock()
	c.host.admit(c)
	c.host.live.mu.Unlock()
	if c.turn.place != nil && c.bound != nil {
		c.turn.place.Expect(c.locks())
		if !c.declared {
			c.host.places.stays(c)
		}
	}
	return c.enterGate(ctx)
}

// enterGate waits until the call is one of those that are prepared at once.
func (c *call) enterGate(ctx context.Context) error {
	if c.turn.gate == nil {
		return nil
	}
	return c.turn.gate.Wait(ctx)
}

// takeRoom waits until memory has room for the content that the call will hold. A call that runs a command holds little, and may run for long.
func (c *call) takeRoom(ctx context.Context) error {
	if c.host.room == nil || c.turn.room != nil || c.tool.Declaration.ToolKind != agenttool.KindFileOperation {
		return nil
	}
	room := c.host.room.Enqueue(scheduler.Request{})
	c.host.live.mu.Lock()
	c.turn.room = room
	c.host.live.mu.Unlock()
	return room.Wait(ctx)
}

// locatePatience is how long a call whose paths cannot be found holds up later ones: a network file system may be dead.
const locatePatience = time.Second

// locks are the locks that the call needs while it runs, as far as its facts say.
func (c *call) locks() []agenttool.Lock {
	locks := scheduler.Locks(c.bound.Facts(), c.host.o.Policy.Workspace)
	if c.batch != nil {
		locks = append(locks, c.batch.locks...)
	}
	return locks
}

// policy is the scheduler's policy that the call runs under.
func (c *call) policy() agenttool.SchedulerPolicy {
	if c.batch != nil {
		return c.batch.policy
	}
	return sessionPolicy(c.host.o.MaxParallel)
}

// actsOnJobs reports whether the call needs neither a slot nor a place in line.
func (c *call) actsOnJobs() bool {
	if c.tool == nil {
		return false
	}
	_, ok := c.tool.tool.(agenttool.JobTool)
	return ok
}

// queued records the scheduler's facts of the call (AT-190 … AT-197).
func (c *call) queued(locks []agenttool.Lock) {
	f := c.bound.Facts()
	facts := &agenttool.SchedulerFacts{
		QueueState: "queued", IsConcurrencySafe: f.ConcurrencySafe == agenttool.Yes, IsReadOnly: f.ReadOnly == agenttool.Yes,
		IsDestructive: f.Destructive != agenttool.No, IsOpenWorld: f.OpenWorld != agenttool.No,
		RequiresExclusiveContext: f.PathsComplete != agenttool.Yes, ContextModifierPolicy: c.policy().ContextModifierPolicy, ResourceLocks: locks,
	}
	c.rec.update(func(inv *agenttool.Invocation) { inv.Scheduler = facts })
	c.rec.to(agenttool.StatusQueued, "")
	c.rec.emit(agenttool.EventQueued, "phase", agenttool.PhaseSchedule)
}

// execute runs the call (AT-119). A call that is not read-only starts only when the journal holds its start, and has
// room for its end. Locks are held until post hooks finish: no other call may write the files that they format or check.
func (c *call) execute(ctx context.Context) error {
	if c.hooks == nil || !c.hooks.set.Has(hook.PostToolUse, hook.PostToolUseFailure) {
		defer c.turn.free()
	}
	if err := c.takeRoom(ctx); err != nil {
		return err
	}
	c.host.places.begin(c)
	defer c.host.places.stays(c)
	defer c.host.places.end(c)
	now := agenttool.Timestamp(c.host.o.Now())
	c.rec.update(func(inv *agenttool.Invocation) { inv.Scheduler.QueueState, inv.StartedAt = "executing", now })
	c.rec.to(agenttool.StatusRunning, "")
	c.rec.emit(agenttool.EventStarted, "phase", agenttool.PhaseExecute, "read_only", c.readOnly())
	if c.rec.told() {
		says(c, c.rec, agenttool.StatusRunning, agenttool.PhaseExecute, agenttool.Progress{Status: "started"})
	}
	if !c.readOnly() {
		if err := c.recorded(ctx); err != nil {
			return err
		}
	}
	c.rec.runs(c.readOnly())
	out, err := c.bound.Run(ctx, reporter{c})
	if err == nil {
		if err = c.host.live.keep(c, out); err != nil {
			out = agenttool.Output{}
		}
	}
	c.out = out
	if out.Dir != "" {
		c.moved = c.host.places.move(c, out.Dir)
	}
	if out.Job != nil {
		c.host.jobs.follow(c, out.Job)
	}
	if err != nil && ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return context.Cause(ctx)
	}
	return err
}

// recorded waits until the journal holds the call's events and has room for its end, and until they are on the disk if the call's
// changes will be.
func (c *call) recorded(ctx context.Context) error {
	if err := c.rec.flush(); err != nil && !errors.Is(err, persist.ErrPending) {
		return err
	}
	err := c.host.o.Store.Reserve(ctx)
	if d, ok := c.bound.(agenttool.Durable); ok && err == nil && d.Durable() {
		err = c.host.o.Store.Sync(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
