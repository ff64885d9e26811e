// Package builtin lists the tools of toolhost.
package builtin

import (
	"os"
	"sync"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/tools/files"
	"toolhost/tools/search"
	"toolhost/tools/search/engine"
	"toolhost/tools/shell"
	"toolhost/tools/workspace"
)

// Options are the parts of a session that tools need.
type Options struct {
	Environ func() []string // further variables of commands; nil: none
	Shell   shell.Session   // that commands run in
	Files   files.Options
	Search  *engine.Engine
}

// Tools are the tools that work on a workspace.
func Tools(w *workspace.Workspace, o Options) []agenttool.Tool {
	tools := shell.New(w, shell.Options{Environ: os.Environ(), Added: o.Environ, Session: o.Shell})
	tools = append(tools, files.New(w, o.Files)...)
	return append(tools, search.New(w, o.Search)...)
}

// Described are the tools without a workspace: they describe themselves, and cannot run.
func Described() []agenttool.Tool {
	return Tools(nil, Options{})
}

// Names are the names and aliases of all tools.
var Names = sync.OnceValue(func() map[string]string { return host.Names(Described()) })
