package search

import (
	"toolhost/agenttool"
	"toolhost/tools/search/engine"
	"toolhost/tools/seen"
	"toolhost/tools/workspace"
)

// New returns the tools grep and glob for the files that w opens; both search with e. The ledger learns which lines grep
// has shown; nil: nobody asks. Describe works with nil for all.
//
// Output of a call is at most 1 MiB; its Structured conforms to the declared output schema. Errors of Bind and Preflight
// are of class invalid_arguments: bad_pattern, pattern_too_large, bad_glob, unknown_type, not_found, not_a_directory, or
// permission_denied for toolhost's own state.
func New(w *workspace.Workspace, e *engine.Engine, ledger *seen.Ledger) []agenttool.Tool {
	s := session{w, e, ledger, usualLimits}
	return []agenttool.Tool{grepTool{s}, globTool{s}}
}
