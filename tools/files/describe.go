package files

import (
	"cmp"
	"encoding/json"

	"toolhost/agenttool"
)

const namespace = "local.files"

// neverPersist is the persistence policy of read: a page of a file can be read again from the file.
const neverPersist = "never_persist"

// traits holds the parts of the records that differ between the three tools.
type traits struct {
	name        string
	title       string
	aliases     []string
	description string
	searchHint  string
	input       string // schema
	output      string // schema
	contents    []string
	examples    []json.RawMessage
	defaults    map[string]any
	maxChars    int
	persistence string // policy ref; empty: the host's
	readOnly    bool
	destructive any // a value, or the name of the classifier
	inferred    []string
	retries     bool // repeating the call has no further effect
}

// describe returns the four records, with the references between them.
func (t traits) describe() agenttool.Description {
	return agenttool.Description{
		Declaration: t.declaration(),
		Interface:   t.callable(),
		Execution:   t.execution(),
		Permission:  t.permission(),
	}
}

func (t traits) id() agenttool.ToolID     { return agenttool.ToolID("toolhost." + t.name) }
func (t traits) ref(record string) string { return string(t.id()) + "." + record }
func (t traits) effect(read, write string) string {
	if t.readOnly {
		return read
	}
	return write
}

func (t traits) declaration() agenttool.Declaration {
	return agenttool.Declaration{
		SchemaVersion:  agenttool.SchemaVersion,
		ToolID:         t.id(),
		Namespace:      namespace,
		Name:           t.name,
		Aliases:        t.aliases,
		Title:          t.title,
		Description:    t.description,
		SearchHint:     t.searchHint,
		Lifecycle:      agenttool.Available,
		ToolKind:       agenttool.KindFileOperation,
		CapabilityRefs: []string{t.effect("local_file_read", "local_file_write")},
		InputContract: &agenttool.InputContract{
			ModelInputSchema: json.RawMessage(t.input),
			ArgumentMode:     "json",
			Strict:           true,
			Defaults:         t.defaults,
			Examples:         t.examples,
		},
		OutputContract: &agenttool.OutputContract{
			StructuredSchema:     json.RawMessage(t.output),
			ContentTypes:         t.contents,
			MaxInlineChars:       t.maxChars,
			PersistencePolicyRef: t.persistence,
			ArtifactExpectations: t.artifacts(),
		},
		InterfaceRef:         t.ref("interface"),
		ExecutionProfileRef:  t.ref("execution"),
		PermissionProfileRef: t.ref("permission"),
	}
}

// artifacts says what the artifacts of a result are.
func (t traits) artifacts() []string {
	if t.readOnly {
		return nil
	}
	return []string{"each file that was written, with its digest"}
}

func (t traits) callable() agenttool.Interface {
	return agenttool.Interface{
		SchemaVersion: agenttool.SchemaVersion,
		InterfaceID:   t.ref("interface"),
		ToolID:        t.id(),
		Name:          t.name,
		Aliases:       t.aliases,
		SearchHint:    t.searchHint,
		Schemas: agenttool.Schemas{ModelInputSchema: json.RawMessage(t.input),
			OutputSchema:     json.RawMessage(t.output),
			Strict:           true,
			SchemaVisibility: "loaded"},
		StaticFacts: agenttool.StaticFacts{IsEnabled: true,
			IsReadOnly:        t.readOnly,
			IsConcurrencySafe: true,
			IsDestructive:     cmp.Or(t.destructive, any(false)),
			IsOpenWorld:       false},
		ClassifierInput:   "path",
		PermissionMatcher: "path",
		ProfileRefs: agenttool.ProfileRefs{ExecutionProfileRef: t.ref("execution"),
			PermissionProfileRef: t.ref("permission"),
			PersistencePolicyRef: t.persistence},
		MaxInlineChars: t.maxChars,
		Namespace:      namespace,
		CallRules: agenttool.CallRules{InterruptBehavior: "cancel",
			DenyBeforeIO:      true,
			EmptyResultPolicy: "explicit_text",
			InferredFacts:     t.inferred},
	}
}

func (t traits) execution() agenttool.ExecutionProfile {
	return agenttool.ExecutionProfile{
		SchemaVersion:             agenttool.SchemaVersion,
		ExecutionProfileID:        t.ref("execution"),
		ExecutionKind:             "embedded_runtime",
		SupportsCancel:            true,
		SupportsRetries:           t.retries,
		SupportsTimeout:           true,
		SupportsArtifacts:         !t.readOnly,
		SupportsResultPersistence: t.persistence != neverPersist,
		SupportsOffline:           true,
	}
}

func (t traits) permission() agenttool.PermissionProfile {
	return agenttool.PermissionProfile{
		SchemaVersion:       agenttool.SchemaVersion,
		PermissionProfileID: t.ref("permission"),
		RiskLevel:           t.effect("low", "medium"),
		AccessKinds:         []string{t.effect("file_read", "file_write")},
		WriteEffects:        []string{t.effect("none", "local_persistent")},
		NetworkScope:        "none",
		TenantScope:         "local",
		CredentialRefs:      []string{},
		SandboxProfile:      "none: the host opens the paths that were decided about, and no other",
		ApprovalRequired:    !t.readOnly,
		PromptAvoidable:     true,
		RuleMatchingFields:  []string{"path"},
		DataSensitivity:     "unknown",
		RetentionHint:       "session",
		RedactionRequired:   true,
	}
}
