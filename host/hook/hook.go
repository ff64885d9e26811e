// Package hook runs the commands that the user's settings name for moments of calls, and merges their answers.
//
// A hook is a program with its arguments, without a shell. It gets one JSON object on stdin, a line that ends, and may
// answer with one JSON object on stdout, of at most 1 MiB. White space alone is no opinion.
//
//	stdin    the record of the run (hook_id, hook_event, invocation_id, tool_id, matcher) with session_id, workspace,
//	         dir, mode, tool, and as far as they are known input (normalised: paths are absolute), facts, decision
//	         (after one was taken, or when a user is about to be asked) and result (after the call). Result content
//	         above 256 KiB is a preview and a reference
//	stdout   message              string: told to the user
//	         progress             string, or {"message", "percent"?}
//	         permission_result    {"behavior": "allow" | "ask" | "deny", "reason"?}
//	         updated_input        object: the input to run instead
//	         additional_context   list of strings or {"text"}: told to the model with the result
//	         stop                 {"reason"?}: the call does not run, or the model should stop after it
//	         updated_output       string, or {"content"?, "structured_content"?}: the output to return instead
//
// The events, and the keys of each besides message and additional_context:
//
//	pre_tool_use            the input is bound             progress, permission_result, updated_input, stop
//	permission_request      a user is about to be asked    the same
//	permission_decision     it is decided                  stop
//	post_tool_use           the call ran and succeeded     progress, stop, updated_output
//	post_tool_use_failure   the call ran and failed        progress, stop
//	result_persistence      before a result is kept        updated_output
//
// Any other key is an error. Exit code 0 is an answer. Before the call ([Event.Before]), 2 denies with stderr as the reason, whatever
// stdout says; after the decision, when nothing can be denied any more, it stops the call. Everything else is a failure: another code,
// a signal, a timeout, a missing program, an answer that cannot be read. A failure before the call blocks it; a failure after it is
// reported and changes nothing. The table of docs/hooks.md has all of it.
//
// A hook runs as the user, outside of any sandbox, in the workspace, in a session of its own without a terminal. Its
// environment is built: PATH without directories of the workspace, HOME, USER, LANG, LC_*, TZ, TMPDIR, TERM=dumb, TOOLHOST_HOOK, what
// its settings add, TOOLHOST_HOOK_EVENT, TOOLHOST_SESSION and TOOLHOST_WORKSPACE. It has ended when its process
// has; its background processes may go on until the session or its process ends, but cannot hold up the call. A hook that exceeds
// its time is ended with all its processes.
//
//	set, err := hook.Compile(hooks, names)
//	runs := runner.Prepare(set.For(hook.PreToolUse, "write", matches), about)
//	runner.Run(ctx, runs, subject)
//	outcome := hook.Merge(hook.PreToolUse, runs)
//
// Agent Tool v0.2.0, "tool_hook" (AT-010, AT-170 … AT-185).
package hook

import (
	"errors"
	"fmt"
	"maps"
	"os"
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
		words[i] = w
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$`*?;&|<>()") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	name := cut(Printable(strings.ReplaceAll(strings.Join(words, " "), "\n", `\n`)), maxName)
	where := h.Origin.Where()
	switch {
	case where != "":
		return name + " (" + where + ")"
	case h.Origin.Source != "":
		return name + " (" + h.Origin.Source + ")"
	}
	return name
}

// Check says what is wrong with a hook, wherever it is to run.
func (h *Hook) Check() error {
	setForAll := h.Origin.Source == agenttool.SourceUser || h.Origin.Source == agenttool.SourceManaged
	switch {
	case !slices.Contains(Events, h.Event):
		return fmt.Errorf("hook %s: there is no event %q; the events are %s", h.Name(), h.Event, listEvents())
	case len(h.Command) == 0 || h.Command[0] == "":
		if where := h.Origin.Where(); where != "" {
			return fmt.Errorf("hook for %s (%s): it has no command", h.Event, where)
		}
		return fmt.Errorf("hook for %s: it has no command", h.Event)
	case slices.ContainsFunc(h.Command, hasNUL) || hasNUL(h.Dir):
		return fmt.Errorf("hook %s: a word holds a NUL character", h.Name())
	case strings.HasPrefix(h.Command[0], "~"):
		return fmt.Errorf("hook %s: no shell expands the ~: write the whole path", h.Name())
	case h.Dir == "" && setForAll && strings.Contains(h.Command[0], "/") && !filepath.IsAbs(h.Command[0]):
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

func hasNUL(s string) bool { return strings.ContainsRune(s, 0) }

func listEvents() string {
	names := make([]string, len(Events))
	for i, e := range Events {
		names[i] = string(e)
	}
	return strings.Join(names, ", ")
}

// Set is a list of hooks, checked and sorted by event. It is read-only. A nil Set has no hooks.
type Set struct {
	byEvent map[Event][]*Hook
	all     []*Hook
}

// Compile checks hooks and returns them as a set, nil if there are none. Names maps the names and aliases of all tools,
// in lower case, to their names. The error says everything that is wrong, a line each.
func Compile(hooks []Hook, names map[string]string) (*Set, error) {
	if len(hooks) == 0 {
		return nil, nil
	}
	s := &Set{byEvent: map[Event][]*Hook{}}
	var wrong []error
	if len(hooks) > maxHooks {
		wrong = append(wrong, fmt.Errorf("there are %d hooks; at most %d can be set", len(hooks), maxHooks))
	}
	for _, h := range hooks {
		h.Command, h.Env = slices.Clone(h.Command), maps.Clone(h.Env)
		wrong = append(wrong, h.Check())
		if tool := h.Matcher.Tool; tool == "" || tool == "*" {
			h.Matcher.Tool = ""
		} else if known, ok := names[strings.ToLower(tool)]; ok {
			h.Matcher.Tool = known
		} else {
			wrong = append(wrong, fmt.Errorf("hook %s: there is no tool %q", h.Name(), tool))
		}
		s.byEvent[h.Event] = append(s.byEvent[h.Event], &h)
		s.all = append(s.all, &h)
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return s, nil
}

// Hooks returns the hooks in their order. They are not to be changed.
func (s *Set) Hooks() []*Hook {
	if s == nil {
		return nil
	}
	return s.all
}

// For returns the hooks of an event for a call of a tool, in their order. Matches reports whether a rule is about the
// call.
func (s *Set) For(e Event, tool string, matches func(rule string) bool) []*Hook {
	if s == nil {
		return nil
	}
	var found []*Hook
	for _, h := range s.byEvent[e] {
		if (h.Matcher.Tool == "" || h.Matcher.Tool == tool) && (h.Matcher.Input == "" || matches(h.Matcher.Input)) {
			found = append(found, h)
		}
	}
	return found
}

// Has reports whether the set has hooks for one of the events.
func (s *Set) Has(events ...Event) bool {
	return s != nil && slices.ContainsFunc(events, func(e Event) bool { return len(s.byEvent[e]) > 0 })
}

// Files returns the files inside a workspace that the hooks name, sorted: a call must not write files that hooks run as the
// user. It looks at the disk.
func (s *Set) Files(workspace string) []string {
	var files []string
	for _, h := range s.Hooks() {
		for _, word := range h.Command {
			path := filepath.Join(dirOf(h, workspace), word)
			if filepath.IsAbs(word) {
				path = filepath.Clean(word)
			}
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && agenttool.Within(workspace, path) {
				files = append(files, path)
			}
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// dirOf is where the hook runs.
func dirOf(h *Hook, workspace string) string {
	if h.Dir != "" {
		return h.Dir
	}
	return workspace
}
