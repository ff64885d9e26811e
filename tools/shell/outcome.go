package shell

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"toolhost/agenttool"
	"toolhost/sandbox"
)

// outcome is what there is to say of a command that has ended.
type outcome struct {
	input     input
	cwd       string
	cause     cause
	ending    ending
	took      time.Duration
	leftovers []string // names of processes that were ended with it
	running   []string // names of processes that go on
	holders   []holder
	blocked   []sandbox.Violation
	confined  *sandbox.Confinement // nil: it ran as the person does
	stuck     int                  // pid of a process that could not be ended; 0: none

	stdout, stderr           rendered
	stdoutBytes, stderrBytes int64
}

// structured is the structured content, as outputSchema has it.
type structured struct {
	ExitCode        *int                `json:"exit_code"` // null: it did not exit by itself
	Signal          string              `json:"signal,omitempty"`
	TimedOut        bool                `json:"timed_out"`
	DurationMS      int64               `json:"duration_ms"`
	Cwd             string              `json:"cwd"`
	Stdout          string              `json:"stdout"`
	Stderr          string              `json:"stderr"`
	StdoutBytes     int64               `json:"stdout_bytes"`
	StderrBytes     int64               `json:"stderr_bytes"`
	StdoutTruncated bool                `json:"stdout_truncated"`
	StderrTruncated bool                `json:"stderr_truncated"`
	StillHeldBy     []holder            `json:"still_held_by,omitempty"`
	KilledLeftovers int                 `json:"killed_leftovers,omitempty"`
	Sandbox         sandboxed           `json:"sandbox"`
	Violations      []sandbox.Violation `json:"sandbox_violations,omitempty"`
	Running         []string            `json:"running,omitempty"` // background processes that go on
}

// sandboxed says what held the command.
type sandboxed struct {
	Profile string        `json:"profile"`
	Level   sandbox.Level `json:"level"`
	Partial []string      `json:"partial,omitempty"`
}

// collect takes over what the streams said.
func (o *outcome) collect(out, errs *capture) {
	o.stdout, o.stderr = render(out, errs)
	o.stdoutBytes, o.stderrBytes = out.bytes, errs.bytes
}

// output is the outcome for the model, for programs and for a person. What the command said and what is said about
// it are separate blocks: a command can print "[exit status 0]" too.
func (o *outcome) output() agenttool.Output {
	out := agenttool.Output{
		Content:    []agenttool.Content{agenttool.Text(o.text())},
		Structured: o.structured(),
		Summary:    o.summary(),
	}
	if notes := o.notes(); len(notes) > 0 {
		out.Content = append(out.Content, agenttool.Text(strings.Join(notes, "\n")))
	}
	for _, r := range []struct {
		rendered
		bytes int64
	}{{o.stdout, o.stdoutBytes}, {o.stderr, o.stderrBytes}} {
		if r.ref == nil {
			continue
		}
		out.Resources = append(out.Resources, *r.ref)
		if r.cut && r.bytes > out.Bytes {
			out.Persisted, out.Bytes = r.ref, r.bytes
		}
	}
	return out
}

// text is what the command said.
func (o *outcome) text() string {
	switch {
	case o.stdout.text == "" && o.stderr.text == "":
		return "(no output)"
	case o.stdout.text == "" || o.stderr.text == "":
		return o.stdout.text + o.stderr.text
	}
	return joinLines(o.stdout.text, "[stderr]", o.stderr.text)
}

// notes are what there is to know beside it.
func (o *outcome) notes() []string {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, "["+fmt.Sprintf(format, args...)+"]") }
	if o.ending.code > 0 {
		note("exit status %d", o.ending.code)
	}
	if o.ending.signal != 0 && o.cause == byItself {
		note("ended by %s", signalName(o.ending.signal))
	}
	switch o.cause {
	case byTimeout:
		note("still running after %v: ended by timeout_ms", o.limit())
	case byContext:
		note("ended from outside after %v", o.took.Round(time.Millisecond))
	}
	if n := len(o.leftovers); n > 0 {
		note("%s %s ended with the command: %s", count(int64(n), "background process", "background processes"),
			wasWere(n), someOf(o.leftovers))
	}
	for i, v := range o.blocked {
		if i == maxNames {
			note("and %d more: see sandbox_violations", len(o.blocked)-i)
			break
		}
		note("%s", v)
	}
	if n := len(o.running); n > 0 {
		note("%s until the session ends; what %s no longer read, and no later command can stop it: %s",
			count(int64(n), "background process goes on", "background processes go on"), saysSay(n), someOf(o.running))
	}
	if n := len(o.holders); n > 0 {
		note("%s outlived the command and still held its output, which was read no further: %s",
			count(int64(n), "process", "processes"), describe(o.holders))
	}
	if o.stuck != 0 {
		note("process %d could not be ended: it waits inside the kernel", o.stuck)
	}
	for _, r := range []rendered{o.stdout, o.stderr} {
		if r.lost != nil {
			note("the omitted output could not be kept: %v", r.lost)
		}
	}
	return notes
}

