package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// mcpClient is a program that speaks MCP, and how it is told of a server.
type mcpClient struct {
	name  string
	title string
	where string                      // where the snippet goes
	local func(command []string) any  // starts the server over pipes
	http  func(url, token string) any // token is how the client's configuration names the variable
	token string                      // a variable in the words of the configuration; %s is its name
	print func(w io.Writer, snippet any) error
}

// tokenVariable holds the token of a server that is reached over HTTP: it stands in no file.
const tokenVariable = "TOOLHOST_TOKEN"

// The longest that a client waits for one call: commands may run for an hour before they give control back.
const longestCallS = 3600

type object = map[string]any

var mcpClients = []mcpClient{
	{
		name: "claude", title: "Claude Code", where: ".mcp.json in the project, or claude mcp add-json toolhost '…' for its value", token: "${%s}", print: printJSON,
		local: func(c []string) any {
			return object{"mcpServers": object{"toolhost": object{"type": "stdio", "command": c[0], "args": c[1:]}}}
		},
		http: func(url, token string) any {
			return object{"mcpServers": object{"toolhost": object{"type": "http", "url": url, "headers": bearer(token)}}}
		},
	},
	{
		name: "codex", title: "Codex", token: "%s", print: printTOML,
		where: "~/.codex/config.toml (default_tools_approval_mode is there because toolhost asks itself; without it Codex asks as well)",
		local: func(c []string) any {
			return append([]setting{{"command", c[0]}, {"args", c[1:]}}, codexSettings...)
		},
		http: func(url, token string) any {
			return append([]setting{{"url", url}, {"bearer_token_env_var", token}}, codexSettings...)
		},
	},
	{
		name: "gemini", title: "Gemini CLI", where: ".gemini/settings.json in the project, or ~/.gemini/settings.json", token: "$%s", print: printJSON,
		local: func(c []string) any {
			return object{"mcpServers": object{"toolhost": object{"command": c[0], "args": c[1:], "timeout": longestCallS * 1000}}}
		},
		http: func(url, token string) any {
			return object{"mcpServers": object{"toolhost": object{"httpUrl": url, "headers": bearer(token), "timeout": longestCallS * 1000}}}
		},
	},
	{
		name: "vscode", title: "VS Code", where: ".vscode/mcp.json in the project", token: "${input:%s}", print: printJSON,
		local: func(c []string) any {
			if !slices.ContainsFunc(c, func(word string) bool { return word == "--workspace" || strings.HasPrefix(word, "--workspace=") }) {
				c = append(slices.Clone(c), "--workspace", "${workspaceFolder}")
			}
			return object{"servers": object{"toolhost": object{"type": "stdio", "command": c[0], "args": c[1:]}}}
		},
		http: func(url, token string) any {
			return object{
				"inputs":  []any{object{"type": "promptString", "id": tokenVariable, "description": "the token that toolhost serve --http printed", "password": true}},
				"servers": object{"toolhost": object{"type": "http", "url": url, "headers": bearer(token)}},
			}
		},
	},
	{
		name: "zed", title: "Zed", where: "settings.json of Zed (over HTTP with the token in it: it reads no variables there)", token: "PUT-THE-TOKEN-HERE%.0s", print: printJSON,
		local: func(c []string) any {
			return object{"context_servers": object{"toolhost": object{"source": "custom", "command": c[0], "args": c[1:], "env": object{}}}}
		},
		http: func(url, token string) any {
			return object{"context_servers": object{"toolhost": object{"url": url, "headers": bearer(token)}}}
		},
	},
}

// codexSettings are the same however it reaches toolhost.
var codexSettings = []setting{{"tool_timeout_sec", longestCallS}, {"default_tools_approval_mode", "approve"}}

func bearer(token string) object { return object{"Authorization": "Bearer " + token} }

func newMCPConfig() *cobra.Command {
	var server string
	names := make([]string, len(mcpClients))
	for i, c := range mcpClients {
		names[i] = c.name
	}
	cmd := &cobra.Command{
		Use:   "mcp-config " + strings.Join(names, "|") + " [-- FLAGS OF SERVE]",
		Short: "Print the configuration by which an MCP client finds toolhost",
		Long: `mcp-config prints what a client's configuration needs to start this very program as an MCP server, and says on stderr where
that goes. What stands behind -- are flags for toolhost serve. With --http it prints how a server is reached that runs already.`,
		Example: `  toolhost mcp-config claude > .mcp.json
  toolhost mcp-config codex -- --mode accept_edits >> ~/.codex/config.toml
  toolhost mcp-config vscode --http http://127.0.0.1:8722/mcp`,
		ValidArgs: names,
		Args:      cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.Index(names, args[0])
			if i < 0 {
				return fmt.Errorf("there is no client %q here; there are %s", args[0], strings.Join(names, ", "))
			}
			if dash := cmd.ArgsLenAtDash(); len(args) > 1 && dash != 1 {
				return fmt.Errorf("%q: one client at a time; flags for toolhost serve stand behind --", args[1])
			}
			c := mcpClients[i]
			snippet, err := c.snippet(server, args[1:])
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "For %s: put this into %s\n", c.title, c.where)
			if server != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "The client needs the server's token: export %s=… before it starts\n", tokenVariable)
			}
			return c.print(cmd.OutOrStdout(), snippet)
		},
	}
	cmd.Flags().StringVar(&server, "http", "", "`URL` of a server that toolhost serve --http said, with its /mcp; its token is taken from "+tokenVariable)
	return cmd
}

func (c mcpClient) snippet(server string, flags []string) (any, error) {
	if server != "" {
		if len(flags) > 0 {
			return nil, fmt.Errorf("%s: a server that runs already takes no flags; give them to its toolhost serve", flags[0])
		}
		address, err := mcpAddress(server)
		if err != nil {
			return nil, err
		}
		return c.http(address, fmt.Sprintf(c.token, tokenVariable)), nil
	}
	if err := newServe().ParseFlags(flags); err != nil {
		return nil, fmt.Errorf("toolhost serve would not start: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		return nil, exitf(exitFailed, "this program cannot say where it is: %v", err)
	}
	return c.local(append([]string{program, "serve"}, flags...)), nil
}

// mcpAddress is where MCP is spoken at a server: /mcp, unless it says more.
func mcpAddress(given string) (string, error) {
	u, err := url.Parse(given)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("--http %s: give the URL that toolhost serve --http printed, such as http://127.0.0.1:8722/mcp", given)
	}
	if strings.TrimSuffix(u.Path, "/") == "" {
		u.Path = "/mcp"
	}
	return u.String(), nil
}

func printJSON(w io.Writer, snippet any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(snippet)
}

// setting is one line of a table of TOML: a string, a list of strings or a number.
type setting struct {
	key   string
	value any
}

func printTOML(w io.Writer, snippet any) error {
	fmt.Fprintln(w, "[mcp_servers.toolhost]")
	for _, s := range snippet.([]setting) {
		text := ""
		switch v := s.value.(type) {
		case string:
			text = quoteTOML(v)
		case []string:
			quoted := make([]string, len(v))
			for i, word := range v {
				quoted[i] = quoteTOML(word)
			}
			text = "[" + strings.Join(quoted, ", ") + "]"
		case int:
			text = strconv.Itoa(v)
		}
		if _, err := fmt.Fprintf(w, "%s = %s\n", s.key, text); err != nil {
			return err
		}
	}
	return nil
}

// quoteTOML writes a basic string: JSON's escapes are TOML's, but for the one character that JSON may leave as it is.
func quoteTOML(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string can be encoded
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\x7f", `\u007f`)
}
