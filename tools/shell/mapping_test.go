package shell

import (
	"encoding/json"
	"testing"

	"toolhost/testdata/support/conform"
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
