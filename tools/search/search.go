package search

import (
	"time"

	"toolhost/agenttool"
	"toolhost/tools/search/engine"
	"toolhost/tools/seen"
	"toolhost/tools/workspace"
)

// timeLimit is the time after which a search returns its results so far.
const timeLimit = 20 * time.Second

// session holds the fields that both tools share.
type session struct {
	ws     *workspace.Workspace
	engine *engine.Engine
	seen   *seen.Ledger
	limit  time.Duration
}

// place returns the engine's root for a search below an open directory.
func (s session) place(dir *workspace.Dir, root agenttool.Path) (engine.Root, error) {
	secrets, err := s.ws.Secrets()
	return engine.Root{Dir: dir, Path: root.Resolved, Top: root.Root, Private: s.ws.Private, Secrets: secrets}, err
}
