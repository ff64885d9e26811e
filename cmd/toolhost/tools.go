package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/wire/mcp"
)

func newTools() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Print the declarations of the tools, in the form that a model's API takes",
		Example: `  toolhost tools --format anthropic
  toolhost tools --format text`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if format == "" {
				format = "agenttool"
				if output.IsTerminal(os.Stdout) {
					format = "text"
				}
			}
			return printTools(cmd.OutOrStdout(), format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "", strings.Join(toolFormats, ", ")+" (default: text on a terminal, else agenttool)")
	return cmd
}

var toolFormats = []string{"agenttool", "openai", "anthropic", "mcp", "toolspec", "text"}

func printTools(out io.Writer, format string) error {
	if !slices.Contains(toolFormats, format) {
		return fmt.Errorf("--format %s: it can be one of %s", format, strings.Join(toolFormats, ", "))
	}
	var described []agenttool.Description
	for _, t := range builtin.Described() {
		described = append(described, t.Describe())
	}
	if format == "text" {
		return printToolList(out, described)
	}
	list := make([]any, len(described))
	for i, d := range described {
		list[i] = convert(d, format)
	}
	if format == "mcp" {
		return output.Indented(out, map[string]any{"tools": list})
	}
	return output.Indented(out, list)
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

func printToolList(out io.Writer, described []agenttool.Description) error {
	w := output.NewTable(out, "TOOL", "ALIASES", "RISK", "WHAT IT DOES")
	for _, d := range described {
		what, _, _ := strings.Cut(d.Declaration.Description, ". ")
		w.Row(d.Declaration.Name, strings.Join(d.Declaration.Aliases, " "), d.Permission.RiskLevel, what)
	}
	return w.Flush()
}
