package search

import (
	"time"

	"toolhost/agenttool"
	"toolhost/tools/search/engine"
	"toolhost/tools/seen"
	"toolhost/tools/workspace"
)

// limits are the times after which a search returns its results so far, and after which it stops looking for what would
// have matched if there are none. With an index such a look takes milliseconds. The other letter case is tried after every
// search without results, so it may take only a small share of the time of the search: the first search of a large tree
// rarely offers it.
type limits struct {
	search          time.Duration
	readings        time.Duration // to try other readings of the pattern
	letterCase      time.Duration // to try the other letter case
	letterCaseShare float64       // of the time of the search
	names           time.Duration // to look for names in another spelling
}

var usualLimits = limits{20 * time.Second, 300 * time.Millisecond, 20 * time.Millisecond, 0.03, 100 * time.Millisecond}

// session holds the fields that both tools share.
type session struct {
	ws     *workspace.Workspace
	engine *engine.Engine
	seen   *seen.Ledger
	limits limits
}

// place returns the engine's root for a search below an open directory.
func (s session) place(dir *workspace.Dir, root agenttool.Path) (engine.Root, error) {
	secrets, err := s.ws.Secrets()
	return engine.Root{Dir: dir, Path: root.Resolved, Top: root.Root, Private: s.ws.Private, Secrets: secrets}, err
}
