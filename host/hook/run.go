package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox"
)

const (
	maxParallel  = 8  // hooks of one event that run at once
	maxProcesses = 32 // hooks of all events and calls
)

// Options are the options of a runner.
type Options struct {
	Workspace string              // absolute: where hooks run
	Session   agenttool.SessionID // told to them
	Environ   []string            // of the host, "NAME=value" each: some of it is passed on
	IDs       *agenttool.IDs      // nil: a new one
	Now       func() time.Time    // nil: time.Now
}

// Runner runs hooks. It may be used from several goroutines.
type Runner struct {
	o        Options
	commands *sandbox.Session // starts them, with no sandbox
	slots    chan struct{}    // one for each process
}

// NewRunner returns a runner. It starts nothing.
func NewRunner(o Options) (*Runner, error) {
	commands, err := sandbox.Open(sandbox.Options{Level: sandbox.None})
	if err != nil {
		return nil, err
	}
	if o.IDs == nil {
		o.IDs = &agenttool.IDs{}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Runner{o: o, commands: commands, slots: make(chan struct{}, maxProcesses)}, nil
}

// Close ends the background processes of hooks. Hooks that begin later fail.
func (r *Runner) Close() error { return r.commands.Close() }

// Prepare returns the runs of hooks for a call, with the records that say so, not begun.
func (r *Runner) Prepare(hooks []*Hook, invocation agenttool.InvocationID, tool agenttool.ToolID) []Run {
	runs := make([]Run, len(hooks))
	for i, h := range hooks {
		runs[i] = Run{Hook: h, Record: agenttool.Hook{
			SchemaVersion: agenttool.SchemaVersion, HookID: agenttool.HookID(r.o.IDs.New("hook_", r.o.Now())),
			HookEvent: string(h.Event), InvocationID: invocation, ToolID: tool, Matcher: h.Matcher.record(),
			Extra: agenttool.Extra{"command": encode(h.Command), "source": encode(h.Origin.Source), "where": encode(h.Origin.Where())},
		}}
	}
	return runs
}

// record is the matcher as records hold it; nil if it is for all calls.
func (m Matcher) record() map[string]any {
	record := map[string]any{}
	if m.Tool != "" {
		record["tool"] = m.Tool
	}
	if m.Input != "" {
		record["input"] = m.Input
	}
	if len(record) == 0 {
		return nil
	}
	return record
}

// Run runs the hooks of one event beside each other, at most 8 at once, and returns when all have ended. It completes
// runs. Subject, an encoded object, describes the call to them, besides their record. When ctx ends, running hooks
// are ended and the others do not begin.
func (r *Runner) Run(ctx context.Context, runs []Run, subject json.RawMessage) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(len(runs), maxParallel) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(runs) {
					return
				}
				r.one(ctx, &runs[i], subject)
			}
		})
	}
	workers.Wait()
}

// one runs one hook.
func (r *Runner) one(ctx context.Context, run *Run, subject json.RawMessage) {
	if err := r.enter(ctx); err != nil {
		run.finish(ending{err: err})
		return
	}
	defer func() { <-r.slots }()
	begin := r.o.Now()
	run.Record.StartedAt = agenttool.Timestamp(begin)
	e := r.execute(ctx, run, subject)
	run.finish(e)
	end := r.o.Now()
	run.Record.EndedAt = agenttool.Timestamp(end)
	run.Record.Extra["duration_ms"] = encode(end.Sub(begin).Milliseconds())
}

// enter waits until one more process may run.
func (r *Runner) enter(ctx context.Context) error {
	select {
	case r.slots <- struct{}{}:
		if ctx.Err() == nil {
			return nil
		}
		<-r.slots
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

func (r *Runner) execute(ctx context.Context, run *Run, subject json.RawMessage) ending {
	h := run.Hook
	env := environ(r.o.Environ, r.o.Workspace, h.Env,
		"TOOLHOST_HOOK_EVENT="+string(h.Event), "TOOLHOST_SESSION="+string(r.o.Session), "TOOLHOST_WORKSPACE="+r.o.Workspace)
	path, err := program(h.Command[0], env)
	if err != nil {
		return ending{err: err}
	}
	stdin, err := message(run.Record, subject)
	if err != nil {
		return ending{err: err}
	}
	c := &sandbox.Command{Path: path, Args: h.Command, Env: env, Dir: dirOf(h, r.o.Workspace), Profile: sandbox.Profile{Access: sandbox.Unconfined}}
	return r.runProcess(ctx, c, stdin, h.timeout())
}

// message is the input of a hook: one object of the members of its record and of the subject, and a line feed. The subject,
// which can be large, is not copied.
func message(record agenttool.Hook, subject json.RawMessage) ([][]byte, error) {
	head, err := agenttool.Encode(record)
	if err != nil {
		return nil, err
	}
	if len(subject) <= len("{}") {
		return [][]byte{head, {'\n'}}, nil
	}
	return [][]byte{head[:len(head)-1], {','}, subject[1:], {'\n'}}, nil
}

// encode encodes a value of ours. A failure is a bug: they hold nothing that JSON cannot.
func encode(v any) json.RawMessage {
	b, err := agenttool.Encode(v)
	if err != nil {
		panic(fmt.Sprintf("hook: encode %T: %v (this is a bug in toolhost)", v, err))
	}
	return b
}
