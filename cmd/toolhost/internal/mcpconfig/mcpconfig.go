// Package mcpconfig writes the configuration that MCP clients need to start or reach toolhost.
package mcpconfig

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Client is a program that speaks MCP, and how its configuration names a server.
type Client struct {
	Name  string                      // on the command line
	Title string                      // for a person
	Where string                      // where the snippet goes
	local func(command []string) any  // starts the server over pipes
	http  func(url, token string) any // token is how the client's configuration names the variable
	token string                      // a variable in the words of the configuration; %s is its name
	print func(w io.Writer, snippet any) error
}

// TokenVariable holds the token of a server that is reached over HTTP: no file holds it.
const TokenVariable = "TOOLHOST_TOKEN"

// The longest that a client waits for one call: commands may run for an hour before they give control back.
const longestCallS = 3600

type object = map[string]any

// Clients are those whose configuration is known.
var Clients = []Client{
	{
		Name: "claude", Title: "Claude Code", Where: ".mcp.json in the project, or claude mcp add-json toolhost '…' for its value", token: "${%s}", print: printJSON,
		local: func(c []string) any {
			return object{"mcpServers": object{"toolhost": object{"type": "stdio", "command": c[0], "args": c[1:]}}}
		},
		http: func(url, token string) any {
			return object{"mcpServers": object{"toolhost": object{"type": "http", "url": url, "headers": bearer(token)}}}
		},
	},
	{
		Name: "codex", Title: "Codex", token: "%s", print: printTOML,
		Where: "~/.codex/config.toml (default_tools_approval_mode is there because toolhost asks itself; without it Codex asks as well)",
		local: func(c []string) any {
			return append([]setting{{"command", c[0]}, {"args", c[1:]}}, codexSettings...)
		},
		http: func(url, token string) any {
			return append([]setting{{"url", url}, {"bearer_token_env_var", token}}, codexSettings...)
		},
	},
	{
		Name: "gemini", Title: "Gemini CLI", Where: ".gemini/settings.json in the project, or ~/.gemini/settings.json", token: "$%s", print: printJSON,
		local: func(c []string) any {
			return object{"mcpServers": object{"toolhost": object{"command": c[0], "args": c[1:], "timeout": longestCallS * 1000}}}
		},
		http: func(url, token string) any {
			return object{"mcpServers": object{"toolhost": object{"httpUrl": url, "headers": bearer(token), "timeout": longestCallS * 1000}}}
		},
	},
	{
		Name: "vscode", Title: "VS Code", Where: ".vscode/mcp.json in the project", token: "${input:%s}", print: printJSON,
		local: func(c []string) any {
			if !slices.ContainsFunc(c, func(word string) bool { return word == "--workspace" || strings.HasPrefix(word, "--workspace=") }) {
				c = append(slices.Clone(c), "--workspace", "${workspaceFolder}")
			}
			return object{"servers": object{"toolhost": object{"type": "stdio", "command": c[0], "args": c[1:]}}}
		},
		http: func(url, token string) any {
			return object{
				"inputs":  []any{object{"type": "promptString", "id": TokenVariable, "description": "the token that toolhost serve --http printed", "password": true}},
				"servers": object{"toolhost": object{"type": "http", "url": url, "headers": bearer(token)}},
			}
		},
	},
	{
		Name: "zed", Title: "Zed", Where: "settings.json of Zed (over HTTP with the token in it: it reads no variables there)", token: "PUT-THE-TOKEN-HERE%.0s", print: printJSON,
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

// Snippet is a part of a client's configuration.
type Snippet struct {
	value any
	print func(io.Writer, any) error
}

// Print writes the snippet in the client's format.
func (s Snippet) Print(w io.Writer) error { return s.print(w, s.value) }

// Local is the configuration to start command and speak to it over pipes.
func (c Client) Local(command []string) Snippet { return Snippet{c.local(command), c.print} }

// HTTP is the configuration to reach a running server. The client reads its token from [TokenVariable].
func (c Client) HTTP(server string) (Snippet, error) {
	at, err := address(server)
	if err != nil {
		return Snippet{}, err
	}
	return Snippet{c.http(at, fmt.Sprintf(c.token, TokenVariable)), c.print}, nil
}

// address is where MCP is spoken at a server: /mcp, unless the URL has a path.
func address(given string) (string, error) {
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
