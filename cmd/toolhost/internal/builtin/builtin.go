// Package builtin lists the tools of toolhost.
package builtin

import (
	"os"
	"slices"
	"sync"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/tools/files"
	"toolhost/tools/search"
	"toolhost/tools/search/engine"
	"toolhost/tools/seen"
	"toolhost/tools/shell"
	"toolhost/tools/workspace"
	"toolhost/wire/mcp"
)

// Options are the parts of a session that tools need.
type Options struct {
	Environ func() []string // further variables of commands; nil: none
	Shell   shell.Session   // that commands run in
	Files   files.Options
	Search  *engine.Engine
}

// Tools are the tools that work on a workspace. All of them record in one ledger what the session has seen.
func Tools(w *workspace.Workspace, o Options) []agenttool.Tool {
	ledger := &seen.Ledger{}
	o.Files.Seen = ledger
	tools := shell.New(w, shell.Options{Environ: os.Environ(), Added: o.Environ, Seen: ledger, Session: o.Shell})
	tools = append(tools, files.New(w, o.Files)...)
	return append(tools, search.New(w, o.Search, ledger)...)
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

// Declared are the declarations of the tools as another system takes them: openai, anthropic, mcp or toolspec. Any other word means those of
// the standard.
func Declared(format string) any {
	var list []any
	for _, d := range Described() {
		list = append(list, convert(d, format))
	}
	if format == "mcp" {
		return map[string]any{"tools": list}
	}
	return list
}

// convert writes a tool as another system declares tools.
func convert(d agenttool.Description, format string) any {
	name, description, schema := d.Declaration.Name, d.Declaration.Description, d.Interface.ModelInputSchema
	switch format {
	case "openai": // ATS-03
		return map[string]any{"type": "function", "function": map[string]any{"name": name, "description": description, "parameters": schema}}
	case "anthropic":
		return map[string]any{"name": name, "description": description, "input_schema": schema}
	case "mcp": // MCP-12: all four hints, always
		return mcp.Declare(d)
	case "toolspec": // ATS-01, ATS-02
		return map[string]any{"name": name, "description": description, "parameters": schema, "returns": d.Interface.OutputSchema, "metadata": category(d)}
	}
	return d.Declaration
}

// category is the metadata of the interop spec (ATS-02).
func category(d agenttool.Description) map[string]any {
	switch {
	case slices.Contains(d.Permission.AccessKinds, "code_execution"):
		return map[string]any{"category": "side_effect", "cost_tier": "free", "side_effects": true}
	case d.Interface.IsReadOnly == true:
		return map[string]any{"category": "retrieval", "cost_tier": "free", "side_effects": false}
	}
	return map[string]any{"category": "io", "cost_tier": "free", "side_effects": true}
}
