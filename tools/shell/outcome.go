package shell

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/agenttool/count"
	"toolhost/sandbox"
	"toolhost/sandbox/proxy"
	"toolhost/tools/job"
	"toolhost/tools/job/output"
	"toolhost/tools/job/proc"
)

// why is the reason why a call returns.
type why uint8

const (
	exited     why = iota // the command has exited
	limit                 // its timeout_ms is over
	waiting               // it waits for input
	background            // the call did not wait
	canceled              // the call was cancelled, and the command ended with it
)

// outcome collects the facts about a command when its call returns.
type outcome struct {
	call *call
	job  *job.Job
	why  why

	report   job.Report
	confined sandbox.Confinement
	likely   []string // reasons of a failure, in words
	astray   string   // see [job.Job.Astray]
	printout
	effects
}

// printout is the output of a command, and the excerpt of it that its result shows.
type printout struct {
	said   output.Rendering
	stats  output.Stats
	stdout string
	stderr string
}

// structuredOutput is the structuredOutput content, see schema/shell_result.json.
type structuredOutput struct {
	jobState
	TimedOut   bool   `json:"timed_out"`
	DurationMS int64  `json:"duration_ms"`
	Cwd        string `json:"cwd"`
	excerpts
	remains
	Sandbox sandboxOutput `json:"sandbox"`
	effects
}

// excerpts are the beginning and the end of both streams, and where to read on.
type excerpts struct {
	Stdout          string `json:"stdout"`
	Stderr          string `json:"stderr"`
	StdoutBytes     int64  `json:"stdout_bytes"`
	StderrBytes     int64  `json:"stderr_bytes"`
	StdoutTruncated bool   `json:"stdout_truncated"`
	StderrTruncated bool   `json:"stderr_truncated"`
	Cursor          int64  `json:"cursor"`
}

// remains are processes of the command that still run.
type remains struct {
	StillHeldBy []proc.Holder `json:"still_held_by,omitempty"`
	Running     []string      `json:"running,omitempty"` // processes that still run
	jobNeeds
}

// effects are seen by the sandbox.
type effects struct {
	Violations []sandbox.Violation `json:"sandbox_violations,omitempty"`
	Hosts      []proxy.Host        `json:"hosts,omitempty"` // that the command reached, or tried to reach
	MoreHosts  *proxy.MoreHosts    `json:"more_hosts,omitempty"`

	Changed     []sandbox.FileChange `json:"changed_files,omitzero"` // nil: nothing sees them
	MoreChanges int                  `json:"more_changes,omitempty"`
}

// sandboxOutput describes the sandbox of the command.
type sandboxOutput struct {
	Profile string        `json:"profile"`
	Level   sandbox.Level `json:"level"`
	Partial []string      `json:"partial,omitempty"`
}

// collect reads the state of the job, once.
func (o *outcome) collect() {
	o.report = o.job.Report()
	o.said, o.stats = o.job.Said(), o.job.Log().Stats()
	o.job.Cursor.Advance(o.said.Cursor)
	o.stdout, o.stderr = o.said.Stdout.Text(o.whole()), o.said.Stderr.Text(o.whole())
	o.effects.Violations, o.confined = o.job.Violations(), o.job.Confinement()
	o.effects.Hosts, o.effects.MoreHosts = o.job.Hosts()
	o.effects.Changed, o.effects.MoreChanges = o.job.Changes()
	o.astray = o.job.Astray()
	if e := o.report.Ending; e != nil && e.Code > 0 && o.kept() == nil {
		var hints []sandbox.Violation
		hints, o.likely = o.job.Explain(cmp.Or(o.stderr, o.stdout), o.call.tool.o.Environ)
		o.effects.Violations = append(o.effects.Violations, hints...)
	}
}

// whole returns a hint where the complete output can be read.
func (p *printout) whole() string {
	switch {
	case p.stats.Ref != nil && p.stats.Lost == nil:
		return "whole output: " + p.stats.Ref.URI
	case p.stats.Lost == nil:
		return "shell_output reads it from cursor 0"
	}
	return ""
}

// goesOn reports whether the call returns before its command has ended.
func (o *outcome) goesOn() bool { return o.report.Ending == nil && o.why != canceled }

