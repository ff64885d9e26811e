package shell

// executionID is the id of the execution profile of shell.
const executionID = "toolhost.shell.execution"

// mapping names what ran as command lines do. Its refs point into the call's invocation, its result and the tool's records.
//
// Agent Tool v0.2.0, "External mappings" (AT-344).
type mapping struct {
	Source       string `json:"source"`
	CommandID    string `json:"command_id"`
	ArgvRef      string `json:"argv_ref"`
	CwdRef       string `json:"cwd_ref"`
	EnvPolicyRef string `json:"env_policy_ref"`
	ExitCode     *int   `json:"exit_code"` // null: it did not exit by itself, or not yet
	Signal       string `json:"signal"`    // empty: none ended it
	SandboxRef   string `json:"sandbox_ref"`
}

func (o *outcome) mapping() mapping {
	m := mapping{
		Source: "cli", CommandID: o.job.ID(), ArgvRef: "invocation#/call_input", CwdRef: "invocation#/facts/dir",
		EnvPolicyRef: executionID + "#/env_policy", SandboxRef: "result#/structured_content/sandbox",
	}
	if e := o.report.Ending; e != nil {
		m.ExitCode, m.Signal = exitOf(e)
	}
	return m
}
