package agenttool

import (
	"slices"
	"strconv"

	"toolhost/agenttool/json"
)

// Behavior is the outcome of a permission check (AT-137 … AT-140).
type Behavior string

// The behaviours.
const (
	Allow       Behavior = "allow"
	Ask         Behavior = "ask"
	Deny        Behavior = "deny"
	Passthrough Behavior = "passthrough"
)

// Decision is the outcome of one permission check.
//
// Agent Tool v0.2.0, "tool_permission_decision" (AT-009). RequestRef, AnsweredBy and Grants are ours.
type Decision struct {
	SchemaVersion string          `json:"schema_version"`
	DecisionID    DecisionID      `json:"decision_id"`
	InvocationID  InvocationID    `json:"invocation_id"`
	Behavior      Behavior        `json:"behavior"`
	Mode          string          `json:"mode,omitempty"`
	Source        string          `json:"source,omitempty"` // where the deciding rule came from: cli_arg, session, …
	Reason        *DecisionReason `json:"reason,omitempty"`
	RuleRefs      []string        `json:"rule_refs,omitempty"`
	PolicyRefs    []string        `json:"policy_refs,omitempty"`
	Rewrite
	Reply
	SuggestedUpdates       []SuggestedUpdate `json:"suggested_updates,omitempty"`
	PendingClassifierCheck map[string]any    `json:"pending_classifier_check,omitempty"`
	BlockedPath            string            `json:"blocked_path,omitempty"`
	ContentBlocks          []Content         `json:"content_blocks,omitempty"`
	DecidedAt              string            `json:"decided_at"`
	ExpiresAt              string            `json:"expires_at,omitempty"`
	Grants                 []string          `json:"grants,omitempty"`   // they widen the sandbox of the call, see [Confined]
	Snapshot               int               `json:"snapshot,omitempty"` // of mode and rules under which it was made, as tool.x.settings.changed numbers them; 1 is the session's first
	Protected              Protected         `json:"-"`                  // of a decision that asks: what a yes opens
	Failure                error             `json:"-"`                  // of one that denies: a shortage kept it from being made, and the call fails with this
	Extra                  Extra             `json:",embed"`
}

// Protected are the protected names that a call changes, as a decision knew them. A yes opens these and no others.
type Protected struct {
	Paths []string // that the call writes and that are protected, or hold protected names: absolute, resolved
	Names []string // the names that are protected at or below Paths, as the map of protected names spells them
}

// Covers reports whether all that o names is in p: who agreed to p agreed to o.
func (p Protected) Covers(o Protected) bool {
	in := func(all, some []string) bool {
		return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
	}
	return in(p.Paths, o.Paths) && in(p.Names, o.Names)
}

// Reply is the part of a decision that answers a prompt.
type Reply struct {
	RequestRef     DecisionID `json:"request_ref,omitempty"` // the decision that asked
	AcceptFeedback string     `json:"accept_feedback,omitempty"`
	AnsweredBy     *Answerer  `json:"answered_by,omitempty"` // nil: a rule, or nobody
}

// Answerer is the party that answered a prompt, as far as the host knows it.
type Answerer struct {
	User     string `json:"user,omitempty"`     // whose process it was
	Terminal string `json:"terminal,omitempty"` // that the process has
	Client   string `json:"client,omitempty"`   // as it names itself
	Extra    Extra  `json:",embed"`
}

// Rewrite is the input that a decision puts in the place of the call's.
type Rewrite struct {
	UpdatedInput    json.RawMessage `json:"updated_input,omitempty"`
	UpdatedInputRef string          `json:"updated_input_ref,omitempty"`
	UserModified    bool            `json:"user_modified,omitempty"`
}

// DecisionReason says why. Type is one of the standard's (AT-141 … AT-152): rule, mode, policy, hook, classifier,
// working_dir, sandbox_override, safety_check, permission_prompt_tool, async_agent, subcommand_results, other.
type DecisionReason struct {
	Type        string       `json:"type"`
	Detail      string       `json:"detail"`                // a sentence for a person
	RuleRef     string       `json:"rule_ref,omitempty"`    // also in rule_refs (X12)
	Where       string       `json:"where,omitempty"`       // of that rule: FILE:LINE, or the call that it came with
	Subcommands []Subcommand `json:"subcommands,omitempty"` // of a command line, the decision about each simple command (AT-166)
	Extra       Extra        `json:",embed"`
}