// output formats the outcome for the model, for programs and for a person. The command's output and the remarks about
// it are separate blocks: a command can print "[exit status 0]" too.
func (o *outcome) output() agenttool.Output {
	out := agenttool.Output{
		Content:    []agenttool.Content{agenttool.Text(o.text())},
		Mapping:    o.mapping(),
		Structured: o.structured(),
		Summary:    o.summary(),
		Bytes:      o.said.Cursor,
		Yielded:    o.goesOn(),
		NeedsInput: o.report.Waits != nil,
		Dir:        o.movedTo(),
		Wanted:     o.wanted(),
		Shown:      o.shown(),
	}
	if o.report.Ending == nil || o.report.State == agenttool.JobLingering { // a job that ended since then must still be announced
		out.Job = o.job
	}
	if notes := o.notes(); len(notes) > 0 {
		out.Content = append(out.Content, agenttool.Text(strings.Join(notes, "\n")))
	}
	if ref := o.stats.Ref; ref != nil {
		out.Resources = append(out.Resources, *ref)
		if o.stats.Lost == nil && (o.said.Stdout.Cut() || o.said.Stderr.Cut()) {
			out.Persisted, out.Bytes = ref, ref.SizeBytes
		}
	}
	return out
}

// maxShownFiles is the number of files of which a command's output may be the text.
const maxShownFiles = 16

// shown returns the function that records which text of files the caller got. Standard output that is shown whole may
// be the lines of a file that the command reads, such as those of cat, head or sed -n: the ledger compares them when
// somebody asks. Output that was cut, or that changed on its way, does not count.
func (o *outcome) shown() func([]agenttool.Content) {
	ledger, reads := o.call.tool.o.Seen, o.call.facts.Reads
	if ledger == nil || len(reads) == 0 || len(reads) > maxShownFiles || o.stdout == "" || o.said.Stdout.Cut() {
		return nil
	}
	text, lines := o.text(), strings.Split(strings.TrimSuffix(o.stdout, "\n"), "\n")
	return func(content []agenttool.Content) {
		if len(content) == 0 || content[0].Text != text {
			return
		}
		for _, p := range reads {
			if !p.Names {
				ledger.Printed(p.Resolved, 0, lines)
			}
		}
	}
}

func (o *outcome) movedTo() string {
	if o.goesOn() || o.why == canceled {
		return ""
	}
	return endedIn(o.job.Note())
}

// text returns the command's output.
func (o *outcome) text() string {
	switch {
	case o.stdout != "" && o.stderr != "":
		return output.JoinLines(o.stdout, "[stderr]", o.stderr)
	case o.stdout != "" || o.stderr != "":
		return o.stdout + o.stderr
	case o.goesOn():
		return "(no output yet)"
	}
	return "(no output)"
}

// notes returns the remarks about the command.
func (o *outcome) notes() []string {
	var n notes
	o.noteEnd(&n)
	if lost := o.job.Lost(); len(lost) > 0 {
		n.add("the process that held the sandbox of the session was killed, or did not answer, and was replaced: %s ended with it", strings.Join(lost, ", "))
	}
	for i, v := range o.effects.Violations {
		if i == maxNames {
			n.add("and %d more: see sandbox_violations", len(o.effects.Violations)-i)
			break
		}
		n.add("%s", v)
	}
	for _, reason := range o.likely {
		n.add("%s", reason)
	}
	if o.astray != "" {
		n.add("%s is in the session's own %s, and the user does not see it there: write in the workspace what they are to see", o.astray, sandbox.Temporary(o.astray))
	}
	if len(o.report.Holders) > 0 {
		n.add("%s still %s the output of the command: %s", count.Grouped(len(o.report.Holders), "process", "processes"),
			verb(len(o.report.Holders), "holds", "hold"), describe(o.report.Holders))
	}
	if r := o.report.Running; o.report.State == agenttool.JobLingering {
		n.add("%s on as job %s (%s): read what %s with shell_output, end with shell_kill", count.Grouped(len(r), "process goes", "processes go"),
			o.job.ID(), someOf(r), verb(len(r), "it says", "they say"))
	}
	n.addPorts(o.job, o.report.Ports)
	if confined := o.confined.Profile; confined == sandbox.ReadOnly || confined == sandbox.Workspace {
		for _, note := range o.call.tool.o.Sandbox.ConfigNotes(o.call.programNames()) {
			n.add("%s", note)
		}
	}
	o.noteListeners(&n)
	if lost := o.call.kept.Losses(); lost.Removed > 0 && o.call.facts.Destructive == agenttool.Yes {
		n.add("what it removed is kept; the user can put it back with: toolhost undo %s", o.call.kept.ID())
	}
	if lost := o.stats.Lost; lost != nil {
		n.add("bytes %d to %d of the output could not be kept: %s", lost.From, lost.To, lost.Reason)
	}
	return n
}

