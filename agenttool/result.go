package agenttool

import "toolhost/agenttool/json"

// ResultStatus is one of the standard's statuses of a result (AT-250 … AT-260).
type ResultStatus string

// The statuses.
const (
	ResultSucceeded        ResultStatus = "succeeded"
	ResultPartialSucceeded ResultStatus = "partial_succeeded"
	ResultFailed           ResultStatus = "failed"
	ResultDenied           ResultStatus = "denied"   // a rule or the mode refused
	ResultRejected         ResultStatus = "rejected" // a person refused, or none could be reached
	ResultRedactedStatus   ResultStatus = "redacted" // it is withheld, whatever the call did
	ResultTooLargeStatus   ResultStatus = "too_large"
	ResultCanceled         ResultStatus = "canceled"
	ResultTimedOut         ResultStatus = "timed_out"
	ResultSyntheticError   ResultStatus = "synthetic_error"
	ResultDiscarded        ResultStatus = "discarded"
)

// Result is the one terminal result of an invocation.
//
// Agent Tool v0.2.0, "tool_result" (AT-015). The model reads Content; model_facing_content is written only when it
// differs.
type Result struct {
	SchemaVersion      string          `json:"schema_version"`
	ResultID           ResultID        `json:"result_id"`
	InvocationID       InvocationID    `json:"invocation_id"`
	Status             ResultStatus    `json:"status"`
	IsError            bool            `json:"is_error"`
	Content            []Content       `json:"content"`
	StructuredContent  json.RawMessage `json:"structured_content,omitempty"`
	ModelFacingContent []Content       `json:"model_facing_content,omitempty"`
	UIFacingSummary    string          `json:"ui_facing_summary,omitempty"`
	ResultRefs
	Summary        string          `json:"summary,omitempty"`
	RedactionState string          `json:"redaction_state,omitempty"` // none, redacted, partially_redacted, withheld, expired (X20)
	Error          *Error          `json:"error,omitempty"`
	CreatedAt      string          `json:"created_at"`
	AbortReason    string          `json:"abort_reason,omitempty"` // ours: why a canceled or synthetic result ended
	Mutations      []InputMutation `json:"mutations,omitempty"`    // ours: as on the invocation
	Extra          Extra           `json:",embed"`
}

// MarshalJSON writes no content as a list: null is not a list of blocks.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	if r.Content == nil {
		r.Content = []Content{}
	}
	return json.Encode(plain(r))
}

// ResultRefs are the records and artifacts that a result refers to.
type ResultRefs struct {
	ResourceRefs    []Ref             `json:"resource_refs,omitempty"`
	ArtifactRefs    []Ref             `json:"artifact_refs,omitempty"`
	EvidenceRefs    []string          `json:"evidence_refs,omitempty"`
	PolicyRefs      []string          `json:"policy_refs,omitempty"`
	TelemetryRefs   []json.RawMessage `json:"telemetry_refs,omitempty"`
	PersistenceRefs []string          `json:"persistence_refs,omitempty"`

	ExternalMappings []json.RawMessage `json:"external_mappings,omitempty"` // the native ids of the run
}

// Content is one block of a result (AT-261 … AT-273). Type is text, image, log, diff, resource_link, … and says
// which other fields mean something.
type Content struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Data      string `json:"data,omitempty"` // base64
	MediaType string `json:"media_type,omitempty"`
	URI       string `json:"uri,omitempty"`
	Name      string `json:"name,omitempty"`
	Diff      string `json:"diff,omitempty"`    // unified
	Partial   bool   `json:"partial,omitempty"` // Diff does not show all of the change
	Extra     Extra  `json:",embed"`
}

// Text returns a text block.
func Text(s string) Content { return Content{Type: "text", Text: s} }

// Ref says where something can be read again (AT-283).
type Ref struct {
	ID        string `json:"id"`
	URI       string `json:"uri"`
	MediaType string `json:"media_type,omitempty"`
	Digest    string `json:"digest,omitempty"` // sha256:…
	SizeBytes int64  `json:"size_bytes,omitempty"`
	Access    string `json:"access,omitempty"`   // the scope that can read it: session
	Relation  string `json:"relation,omitempty"` // its role in the result: full_output, stdout, …
	Extra     Extra  `json:",embed"`
}

// Persistence is the decision where a result's payload is kept.
//
// Agent Tool v0.2.0, "tool_result_persistence" (AT-016, AT-290 … AT-298).
type Persistence struct {
	SchemaVersion     string         `json:"schema_version"`
	DecisionID        PersistenceID  `json:"decision_id"`
	InvocationID      InvocationID   `json:"invocation_id"`
	ResultID          ResultID       `json:"result_id,omitempty"`
	Strategy          Strategy       `json:"strategy"`
	Threshold         map[string]any `json:"threshold,omitempty"`
	OriginalSizeBytes int64          `json:"original_size_bytes"`
	PreviewSizeBytes  int64          `json:"preview_size_bytes,omitempty"`
	PersistedRef      *Ref           `json:"persisted_ref,omitempty"`
	RedactionState    string         `json:"redaction_state,omitempty"`
	Reason            string         `json:"reason,omitempty"`
	CreatedAt         string         `json:"created_at"`
	Extra             Extra          `json:",embed"`
}

// Strategy is a way to store or drop a result's payload.
type Strategy string

// The strategies.
const (
	Inline            Strategy = "inline"
	PreviewAndPersist Strategy = "preview_and_persist"
	RefOnly           Strategy = "ref_only"
	Redact            Strategy = "redact"
	DropWithReason    Strategy = "drop_with_reason"
	NeverPersist      Strategy = "never_persist"
)
