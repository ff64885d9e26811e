package shell

import (
	"bytes"
	"encoding/json"

	"toolhost/agenttool"
)

const toolID agenttool.ToolID = "toolhost.shell"

const (
	namespace = "local.shell"
	name      = "shell"

	interfaceID  = "toolhost.shell.interface"
	executionID  = "toolhost.shell.execution"
	permissionID = "toolhost.shell.permission"

	classifier = "classify.shell" // the classifier of facts that depend on the input
)

// Describe returns the tool's records.
//
// Agent Tool v0.2.0, "tool_declaration", "tool_interface", "tool_execution_profile", "tool_permission_profile"
// (AT-001, AT-002, AT-007, AT-008).
func (t *tool) Describe() agenttool.Description {
	return agenttool.Description{
		Declaration: t.declaration(),
		Interface:   t.callable(),
		Execution:   t.execution(),
		Permission:  t.permission(),
	}
}

func aliases() []string { return []string{"bash", "shell.exec", "Bash"} }

const searchHint = "run a terminal command: build, test, git, package managers, scripts"

func (t *tool) declaration() agenttool.Declaration {
	return agenttool.Declaration{
		SchemaVersion:        agenttool.SchemaVersion,
		ToolID:               toolID,
		Namespace:            namespace,
		Name:                 name,
		Aliases:              aliases(),
		Title:                "Run a command",
		Description:          description,
		SearchHint:           searchHint,
		Lifecycle:            agenttool.Available,
		ToolKind:             agenttool.KindShellCommand,
		CapabilityRefs:       []string{"shell_command"},
		InputContract:        t.inputContract(),
		OutputContract:       outputContract(),
		InterfaceRef:         interfaceID,
		ExecutionProfileRef:  executionID,
		PermissionProfileRef: permissionID,
	}
}

func (t *tool) inputContract() *agenttool.InputContract {
	return &agenttool.InputContract{
		ModelInputSchema:   schema(inputSchema),
		RuntimeInputSchema: schema(runtimeSchema),
		ArgumentMode:       "json",
		Strict:             true,
		Defaults:           map[string]any{"timeout_ms": t.o.DefaultTimeout.Milliseconds()},
		Examples: []json.RawMessage{
			json.RawMessage(`{"command":"go test ./...","description":"run the tests","timeout_ms":300000}`),
			json.RawMessage(`{"command":"git log --oneline -5 && git status --short","cwd":"server"}`),
		},
		MutationPolicy: "a changed input is bound again from the start",
	}
}

func outputContract() *agenttool.OutputContract {
	return &agenttool.OutputContract{
		StructuredSchema:  schema(outputSchema),
		ContentTypes:      []string{"text", "structured_content", "persisted_output_ref"},
		MaxInlineChars:    textBytes,
		RenderingBoundary: "output is data: it is cleaned of terminal sequences and never interpreted",
		FallbackSummary:   "exit status, duration and size of the output",
	}
}

// callable names the classifier for facts that depend on the input (AT-002, AT-210).
func (t *tool) callable() agenttool.Interface {
	return agenttool.Interface{
		SchemaVersion: agenttool.SchemaVersion,
		InterfaceID:   interfaceID,
		ToolID:        toolID,
		Name:          name,
		Aliases:       aliases(),
		SearchHint:    searchHint,
		Schemas: agenttool.Schemas{ModelInputSchema: schema(inputSchema),
			RuntimeInputSchema: schema(runtimeSchema),
			OutputSchema:       schema(outputSchema),
			Strict:             true,
			SchemaVisibility:   "loaded"},
		StaticFacts: agenttool.StaticFacts{IsEnabled: true,
			IsReadOnly:        classifier,
			IsConcurrencySafe: classifier,
			IsDestructive:     classifier,
			IsOpenWorld:       classifier},
		ClassifierInput:   []string{"command", "cwd"},
		PermissionMatcher: "command",
		ProfileRefs: agenttool.ProfileRefs{ExecutionProfileRef: executionID,
			PermissionProfileRef: permissionID},
		MaxInlineChars: textBytes,
		Namespace:      namespace,
		CallRules: agenttool.CallRules{InterruptBehavior: "cancel",
			DenyBeforeIO:      true,
			EmptyResultPolicy: "the text (no output)",
			InferredFacts:     []string{"is_read_only", "is_concurrency_safe", "is_destructive", "is_open_world"}},
	}
}

// execution states every capability (AT-450 … AT-463).
func (t *tool) execution() agenttool.ExecutionProfile {
	return agenttool.ExecutionProfile{
		SchemaVersion:             agenttool.SchemaVersion,
		ExecutionProfileID:        executionID,
		ExecutionKind:             "shell",
		SupportsProgress:          true,
		SupportsCancel:            true,
		SupportsTimeout:           true,
		SupportsPartialResults:    true,
		SupportsBackground:        true,
		SupportsResultPersistence: true,
		SupportsContextModifiers:  true,
		SupportsOffline:           true,
		Sandboxed:                 t.o.Sandbox != nil,
		SandboxProfile:            t.sandboxProfile(),
		TimeoutMS:                 t.o.DefaultTimeout.Milliseconds(),
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

func (t *tool) permission() agenttool.PermissionProfile {
	return agenttool.PermissionProfile{
		SchemaVersion:       agenttool.SchemaVersion,
		PermissionProfileID: permissionID,
		RiskLevel:           "high",
		AccessKinds:         []string{"code_execution", "file_read", "file_write", "network"},
		WriteEffects:        []string{"local_persistent", "remote_mutation", "irreversible"},
		NetworkScope:        t.networkScope(),
		TenantScope:         "local",
		CredentialRefs:      []string{},
		SandboxProfile:      t.sandboxProfile(),
		ApprovalRequired:    true,
		PromptAvoidable:     true,
		ApprovalReason:      t.approvalReason(),
		RuleMatchingFields:  []string{"command", "path", "url"},
		DataSensitivity:     "unknown",
		RetentionHint:       "session",
		RedactionRequired:   true,
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

// schema returns the compact form of an indented schema.
func schema(s string) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(s)); err != nil {
		panic("shell: a schema is not JSON: " + err.Error())
	}
	return b.Bytes()
}

func quoted(s string) json.RawMessage { return agenttool.AppendString(nil, s) }
