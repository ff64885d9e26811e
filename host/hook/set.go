package hook

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolhost/agenttool"
)

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