func (o *outcome) limit() time.Duration { return time.Duration(o.input.TimeoutMS) * time.Millisecond }

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func saysSay(n int) string {
	if n == 1 {
		return "it says is"
	}
	return "they say is"
}

// maxNames is how many processes a note names.
const maxNames = 5

// someOf lists the first names.
func someOf(names []string) string {
	if len(names) > maxNames {
		return strings.Join(names[:maxNames], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func describe(holders []holder) string {
	names := make([]string, len(holders))
	for i, h := range holders {
		names[i] = fmt.Sprintf("%d %s", h.PID, h.Command)
	}
	return someOf(names)
}

func (o *outcome) structured() structured {
	s := structured{
		TimedOut:        o.cause == byTimeout,
		DurationMS:      o.took.Milliseconds(),
		Cwd:             o.cwd,
		Stdout:          o.stdout.text,
		Stderr:          o.stderr.text,
		StdoutBytes:     o.stdoutBytes,
		StderrBytes:     o.stderrBytes,
		StdoutTruncated: o.stdout.cut,
		StderrTruncated: o.stderr.cut,
		StillHeldBy:     o.holders,
		KilledLeftovers: len(o.leftovers),
		Running:         o.running,
		Sandbox:         sandboxed{Profile: "unconfined", Level: sandbox.None},
		Violations:      o.blocked,
	}
	if o.confined != nil {
		s.Sandbox = sandboxed{string(o.confined.Profile), o.confined.Level, o.confined.Partial}
	}
	if o.ending.code >= 0 {
		s.ExitCode = &o.ending.code
	}
	if o.ending.signal != 0 {
		s.Signal = signalName(o.ending.signal)
	}
	return s
}

// summary is one line for a person.
func (o *outcome) summary() string {
	end := fmt.Sprintf("exit %d", o.ending.code)
	switch {
	case o.cause == byTimeout:
		end = "timed out"
	case o.cause == byContext:
		end = "canceled"
	case o.ending.signal != 0:
		end = signalName(o.ending.signal)
	}
	return fmt.Sprintf("%s after %v, %s of output", end, o.took.Round(time.Millisecond),
		count(o.stdoutBytes+o.stderrBytes, "byte", "bytes"))
}

// failure is the error of a command that did not succeed, or nil.
func (o *outcome) failure(ctx context.Context) error {
	switch {
	case o.cause == byContext:
		return context.Cause(ctx)
	case o.cause == byTimeout:
		e := agenttool.Failure(agenttool.Timeout, "command_timed_out", fmt.Sprintf(
			"the command was still running after %v and was ended; its output until then is kept. "+
				"Give it a longer timeout_ms (up to %d) or less to do", o.limit(), maxTimeout.Milliseconds()))
		e.Recoverability = agenttool.ChangeArguments
		return e
	case o.ending.code > 0 && o.kept() != nil:
		return o.violation(o.kept())
	case o.ending.signal != 0:
		return failed("exit_status", "command was ended by signal "+signalName(o.ending.signal))
	case o.ending.code < 0:
		return failed("unknown_exit", "the command has ended, but its exit status was taken by somebody else")
	case o.ending.code > 0:
		return failed("exit_status", fmt.Sprintf("command exited with status %d%s", o.ending.code, meaning(o.ending.code)))
	}
	return nil
}

// kept is the first thing that the sandbox kept from the command, nil if there is none.
func (o *outcome) kept() *sandbox.Violation {
	for i := range o.blocked {
		if o.blocked[i].Wall != sandbox.Changed {
			return &o.blocked[i]
		}
	}
	return nil
}

// violation is the error of a command that failed and that the sandbox kept from something: most likely the one is the
// reason for the other.
func (o *outcome) violation(v *sandbox.Violation) error {
	e := agenttool.Failure(agenttool.SandboxViolation, "blocked", fmt.Sprintf("command exited with status %d, and %s", o.ending.code, *v))
	e.BlockedPath = v.Path
	return e
}

func failed(code, message string) error {
	e := agenttool.Failure(agenttool.ExecutionFailed, code, message)
	e.Recoverability = agenttool.ChangeArguments
	return e
}

// meaning explains the statuses that bash gives a meaning of its own.
func meaning(code int) string {
	switch {
	case code == 126:
		return ": a program was found but could not be run (see stderr)"
	case code == 127:
		return ": a program was not found (see stderr)"
	case code > 128 && code <= 128+64:
		return ": a program in it was ended by signal " + signalName(syscall.Signal(code-128))
	}
	return ""
}