// programNames are the names of the programs that the call runs, as far as they are known.
func (c *call) programNames() (names []string) {
	for _, argv := range c.facts.Commands {
		if len(argv) > 0 {
			names = append(names, filepath.Base(argv[0]))
		}
	}
	return names
}

// endedWithSandbox says why a command ended that no signal of its own ended.
const endedWithSandbox = "ended by SIGKILL with the sandbox of the session: the process that held it was killed, or did not answer and was replaced"

// noteEnd adds how the command ended, or that it still runs.
func (o *outcome) noteEnd(n *notes) {
	id, e := o.job.ID(), o.report.Ending
	switch {
	case e == nil && o.why == canceled:
		n.add("ended with its call after %v; a process of it could not be ended: it waits inside the kernel", o.report.Age.Round(time.Millisecond))
	case o.why == canceled:
		n.add("ended with its call after %v", o.report.Age.Round(time.Millisecond))
	case e != nil && o.report.Limited:
		n.add("ended by the time limit of all jobs after %v", o.report.Age.Round(time.Millisecond))
	case e != nil && e.Code > 0:
		n.add("exit status %d", e.Code)
	case e != nil && e.WithSandbox:
		n.add("%s", endedWithSandbox)
	case e != nil && e.Signal != 0:
		n.add("ended by %s", job.SignalName(e.Signal))
	case e != nil:
	case o.report.Waits != nil:
		n.add("job %s waits for input: %s reads its %s. Answer with shell_input, or end it with shell_kill", id,
			o.report.Waits.Command, o.report.Waits.On)
	case o.why == background:
		n.add("running as job %s: read its output with shell_output, end it with shell_kill", id)
	default:
		n.add("still running as job %s after %v, and goes on: wait for it or read on with shell_output, end it with shell_kill", id,
			o.report.Age.Round(time.Millisecond))
	}
}

func (o *outcome) structured() structuredOutput {
	s := structuredOutput{
		jobState:   jobState{Job: o.job.ID(), State: o.report.State},
		TimedOut:   o.report.Limited,
		DurationMS: o.report.Age.Milliseconds(),
		Cwd:        o.call.dir(),
		excerpts: excerpts{
			Stdout:          o.stdout,
			Stderr:          o.stderr,
			StdoutBytes:     o.stats.Out,
			StderrBytes:     o.stats.Err,
			StdoutTruncated: o.said.Stdout.Cut(),
			StderrTruncated: o.said.Stderr.Cut(),
			Cursor:          o.said.Cursor,
		},
		remains: remains{
			StillHeldBy: o.report.Holders,
			Running:     o.report.Running,
			jobNeeds:    jobNeeds{WaitsFor: o.report.Waits, Ports: o.report.Ports},
		},
		Sandbox: sandboxOutput{string(o.confined.Profile), o.confined.Level, o.confined.Partial},
		effects: o.effects,
	}
	if e := o.report.Ending; e != nil {
		s.ExitCode, s.Signal = exitOf(e)
	}
	return s
}

// exitOf converts an ending to exit code and signal.
func exitOf(e *job.Ending) (code *int, signal string) {
	if e.Signal != 0 {
		return nil, job.SignalName(e.Signal)
	}
	return &e.Code, ""
}

// summary returns one line for a person.
func (o *outcome) summary() string {
	took := o.report.Age.Round(time.Millisecond)
	said := count.Grouped(o.stats.Bytes, "byte", "bytes") + " of output"
	e := o.report.Ending
	switch {
	case o.why == canceled:
		return fmt.Sprintf("canceled after %v, %s", took, said)
	case e == nil:
		return fmt.Sprintf("job %s goes on after %v, %s", o.job.ID(), took, said)
	case e.Signal != 0:
		return fmt.Sprintf("%s after %v, %s", job.SignalName(e.Signal), took, said)
	}
	return fmt.Sprintf("exit %d after %v, %s", e.Code, took, said)
}

