package history

import (
	"encoding/json"
	"iter"
	"slices"
	"testing"

	"toolhost/agenttool"
	"toolhost/persist"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
)

// deadLog is the log of a host that died with five calls and a job: c1 ended, c2 was asked about, c3 changes a file, c4 reads, c5 has ended
// and left a job, c6 has a job and no result.
func deadLog() []persist.Entry {
	planned := func(call string) string {
		return `{"tool":"shell","invocation":{"schema_version":"0.2.0","invocation_id":"inv_` + call + `","tool_id":"toolhost.shell","native_call_id":"` + call +
			`","status":"planned","model_input":{"command":"make ` + call + `"},"actor_ref":"agent","surface_id":"surface_1","created_at":"2026-03-02T15:04:00.000Z"}}`
	}
	var log []persist.Entry
	add := func(kind agenttool.EventType, call, data string) {
		log = append(log, record(int64(len(log)+1), kind, call, data))
	}
	for _, call := range []string{"c1", "c2", "c3", "c4", "c5", "c6"} {
		add(agenttool.EventPlanned, call, planned(call))
	}
	add(agenttool.EventResultCreated, "c1", `{"result":{"status":"succeeded"}}`)
	add(agenttool.EventPermissionRequested, "c2", `{"decision":{"decision_id":"perm_1","behavior":"ask","reason":{"detail":"it writes"}}}`)
	add(agenttool.EventPermissionDecided, "c3", `{"decision":{"decision_id":"perm_2","behavior":"allow","reason":{"type":"rule","rule_ref":"user_settings:Shell","where":"/home/jo/s.json:4"}}}`)
	add(agenttool.EventStarted, "c3", `{"read_only":false}`)
	add(agenttool.EventStarted, "c4", `{"read_only":true}`)
	add(agenttool.EventResultCreated, "c5", `{"invocation":{"model_input":{"command":"make c5"}},"result":{"status":"partial_succeeded","structured_content":{"job":"j1","state":"running"}}}`)
	add(agenttool.EventStarted, "c6", `{"read_only":false}`)
	add(agenttool.EventProgress, "c6", `{"progress":{"sequence":7,"status":"running","task_id":"j2","command":"make c6"}}`)
	return log
}

func entries(log []persist.Entry) iter.Seq2[persist.Entry, error] {
	return func(yield func(persist.Entry, error) bool) {
		for _, e := range log {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// TestEndsOfADeadHost: each call and job gets one end, with the advice that follows from how far it came, and nothing is left for a second time.
func TestEndsOfADeadHost(t *testing.T) {
	conform.Held(t, "AT-259")
	log := deadLog()
	w := endWriter{ids: &agenttool.IDs{}}
	written, err := w.ends(entries(log))
	if err != nil {
		t.Fatal(err)
	}
	advice, jobs := map[string]agenttool.Recovery{}, []string{}
	for i, event := range written {
		if problems := recordtest.Event(event); len(problems) > 0 {
			t.Errorf("%v\n%s", problems, event)
		}
		log = append(log, persist.Entry{Seq: int64(len(log) + 1), Event: event})
		var e struct {
			Type agenttool.EventType `json:"event_type"`
			Call string              `json:"subject"`
			Data struct {
				Afterwards bool                 `json:"written_afterwards"`
				Result     agenttool.Result     `json:"result"`
				Invocation agenttool.Invocation `json:"invocation"`
				Progress   agenttool.Progress   `json:"progress"`
			} `json:"data"`
		}
		if err := json.Unmarshal(event, &e); err != nil || !e.Data.Afterwards {
			t.Errorf("event %d: %v, written afterwards: %v", i, err, e.Data.Afterwards)
		}
		switch r, inv := e.Data.Result, e.Data.Invocation; e.Type {
		case agenttool.EventProgress:
			jobs = append(jobs, e.Data.Progress.TaskID)
			if e.Data.Progress.TaskID == "j2" && e.Data.Progress.Sequence != 8 {
				t.Errorf("progress %d of j2", e.Data.Progress.Sequence)
			}
		case agenttool.EventResultCreated:
			if r.Status != agenttool.ResultSyntheticError || r.AbortReason != "runtime shutdown" || inv.AbortReason != r.AbortReason ||
				string(inv.ModelInput) != `{"command":"make `+e.Call+`"}` || inv.ActorRef != "agent" || inv.SurfaceID != "surface_1" {
				t.Errorf("%s: %+v\n%+v", e.Call, r, inv)
			}
			advice[e.Call] = r.Error.Recoverability
			if e.Call == "c3" && !slices.Equal(inv.PermissionDecisionRefs, []string{"perm_2"}) {
				t.Errorf("decisions %v", inv.PermissionDecisionRefs)
			}
		}
	}
	for call, want := range map[string]agenttool.Recovery{"c2": agenttool.RetrySafe, "c3": agenttool.InspectFirst, "c4": agenttool.RetrySafe, "c6": agenttool.InspectFirst} {
		if advice[call] != want {
			t.Errorf("%s: advice %q, want %q", call, advice[call], want)
		}
	}
	slices.Sort(jobs)
	if len(advice) != 4 || !slices.Equal(jobs, []string{"j1", "j2"}) {
		t.Errorf("ends of %v, jobs %v", advice, jobs)
	}
	if again, err := w.ends(entries(log)); err != nil || len(again) > len(written) {
		t.Errorf("a second time: %d events, %v", len(again)-len(written), err)
	}
}
