package files

import (
	"os"
	"time"

	"toolhost/agenttool"
	"toolhost/tools/seen"
	"toolhost/tools/workspace"
)

// New returns the tools read, write and edit, in this order.
func New(w *workspace.Workspace, o Options) []agenttool.Tool {
	if o.LockTimeout <= 0 {
		o.LockTimeout = 10 * time.Second
	}
	if o.Seen == nil {
		o.Seen = &seen.Ledger{}
	}
	s := &session{workspace: w, options: o, surveys: newSurveys(), sync: (*os.File).Sync, decoding: make(chan struct{}, 1)}
	return []agenttool.Tool{readTool{s}, writeTool{s}, editTool{s}}
}
