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

// Described are the descriptions of the tools.
func Described() (all []agenttool.Description) {
	for _, t := range Tools(nil, Options{}) {
		all = append(all, t.Describe())
	}
	return all
}

// List are the names of all tools, without aliases.
func List() (names []string) {
	for _, d := range Described() {
		names = append(names, d.Declaration.Name)
	}
	return names
}

// Names are the names and aliases of all tools.
var Names = sync.OnceValue(func() map[string]string { return host.Names(Tools(nil, Options{})) })
