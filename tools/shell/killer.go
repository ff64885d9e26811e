package shell

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"toolhost/agenttool"
	"toolhost/agenttool/cut"
	"toolhost/tools/job"
)

// killer is the tool shell_kill.
type killer struct{ jobs *job.Jobs }

// Describe returns the tool's records.
func (killer) Describe() agenttool.Description {
	return control{
		name: "shell_kill", title: "End a job", aliases: []string{"KillShell", "KillBash", "TaskStop"},
		hint:     "stop a background command, kill a server",
		example:  `{"job":"j1"}`,
		defaults: map[string]any{"signal": "TERM", "grace_ms": 2000},
		readOnly: agenttool.No, destructive: agenttool.No, openWorld: false, retries: true,
		description: "Ends a job with all that it started: TERM, and KILL after grace_ms. Returns what it said last.",
	}.describe()
}

// lastLines is the number of output lines in the result.
const lastLines = 40

// killInput is the input of shell_kill.
type killInput struct {
	Job     string `json:"job"`
	Signal  string `json:"signal"`
	GraceMS *int64 `json:"grace_ms"`
}

const (
	usualGrace = 2000
	maxGrace   = 60_000
)

// ActsOnJobs implements [agenttool.JobTool].
func (killer) ActsOnJobs() {}

// Bind decodes and checks an input. Errors are of class invalid_arguments.
func (t killer) Bind(_ agenttool.Scope, raw json.RawMessage) (agenttool.Call, error) {
	c := &kill{jobs: t.jobs, facts: ownJobs(false)}
	if err := bindControl(raw, &c.input, &c.input.Job); err != nil {
		return nil, err
	}
	c.input.Signal = cmp.Or(c.input.Signal, "TERM")
	if c.input.GraceMS == nil {
		grace := int64(usualGrace)
		c.input.GraceMS = &grace
	}
	var ok bool
	if c.signal, ok = parseSignal(c.input.Signal); !ok {
		return nil, invalid("/signal", "bad_signal", fmt.Sprintf("%q is no signal: name one, such as TERM, INT, HUP, QUIT or KILL", cut.Short(c.input.Signal, 40)))
	}
	if *c.input.GraceMS < 0 || *c.input.GraceMS > maxGrace {
		return nil, invalid("/grace_ms", "bad_grace", fmt.Sprintf("grace_ms is %d: it must be between 0 and %d", *c.input.GraceMS, maxGrace))
	}
	return c, nil
}

// parseSignal reads TERM, SIGTERM, sigterm or 15.
func parseSignal(s string) (syscall.Signal, bool) {
	if n, err := strconv.Atoi(s); err == nil {
		return syscall.Signal(n), n > 0 && unix.SignalName(syscall.Signal(n)) != ""
	}
	name := strings.ToUpper(s)
	if !strings.HasPrefix(name, "SIG") {
		name = "SIG" + name
	}
	signal := unix.SignalNum(name)
	return signal, signal != 0
}

// kill is a bound call of shell_kill.
type kill struct {
	jobs   *job.Jobs
	input  killInput
	signal syscall.Signal
	facts  agenttool.Facts
}

func (c *kill) Input() any { return c.input }

func (c *kill) Facts() *agenttool.Facts { return &c.facts }

// Run ends the job and waits until its processes have exited. It does not advance the read cursor. Errors:
// invalid_arguments for an unknown job, execution_failed if processes are left.
func (c *kill) Run(ctx context.Context, _ agenttool.Reporter) (agenttool.Output, error) {
	j, err := c.jobs.Find(c.input.Job)
	if err != nil {
		return agenttool.Output{}, err
	}
	killed, gone := j.Kill(ctx, c.signal, time.Duration(*c.input.GraceMS)*time.Millisecond)
	if ctx.Err() != nil {
		return agenttool.Output{}, context.Cause(ctx)
	}
	report := j.Report()
	r := pageOf(j.Log().Tail(lastLines, textBytes, 0), j, report)
	r.Killed = killed
	if !gone {
		return r.output(), agenttool.Failure(agenttool.ExecutionFailed, "not_ended", fmt.Sprintf(
			"job %s could not be ended: %s waits inside the kernel and goes when that is over", j.ID(), someOf(j.Running())))
	}
	return r.output(), nil
}