// Subcommand is the decision about one simple command of a command line.
type Subcommand struct {
	Argv      []string `json:"argv"`   // as in [Part]
	Line      int      `json:"line"`   // where it stands, both from 1
	Column    int      `json:"column"` // in bytes
	WrappedBy int      `json:"wrapped_by"`
	Behavior  Behavior `json:"behavior"`
	Rule      string   `json:"rule,omitempty"`   // the deciding rule as it was written; empty: none decided
	Source    string   `json:"source,omitempty"` // where that rule comes from, as in [Decision]
	Where     string   `json:"where,omitempty"`  // FILE:LINE of that rule, if it stands in a file
	Reason    string   `json:"reason"`           // a sentence for a person
	Extra     Extra    `json:",embed"`
}

// Origin is where a rule or a setting comes from.
type Origin struct {
	Source string // one of the rule sources below
	File   string // absolute; empty if it stands in none
	Line   int    // from 1

	// Made is the call that makes the directory which the rule keeps open. It came with the answer that allowed this call.
	Made InvocationID

	// Thread is the caller's thread where the rule counts. It also counts in threads that descend from it; empty: everywhere.
	Thread string
}

// Where returns FILE:LINE, or the call that the rule came with; empty if there is neither.
func (o Origin) Where() string {
	switch {
	case o.Made != "":
		return "made by call " + string(o.Made)
	case o.File == "":
		return ""
	}
	return o.File + ":" + strconv.Itoa(o.Line)
}

// The rule sources of the standard (AT-153 … AT-160).
const (
	SourceUser    = "user_settings"
	SourceProject = "project_settings"
	SourceLocal   = "local_settings"
	SourceFlag    = "flag_settings"   // a file that the command line names
	SourceManaged = "policy_settings" // of the machine's administrator
	SourceCLI     = "cli_arg"
	SourceCommand = "command" // granted for one call
	SourceSession = "session"
)

// SuggestedUpdate is a change of the rules, or of the mode, that would have decided the call. It has no effect until it is
// accepted (AT-161). The shape is ours (X13).
type SuggestedUpdate struct {
	Op          string   `json:"op"`          // add_rules or set_mode
	Destination string   `json:"destination"` // a rule source, such as session
	Behavior    Behavior `json:"behavior,omitempty"`
	Rules       []string `json:"rules"`          // empty with set_mode
	Mode        Mode     `json:"mode,omitempty"` // of set_mode
	Extra       Extra    `json:",embed"`
}

// MarshalJSON writes no rules as a list.
func (r SuggestedUpdate) MarshalJSON() ([]byte, error) {
	type plain SuggestedUpdate
	if r.Rules == nil {
		r.Rules = []string{}
	}
	return json.Encode(plain(r))
}

// The changes that are suggested.
const (
	OpAddRules = "add_rules"
	OpSetMode  = "set_mode"
)

// SuggestedRules returns the index of the suggested update whose rules allow the call and the least besides; -1 if no rules are suggested.
func (r Decision) SuggestedRules() int {
	return slices.IndexFunc(r.SuggestedUpdates, func(u SuggestedUpdate) bool { return len(u.Rules) > 0 })
}

// Hook records one run of a hook. Agent Tool v0.2.0, "tool_hook" (AT-010).
type Hook struct {
	SchemaVersion     string            `json:"schema_version"`
	HookID            HookID            `json:"hook_id"`
	HookEvent         string            `json:"hook_event"`
	InvocationID      InvocationID      `json:"invocation_id,omitempty"`
	ToolID            ToolID            `json:"tool_id,omitempty"`
	Matcher           map[string]any    `json:"matcher,omitempty"`
	Outputs           []json.RawMessage `json:"outputs,omitempty"`
	PermissionResult  map[string]any    `json:"permission_result,omitempty"`
	UpdatedInput      json.RawMessage   `json:"updated_input,omitempty"`
	AdditionalContext []json.RawMessage `json:"additional_context,omitempty"`
	Stop              map[string]any    `json:"stop,omitempty"`
	UpdatedOutput     json.RawMessage   `json:"updated_output,omitempty"`
	StartedAt         string            `json:"started_at,omitempty"`
	EndedAt           string            `json:"ended_at,omitempty"`
	Extra             Extra             `json:",embed"`
}

// InputMutation records that one of a call's inputs differs from the one before it (AT-089, AT-090).
type InputMutation struct {
	SchemaVersion string       `json:"schema_version"`
	MutationID    MutationID   `json:"mutation_id"`
	InvocationID  InvocationID `json:"invocation_id"`
	SourceType    string       `json:"source_type"` // hook, permission_prompt, adapter, migration or runtime
	SourceRef     string       `json:"source_ref,omitempty"`
	FromInputRef  string       `json:"from_input_ref,omitempty"`
	ToInputRef    string       `json:"to_input_ref,omitempty"`
	ChangedFields []string     `json:"changed_fields,omitempty"`
	Reason        string       `json:"reason,omitempty"`
	CreatedAt     string       `json:"created_at"`
	Extra         Extra        `json:",embed"`
}
