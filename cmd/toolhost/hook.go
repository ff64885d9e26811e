package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

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
approve while that runs. One that Claude Code asks about is rewritten to toolhost sandbox, and the dialog shows it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "claude" {
				return fmt.Errorf("there are no hooks for %q; there are those of claude", args[0])
			}
			return answerHook(&s, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	s.Workspace = "."
	s.addPolicyFlags(cmd, "that no rule allows")
	return cmd
}

// hookCall is a call of Claude Code, as it gives it to hooks of PreToolUse.
type hookCall struct {
	Tool  string `json:"tool_name"`
	Dir   string `json:"cwd"`
	Input struct {
		Command    string `json:"command"`
		TimeoutMS  int    `json:"timeout"`
		Background bool   `json:"run_in_background"`
		File       string `json:"file_path"`
		Notebook   string `json:"notebook_path"`
		Path       string `json:"path"`
		Pattern    string `json:"pattern"`
	} `json:"-"`
	Raw map[string]any `json:"-"` // the input with all that it has
}

// hookAnswer is the answer to Claude Code.
type hookAnswer struct {
	Event   string             `json:"hookEventName"`
	Verdict agenttool.Behavior `json:"permissionDecision"`
	Reason  string             `json:"permissionDecisionReason"`
	Input   map[string]any     `json:"updatedInput,omitempty"`
}

// answerHook decides about the call on stdin. A failure denies it: Claude Code would run it if the hook failed.
func answerHook(s *sessionFlags, in io.Reader, out io.Writer) error {
	answer, err := decideHook(s, in)
	if err != nil {
		answer = hookAnswer{Verdict: agenttool.Deny, Reason: "toolhost hook failed: " + visible.Text(agenttool.AsError(err, agenttool.ExecutionFailed).Message)}
	}
	answer.Event = "PreToolUse"
	encoded, err := agenttool.Encode(map[string]any{"hookSpecificOutput": answer})
	if err == nil {
		_, err = fmt.Fprintf(out, "%s\n", encoded)
	}
	if err != nil {
		return exitf(exitUsage, "%v", err) // with this code Claude Code does not run the call
	}
	return nil
}

func decideHook(s *sessionFlags, in io.Reader) (a hookAnswer, err error) {
	c, err := readHook(in)
	if err != nil {
		return a, err
	}
	tool, input := c.ours()
	if tool == "" {
		return hookAnswer{Verdict: agenttool.Ask, Reason: "toolhost does not know what " + visible.Text(c.Tool) + " does"}, nil
	}
	s.Workspace = cmp.Or(os.Getenv("CLAUDE_PROJECT_DIR"), c.Dir, ".")
	state, err := dirs.State()
	if err != nil {
		return a, err
	}
	o := s.options()
	o.Log = func(string) {} // Claude Code shows nothing of it
	checker, err := session.NewChecker(o, sandbox.ProbeOnce(state).Level)
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
		err = a.confine(c, s.Workspace, input)
	}
	return a, err
}

// readHook reads a call of PreToolUse.
func readHook(in io.Reader) (c hookCall, err error) {
	text, err := io.ReadAll(io.LimitReader(in, maxInput))
	if err != nil {
		return c, err
	}
	var raw struct {
		Event string          `json:"hook_event_name"`
		Input json.RawMessage `json:"tool_input"`
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		return c, fmt.Errorf("the call on stdin is not JSON: %w", err)
	}
	if raw.Event != "PreToolUse" {
		return c, fmt.Errorf("the event is %q: the hook is for PreToolUse", raw.Event)
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return c, err
	}
	for _, to := range []any{&c.Input, &c.Raw} {
		if err := json.Unmarshal(raw.Input, to); err != nil {
			return c, fmt.Errorf("the input of %s cannot be read: %w", c.Tool, err)
		}
	}
	return c, nil
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
		return "read", map[string]any{"path": c.Input.File}
	case "Edit", "MultiEdit":
		return "edit", map[string]any{"path": c.Input.File, "old_string": "a", "new_string": "b"} // which text it is decides nothing
	case "Write":
		return "write", map[string]any{"path": c.Input.File, "content": ""}
	case "NotebookEdit":
		return "write", map[string]any{"path": c.Input.Notebook, "content": ""}
	case "Glob", "Grep":
		input := map[string]any{"pattern": c.Input.Pattern}
		if c.Input.Path != "" {
			input["path"] = c.Input.Path
		}
		return strings.ToLower(c.Tool), input
	}
	return "", nil
}

// confine rewrites a command of Bash, so that it runs in the sandbox.
func (a *hookAnswer) confine(c hookCall, workspace string, input map[string]any) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	head := shellWord(program)
	a.Input = c.Raw
	if a.Verdict == agenttool.Ask && !presence.Here() {
		a.Input["command"] = head + " sandbox --workspace " + shellWord(workspace) + " -- bash -c " + shellWord(c.Input.Command)
		return nil
	}
	encoded, err := agenttool.Encode(input)
	if err != nil {
		return err
	}
	a.Verdict = agenttool.Allow // toolhost call decides again, and asks
	a.Input["command"] = head + " call --workspace " + shellWord(workspace) + " shell " + shellWord(string(encoded))
	return nil
}
