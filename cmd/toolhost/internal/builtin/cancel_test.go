package builtin_test

import (
	"testing"

	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
)

// TestCancelIsDeclared: each tool says in its profile whether its calls can be canceled, and the interface agrees: calls of a tool whose
// interface says block, or nothing, go on.
func TestCancelIsDeclared(t *testing.T) {
	conform.Held(t, "AT-246")
	v := view(t)
	for n, i := range v.Interfaces {
		says, said := members(t, recordtest.KindExecutionProfile, v.ExecutionProfiles[n])["supports_cancel"].(bool)
		if !said || says != (i.InterruptBehavior == "cancel") {
			t.Errorf("%s: supports_cancel %v (given: %v), interrupt_behavior %q", i.ToolID, says, said, i.InterruptBehavior)
		}
	}
}
