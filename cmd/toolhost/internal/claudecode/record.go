package claudecode

import (
	"context"
	"encoding/json"

	"toolhost/agenttool"
	"toolhost/cmd/toolhost/internal/onecall"
	"toolhost/host"
	"toolhost/sandbox"
)

// record puts a call into the log of the day that Claude Code has done, or that failed, and why: it was denied to it, or touched another file.
// Commands that ran are there by toolhost call.
func (h Hook) record(c call, failure *agenttool.Error) error {
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
			tools[i] = doneTool{t, failure}
		}
		return tools
	}
	session, _, err := onecall.New(o, 0)
	if err != nil {
		return err
	}
	session.Met(claudeCode)
	r := host.Request{ID: onecall.ID(), Tool: tool, Input: encoded}
	r.Caller.Asked = onecall.Agreed(session, claudeCode, "")
	defer onecall.Close(session)
	_, err = onecall.Run(session, r)
	return err
}

// claudeCode is the name of the client in records.
const claudeCode = "Claude Code"

// doneTool is a tool whose calls Claude Code has done, or that failed: they are judged and recorded, and do nothing.
type doneTool struct {
	agenttool.Tool
	failure *agenttool.Error // nil: it was done
}

func (t doneTool) Bind(scope agenttool.Scope, input json.RawMessage) (agenttool.Call, error) {
	c, err := t.Tool.Bind(scope, input)
	if err != nil {
		return nil, err
	}
	return doneCall{c, t.failure}, nil
}

type doneCall struct {
	agenttool.Call
	failure *agenttool.Error
}

// Run fails for a call that the hook denied for another reason than rules, which end a call before it runs, and for one that touched another
// file.
func (c doneCall) Run(context.Context, agenttool.Reporter) (agenttool.Output, error) {
	if c.failure != nil {
		return agenttool.Output{}, c.failure
	}
	const said = "done by " + claudeCode + ", outside of the sandbox"
	return agenttool.Output{Content: []agenttool.Content{agenttool.Text(said)}, Summary: said}, nil
}
