package shell

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
	"toolhost/tools/job"
)

// TestMapping: the mapping of a command has its job, its exit code or its signal, and refs to its arguments, directory, environment and sandbox.
func TestMapping(t *testing.T) {
	conform.Held(t, "AT-344")
	b := newBench(t, Options{})
	for command, end := range map[string]string{
		"true": `"exit_code":0,"signal":""`, "exit 3": `"exit_code":3,"signal":""`, "kill -9 $$": `"exit_code":null,"signal":"SIGKILL"`,
	} {
		r := b.run(t, cmd(command))
		got, err := json.Marshal(r.Output.Mapping)
		want := `{"source":"cli","command_id":"` + r.structuredOutput.Job + `","argv_ref":"invocation#/call_input","cwd_ref":"invocation#/facts/dir",` +
			`"env_policy_ref":"toolhost.shell.execution#/env_policy",` + end + `,"sandbox_ref":"result#/structured_content/sandbox"}`
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v\nwant %s", command, got, err, want)
		}
	}
	if d := b.tool.Describe(); string(d.Execution.ExecutionProfileID) != executionID || len(d.Execution.Extra["env_policy"]) < 10 {
		t.Errorf("the profile %s has the policy %s", d.Execution.ExecutionProfileID, d.Execution.Extra["env_policy"])
	}
}

// TestUnserved: a command that failed where the sandbox could not do calls of it has that as its error, in the class of its cause.
func TestUnserved(t *testing.T) {
	for _, tt := range []struct {
		why  error
		of   job.Ending
		code string
	}{
		{fmt.Errorf("open: %w", syscall.EMFILE), job.Ending{Code: 1}, agenttool.ResourceExhausted},
		{syscall.ENFILE, job.Ending{Code: -1, Signal: syscall.SIGKILL}, agenttool.ResourceExhausted},
		{errors.New("seccomp receive: bad file"), job.Ending{Code: -1, Signal: syscall.SIGKILL}, "exit_status"},
		{nil, job.Ending{Code: 1}, "exit_status"},
	} {
		tt.of.Unserved = tt.why
		o := outcome{report: job.Report{Ending: &tt.of}}
		if e := agenttool.AsError(o.failure(t.Context()), agenttool.Timeout); e.Code != tt.code {
			t.Errorf("%v: %s/%s: %s", tt.why, e.Class, e.Code, e.Message)
		}
	}
}
