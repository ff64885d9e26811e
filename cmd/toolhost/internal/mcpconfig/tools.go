package mcpconfig

import (
	"encoding/json"

	"toolhost/cmd/toolhost/internal/mcpconfig/edit"
)

// The changes below switch a client's own shell and file tools off, and let those of toolhost through its own questions.

func list(words ...string) (all []any) {
	for _, word := range words {
		all = append(all, word)
	}
	return all
}

func claudeTools(Client, Server) []edit.Change {
	return []edit.Change{
		{Path: []string{"permissions", "deny"}, Value: list("Bash", "Read", "Edit", "Write", "Glob", "Grep", "NotebookEdit"), Add: true},
		{Path: []string{"permissions", "allow"}, Value: list("mcp__toolhost"), Add: true},
	}
}

// claudeProject also answers the question whether the server of the project may start.
func claudeProject(c Client, s Server) []edit.Change {
	return append(claudeTools(c, s), edit.Change{Path: []string{"enabledMcpjsonServers"}, Value: list("toolhost"), Add: true})
}

func codexTools(c Client, s Server) []edit.Change {
	return []edit.Change{c.entry(s), {Path: []string{"features"}, Value: object{{Key: "shell_tool", Value: false}, {Key: "unified_exec", Value: false}}}}
}

// geminiTools leave glob out: the names of a server are compared as well.
func geminiTools(c Client, s Server) []edit.Change {
	return []edit.Change{c.entry(s), {
		Path: []string{"tools", "exclude"}, Add: true,
		Value: list("run_shell_command", "read_file", "read_many_files", "write_file", "replace", "list_directory", "search_file_content", "grep_search"),
	}}
}

func qwenTools(c Client, s Server) []edit.Change {
	return []edit.Change{c.entry(s), {
		Path: []string{"permissions", "deny"}, Add: true,
		Value: list("run_shell_command", "read_file", "read_many_files", "write_file", "edit", "list_directory", "grep_search", "glob"),
	}}
}

func opencodeTools(c Client, s Server) []edit.Change {
	off := object{}
	for _, name := range []string{"bash", "read", "edit", "write", "patch", "multiedit", "apply_patch", "grep", "glob", "list"} {
		off = append(off, edit.Field{Key: name, Value: false})
	}
	return []edit.Change{c.entry(s), {Path: []string{"tools"}, Value: off}}
}

func gooseTools(c Client, s Server) []edit.Change {
	return []edit.Change{c.entry(s), {
		Path:  []string{"extensions", "developer"},
		Value: object{{Key: "enabled", Value: false}, {Key: "type", Value: "builtin"}, {Key: "name", Value: "developer"}},
	}}
}

func crushTools(c Client, s Server) []edit.Change {
	var ours []string
	for _, name := range s.Tools {
		ours = append(ours, "mcp_toolhost_"+name)
	}
	return []edit.Change{
		c.entry(s),
		{Path: []string{"permissions", "allowed_tools"}, Value: list(ours...), Add: true},
		{Path: []string{"options", "disabled_tools"}, Value: list("bash", "view", "edit", "multiedit", "write", "ls", "grep", "glob"), Add: true},
	}
}

// ClaudeHook lets Claude Code ask a command before each call of its own tools, and tell it of each that it has done but commands.
func ClaudeHook(command string) []edit.Change {
	on := func(event, tools string) edit.Change {
		return edit.Change{
			Path: []string{"hooks", event}, Add: true,
			Value: []any{object{
				{Key: "matcher", Value: tools},
				{Key: "hooks", Value: []any{object{{Key: "type", Value: "command"}, {Key: "command", Value: command}, timeoutS}}},
			}},
		}
	}
	const files = "Edit|MultiEdit|Write|Read|NotebookEdit|Glob|Grep"
	return []edit.Change{on("PreToolUse", "Bash|"+files), on("PostToolUse", files)}
}

// block is the file of the server for Continue.
func block(s Server) string {
	command, _ := json.Marshal(s.Command[0])
	args, _ := json.Marshal(s.Command[1:]) // texts can be encoded
	return "name: toolhost\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: toolhost\n    type: stdio\n    command: " + string(command) + "\n    args: " + string(args) + "\n"
}
