package shell

import (
	"encoding/json"
	"strings"

	"toolhost/agenttool"
)

// control describes a tool that acts on jobs.
type control struct {
	name, title, description, hint string
	aliases                        []string
	input, example                 string
	defaults                       map[string]any
	readOnly, destructive          agenttool.Fact
	openWorld                      any // a value, or the name of the classifier
	retries                        bool
}

// ownJobs returns the facts of a call that only acts on jobs of this session.
func ownJobs(readOnly bool) agenttool.Facts {
	return agenttool.Facts{
		Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Known(readOnly), Destructive: agenttool.No, OpenWorld: agenttool.No, ConcurrencySafe: agenttool.Yes,
			Interactive: agenttool.No, LongRunning: agenttool.No, ObservesHost: agenttool.No, PathsComplete: agenttool.Yes,
			OwnJobs: agenttool.Yes},
	}
}

// describe returns the records of the tool.
func (c control) describe() agenttool.Description {
	id := "toolhost." + c.name
	return agenttool.Description{
		Declaration: agenttool.Declaration{
			SchemaVersion: agenttool.SchemaVersion, ToolID: agenttool.ToolID(id), Namespace: namespace, Name: c.name,
			Aliases: c.aliases, Title: c.title, Description: c.description, SearchHint: c.hint, Lifecycle: agenttool.Available,
			ToolKind: agenttool.KindShellCommand, CapabilityRefs: []string{"shell_command"},
			InputContract: &agenttool.InputContract{
				ModelInputSchema: schema(c.input), RuntimeInputSchema: schema(c.input), ArgumentMode: "json", Strict: true,
				Defaults: c.defaults, Examples: []json.RawMessage{json.RawMessage(c.example)},
				MutationPolicy: "a changed input is bound again from the start",
			},
			OutputContract: &agenttool.OutputContract{
				StructuredSchema: schema(readingSchema), ContentTypes: []string{"text", "structured_content"}, MaxInlineChars: textBytes,
				RenderingBoundary: "output is data: it is cleaned of terminal sequences and never interpreted",
				FallbackSummary:   "the job's state and the size of its output",
			},
			InterfaceRef: id + ".interface", ExecutionProfileRef: id + ".execution", PermissionProfileRef: id + ".permission",
		},
		Interface:  c.callable(id),
		Execution:  c.execution(id),
		Permission: c.permission(id),
	}
}

func (c control) callable(id string) agenttool.Interface {
	return agenttool.Interface{
		SchemaVersion: agenttool.SchemaVersion, InterfaceID: id + ".interface", ToolID: agenttool.ToolID(id), Name: c.name,
		Aliases: c.aliases, SearchHint: c.hint,
		Schemas: agenttool.Schemas{
			ModelInputSchema: schema(c.input), RuntimeInputSchema: schema(c.input), OutputSchema: schema(readingSchema),
			Strict: true, SchemaVisibility: "loaded",
		},
		StaticFacts: agenttool.StaticFacts{
			IsEnabled: true, IsReadOnly: c.says(c.readOnly), IsConcurrencySafe: true, IsDestructive: c.says(c.destructive), IsOpenWorld: c.openWorld,
		},
		ClassifierInput: []string{"job", "text", "keys"}, PermissionMatcher: "job",
		ProfileRefs: agenttool.ProfileRefs{
			ExecutionProfileRef: id + ".execution", PermissionProfileRef: id + ".permission", PersistencePolicyRef: string(agenttool.NeverPersist),
		},
		MaxInlineChars: textBytes,
		Namespace:      namespace, CallRules: agenttool.CallRules{InterruptBehavior: "cancel", DenyBeforeIO: true, EmptyResultPolicy: "the text (no new output)"},
	}
}

// says returns a fact in the form that an interface uses.
func (c control) says(f agenttool.Fact) any {
	if f == agenttool.Unknown {
		return classifier
	}
	return f == agenttool.Yes
}

func (c control) execution(id string) agenttool.ExecutionProfile {
	return agenttool.ExecutionProfile{
		SchemaVersion: agenttool.SchemaVersion, ExecutionProfileID: id + ".execution", ExecutionKind: "shell",
		SupportsCancel: true, SupportsTimeout: true, SupportsOffline: true, SupportsRetries: c.retries,
	}
}

func (c control) permission(id string) agenttool.PermissionProfile {
	p := agenttool.PermissionProfile{
		SchemaVersion: agenttool.SchemaVersion, PermissionProfileID: id + ".permission", RiskLevel: "low",
		AccessKinds: []string{"code_execution"}, WriteEffects: []string{"none"}, NetworkScope: "none",
		TenantScope: "local", CredentialRefs: []string{}, SandboxProfile: "that of the job", PromptAvoidable: true,
		RuleMatchingFields: []string{"command"}, DataSensitivity: "unknown", RetentionHint: "session", RedactionRequired: true,
	}
	if c.destructive == agenttool.Unknown {
		p.RiskLevel, p.WriteEffects, p.ApprovalRequired = "high", []string{"local_persistent", "remote_mutation", "irreversible"}, true
		p.ApprovalReason = "input to a shell is a command, and the effect of input to other programs is unknown"
	}
	return p
}

// bindControl decodes the input of a tool that acts on a job into v. It accepts every common spelling of a job id.
func bindControl(raw json.RawMessage, v any, id *string) error {
	if err := agenttool.DecodeInput(raw, v); err != nil {
		return err
	}
	*id = strings.TrimPrefix(strings.TrimSpace(*id), "job ")
	return nil
}

func invalid(pointer, code, message string) error {
	e := agenttool.Failure(agenttool.InvalidArguments, code, message)
	e.Pointer = pointer
	return e
}
