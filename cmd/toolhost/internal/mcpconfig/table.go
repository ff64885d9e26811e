package mcpconfig

import (
	"slices"
	"strings"

	"toolhost/cmd/toolhost/internal/mcpconfig/edit"
)

type object = edit.Object

// Clients are those whose configuration is known.
var Clients = []Client{
	{
		Name: "claude", Title: "Claude Code", Program: "claude", Signs: []string{"~/.claude"},
		Files: []File{
			{Scope: Project, Names: []string{".mcp.json"}, Format: edit.JSON},
			{Scope: Project, Names: []string{".claude/settings.json"}, Format: edit.JSON, Changes: claudeProject},
			{Scope: User, Names: []string{"~/.claude.json"}, Env: "CLAUDE_CONFIG_DIR", Format: edit.JSON},
			{Scope: User, Names: []string{"~/.claude/settings.json"}, Env: "CLAUDE_CONFIG_DIR", Format: edit.JSON, Changes: claudeTools},
		},
		Trust:  "start claude in it and trust the folder",
		format: edit.JSON, at: []string{"mcpServers", "toolhost"}, token: "${%s}",
		local: func(s Server) object { return append(stdio(s), edit.Field{Key: "alwaysLoad", Value: true}) },
		http:  remote("type", "http", "url"),
	},
	{
		Name: "codex", Title: "Codex", Program: "codex", Signs: []string{"~/.codex"},
		Files: []File{
			{Scope: User, Names: []string{"~/.codex/config.toml"}, Env: "CODEX_HOME", Format: edit.TOML, Changes: codexTools},
			{Scope: Project, Names: []string{".codex/config.toml"}, Format: edit.TOML, Changes: codexTools},
		},
		Keeps:  "apply_patch, which its newest models have",
		Trust:  "start codex in it and trust the folder",
		Tip:    "default_tools_approval_mode is there because toolhost asks itself; without it Codex asks as well",
		format: edit.TOML, at: []string{"mcp_servers", "toolhost"}, token: "%s",
		local: func(s Server) object { return append(plain(s), codexSettings...) },
		http: func(url, token string) object {
			return append(object{{Key: "url", Value: url}, {Key: "bearer_token_env_var", Value: token}}, codexSettings...)
		},
	},
	{
		Name: "gemini", Title: "Gemini CLI", Program: "gemini", Signs: []string{"~/.gemini"},
		Files:  both(".gemini/settings.json", "~/.gemini/settings.json", geminiTools),
		Keeps:  "its glob, which has the name of ours",
		Trust:  "start gemini in it and trust the folder, if it asks",
		format: edit.JSON, at: []string{"mcpServers", "toolhost"}, token: "$%s", local: trusted, http: remote("", "", "httpUrl", timeoutMS),
	},
	{
		Name: "qwen", Title: "Qwen Code", Program: "qwen", Signs: []string{"~/.qwen"},
		Files: []File{
			{Scope: User, Names: []string{"~/.qwen/settings.json"}, Format: edit.JSON, Changes: qwenTools},
			{Scope: Project, Names: []string{".qwen/settings.json"}, Format: edit.JSON, Changes: qwenTools},
		},
		Trust:  "run qwen mcp approve toolhost in it",
		format: edit.JSON, at: []string{"mcpServers", "toolhost"}, token: "$%s",
		local: func(s Server) object { return append(trusted(s), edit.Field{Key: "alwaysLoadTools", Value: true}) },
		http:  remote("", "", "httpUrl", timeoutMS),
	},
	{
		Name: "copilot", Title: "Copilot CLI", Program: "copilot", Signs: []string{"~/.copilot"},
		Files: []File{
			{Scope: User, Names: []string{"~/.copilot/mcp-config.json"}, Env: "COPILOT_HOME", Format: edit.JSON},
			{Scope: Project, Names: []string{".mcp.json"}, Format: edit.JSON},
		},
		Keeps:  "its shell and file tools: start it with --excluded-tools 'bash,write_bash,read_bash,stop_bash,list_bash,view,edit,create,apply_patch,rg,grep,glob'",
		Asks:   "start it with --allow-tool toolhost",
		format: edit.JSON, at: []string{"mcpServers", "toolhost"}, token: "${%s}",
		local: func(s Server) object { return append(stdio(s), edit.Field{Key: "tools", Value: []string{"*"}}) },
		http:  remote("type", "http", "url", edit.Field{Key: "tools", Value: []string{"*"}}),
	},
	{
		Name: "opencode", Title: "opencode", Program: "opencode", Signs: []string{"CONFIG/opencode"},
		Files: []File{
			{Scope: Project, Names: []string{"opencode.json", "opencode.jsonc"}, Format: edit.JSON, Changes: opencodeTools},
			{Scope: User, Names: []string{"CONFIG/opencode/opencode.json", "CONFIG/opencode/opencode.jsonc"}, Format: edit.JSON, Changes: opencodeTools},
		},
		format: edit.JSON, at: []string{"mcp", "toolhost"}, token: "{env:%s}",
		local: func(s Server) object {
			return object{{Key: "type", Value: "local"}, {Key: "command", Value: s.Command}, {Key: "enabled", Value: true}, timeoutMS}
		},
		http: remote("type", "remote", "url", edit.Field{Key: "enabled", Value: true}),
	},
	{
		Name: "cline", Title: "Cline", Program: "cline", Signs: []string{"~/.cline"},
		Files:  []File{{Scope: User, Names: []string{"~/.cline/data/settings/cline_mcp_settings.json"}, Format: edit.JSON}},
		Keeps:  "its own shell and file tools",
		format: edit.JSON, at: []string{"mcpServers", "toolhost"}, token: "${env:%s}",
		local: func(s Server) object {
			return append(plain(s), timeoutS, edit.Field{Key: "autoApprove", Value: s.Tools}, edit.Field{Key: "disabled", Value: false})
		},
		http: remote("type", "streamableHttp", "url", timeoutS),
	},
	{
		Name: "continue", Title: "Continue", Program: "cn", Signs: []string{"~/.continue"},
		Files:  []File{{Scope: Project, Names: []string{".continue/mcpServers/toolhost.yaml"}, Format: edit.Text}},
		Keeps:  "its own shell and file tools: exclude them in its permissions.yaml, or with cn --exclude",
		format: edit.Text,
	},
	{
		Name: "cursor", Title: "Cursor", Program: "cursor", Signs: []string{"~/.cursor"},
		Files:  both(".cursor/mcp.json", "~/.cursor/mcp.json", nil),
		Keeps:  "its own terminal and edit tools: no file of its configuration switches them off",
		Asks:   "allow toolhost in its settings, under Agents, Auto-Run",
		format: edit.JSON, at: []string{"mcpServers", "toolhost"}, token: "${env:%s}",
		local: func(s Server) object { return stdio(s.in("${workspaceFolder}")) }, http: remote("", "", "url"),
	},
	{
		Name: "vscode", Title: "VS Code", Program: "code", Signs: []string{"CONFIG/Code"},
		Files: []File{
			{Scope: Project, Names: []string{".vscode/mcp.json"}, Format: edit.JSON},
			{Scope: User, Names: []string{"CONFIG/Code/User/mcp.json"}, Format: edit.JSON},
		},
		Keeps:  "its own terminal and edit tools: choose those of toolhost alone under Configure Tools in the chat",
		Asks:   "choose Always Allow at its first question",
		format: edit.JSON, at: []string{"servers", "toolhost"}, token: "${input:%s}",
		local: func(s Server) object { return stdio(s.in("${workspaceFolder}")) }, http: remote("type", "http", "url"),
		inputs: []any{object{
			{Key: "type", Value: "promptString"}, {Key: "id", Value: TokenVariable},
			{Key: "description", Value: "the token that toolhost serve --http printed"}, {Key: "password", Value: true},
		}},
	},
	{
		Name: "zed", Title: "Zed", Program: "zed", Signs: []string{"CONFIG/zed"},
		Files:  []File{{Scope: User, Names: []string{"CONFIG/zed/settings.json"}, Format: edit.JSON}},
		Keeps:  "its own terminal and edit tools: choose a profile with the tools of toolhost alone in its agent panel",
		Asks:   "choose Always Allow at its first question",
		Tip:    "over HTTP with the token in it: it reads no variables there",
		format: edit.JSON, at: []string{"context_servers", "toolhost"}, token: "PUT-THE-TOKEN-HERE%.0s",
		local: func(s Server) object {
			return append(append(object{{Key: "source", Value: "custom"}}, plain(s)...), edit.Field{Key: "env", Value: object{}})
		},
		http: remote("", "", "url"),
	},
	{
		Name: "windsurf", Title: "Windsurf", Program: "windsurf", Signs: []string{"~/.codeium/windsurf"}, Rootless: true,
		Files:  []File{{Scope: User, Names: []string{"~/.codeium/windsurf/mcp_config.json"}, Format: edit.JSON}},
		Keeps:  "its own terminal and edit tools: no file of its configuration switches them off",
		format: edit.JSON, at: []string{"mcpServers", "toolhost"}, token: "${env:%s}", local: plain, http: remote("", "", "serverUrl"),
	},
	{
		Name: "goose", Title: "goose", Program: "goose", Signs: []string{"CONFIG/goose"},
		Files:  []File{{Scope: User, Names: []string{"CONFIG/goose/config.yaml"}, Format: edit.YAML, Changes: gooseTools}},
		format: edit.YAML, at: []string{"extensions", "toolhost"}, token: "${%s}",
		local: func(s Server) object {
			return object{
				{Key: "name", Value: "toolhost"}, {Key: "type", Value: "stdio"}, {Key: "enabled", Value: true},
				{Key: "cmd", Value: s.Command[0]}, {Key: "args", Value: s.Command[1:]}, timeoutS,
			}
		},
		http: func(url, token string) object {
			return object{
				{Key: "name", Value: "toolhost"}, {Key: "type", Value: "streamable_http"}, {Key: "enabled", Value: true},
				{Key: "uri", Value: url}, {Key: "headers", Value: bearer(token)}, timeoutS,
			}
		},
	},
	{
		Name: "crush", Title: "Crush", Program: "crush", Signs: []string{"CONFIG/crush"},
		Files: []File{
			{Scope: Project, Names: []string{"crush.json", ".crush.json"}, Format: edit.JSON, Changes: crushTools},
			{Scope: User, Names: []string{"CONFIG/crush/crush.json"}, Format: edit.JSON, Changes: crushTools},
		},
		format: edit.JSON, at: []string{"mcp", "toolhost"}, token: "$%s",
		local: func(s Server) object { return append(stdio(s), timeoutS) }, http: remote("type", "http", "url", timeoutS),
	},
	{
		Name: "claude-desktop", Title: "Claude Desktop", Signs: []string{"CONFIG/Claude"}, Rootless: true,
		Files:  []File{{Scope: User, Names: []string{"CONFIG/Claude/claude_desktop_config.json"}, Format: edit.JSON}},
		Asks:   "choose Always allow at its first question",
		format: edit.JSON, at: []string{"mcpServers", "toolhost"}, local: plain,
	},
	{
		Name: "lm-studio", Title: "LM Studio", Program: "lms", Signs: []string{"~/.lmstudio"}, Rootless: true,
		Files:  []File{{Scope: User, Names: []string{"~/.lmstudio/mcp.json"}, Format: edit.JSON}},
		Asks:   "choose to always allow the tools of toolhost at its first question",
		format: edit.JSON, at: []string{"mcpServers", "toolhost"}, token: "PUT-THE-TOKEN-HERE%.0s", local: plain, http: remote("", "", "url"),
	},
	{
		Name: "jetbrains", Title: "JetBrains Junie", Program: "junie", Signs: []string{"~/.junie"},
		Files:  both(".junie/mcp/mcp.json", "~/.junie/mcp/mcp.json", nil),
		Keeps:  "its own terminal and edit tools: no file of its configuration switches them off",
		Asks:   "add the tools of toolhost to its action allowlist",
		format: edit.JSON, at: []string{"mcpServers", "toolhost"}, local: plain,
	},
	{
		Name: "kiro", Title: "Kiro", Program: "kiro", Signs: []string{"~/.kiro"},
		Files:  both(".kiro/settings/mcp.json", "~/.kiro/settings/mcp.json", nil),
		Keeps:  "its own shell and file tools, unless a custom agent leaves them out",
		format: edit.JSON, at: []string{"mcpServers", "toolhost"}, token: "${%s}",
		local: func(s Server) object { return append(plain(s), edit.Field{Key: "autoApprove", Value: s.Tools}) }, http: remote("", "", "url"),
	},
	{
		Name: "roo", Title: "Roo Code", Signs: []string{"CONFIG/Code/User/globalStorage/rooveterinaryinc.roo-cline"},
		Files:  []File{{Scope: Project, Names: []string{".roo/mcp.json"}, Format: edit.JSON}},
		Keeps:  "its own shell and file tools: a mode with the group mcp alone has none of them",
		format: edit.JSON, at: []string{"mcpServers", "toolhost"}, token: "${env:%s}",
		local: func(s Server) object {
			return append(plain(s), timeoutS, edit.Field{Key: "alwaysAllow", Value: s.Tools})
		},
		http: remote("type", "streamable-http", "url", timeoutS),
	},
}

