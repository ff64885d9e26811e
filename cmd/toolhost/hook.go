package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/presence"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/sandbox"
)

func newHook() *cobra.Command {
	var s sessionFlags
	cmd := &cobra.Command{
		Use:   "hook claude",
		Short: "Decide about the calls of a client's own tools",
		Long: `hook is run by Claude Code before each call of its own tools (toolhost setup claude --hook). It reads the call from stdin
and answers on stdout: your rules and settings allow it, deny it, or have Claude Code ask you. It answers only deny if it fails.

A command of Bash that may run is rewritten to toolhost call: it runs in the sandbox, is in the log, and asks in toolhost
approve while that runs. Otherwise Claude Code's dialog asks: its yes is that to the call, and the log names it.
Of other tools the log has each call that was denied, and each that Claude Code has done.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "claude" {
				return fmt.Errorf("there are no hooks for %q; there are those of claude", args[0])
			}
			if term.IsTerminal(int(os.Stdin.Fd())) {
				fmt.Fprintln(os.Stderr, "toolhost: reading a call of Claude Code from this terminal. Claude Code starts this command itself: see toolhost setup claude --hook")
			}
			return answerHook(&s, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	s.Workspace = "."
	s.addPolicyFlags(cmd, "that no rule allows")
	return cmd
}

// The events of hooks that are answered.
const (
	beforeTool = "PreToolUse"
	afterTool  = "PostToolUse"
)

// hookCall is a call of Claude Code, as it gives it to hooks.
type hookCall struct {
	Tool  string         `json:"tool_name"`
	Dir   string         `json:"cwd"`
	Input hookInput      `json:"-"`
	Event string         `json:"hook_event_name"`
	Raw   map[string]any `json:"-"` // the input with all that it has
}

// hookInput is the input of a tool of Claude Code. Paths are absolute.
type hookInput struct {
	Command    string
	TimeoutMS  int
	Background bool
	Path       string // of the file, the notebook or the directory; "": none is named
	Pattern    string
	Content    string
	Old, New   string
}

// hookAnswer is the answer to Claude Code.
type hookAnswer struct {
	Event   string             `json:"hookEventName"`
	Verdict agenttool.Behavior `json:"permissionDecision"`
	Reason  string             `json:"permissionDecisionReason"`
	Input   map[string]any     `json:"updatedInput,omitempty"`
}

// answerHook answers the event on stdin. A failure before a call denies it: Claude Code would run it if the hook failed.
func answerHook(s *sessionFlags, in io.Reader, out io.Writer) error {
	c, err := readHook(in)
	if err == nil && c.Event == afterTool {
		return recordHook(s, c, "")
	}
	var answer hookAnswer
	if err == nil {
		answer, err = decideHook(s, c)
	}
	if err != nil {
		answer = hookAnswer{Verdict: agenttool.Deny, Reason: "toolhost hook failed: " + visible.Text(agenttool.AsError(err, agenttool.ExecutionFailed).Message)}
	}
	if err := answer.write(out); err != nil {
		return exitf(exitUsage, "%v", err) // with this code Claude Code does not run the call
	}
	if answer.Verdict == agenttool.Deny {
		return recordHook(s, c, answer.Reason)
	}
	return nil
}

func (a hookAnswer) write(out io.Writer) error {
	a.Event = beforeTool
	encoded, err := agenttool.Encode(map[string]any{"hookSpecificOutput": a})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%s\n", encoded)
	return err
}

// at sets the workspace to the project of a call.
func (s *sessionFlags) at(c hookCall) {
	s.Workspace = cmp.Or(os.Getenv("CLAUDE_PROJECT_DIR"), c.Dir, ".")
}

func decideHook(s *sessionFlags, c hookCall) (a hookAnswer, err error) {
	tool, input := c.ours()
	if tool == "glob" && strings.Contains(c.Input.Pattern, "..") {
		return hookAnswer{Verdict: agenttool.Ask, Reason: "toolhost: the pattern may lead out of the directory"}, nil
	}
	if tool == "" {
		return hookAnswer{Verdict: agenttool.Ask, Reason: "toolhost does not know what " + visible.Text(c.Tool) + " does"}, nil
	}
	s.at(c)
	state, err := dirs.State()
	if err != nil {
		return a, err
	}
	o := s.options()
	o.Log = func(string) {} // Claude Code shows nothing of it
	level := sandbox.None   // files are those of Claude Code, with another /tmp than commands have
	if c.Tool == "Bash" {
		level = sandbox.ProbeOnce(state).Level
	}
	checker, err := session.NewChecker(o, level)
	if err != nil {
		return a, err
	}
	defer checker.Close()
	encoded, err := agenttool.Encode(input)
	if err != nil {
		return a, err
	}
	found := check(checker, tool, encoded)
	if found.failed != nil {
		return a, found.failed
	}
	a = hookAnswer{Verdict: found.Behavior, Reason: visible.Text("toolhost: " + found.Reason.Detail)}
	if c.Tool == "Bash" && a.Verdict != agenttool.Deny {
		err = a.confine(c, s, input)
	}
	if c.Tool == "Grep" && a.Verdict != agenttool.Deny {
		err = a.spare(c, checker.Secret)
	}
	return a, err
}

// readHook reads an event.
func readHook(in io.Reader) (c hookCall, err error) {
	text, err := io.ReadAll(io.LimitReader(in, maxInput))
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
func (c *hookCall) readInput(raw json.RawMessage) error {
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
func (c *hookCall) expand() (err error) {
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
func (c *hookCall) ours() (tool string, input map[string]any) {
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

// confine rewrites a command of Bash to toolhost call, which decides again under the same flags.
func (a *hookAnswer) confine(c hookCall, s *sessionFlags, input map[string]any) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	encoded, err := agenttool.Encode(input)
	if err != nil {
		return err
	}
	policy, err := s.policyWords()
	if err != nil {
		return err
	}
	words := append([]string{program, "call", "--workspace", s.Workspace}, policy...)
	if a.Verdict == agenttool.Ask && !presence.Here() {
		words = append(words, "--agreed", claudeCode)
	} else {
		a.Verdict = agenttool.Allow // the call asks by itself
	}
	words = append(words, "shell", string(encoded))
	a.Input = c.Raw
	a.Input["command"] = quotedWords(words)
	return nil
}

// quotedWords quotes words for a shell.
func quotedWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellWord(word)
	}
	return strings.Join(quoted, " ")
}
