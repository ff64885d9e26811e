package hook

import (
	"errors"
	"fmt"
	"strings"
	"syscall"

	"toolhost/agenttool"
)

// exitDenies is the exit code that denies, or stops the call where the decision has been made.
const exitDenies = 2

// finish reads the output of a process and completes the record.
func (run *Run) finish(e ending) {
	extra := run.Record.Extra
	stderr := strings.TrimSpace(Printable(strings.ToValidUTF8(string(e.stderr), "\uFFFD")))
	if stderr != "" {
		extra["stderr"] = encode(stderr)
	}
	if e.status != nil && e.status.Exited() {
		extra["exit_code"] = encode(e.status.ExitStatus())
	}
	switch h := run.Hook; {
	case e.err != nil || e.status == nil:
		run.Err = h.failure(e)
	case e.status.ExitStatus() == exitDenies && h.Event.Before() && !h.Event.decides():
		run.Answer = Answer{Stop: &Stop{Reason: stderr}}
	case e.status.ExitStatus() == exitDenies && h.Event.Before():
		run.Answer = Answer{PermissionResult: &PermissionResult{Behavior: agenttool.Deny, Reason: stderr}}
	case *e.status != 0:
		e.err = statusError(*e.status)
		run.Err = h.failure(e)
	default:
		answer, err := ParseAnswer(h.Event, e.stdout)
		if run.Answer = answer; err != nil {
			e.err = err
			run.Err = h.failure(e)
		}
	}
	run.describe()
}

// statusError says how a process ended that did not succeed.
func statusError(s syscall.WaitStatus) error {
	if s.Exited() {
		return fmt.Errorf("exit status %d", s.ExitStatus())
	}
	return fmt.Errorf("signal: %v", s.Signal())
}

// describe puts the hook's answer into the record.
func (run *Run) describe() {
	a, record := &run.Answer, &run.Record
	if run.Err != nil {
		record.Extra["error"] = encode(run.Err)
	}
	if a.Message != "" {
		record.Outputs = append(record.Outputs, encode(map[string]any{"type": "message", "text": cut(a.Message, maxMessages)}))
	}
	if a.Progress != nil {
		step := map[string]any{"type": "progress", "text": cut(a.Progress.Message, maxReason)}
		if a.Progress.Percent != nil {
			step["percent"] = *a.Progress.Percent
		}
		record.Outputs = append(record.Outputs, encode(step))
	}
	if p := a.PermissionResult; p != nil {
		record.PermissionResult = map[string]any{"behavior": p.Behavior, "reason": reason(p.Reason)}
	}
	if a.Stop != nil {
		record.Stop = map[string]any{"reason": reason(a.Stop.Reason)}
	}
	room := maxContext
	for _, t := range a.Context {
		if room > 0 {
			record.AdditionalContext = append(record.AdditionalContext, encode(Text{cut(t.Text, room)}))
		}
		room -= len(t.Text)
	}
	record.UpdatedInput = a.UpdatedInput
	if a.UpdatedOutput != nil {
		record.UpdatedOutput = a.UpdatedOutput.raw
	}
}

// maxToldStderr is the most characters of stderr that a message about a failure holds, the last ones.
const maxToldStderr = 500

// failure is the error of a failed run: the hook, the reason, and its stderr.
func (h *Hook) failure(e ending) *agenttool.Error {
	code, what := "hook_failed", "failed"
	why := e.err
	switch {
	case errors.Is(e.err, errTimeout):
		code, what, why = "hook_timeout", "did not end within "+h.timeout().String(), nil
	case errors.Is(e.err, errFlood):
		what, why = "wrote more than 1 MiB to stdout", nil
	case e.err == nil:
		what = "cannot be ended: it is stuck in the kernel"
	}
	text := fmt.Sprintf("the %s hook %s %s", h.Event, h.Name(), what)
	if why != nil {
		text += ": " + Printable(why.Error())
	}
	if said := strings.TrimSpace(strings.ToValidUTF8(string(e.stderr), "\uFFFD")); said != "" {
		text += "; it said: " + lastOf(Printable(said), maxToldStderr)
	}
	return agenttool.Failure(agenttool.HookBlocked, code, text).Because(e.err)
}

// lastOf returns the last max characters of s.
func lastOf(s string, max int) string {
	runes := []rune(s)
	if len(runes) <= max {
		return s
	}
	return "…" + string(runes[len(runes)-max:])
}