var (
	timeoutMS = edit.Field{Key: "timeout", Value: longestCallS * 1000}
	timeoutS  = edit.Field{Key: "timeout", Value: longestCallS}

	// codexSettings are the same however it reaches toolhost.
	codexSettings = object{{Key: "tool_timeout_sec", Value: longestCallS}, {Key: "default_tools_approval_mode", Value: "approve"}}
)

// both are the files of a client that has the same one in the project and in the home.
func both(project, user string, changes func(Client, Server) []edit.Change) []File {
	return []File{
		{Scope: Project, Names: []string{project}, Format: edit.JSON, Changes: changes},
		{Scope: User, Names: []string{user}, Format: edit.JSON, Changes: changes},
	}
}

// in starts the server in a workspace, unless its flags name one.
func (s Server) in(workspace string) Server {
	if !s.HasWorkspace() {
		s.Command = append(slices.Clone(s.Command), "--workspace", workspace)
	}
	return s
}

// HasWorkspace reports whether the flags of the server name its workspace.
func (s Server) HasWorkspace() bool {
	return slices.ContainsFunc(s.Command, func(word string) bool { return word == "--workspace" || strings.HasPrefix(word, "--workspace=") })
}

func plain(s Server) object {
	return object{{Key: "command", Value: s.Command[0]}, {Key: "args", Value: s.Command[1:]}}
}

func stdio(s Server) object { return append(object{{Key: "type", Value: "stdio"}}, plain(s)...) }

// trusted is the server for Gemini CLI and those that come from it: it leaves questions to toolhost.
func trusted(s Server) object {
	return append(plain(s), timeoutMS, edit.Field{Key: "trust", Value: true})
}

func bearer(token string) object { return object{{Key: "Authorization", Value: "Bearer " + token}} }

// remote describes a server at a URL: a type, if there is one, the URL, the token, and more.
func remote(typeKey, typeName, urlKey string, more ...edit.Field) func(url, token string) object {
	return func(url, token string) (o object) {
		if typeKey != "" {
			o = object{{Key: typeKey, Value: typeName}}
		}
		o = append(o, edit.Field{Key: urlKey, Value: url}, edit.Field{Key: "headers", Value: bearer(token)})
		return append(o, more...)
	}
}
