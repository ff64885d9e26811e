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

// serve takes the call from its admission to its result. If it does not come to its end although its context has
// ended, the call is answered without it.
func (c *call) serve() {
	stop := context.AfterFunc(c.ctx, c.overdue)
	// The journal gets the call, with its input and the records that it refers to, before anything can happen to it (AT-011): that
	// survives the host.
	c.rec.storeLarge()
	c.rec.begin(c)
	c.rec.push()
	if c.host.o.First != nil {
		c.host.first.Do(c.host.o.First)
	}
	err := c.line(c.ctx)
	if err == nil {
		if c.req.Timeout <= 0 {
			c.own.begin(ownLimit, c.outOfTime)
		}
		err = c.run(c.ctx)
		c.own.end()
	}
	stop()
	if !c.concluding.CompareAndSwap(false, true) {
		c.turn.free() // a stuck call keeps its locks until here, and has been answered for
		return
	}
	e := &ending{c: c, rec: c.rec, hooks: c.hooks, turn: c.turn, out: c.out, move: c.move, consent: c.approval.consent}
	if c.hooks != nil {
		e.at = c.situation
	}
	if c.move != nil {
		e.notes = append(e.notes, c.move.note())
	}
	c.conclude(e, err)
}

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
		{agenttool.PhasePreHooks, c.preHooks, agenttool.StatusDenied},
	})
	for attempts := 0; err == nil; {
		failed, err = c.through(ctx, []step{
			{agenttool.PhasePermission, c.permission, agenttool.StatusDenied},
			{agenttool.PhaseSchedule, c.schedule, agenttool.StatusCanceled},
			{agenttool.PhaseValidateValues, c.preflight, agenttool.StatusValidationFailed},
			{agenttool.PhaseExecute, c.execute, agenttool.StatusFailed},
		})
		outdated := c.outdated(err)
		if !outdated { // else there are other rules each time, and the call has not been tried by those in force
			attempts++
		}
		if err == nil || attempts == maxAttempts {
			break
		}
		switch {
		case errors.Is(err, agenttool.ErrPreviewStale), errors.Is(err, errNamesChanged), outdated:
			// What was decided is no longer what would be done: decide again.
			c.approval.policy = c.rulesInForce()
			err = c.again(ctx)
			if err == nil {
				err = c.rebind(ctx, c.input)
			}
		case c.wasKept(err):
			err = c.override(ctx, err)
		}
	}
	if err != nil {
		c.rec.fail(failed, agenttool.AsError(err, agenttool.ExecutionFailed))
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

// line waits for the calls that must succeed first, then for a place among the calls that are worked on.
func (c *call) line(ctx context.Context) error {
	for _, d := range c.after {
		c.afterOther = true
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
	c.takeTurn()
	c.host.live.mu.Unlock()
	if c.turn.place != nil && c.bound != nil {
		c.turn.place.Expect(c.locks())
		if !c.mayMove {
			c.host.places.stays(c)
		}
	}
	defer c.own.wait()()
	return c.turn.enter(ctx)
}

// takeTurn takes the call's turn, after those of all calls admitted before. The caller holds h.live.mu.
func (c *call) takeTurn() {
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

// invalid emits the event of a failed check and returns the error.
func (c *call) invalid(p agenttool.Phase, err error) error {
	if err != nil {
		c.rec.emit(agenttool.EventValidationFailed, "phase", p, "error", agenttool.AsError(err, agenttool.InvalidArguments))
	}
	return err
}

// bind turns the input into a Call and its facts (AT-114, the part without IO).
func (c *call) bind(ctx context.Context) error {
	if c.bound == nil {
		if err := c.startDir(ctx); err != nil {
			return err
		}
	}
	bound, err := c.tool.tool.Bind(c.scope(), c.input)
	if err != nil {
		return c.invalid(agenttool.PhaseValidateValues, agenttool.AsError(err, agenttool.InvalidArguments))
	}
	c.bound = bound
	if b, ok := bound.(agenttool.Bounded); ok {
		c.own.set(b.OwnTime())
	}
	mover, ok := c.tool.tool.(agenttool.Mover)
	c.mayMove = ok && mover.Moves(bound)
	if !c.mayMove {
		c.host.places.stays(c)
	}
	return nil
}

// startDir settles where the call starts: where the calls admitted before it leave the session, except those that wait for a person. The
// calls of a batch start together, unless they come after one that may have moved it.
func (c *call) startDir(ctx context.Context) error {
	if c.turn.place != nil { // else it acts on jobs
		defer c.own.wait()()
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
		c.dir, c.move = c.host.places.here()
	}
	return nil
}

// scope is the scope of the call's binding. Its directory is settled when the call is first bound, so that it runs where the prompt said.
func (c *call) scope() agenttool.Scope {
	s := c.host.o.Scope
	s.Dir, s.Old, s.Capacity = c.dir, c.host.places.before(), c.req.Caller.Capacity
	return s
}

// locate resolves the paths of the facts and writes down the input as others may see it (AT-115). Then it is known which locks the paths
// mean, so that later calls without a conflicting lock may pass while hooks and the decision take their time.
func (c *call) locate(ctx context.Context) error {
	facts := c.bound.Facts()
	if err := c.resolvePaths(ctx, facts); err != nil {
		return c.invalid(agenttool.PhasePrepareObserved, err)
	}
	if c.turn.place != nil {
		c.turn.place.Expect(c.locks())
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

// locatePatience is how long a call whose paths cannot be found holds up later ones: a network file system may be dead.
const locatePatience = time.Second

// resolvePaths follows the links of all paths in the facts.
func (c *call) resolvePaths(ctx context.Context, facts *agenttool.Facts) error {
	if c.turn.place != nil {
		late := time.AfterFunc(locatePatience, c.turn.place.Withdraw)
		defer late.Stop()
	}
	locate := c.host.o.Locate
	if facts.Dir != nil {
		if err := locate(facts.Dir); err != nil {
			return err
		}
	}
	for _, paths := range [][]agenttool.Path{facts.Reads, facts.Writes} {
		for i := range paths {
			err := locate(&paths[i])
			if err != nil && facts.Dir == nil {
				return err
			}
			if err != nil {
				guess(locate, facts, &paths[i])
			}
		}
	}
	if r, ok := c.bound.(agenttool.Refiner); ok {
		for _, p := range r.Refine(ctx) {
			if err := locate(p); err != nil {
				guess(locate, facts, p)
			}
		}
	}
	return context.Cause(ctx)
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
	atOnce := ticket.Started()
	if !c.host.live.mayStart(c, atOnce) {
		return errShutdown
	}
	if !atOnce {
		_ = c.rec.flush() // subscribers see that it waits
	}
	waits := agenttool.Progress{Status: "queued", Message: "waits for other calls"}
	defer announceWait(c, agenttool.StatusQueued, agenttool.PhaseSchedule, waits)()
	c.queuing.Store(ticket)
	err := ticket.Wait(ctx)
	c.queuing.Store(nil)
	if err != nil {
		return err
	}
	c.own.renew()
	c.host.live.started(c)
	waited := c.host.o.Now().Sub(start)
	c.rec.update(func(inv *agenttool.Invocation) { inv.Scheduler.WaitedUS = waited.Microseconds() })
	return nil
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

// preflight checks that the decision still knows all that the call changes, and lets the call look, before any side effect, whether it can
// work (AT-114, the part with IO).
func (c *call) preflight(ctx context.Context) error {
	if err := c.decisionHolds(); err != nil {
		return c.invalid(agenttool.PhaseValidateValues, err)
	}
	p, ok := c.bound.(agenttool.Preflighter)
	if !ok {
		return nil
	}
	return c.invalid(agenttool.PhaseValidateValues, p.Preflight(ctx))
}

// needsLocks reports whether a call that has run keeps its locks: until post hooks finish, since no other call may write the files that they
// format or check, and until the tool knows what its caller was shown, which later calls depend on.
func needsLocks(hooks *hookRunner, out agenttool.Output) bool {
	return out.Shown != nil || hooks != nil && hooks.set.Has(hook.PostToolUse, hook.PostToolUseFailure)
}

// execute runs the call (AT-119). A call that is not read-only starts only when the journal holds its start, and has
// room for its end.
func (c *call) execute(ctx context.Context) error {
	defer func() {
		if !needsLocks(c.hooks, c.out) {
			c.turn.free()
		}
	}()
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
	over := func() {}
	if _, ok := c.bound.(agenttool.Bounded); !ok && c.tool.Declaration.ToolKind != agenttool.KindFileOperation {
		over = c.own.wait() // nobody knows how long it takes
	}
	out, err := c.bound.Run(ctx, reporter{c})
	over()
	if err == nil {
		err = c.host.live.keep(c, out)
		if err != nil {
			out = agenttool.Output{}
		}
	}
	c.out = out
	if out.Dir != "" {
		c.move = c.host.places.move(c, out.Dir)
	}
	if out.Job != nil {
		c.host.jobs.follow(c, out.Job)
	}
	if err != nil && ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return context.Cause(ctx)
	}
	return err
}

// takeRoom waits until memory has room for the content that the call will hold. A call that runs a command holds little, and may
// run for long.
func (c *call) takeRoom(ctx context.Context) error {
	if c.host.room == nil || c.turn.room != nil || c.tool.Declaration.ToolKind != agenttool.KindFileOperation {
		return nil
	}
	room := c.host.room.Enqueue(scheduler.Request{})
	c.host.live.mu.Lock()
	c.turn.room = room
	c.host.live.mu.Unlock()
	defer c.own.wait()()
	return room.Wait(ctx)
}

// recorded waits until the journal holds the call's events and has room for its end, and until they are on the disk if the call's
// changes will be.
//
// Calls behind this one wait for its locks meanwhile. So it takes half of what its deadline leaves: those that only read, and were made at the same
// time, still come to their result.
func (c *call) recorded(ctx context.Context) error {
	if err := c.rec.flush(); err != nil && !errors.Is(err, persist.ErrPending) {
		return err
	}
	bounded := ctx
	if end, ok := ctx.Deadline(); ok {
		half, cancel := context.WithTimeout(ctx, time.Until(end)/2)
		defer cancel()
		bounded = half
	}
	err := c.host.o.Store.Reserve(bounded)
	if d, ok := c.bound.(agenttool.Durable); ok && err == nil && d.Durable() {
		err = c.host.o.Store.Sync(bounded)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case bounded.Err() != nil && err != nil:
		return persist.ErrPending
	}
	return err
}

// conclude makes the result and, when it is the call's turn in its batch, hands it over.
func (c *call) conclude(e *ending, err error) {
	completion := e.finish(err)
	close(c.ended)
	c.expire()
	c.cancel(nil)
	c.awaitTurn(e.turn)
	over := c.host.forget(c, e.rec.succeeded())
	c.done(completion) // may wait for a client to read: then no more calls begin
	if over != nil {
		c.host.live.handedOver(over)
	}
	e.turn.pass()
	if next := c.host.live.after(c); next != nil && next.batch.ordered() {
		next.release(next.rec) // while it still waits: its result must come after its progress
	}
	close(c.handedOver)
	c.host.running.Done()
}

// awaitTurn waits until the calls before it in its batch have been handed over.
func (c *call) awaitTurn(t turn) {
	if c.before != nil {
		t.pass() // a result that waits for its turn does not hold up other calls
		<-c.before
	}
}
