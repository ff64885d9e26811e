package hook

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
)

// Event is a moment in the life of a call when hooks run (AT-170 … AT-175).
type Event string

// The events.
const (
	PreToolUse         Event = "pre_tool_use"
	PostToolUse        Event = "post_tool_use"
	PostToolUseFailure Event = "post_tool_use_failure"
	PermissionRequest  Event = "permission_request"
	PermissionDecision Event = "permission_decision"
	ResultPersistence  Event = "result_persistence"
)

// Events lists the events in the standard's order.
var Events = []Event{PreToolUse, PostToolUse, PostToolUseFailure, PermissionRequest, PermissionDecision, ResultPersistence}

// Before reports whether hooks of the event may still keep the call from running: one that fails does so.
func (e Event) Before() bool {
	return e == PreToolUse || e == PermissionRequest || e == PermissionDecision
}

// decides reports whether hooks of the event may say what the decision about the call should be.
func (e Event) decides() bool { return slices.Contains(meaningful["permission_result"], e) }

// Hook is one command that is set to run at an event.
type Hook struct {
	Event   Event
	Matcher Matcher
	Command []string          // program and arguments; no shell reads them
	Timeout time.Duration     // 0: 10 seconds
	Env     map[string]string // added to the environment
	Origin  agenttool.Origin  // where it is set
	Dir     string            // absolute: where it runs; "": the workspace
}

// Matcher selects the calls of a hook. The zero value is for all.
type Matcher struct {
	Tool  string // a tool's name or alias, without regard to case, and no other tool; "" or *: any
	Input string // a rule that must be about the call, such as Shell(git push *); "": any input
}

const (
	defaultTimeout = 10 * time.Second
	maxTimeout     = 10 * time.Minute
	maxHooks       = 100 // of one list
)

// timeout is how long the hook may run.
func (h *Hook) timeout() time.Duration {
	if h.Timeout == 0 {
		return defaultTimeout
	}
	return h.Timeout
}

// maxName is the most characters of a command that messages name.
const maxName = 200

// Name is the command and where it is set, for messages: "./check.sh --all (/home/me/.config/…/settings.json:12)".
func (h *Hook) Name() string {
	words := make([]string, len(h.Command))
	for i, w := range h.Command {
		if words[i] = w; w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?;&|<>()") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	name := cut(Printable(strings.ReplaceAll(strings.Join(words, " "), "\n", `\n`)), maxName)
	switch where := h.Origin.Where(); {
	case where != "":
		return name + " (" + where + ")"
	case h.Origin.Source != "":
		return name + " (" + h.Origin.Source + ")"
	}
	return name
}

// Check says what is wrong with a hook, wherever it is to run.
func (h *Hook) Check() error {
	switch {
	case !slices.Contains(Events, h.Event):
		return fmt.Errorf("hook %s: there is no event %q; the events are %s", h.Name(), h.Event, listEvents())
	case len(h.Command) == 0 || h.Command[0] == "":
		return fmt.Errorf("hook for %s%s: it has no command", h.Event, at(h.Origin))
	case slices.ContainsFunc(h.Command, hasNUL) || hasNUL(h.Dir):
		return fmt.Errorf("hook %s: a word holds a NUL character", h.Name())
	case strings.HasPrefix(h.Command[0], "~"):
		return fmt.Errorf("hook %s: no shell expands the ~: write the whole path", h.Name())
	case h.anywhere():
		return fmt.Errorf("hook %s: it is set for all workspaces, and %s would be another program in each: write an absolute path", h.Name(), h.Command[0])
	case h.Timeout < 0 || h.Timeout > maxTimeout:
		return fmt.Errorf("hook %s: a timeout lies between 0 and %s", h.Name(), maxTimeout)
	case h.Dir != "" && !filepath.IsAbs(h.Dir):
		return fmt.Errorf("hook %s: its directory %q is not absolute", h.Name(), h.Dir)
	}
	for name, value := range h.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") || hasNUL(value) || strings.HasPrefix(name, "TOOLHOST_") {
			return fmt.Errorf("hook %s: the variable %q cannot be set", h.Name(), name)
		}
	}
	return nil
}

// anywhere reports whether a hook that is set for every workspace names a program of whichever workspace it is.
func (h *Hook) anywhere() bool {
	source, program := h.Origin.Source, h.Command[0]
	return (source == agenttool.SourceUser || source == agenttool.SourceManaged) && h.Dir == "" &&
		strings.Contains(program, "/") && !filepath.IsAbs(program)
}

func hasNUL(s string) bool { return strings.ContainsRune(s, 0) }

func at(o agenttool.Origin) string {
	if where := o.Where(); where != "" {
		return " (" + where + ")"
	}
	return ""
}

func listEvents() string {
	names := make([]string, len(Events))
	for i, e := range Events {
		names[i] = string(e)
	}
	return strings.Join(names, ", ")
}
