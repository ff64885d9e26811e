package claudecode

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"toolhost/agenttool/json"
	"toolhost/wire/stdio"
)

// The events of hooks that are answered.
const (
	beforeTool = "PreToolUse"
	afterTool  = "PostToolUse"
)

// call is one of Claude Code, as it gives it to hooks.
type call struct {
	Tool    string         `json:"tool_name"`
	Dir     string         `json:"cwd"`
	Input   input          `json:"-"`
	Event   string         `json:"hook_event_name"`
	Session string         `json:"session_id"`
	Use     string         `json:"tool_use_id"` // which call it is, in its session; "" in old versions
	Raw     map[string]any `json:"-"`           // the input with all that it has
}

// changes reports whether the call changes the file of its path.
func (c *call) changes() bool {
	return slices.Contains([]string{"Edit", "MultiEdit", "Write", "NotebookEdit"}, c.Tool)
}

// input is that of a tool of Claude Code. Paths are absolute.
type input struct {
	Command    string
	TimeoutMS  int
	Background bool
	Path       string // of the file, the notebook or the directory; "": none is named
	Pattern    string
	Content    string
	Old, New   string
}

// readCall reads an event.
func readCall(in io.Reader) (c call, err error) {
	text, err := io.ReadAll(io.LimitReader(in, stdio.MaxLine))
	if err != nil {
		return c, err
	}
	var raw struct {
		Input json.RawMessage `json:"tool_input"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return c, fmt.Errorf("the call on stdin is not JSON: %w", err)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, err
	}
	if c.Event != beforeTool && c.Event != afterTool {
		return c, fmt.Errorf("the event is %q: the hook is for %s and %s", c.Event, beforeTool, afterTool)
	}
	if err = json.Unmarshal(raw.Input, &c.Raw); err == nil {
		err = c.readInput(raw.Input)
	}
	if err != nil {
		return c, fmt.Errorf("the input of %s cannot be read: %w", c.Tool, err)
	}
	return c, nil
}

// readInput reads the members of an input by their exact names, as Claude Code does: another spelling is another member to it.
func (c *call) readInput(raw json.RawMessage) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	in := &c.Input
	for name, to := range map[string]any{
		"command": &in.Command, "timeout": &in.TimeoutMS, "run_in_background": &in.Background, pathMember[c.Tool]: &in.Path,
		"pattern": &in.Pattern, "content": &in.Content, "old_string": &in.Old, "new_string": &in.New,
	} {
		if value, given := members[name]; given {
			if err := json.Unmarshal(value, to); err != nil {
				return err
			}
		}
	}
	return c.expand()
}

// pathMember is the member of a tool's input that has its path.
var pathMember = map[string]string{
	"Read": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path", "Glob": "path", "Grep": "path",
}

// expand makes the path of a call absolute as Claude Code does, which uses the directory that its shell is in now. Its versions differ about
// spaces around a path: none are taken.
func (c *call) expand() (err error) {
	path, searches := c.Input.Path, pathMember[c.Tool] == "path"
	switch {
	case path != strings.TrimFunc(path, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }):
		return fmt.Errorf("the path %q begins or ends with a space: make the call without it", path)
	case path == "" && (!searches || filepath.IsAbs(c.Input.Pattern)):
		return nil
	case path == "~" || strings.HasPrefix(path, "~/"):
		home, err := os.UserHomeDir()
		c.Input.Path = filepath.Join(home, path[1:])
		return err
	case !filepath.IsAbs(path):
		path = filepath.Join(c.Dir, path)
	}
	c.Input.Path, err = filepath.Abs(path)
	return err
}

// ours is the tool of toolhost that does the same, with its input; "" if there is none.
func (c *call) ours() (tool string, input map[string]any) {
	switch c.Tool {
	case "Bash":
		const usual, most = 120_000, 3_600_000
		timeout := cmp.Or(c.Input.TimeoutMS, usual)
		if c.Input.Background {
			timeout = most
		}
		input := map[string]any{"command": c.Input.Command, "timeout_ms": max(1, min(timeout, most))}
		if c.Dir != "" {
			input["cwd"] = c.Dir
		}
		return "shell", input
	case "Read":
		return "read", map[string]any{"path": c.Input.Path}
	case "Edit", "MultiEdit":
		was, is := cmp.Or(c.Input.Old, "a"), c.Input.New
		if was == is || c.Input.Old == "" { // several edits, or a new file; which text it is decides nothing
			was, is = "a", "b"
		}
		return "edit", map[string]any{"path": c.Input.Path, "old_string": was, "new_string": is}
	case "Write":
		return "write", map[string]any{"path": c.Input.Path, "content": c.Input.Content}
	case "NotebookEdit":
		return "write", map[string]any{"path": c.Input.Path, "content": ""}
	case "Glob", "Grep":
		input := map[string]any{"pattern": c.Input.Pattern}
		if c.Input.Path != "" {
			input["path"] = c.Input.Path
		}
		return strings.ToLower(c.Tool), input
	}
	return "", nil
}
