package agenttool_test

import (
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
)

// TestRetryAdvice compares the advice of all 22 classes, for calls that never ran, that only read, and that may have changed something.
func TestRetryAdvice(t *testing.T) {
	conform.Held(t, "AT-332", "AT-334", "AT-335", "AT-337")
	const (
		retry, change, policy, discover = "retry", "change_arguments", "change_arguments_or_policy", "discover_first"
		approve, sibling, never, look   = "approval_required", "sibling_caused", "not_recoverable", "inspect_first"
	)
	want := map[agenttool.ErrorClass][3]string{ // never ran, only read, may have changed
		agenttool.UnknownTool: {discover, discover, discover}, agenttool.InvalidArguments: {change, change, change},
		agenttool.SchemaValidationFailed: {change, change, change}, agenttool.SchemaNotLoaded: {discover, discover, discover},
		agenttool.PermissionDenied: {policy, policy, policy}, agenttool.ApprovalRejected: {approve, approve, approve},
		agenttool.PolicyBlocked: {policy, policy, policy}, agenttool.HookBlocked: {policy, policy, policy},
		agenttool.CapabilityGap: {never, never, never}, agenttool.SetupRequired: {never, never, never},
		agenttool.CredentialMissing: {never, never, never}, agenttool.SandboxViolation: {policy, policy, policy},
		agenttool.Timeout: {retry, retry, look}, agenttool.RateLimited: {retry, retry, retry},
		agenttool.DependencyUnavailable: {retry, retry, look}, agenttool.ExecutionFailed: {never, never, look},
		agenttool.PartialFailure: {never, never, look}, agenttool.ResultTooLarge: {change, change, change},
		agenttool.ResultRedacted: {never, never, never}, agenttool.SiblingCanceled: {sibling, sibling, look},
		agenttool.StreamingFallbackDiscarded: {retry, retry, look}, agenttool.Canceled: {retry, retry, look},
	}
	stages := [3]agenttool.Stage{agenttool.NotStarted, agenttool.OnlyRead, agenttool.MayHaveChanged}
	safe := [3]string{"yes", "yes", "unknown"}
	for _, class := range agenttool.ErrorClasses {
		for i, stage := range stages {
			e := agenttool.Failure(class, "code", "message").At(stage)
			if string(e.Recoverability) != want[class][i] || e.RetrySafe != safe[i] {
				t.Errorf("%s at stage %d: %s, retry_safe %s; want %s, %s", class, i, e.Recoverability, e.RetrySafe, want[class][i], safe[i])
			}
			if waits := e.RetryAfterMS != nil; waits != (class == agenttool.RateLimited) {
				t.Errorf("%s has a retry_after: %v", class, waits)
			}
		}
	}
}

// TestAdviceOfATool shows that the advice of a tool stands, but not for a call that was cut off while it changed something.
func TestAdviceOfATool(t *testing.T) {
	e := agenttool.Failure(agenttool.ExecutionFailed, "exit_status", "status 1")
	e.Recoverability = agenttool.ChangeArguments
	if got := e.At(agenttool.MayHaveChanged); got.Recoverability != agenttool.ChangeArguments || got.RetrySafe != "unknown" || got.Hint != "" {
		t.Errorf("a command that failed by itself: %s, retry_safe %s, hint %q", got.Recoverability, got.RetrySafe, got.Hint)
	}
	e = agenttool.Failure(agenttool.Timeout, "timeout", "it took too long")
	e.Recoverability = agenttool.ChangeArguments
	if got := e.At(agenttool.MayHaveChanged); got.Recoverability != agenttool.InspectFirst || !strings.Contains(got.Hint, "Look before") {
		t.Errorf("a command that timed out: %s, hint %q", got.Recoverability, got.Hint)
	}
	if e.RetrySafe != "" {
		t.Error("At changed the error that it was called on")
	}
}
