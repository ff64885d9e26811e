// Package builtin lists the tools of toolhost.
package builtin

import (
	"os"
	"sync"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/sandbox"
	"toolhost/tools/files"
	"toolhost/tools/job"
	"toolhost/tools/search"
	"toolhost/tools/search/engine"
	"toolhost/tools/shell"
	"toolhost/tools/shell/keep"
	"toolhost/tools/workspace"
)

// Options are the parts of a session that tools need.
type Options struct {
	Environ    func() []string  // further variables of commands; nil: none
	Jobs       *job.Jobs        // starts commands
	Sandbox    *sandbox.Session // confines commands; nil: they run unconfined
	Refuse     error            // why no command runs; nil: they run
	Keep       *keep.Store      // copies what commands destroy; nil: nothing is copied
	Unconfined func()           // called when a command runs unconfined; nil is not called
	Shown      func() []string  // directories outside of the workspace that every command may read; nil: none
	Made       func() []string  // directories outside of the workspace that the session made, and may remove; nil: none
	Files      files.Options
	Search     *engine.Engine
}

// Tools are the tools that work on a workspace.
func Tools(w *workspace.Workspace, o Options) []agenttool.Tool {
	tools := shell.New(w, shell.Options{
		Environ: os.Environ(), Added: o.Environ, Jobs: o.Jobs, Sandbox: o.Sandbox, Refuse: o.Refuse, Unconfined: o.Unconfined, Keep: o.Keep, Shown: o.Shown, Made: o.Made,
	})
	tools = append(tools, files.New(w, o.Files)...)
	return append(tools, search.New(w, o.Search)...)
}

// Described are the tools without a workspace: they describe themselves, and cannot run.
func Described() []agenttool.Tool {
	return Tools(nil, Options{})
}

// Names are the names and aliases of all tools.
var Names = sync.OnceValue(func() map[string]string { return host.Names(Described()) })
