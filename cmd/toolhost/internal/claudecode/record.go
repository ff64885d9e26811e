package claudecode

import (
	"context"
	"encoding/json"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/onecall"
	"toolhost/host"
	"toolhost/sandbox"
)

// record puts a call into the log of the day that Claude Code has done, or that was denied to it, and why. Commands that ran are there
// by toolhost call.
func (h Hook) record(c call, denied string) error {
	tool, input := c.ours()
	if tool == "" || c.Tool == "Bash" && c.Event == afterTool {
		return nil
	}
	encoded, err := agenttool.Encode(input)
	if err != nil {
		return err
	}
	o := h.Options
	o.Overwrite, o.MaxJobs, o.MaxParallel, o.Sandbox = true, 1, 1, string(sandbox.Landlock)
	o.Tools = func(tools []agenttool.Tool) []agenttool.Tool {
		for i, t := range tools {
			tools[i] = doneTool{t, denied}
		}
		return tools
	}
	session, _, err := onecall.New(o, 0)
	if err != nil {
		return err
	}
	session.Met(claudeCode)
	r := host.Request{ID: onecall.ID(), Tool: tool, Input: encoded}
	r.Caller.Asked = onecall.Agreed(session, claudeCode)
	defer onecall.Close(session)
	_, err = onecall.Run(session, r)
	return err
}

// claudeCode is the name of the client in records.
const claudeCode = "Claude Code"

// doneTool is a tool whose calls Claude Code has done, or was denied: they are judged and recorded, and do nothing.
type doneTool struct {
	agenttool.Tool
	denied string // why the hook denied it; "": it did not
}

func (t doneTool) Bind(scope agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	c, err := t.Tool.Bind(scope, input)
	if err != nil {
		return nil, err
	}
	return doneCall{c, t.denied}, nil
}

type doneCall struct {
	agenttool.Call
	denied string
}

// Run fails for a call that the hook denied for another reason than rules, which end a call before it runs.
func (c doneCall) Run(context.Context, agenttool.Reporter) (agenttool.Output, error) {
	if c.denied != "" {
		return agenttool.Output{}, agenttool.Failure(agenttool.PolicyBlocked, "denied_to_client", "denied to "+claudeCode+": "+c.denied)
	}
	const said = "done by " + claudeCode + ", outside of the sandbox"
	return agenttool.Output{Content: []agenttool.Content{agenttool.Text(said)}, Summary: said}, nil
}
