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
	if format == "text" {
		return printToolList(out, builtin.Described())
	}
	return output.Indented(out, builtin.Declared(format))
}

func printToolList(out io.Writer, described []agenttool.Description) error {
	w := output.NewTable(out, "TOOL", "ALIASES", "RISK", "WHAT IT DOES")
	for _, d := range described {
		what, _, _ := strings.Cut(d.Declaration.Description, ". ")
		const most = 3 // --format json has all
		aliases := strings.Join(d.Declaration.Aliases[:min(most, len(d.Declaration.Aliases))], " ")
		if len(d.Declaration.Aliases) > most {
			aliases += " …"
		}
		w.Row(d.Declaration.Name, aliases, d.Permission.RiskLevel, what)
	}
	return w.Flush()
}
