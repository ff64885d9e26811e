package agenttool

import (
	"slices"

	"toolhost/agenttool/json"
)

// InvocationStatus is one of the standard's 20 states of a call (AT-091 … AT-110).
type InvocationStatus string

// The states, in the order of a call's life.
const (
	StatusPlanned           InvocationStatus = "planned"
	StatusSelected          InvocationStatus = "selected"
	StatusSchemaParseFailed InvocationStatus = "schema_parse_failed"
	StatusArgumentsReady    InvocationStatus = "arguments_ready"
	StatusValidationFailed  InvocationStatus = "validation_failed"
	StatusPreHooksRunning   InvocationStatus = "pre_hooks_running"
	StatusAwaitingApproval  InvocationStatus = "awaiting_approval"
	StatusApproved          InvocationStatus = "approved"
	StatusDenied            InvocationStatus = "denied"
	StatusQueued            InvocationStatus = "queued"
	StatusRunning           InvocationStatus = "running"
	StatusNeedsInput        InvocationStatus = "needs_input"
	StatusPartialResult     InvocationStatus = "partial_result"
	StatusPostHooksRunning  InvocationStatus = "post_hooks_running"
	StatusYielded           InvocationStatus = "yielded"
	StatusSucceeded         InvocationStatus = "succeeded"
	StatusFailed            InvocationStatus = "failed"
	StatusCanceled          InvocationStatus = "canceled"
	StatusTimedOut          InvocationStatus = "timed_out"
	StatusBlocked           InvocationStatus = "blocked"
)

// Phase is one of the 12 named phases of the pipeline (AT-111 … AT-135).
type Phase string

// The phases, in the standard's order. emit_terminal is its thirteenth step.
const (
	PhaseResolveTool     Phase = "resolve_tool"
	PhaseParseSchema     Phase = "parse_schema"
	PhaseValidateValues  Phase = "validate_values"
	PhasePrepareObserved Phase = "prepare_observable_input"
	PhasePreHooks        Phase = "pre_hooks"
	PhasePermission      Phase = "permission"
	PhaseSchedule        Phase = "schedule"
	PhaseExecute         Phase = "execute"
	PhaseMapResult       Phase = "map_result"
	PhasePostHooks       Phase = "post_hooks"
	PhasePersistResult   Phase = "persist_result"
	PhaseEmitTerminal    Phase = "emit_terminal"
)

// Invocation is one call, from before anything can fail to its end. It outlives its result.
//
// Agent Tool v0.2.0, "tool_invocation" (AT-011). An input that equals the one before it is a reference to that:
// call_input_ref "#/observable_input". Scheduler, Phases, AbortReason, Facts and ApprovalRequestRef are in the
// standard's prose only, or ours.
type Invocation struct {
	SchemaVersion string           `json:"schema_version"`
	InvocationID  InvocationID     `json:"invocation_id"`
	ToolID        ToolID           `json:"tool_id"`
	SurfaceID     SurfaceID        `json:"surface_id,omitempty"`
	NativeCallID  string           `json:"native_call_id,omitempty"`
	Status        InvocationStatus `json:"status"`
	Inputs
	InvocationRefs
	StatusTransitions []Transition `json:"status_transitions,omitempty"`
	CreatedAt         string       `json:"created_at"`
	StartedAt         string       `json:"started_at,omitempty"`
	EndedAt           string       `json:"ended_at,omitempty"`

	Facts              *Facts          `json:"facts,omitempty"`
	Scheduler          *SchedulerFacts `json:"scheduler,omitempty"`
	Phases             []PhaseTiming   `json:"phases,omitempty"`
	Mutations          []InputMutation `json:"mutations,omitempty"` // ours: of its input, by hooks and people
	ApprovalRequestRef string          `json:"approval_request_ref,omitempty"`
	AbortReason        string          `json:"abort_reason,omitempty"`
	Extra              Extra           `json:",embed"`
}

// Inputs are the four inputs of an invocation: as the model sent it, as hooks observed it, as it was judged, and as it ran. Each is there
// itself or by reference.
type Inputs struct {
	ModelInput         json.RawMessage `json:"model_input,omitempty"` // the bytes as they came, never rewritten
	ModelInputRef      string          `json:"model_input_ref,omitempty"`
	ObservableInput    json.RawMessage `json:"observable_input,omitempty"`
	ObservableInputRef string          `json:"observable_input_ref,omitempty"`
	PermissionInput    json.RawMessage `json:"permission_input,omitempty"`
	PermissionInputRef string          `json:"permission_input_ref,omitempty"`
	CallInput          json.RawMessage `json:"call_input,omitempty"`
	CallInputRef       string          `json:"call_input_ref,omitempty"`
}

// InvocationRefs are the records and artifacts that an invocation refers to.
type InvocationRefs struct {
	ActorRef               string            `json:"actor_ref,omitempty"`
	RuntimeRefs            []string          `json:"runtime_refs,omitempty"`
	PolicyRefs             []string          `json:"policy_refs,omitempty"`
	PermissionDecisionRefs []string          `json:"permission_decision_refs,omitempty"`
	HookRefs               []string          `json:"hook_refs,omitempty"`
	EvidenceRefs           []string          `json:"evidence_refs,omitempty"`
	TelemetryRefs          []json.RawMessage `json:"telemetry_refs,omitempty"`
	ArtifactRefs           []Ref             `json:"artifact_refs,omitempty"`
	SchedulerPolicyRef     string            `json:"scheduler_policy_ref,omitempty"`
	ExternalMappings       []json.RawMessage `json:"external_mappings,omitempty"` // the native ids of the call, as its caller names them
}

