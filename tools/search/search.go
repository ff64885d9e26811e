package search

import (
	"time"

	"toolhost/agenttool"
	"toolhost/tools/search/engine"
	"toolhost/tools/workspace"
)

// timeLimit is the time after which a search returns its results so far.
const timeLimit = 20 * time.Second

// New returns the tools grep and glob for the files that w opens; both search with e. Describe works with nil for
// both.
//
// Output of a call is at most 1 MiB; its Structured conforms to the declared output schema. Errors of Bind and Preflight
// are of class invalid_arguments: bad_pattern, pattern_too_large, bad_glob, unknown_type, not_found, not_a_directory, or
// permission_denied for toolhost's own state.
func New(w *workspace.Workspace, e *engine.Engine) []agenttool.Tool {
	s := session{w, e, timeLimit}
	return []agenttool.Tool{grepTool{s}, globTool{s}}
}

// session holds the fields that both tools share.
type session struct {
	ws     *workspace.Workspace
	engine *engine.Engine
	limit  time.Duration
}

// place returns the engine's root for a search below an open directory.
func (s session) place(dir *workspace.Dir, root agenttool.Path) (engine.Root, error) {
	secrets, err := s.ws.Secrets()
	return engine.Root{Dir: dir, Path: root.Resolved, Top: root.Root, Private: s.ws.Private, Secrets: secrets}, err
}
