package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/cmd/toolhost/internal/mcpconfig"
)

func newMCPConfig() *cobra.Command {
	var server string
	cmd := &cobra.Command{
		Use:   "mcp-config CLIENT [-- FLAGS OF SERVE]",
		Short: "Print the configuration that an MCP client needs to find toolhost",
		Long: `mcp-config prints what a client's configuration needs to start this very program as an MCP server, and names its file on
stderr. Flags for toolhost serve stand behind --. With --http it prints how a server is reached that runs already.
toolhost setup writes it into the client's files, and lists the clients.`,
		Example: `  toolhost mcp-config claude > .mcp.json
  toolhost mcp-config codex -- --mode accept_edits >> ~/.codex/config.toml
  toolhost mcp-config vscode --http http://127.0.0.1:8722/mcp`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := mcpconfig.Find(args[0])
			if err != nil {
				return err
			}
			if dash := cmd.ArgsLenAtDash(); len(args) > 1 && dash != 1 {
				return fmt.Errorf("%q: one client at a time; flags for toolhost serve stand behind --", args[1])
			}
			snippet, err := mcpSnippet(c, server, args[1:])
			if err != nil {
				return err
			}
			var text bytes.Buffer
			if err := snippet.Print(&text); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "For %s: put this into %s\n", c.Title, c.Where())
			switch {
			case server == "":
			case bytes.Contains(text.Bytes(), []byte("promptString")):
				fmt.Fprintf(cmd.ErrOrStderr(), "%s asks for the server's token, once\n", c.Title)
			default:
				fmt.Fprintf(cmd.ErrOrStderr(), "The client needs the server's token: export %s=… before it starts\n", mcpconfig.TokenVariable)
			}
			_, err = text.WriteTo(cmd.OutOrStdout())
			return err
		},
	}
	cmd.Flags().StringVar(&server, "http", "", "`URL` of a server that toolhost serve --http said, with its /mcp; its token is taken from "+mcpconfig.TokenVariable)
	return cmd
}

// mcpSnippet is the configuration to reach a server, or without one to start toolhost serve with flags.
func mcpSnippet(c mcpconfig.Client, server string, flags []string) (snippet mcpconfig.Snippet, err error) {
	if server != "" {
		if len(flags) > 0 {
			return snippet, fmt.Errorf("%s: a server that runs already takes no flags; give them to its toolhost serve", flags[0])
		}
		return c.HTTP(server)
	}
	if err := newServe().ParseFlags(flags); err != nil {
		return snippet, fmt.Errorf("toolhost serve would not start: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return snippet, exitf(exitFailed, "this program cannot say where it is: %v", err)
	}
	return c.Local(mcpconfig.Server{Command: append([]string{program, "serve"}, flags...), Tools: builtin.List()}), nil
}
