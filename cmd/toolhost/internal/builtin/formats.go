package builtin

import (
	"slices"

	"toolhost/agenttool"
	"toolhost/wire/mcp"
)

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