// failure returns the error of a failed command, or nil.
func (o *outcome) failure(ctx context.Context) error {
	e := o.report.Ending
	switch {
	case o.why == canceled:
		return context.Cause(ctx)
	case e == nil:
		return nil
	case o.report.Limited:
		return agenttool.Failure(agenttool.Timeout, "job_limit", fmt.Sprintf(
			"the command was ended after %v by --job-timeout, the time limit of all jobs", o.report.Age.Round(time.Millisecond)))
	case o.bound() != nil && e.Code == 0:
		return failed("exit_status", "command exited with status 0, and the sandbox ended what it left running: "+o.bound().Detail)
	case o.bound() != nil:
		return failed("exit_status", fmt.Sprintf("command %s: %s", how(e), o.bound()))
	case e.Unserved != nil:
		happened := "command " + how(e) + ", and the sandbox could not do calls of it"
		if short := agenttool.SystemFailure(happened, e.Unserved); short != nil {
			return short
		}
		return failed("exit_status", fmt.Sprintf("%s: %v", happened, e.Unserved))
	case e.Code > 0 && o.kept() != nil:
		return o.violation(o.kept())
	case e.Signal != 0:
		return failed("exit_status", "command "+how(e))
	case e.Code > 0:
		return failed("exit_status", "command "+how(e)+meaning(e.Code))
	}
	return nil
}

// how says how a command ended.
func how(e *job.Ending) string {
	if e.Signal != 0 {
		return "was ended by signal " + job.SignalName(e.Signal)
	}
	return fmt.Sprintf("exited with status %d", e.Code)
}

// kept returns the first access that the sandbox blocked, nil if there is none.
func (e *effects) kept() *sandbox.Violation {
	for i := range e.Violations {
		if e.Violations[i].Wall != sandbox.Changed {
			return &e.Violations[i]
		}
	}
	return nil
}

// bound returns the bound on processes, memory or scratch that ended the command or a process of it, nil if none did.
func (e *effects) bound() *sandbox.Violation {
	for i := range e.Violations {
		if e.Violations[i].Wall == sandbox.Bound {
			return &e.Violations[i]
		}
	}
	return nil
}

// wanted returns the grants that would have permitted the accesses that the sandbox certainly blocked. It leaves out
// reads that the sandbox merely reported: a search that meets a secret does not need it.
func (e *effects) wanted() []string {
	var grants []string
	for _, v := range e.Violations {
		if v.Certain && v.Grant != "" && v.Wall != sandbox.Changed && !slices.Contains(grants, v.Grant) {
			grants = append(grants, v.Grant)
		}
	}
	return grants
}

// violation returns the error of a command that failed and was blocked by the sandbox: most likely the block caused
// the failure.
func (o *outcome) violation(v *sandbox.Violation) error {
	e := agenttool.Failure(agenttool.SandboxViolation, "blocked",
		fmt.Sprintf("command exited with status %d, and %s", o.report.Ending.Code, *v))
	e.BlockedPath = v.Path
	return e
}

func failed(code, message string) error {
	e := agenttool.Failure(agenttool.ExecutionFailed, code, message)
	e.Recoverability = agenttool.ChangeArguments
	return e
}

// meaning explains exit statuses that bash reserves.
func meaning(code int) string {
	switch {
	case code == 126:
		return ": a program was found but could not be run (see stderr)"
	case code == 127:
		return ": a program was not found (see stderr)"
	case code > 128 && code <= 128+64:
		return ": a program in it was ended by signal " + job.SignalName(syscall.Signal(code-128))
	}
	return ""
}

// executionID is the id of the execution profile of shell.
const executionID = "toolhost.shell.execution"

// mapping names what ran as command lines do. Its refs point into the call's invocation, its result and the tool's records.
//
// Agent Tool v0.2.0, "External mappings" (AT-344).
type mapping struct {
	Source       string `json:"source"`
	CommandID    string `json:"command_id"`
	ArgvRef      string `json:"argv_ref"`
	CwdRef       string `json:"cwd_ref"`
	EnvPolicyRef string `json:"env_policy_ref"`
	ExitCode     *int   `json:"exit_code"` // null: it did not exit by itself, or not yet
	Signal       string `json:"signal"`    // empty: none ended it
	SandboxRef   string `json:"sandbox_ref"`
}

func (o *outcome) mapping() mapping {
	m := mapping{
		Source: "cli", CommandID: o.job.ID(), ArgvRef: "invocation#/call_input", CwdRef: "invocation#/facts/dir",
		EnvPolicyRef: executionID + "#/env_policy", SandboxRef: "result#/structured_content/sandbox",
	}
	if e := o.report.Ending; e != nil {
		m.ExitCode, m.Signal = exitOf(e)
	}
	return m
}
