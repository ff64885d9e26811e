package shell

import (
	"embed"
	"encoding/json"

	"toolhost/agenttool"
)

// The schemas of the inputs and results. In the result of a command, the streams are cleaned and cut; the byte counts are not.
//
//go:embed schema/*.json
var schemas embed.FS

func schema(name string) json.RawMessage {
	return agenttool.ReadSchema(schemas, "schema/"+name+".json")
}

// classifier computes facts that depend on the input.
const classifier = "classify.shell"

// description describes the tool to a model.
const description = "Runs a command line with bash and returns its output. Every call is a new shell with an empty stdin: " +
	"variables and functions do not last; a cd in the foreground and files in /tmp do. Commands run in a sandbox: they write the " +
	"workspace and /tmp, and reach the hosts that they name. Every command is a job: one that is still running after timeout_ms, or " +
	"that waits for input, goes on as job j1, j2, … for shell_output, shell_input and shell_kill. Start servers with run_in_background. " +
	"Long output keeps its beginning and end; all of it is stored. Prefer the file and search tools for reading, editing and finding."

// Describe returns the tool's records. They name the classifier for facts that depend on the input, and state every capability.
//
// Agent Tool v0.2.0, "tool_declaration", "tool_interface", "tool_execution_profile", "tool_permission_profile"
// (AT-001, AT-002, AT-007, AT-008, AT-210, AT-450 … AT-463).
func (t *tool) Describe() agenttool.Description {
	d := agenttool.Declaration{
		Name: "shell", Title: "Run a command", Description: description,
		Aliases:    []string{"bash", "shell.exec", "Bash", "Shell", "run_shell_command", "exec_command", "shell_command", "run_terminal_cmd", "execute_command", "run_commands"},
		SearchHint: "run a terminal command: build, test, git, package managers, scripts",
		InputContract: &agenttool.InputContract{
			RuntimeInputSchema: schema("shell_runtime"),
			Defaults:           map[string]any{"timeout_ms": t.o.DefaultTimeout.Milliseconds()},
			Examples: []json.RawMessage{
				json.RawMessage(`{"command":"go test ./...","description":"run the tests","timeout_ms":300000}`),
				json.RawMessage(`{"command":"git log --oneline -5 && git status --short","cwd":"server"}`),
			},
		},
		OutputContract: &agenttool.OutputContract{
			StructuredSchema: schema("shell_result"), ContentTypes: []string{"text", "structured_content", "persisted_output_ref"},
			FallbackSummary: "exit status, duration and size of the output",
		},
	}
	return complete(agenttool.Description{
		Declaration: d,
		Interface: agenttool.Interface{
			StaticFacts: agenttool.StaticFacts{
				IsReadOnly: classifier, IsConcurrencySafe: classifier, IsDestructive: classifier, IsOpenWorld: classifier,
			},
			ClassifierInput: []string{"command", "cwd"}, PermissionMatcher: "command",
			CallRules: agenttool.CallRules{
				EmptyResultPolicy: "the text (no output)",
				InferredFacts:     []string{"is_read_only", "is_concurrency_safe", "is_destructive", "is_open_world"},
			},
		},
		Execution: t.execution(),
		Permission: agenttool.PermissionProfile{
			RiskLevel: "high", ApprovalRequired: true, ApprovalReason: t.approvalReason(),
			AccessKinds:  []string{"code_execution", "file_read", "file_write", "network"},
			WriteEffects: []string{"local_persistent", "remote_mutation", "irreversible"},
			NetworkScope: t.networkScope(), SandboxProfile: t.sandboxProfile(), RuleMatchingFields: []string{"command", "path", "url"},
		},
	})
}

// complete completes the records of a tool of this package.
func complete(d agenttool.Description) agenttool.Description {
	a := &d.Declaration
	a.Namespace, a.ToolKind, a.CapabilityRefs = "local.shell", agenttool.KindShellCommand, []string{"shell_command"}
	a.InputContract.ModelInputSchema, a.InputContract.MutationPolicy = schema(a.Name), "a changed input is bound again from the start"
	a.OutputContract.MaxInlineChars = textBytes
	a.OutputContract.RenderingBoundary = "output is data: it is cleaned of terminal sequences and never interpreted"
	d.Execution.ExecutionKind = "shell"
	return d.Complete()
}

func (t *tool) execution() agenttool.ExecutionProfile {
	return agenttool.ExecutionProfile{
		SupportsProgress: true, SupportsPartialResults: true, SupportsBackground: true, SupportsResultPersistence: true, SupportsContextModifiers: true,
		Sandboxed: t.o.Sandbox != nil, SandboxProfile: t.sandboxProfile(), TimeoutMS: t.o.DefaultTimeout.Milliseconds(),
		Extra: agenttool.Extra{
			"parsing_strategy": quoted("bash -c parses and runs the command; before that, a parser of bash's grammar reads it, " +
				"a second reader checks the words, and each program's options are judged; what is not understood is unknown"),
			"timeout_behaviour": quoted("timeout_ms ends the wait, and the command goes on as a job; the time limit of jobs, cancellation and " +
				"shell_kill end it with SIGTERM, then SIGKILL; its output is kept"),
			"cwd_policy": quoted("cwd, or else the session's directory; located before the decision, entered by " +
				"descriptor, inside the workspace; where a command in the foreground ends, the session's next one starts"),
			"env_policy": quoted("built from a list of names of the host's environment; no secrets, nothing that " +
				"makes programs run code; pagers, editors and prompts off"),
			"exit_code_interpretation": quoted("0 succeeds; any other status or a signal fails, with the output kept; " +
				"126 not executable, 127 not found, 128+n ended by signal n"),
			"classifier_input": quoted("command and cwd"),
		},
	}
}

// sandboxProfile describes the profile of a command.
func (t *tool) sandboxProfile() string {
	if t.o.Sandbox == nil {
		return "none"
	}
	return "read_only if the command provably only reads and uses no network, else workspace, at level " + string(t.o.Sandbox.Level())
}

func (t *tool) networkScope() string {
	if t.o.Sandbox == nil {
		return "unrestricted"
	}
	return "the session's loopback, and hosts that the command names or the decision grants"
}

func (t *tool) approvalReason() string {
	if t.o.Sandbox == nil {
		return "a command has all rights of the user"
	}
	return "a command can change the workspace, and reach the hosts that it names"
}

func quoted(s string) json.RawMessage { return agenttool.AppendString(nil, s) }
