package agenttool

import "time"

// Stage is how far a call had come when it failed. The zero value is the careful one.
type Stage uint8

// The stages.
const (
	MayHaveChanged Stage = iota // it ran, and is not known to be read-only
	OnlyRead                    // it ran, and is read-only
	NotStarted                  // it never ran
)

// advice is the retry advice of each class of error, by the stage where a call failed (AT-332 … AT-337). A call that was cut off
// while it could change something may have done so: its caller must look before it makes the call again.
var advice = map[ErrorClass][3]Recovery{
	//                          MayHaveChanged   OnlyRead         NotStarted
	UnknownTool:                {DiscoverFirst, DiscoverFirst, DiscoverFirst},
	InvalidArguments:           {ChangeArguments, ChangeArguments, ChangeArguments},
	SchemaValidationFailed:     {ChangeArguments, ChangeArguments, ChangeArguments},
	SchemaNotLoaded:            {DiscoverFirst, DiscoverFirst, DiscoverFirst},
	PermissionDenied:           {ChangePolicy, ChangePolicy, ChangePolicy},
	ApprovalRejected:           {ApproveAgain, ApproveAgain, ApproveAgain},
	PolicyBlocked:              {ChangePolicy, ChangePolicy, ChangePolicy},
	HookBlocked:                {ChangePolicy, ChangePolicy, ChangePolicy},
	CapabilityGap:              {NotRecoverable, NotRecoverable, NotRecoverable},
	SetupRequired:              {NotRecoverable, NotRecoverable, NotRecoverable},
	CredentialMissing:          {NotRecoverable, NotRecoverable, NotRecoverable},
	SandboxViolation:           {ChangePolicy, ChangePolicy, ChangePolicy},
	Timeout:                    {InspectFirst, RetrySafe, RetrySafe},
	RateLimited:                {RetrySafe, RetrySafe, RetrySafe},
	DependencyUnavailable:      {InspectFirst, RetrySafe, RetrySafe},
	ExecutionFailed:            {InspectFirst, NotRecoverable, NotRecoverable},
	PartialFailure:             {InspectFirst, NotRecoverable, NotRecoverable},
	ResultTooLarge:             {ChangeArguments, ChangeArguments, ChangeArguments},
	ResultRedacted:             {NotRecoverable, NotRecoverable, NotRecoverable},
	SiblingCanceled:            {InspectFirst, SiblingCaused, SiblingCaused},
	StreamingFallbackDiscarded: {InspectFirst, RetrySafe, RetrySafe},
	Canceled:                   {InspectFirst, RetrySafe, RetrySafe},
}

// recovery is the usual advice of the class.
func (c ErrorClass) recovery() Recovery {
	if row, listed := advice[c]; listed {
		return row[NotStarted]
	}
	return NotRecoverable
}

// cutOff are the classes of errors that end a call from outside, in the middle of its work.
var cutOff = map[ErrorClass]bool{Timeout: true, Canceled: true, SiblingCanceled: true, StreamingFallbackDiscarded: true}

// inspectHint is the advice in words, for a model.
const inspectHint = "It may have changed something before it ended. Look before you make this call again."

// At returns a copy of e with the advice for a call that failed at the stage s. Advice that a tool gave itself stays, unless the call was
// cut off from outside.
func (e *Error) At(s Stage) *Error {
	c := *e
	if e.Recoverability == e.Class.recovery() || s == MayHaveChanged && cutOff[e.Class] {
		c.Recoverability = NotRecoverable
		if row, listed := advice[e.Class]; listed {
			c.Recoverability = row[s]
		}
	}
	c.RetrySafe = Known(true).String()
	if s == MayHaveChanged {
		c.RetrySafe = Unknown.String()
	}
	if s == MayHaveChanged && cutOff[e.Class] && c.Hint == "" {
		c.Hint = inspectHint
	}
	return &c
}

// defaultRetryAfter is the advice of an error of class rate_limited that names no time.
const defaultRetryAfter = time.Second
