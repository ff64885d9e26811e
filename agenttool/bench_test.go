package agenttool_test

import (
	"testing"

	"toolhost/agenttool"
)

// busyInvocation is an invocation as it looks at the end of an ordinary call.
func busyInvocation() agenttool.Invocation {
	const at = "2026-01-02T03:04:05.678Z"
	inv := agenttool.Invocation{
		SchemaVersion: agenttool.SchemaVersion, InvocationID: "inv_1", ToolID: "toolhost.read",
		Status: agenttool.StatusSucceeded, CreatedAt: at,
		Inputs: agenttool.Inputs{ModelInput: []byte(`{"path": "go.mod"}`), ObservableInput: []byte(`{"path":"/w/go.mod"}`)}, Scheduler: &agenttool.SchedulerFacts{QueueState: "completed"},
		Facts: &agenttool.Facts{Verdicts: agenttool.Verdicts{ReadOnly: agenttool.Yes}, Reads: []agenttool.Path{{Spelling: "go.mod",
			Absolute: "/w/go.mod"}}},
	}
	for range 8 {
		inv.StatusTransitions = append(inv.StatusTransitions, agenttool.Transition{Status: agenttool.StatusRunning,
			At: at})
		inv.Phases = append(inv.Phases, agenttool.PhaseTiming{Phase: agenttool.PhaseExecute, StartedAt: at,
			DurationUS: 12})
	}
	return inv
}

func BenchmarkInvocationEncode(b *testing.B) {
	inv := busyInvocation()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := inv.MarshalJSON(); err != nil {
			b.Fatal(err)
		}
	}
}
