package agenttool

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// ErrorClass is one of the standard's 22 classes of failure. A class is itself an error, so that callers write
//
//	errors.Is(err, agenttool.PermissionDenied)
//
// Agent Tool v0.2.0, "Errors" (AT-310 … AT-331).
type ErrorClass string

// The 22 classes.
const (
	UnknownTool                ErrorClass = "unknown_tool"
	InvalidArguments           ErrorClass = "invalid_arguments"
	SchemaValidationFailed     ErrorClass = "schema_validation_failed"
	SchemaNotLoaded            ErrorClass = "schema_not_loaded"
	PermissionDenied           ErrorClass = "permission_denied"
	ApprovalRejected           ErrorClass = "approval_rejected"
	PolicyBlocked              ErrorClass = "policy_blocked"
	HookBlocked                ErrorClass = "hook_blocked"
	CapabilityGap              ErrorClass = "capability_gap"
	SetupRequired              ErrorClass = "setup_required"
	CredentialMissing          ErrorClass = "credential_missing"
	SandboxViolation           ErrorClass = "sandbox_violation"
	Timeout                    ErrorClass = "timeout"
	RateLimited                ErrorClass = "rate_limited"
	DependencyUnavailable      ErrorClass = "dependency_unavailable"
	ExecutionFailed            ErrorClass = "execution_failed"
	PartialFailure             ErrorClass = "partial_failure"
	ResultTooLarge             ErrorClass = "result_too_large"
	ResultRedacted             ErrorClass = "result_redacted"
	SiblingCanceled            ErrorClass = "sibling_canceled"
	StreamingFallbackDiscarded ErrorClass = "streaming_fallback_discarded"
	Canceled                   ErrorClass = "canceled"
)

// ErrorClasses lists the classes in the standard's order.
var ErrorClasses = []ErrorClass{
	UnknownTool, InvalidArguments, SchemaValidationFailed, SchemaNotLoaded, PermissionDenied, ApprovalRejected,
	PolicyBlocked, HookBlocked, CapabilityGap, SetupRequired, CredentialMissing, SandboxViolation, Timeout,
	RateLimited, DependencyUnavailable, ExecutionFailed, PartialFailure, ResultTooLarge, ResultRedacted,
	SiblingCanceled, StreamingFallbackDiscarded, Canceled,
}

// Error says the class in words: "permission denied".
func (c ErrorClass) Error() string { return strings.ReplaceAll(string(c), "_", " ") }

// Recovery tells a model what can make a failed call work (AT-332 … AT-337).
type Recovery string

// The retry facts of the standard.
const (
	RetrySafe       Recovery = "retry"                      // the same call may work later
	ChangeArguments Recovery = "change_arguments"           // the input must change
	ChangePolicy    Recovery = "change_arguments_or_policy" // the input or a rule must change
	DiscoverFirst   Recovery = "discover_first"             // find or load the tool first
	ApproveAgain    Recovery = "approval_required"          // the call needs a person's approval
	SiblingCaused   Recovery = "sibling_caused"             // another call of the batch failed
	InspectFirst    Recovery = "inspect_first"              // it may have changed something: look before the call is made again
	NotRecoverable  Recovery = "not_recoverable"            // nothing the caller can do
)

// Error is the tool_error of a call that did not succeed. It satisfies error, and matches its Class and its
// cause under errors.Is.
//
// Agent Tool v0.2.0, "tool_error" (AT-017). The standard publishes no schema for it.
type Error struct {
	Class          ErrorClass `json:"error_class"`
	Code           string     `json:"error_code"`
	Message        string     `json:"message"` // the failure, its object and the remedy; fit for a model
	Recoverability Recovery   `json:"recoverability"`
	RetrySafe      string     `json:"retry_safe,omitempty"` // ours: yes if the same call repeats no change, else unknown
	RetryAfterMS   *int64     `json:"retry_after"`          // milliseconds; null means no advice
	NativeErrorRef string     `json:"native_error_ref,omitempty"`
	Pointer        string     `json:"pointer,omitempty"` // JSON pointer into the input
	Hint           string     `json:"hint,omitempty"`
	BlockedPath    string     `json:"blocked_path,omitempty"`
	PolicyRefs     []string   `json:"policy_refs,omitempty"`
	EvidenceRefs   []string   `json:"evidence_refs,omitempty"`
	Extra          Extra      `json:",embed"`

	cause error
}

// Failure returns an Error of the given class with the recoverability that is usual for it. Code is a stable
// word for programs, message a sentence for people and models. An error of class rate_limited advises to wait for a second: see
// [Error.RetryAfter].
func Failure(class ErrorClass, code, message string) *Error {
	e := &Error{Class: class, Code: code, Message: message, Recoverability: class.recovery()}
	if class == RateLimited {
		return e.RetryAfter(defaultRetryAfter)
	}
	return e
}

// Because returns a copy of e with cause as its wrapped error. The copy refers to the number of a system's error as errno:NUMBER.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	var number syscall.Errno
	if c.NativeErrorRef == "" && errors.As(cause, &number) {
		c.NativeErrorRef = fmt.Sprintf("errno:%d", uintptr(number))
	}
	return &c
}

// In returns a copy of e that is about a member of the input, by its JSON pointer.
func (e *Error) In(pointer string) *Error {
	c := *e
	c.Pointer = pointer
	return &c
}

func (e *Error) Error() string { return e.Message }

// Unwrap gives errors.Is the class and the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.Class}
	}
	return []error{e.Class, e.cause}
}

// RetryAfter sets the time after which the same call may work.
func (e *Error) RetryAfter(d time.Duration) *Error {
	c, ms := *e, d.Milliseconds()
	c.RetryAfterMS = &ms
	return &c
}

// AsError returns the Error in err's chain, or a new one that carries err's text: that of [SystemFailure] if the system
// failed, else one of the class fallback.
func AsError(err error, fallback ErrorClass) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if e := SystemFailure(err.Error(), err); e != nil {
		return e
	}
	return Failure(fallback, codeOf(err, fallback), err.Error()).Because(err)
}