// Transition is a change of an invocation's state.
type Transition struct {
	Status InvocationStatus `json:"status"`
	At     string           `json:"at"`
	Reason string           `json:"reason,omitempty"`
	Extra  Extra            `json:",embed"`
}

// PhaseTiming is how long a phase took and how it ended.
type PhaseTiming struct {
	Phase      Phase  `json:"phase"`
	StartedAt  string `json:"started_at,omitempty"` // in an invocation it is left out where it is that of the phase before
	DurationUS int64  `json:"duration_us"`          // microseconds
	Outcome    string `json:"outcome,omitempty"`    // empty: it passed; else the error code
	Extra      Extra  `json:",embed"`
}

// SchedulerFacts are the per-call facts of the scheduler (AT-190 … AT-201, X17).
type SchedulerFacts struct {
	QueueState               string `json:"queue_state"` // queued, executing, completed, yielded or discarded
	IsConcurrencySafe        bool   `json:"is_concurrency_safe"`
	IsReadOnly               bool   `json:"is_read_only"`
	IsDestructive            bool   `json:"is_destructive"`
	IsOpenWorld              bool   `json:"is_open_world"`
	RequiresExclusiveContext bool   `json:"requires_exclusive_context"`
	ContextModifierPolicy    string `json:"context_modifier_policy"`
	ResourceLocks            []Lock `json:"resource_locks,omitempty"`
	WaitedUS                 int64  `json:"waited_us"` // microseconds between queued and executing
	Extra                    Extra  `json:",embed"`
}

// MarshalJSON writes the record. ModelInput is written byte for byte; callers that compose JSON from it keep that
// by appending the returned bytes, since an encoder compacts nested texts.
func (r Invocation) MarshalJSON() ([]byte, error) {
	type plain Invocation
	named := plain(r)
	named.ModelInput, named.StatusTransitions, named.Phases, named.Extra = nil, nil, nil, nil
	b, err := json.Encode(named)
	if err != nil {
		return nil, err
	}
	b = slices.Grow(b, timelineSize*(len(r.StatusTransitions)+len(r.Phases))+len(r.ModelInput)+64)
	if b, err = appendTimeline(b, "status_transitions", r.StatusTransitions); err != nil {
		return nil, err
	}
	if b, err = appendTimeline(b, "phases", withoutRepeats(r.Phases)); err != nil {
		return nil, err
	}
	b = appendField(b, "model_input", r.ModelInput)
	return appendExtra[Invocation](b, r.Extra)
}

// UnmarshalJSON reads the record, with the start of each phase.
func (r *Invocation) UnmarshalJSON(b []byte) error {
	type plain Invocation
	if err := json.Unmarshal(b, (*plain)(r)); err != nil {
		return err
	}
	withRepeats(r.Phases)
	return nil
}

// SchedulerPolicy says how calls of one scope run beside each other.
//
// Agent Tool v0.2.0, "tool_scheduler_policy" (AT-012, AT-202 … AT-209).
type SchedulerPolicy struct {
	SchemaVersion         string            `json:"schema_version"`
	SchedulerPolicyID     string            `json:"scheduler_policy_id"`
	Scope                 string            `json:"scope,omitempty"`
	MaxParallel           int               `json:"max_parallel,omitempty"`            // 0: the host's
	OrderingPolicy        string            `json:"ordering_policy,omitempty"`         // preserve_terminal_order, allow_unordered, serial
	YieldPolicy           string            `json:"yield_policy,omitempty"`            // progress_immediate_results_ordered, …
	InterruptBehavior     string            `json:"interrupt_behavior,omitempty"`      // cancel, block
	SiblingFailurePolicy  string            `json:"sibling_failure_policy,omitempty"`  // ignore, cancel_siblings, cancel_dependent
	ContextModifierPolicy string            `json:"context_modifier_policy,omitempty"` // allow_serial_only, …
	ResourceLocks         []json.RawMessage `json:"resource_locks,omitempty"`
	Extra                 Extra             `json:",embed"`
}

// ProgressEnds reports whether a status of progress is that of work that has ended.
func ProgressEnds(status string) bool {
	return status == "completed" || status == "failed" || status == "canceled"
}

// Progress is one step of a running call. Agent Tool v0.2.0, "tool_progress" (AT-014, AT-230 … AT-241).
type Progress struct {
	SchemaVersion     string       `json:"schema_version"`
	ProgressID        ProgressID   `json:"progress_id"`
	InvocationID      InvocationID `json:"invocation_id"`
	Sequence          int64        `json:"sequence"` // strictly increasing within the invocation, from 1
	Status            string       `json:"status"`
	Message           string       `json:"message,omitempty"`
	Percent           *float64     `json:"percent,omitempty"`      // 0 … 100
	CurrentStep       string       `json:"current_step,omitempty"` // a string (X05)
	TotalSteps        int64        `json:"total_steps,omitempty"`
	ElapsedMS         int64        `json:"elapsed_ms,omitempty"`
	BytesRead         int64        `json:"bytes_read,omitempty"`
	BytesWritten      int64        `json:"bytes_written,omitempty"`
	LineCount         int64        `json:"line_count,omitempty"`
	TaskID            string       `json:"task_id,omitempty"`
	PartialResultRefs []string     `json:"partial_result_refs,omitempty"`
	ArtifactRefs      []Ref        `json:"artifact_refs,omitempty"`
	Timestamp         string       `json:"timestamp"`
	Extra             Extra        `json:",embed"`
}
