// Package claudecode answers the hooks of Claude Code: it decides about the calls of the client's own tools, and records them.
package claudecode

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/visible"
	"toolhost/cmd/toolhost/internal/confine"
	"toolhost/cmd/toolhost/internal/dirs"
	"toolhost/cmd/toolhost/internal/onecall"
	"toolhost/cmd/toolhost/internal/output"
	"toolhost/cmd/toolhost/internal/presence"
	"toolhost/cmd/toolhost/internal/session"
	"toolhost/sandbox"
)

// Hook answers Claude Code before each call of its own tools, and records each call that Claude Code has made.
type Hook struct {
	Options session.Options          // the workspace is the project of the call
	Flags   func() ([]string, error) // of Options, those that say what may run, for toolhost call
}

// answer is the output of the hook for Claude Code.
type answer struct {
	Event   string             `json:"hookEventName"`
	Verdict agenttool.Behavior `json:"permissionDecision"`
	Reason  string             `json:"permissionDecisionReason"`
	Input   map[string]any     `json:"updatedInput,omitempty"`
}

// Answer answers the event on in. A failure before a call denies it: Claude Code would run it if the hook failed.
func (h Hook) Answer(in io.Reader, out io.Writer) error {
	h.Options.Log = func(string) {} // Claude Code shows nothing of it
	c, err := readCall(in)
	h.Options.Workspace = cmp.Or(os.Getenv("CLAUDE_PROJECT_DIR"), c.Dir, ".")
	if err == nil && c.Event == afterTool {
		return h.after(c, out)
	}
	var a answer
	if err == nil {
		a, err = h.decide(c)
	}
	if err != nil {
		a = answer{Verdict: agenttool.Deny, Reason: "toolhost hook failed: " + visible.Text(agenttool.AsError(err, agenttool.ExecutionFailed).Message)}
	}
	if err := a.write(out); err != nil || a.Verdict != agenttool.Deny {
		return err
	}
	return h.record(c, agenttool.Failure(agenttool.PolicyBlocked, "denied_to_client", "denied to "+claudeCode+": "+a.Reason))
}

// after records a call that Claude Code has done. It tells the model and the user if the file that it touched may be another.
func (h Hook) after(c call, out io.Writer) error {
	var failure *agenttool.Error
	another, err := h.touchedAnother(c)
	if err != nil {
		another = "which file " + c.Tool + " has touched is not known: " + visible.Text(err.Error())
	}
	if another != "" {
		failure = agenttool.Failure(agenttool.PartialFailure, "touched_another_file", another)
		told := "toolhost: " + another + ". Stop, and have the user look at both before anything else is done"
		if err := output.JSON(out, map[string]any{"decision": "block", "reason": told, "systemMessage": told}); err != nil {
			return err
		}
	}
	return h.record(c, failure)
}

func (a answer) write(out io.Writer) error {
	a.Event = beforeTool
	return output.JSON(out, map[string]any{"hookSpecificOutput": a})
}

// decide decides about a call.
func (h Hook) decide(c call) (a answer, err error) {
	tool, input := c.ours()
	if tool == "glob" && strings.Contains(c.Input.Pattern, "..") {
		return answer{Verdict: agenttool.Ask, Reason: "toolhost: the pattern may lead out of the directory"}, nil
	}
	if tool == "" {
		return answer{Verdict: agenttool.Ask, Reason: "toolhost does not know what " + visible.Text(c.Tool) + " does"}, nil
	}
	state, err := dirs.State()
	if err != nil {
		return a, err
	}
	level := sandbox.None // files are those of Claude Code, with another /tmp than commands have
	if c.Tool == "Bash" {
		level = confine.Found(state).Level
	}
	checker, err := session.NewChecker(h.Options, level)
	if err != nil {
		return a, err
	}
	defer checker.Close()
	encoded, err := agenttool.Encode(input)
	if err != nil {
		return a, err
	}
	found, facts, err := checker.Host.Check(context.Background(), tool, encoded)
	if err != nil {
		return a, err
	}
	a = answer{Verdict: found.Behavior, Reason: visible.Text("toolhost: " + found.Reason.Detail)}
	if c.Tool == "Bash" && a.Verdict != agenttool.Deny {
		err = a.confine(c, h, input, onecall.Asks(found, facts))
	}
	if c.Tool != "Bash" && err == nil && a.Verdict != agenttool.Deny {
		err = a.beware(c, h)
	}
	if c.Tool == "Grep" && err == nil && a.Verdict != agenttool.Deny {
		err = a.spare(c, checker.Secret)
	}
	return a, err
}

// confine rewrites a command of Bash to toolhost call, which decides again under the same flags. asks is what the dialog is about.
func (a *answer) confine(c call, h Hook, input map[string]any, asks string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	encoded, err := agenttool.Encode(input)
	if err != nil {
		return err
	}
	policy, err := h.Flags()
	if err != nil {
		return err
	}
	words := append([]string{program, "call", "--workspace", h.Options.Workspace}, policy...)
	if a.Verdict == agenttool.Ask && !presence.Here() {
		words = append(words, "--agreed", claudeCode, "--agreed-to", asks)
	} else {
		a.Verdict = agenttool.Allow // the call asks by itself
	}
	words = append(words, "shell", string(encoded))
	a.Input = c.Raw
	a.Input["command"] = output.Words(words...)
	return nil
}
