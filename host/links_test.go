package host_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/host"
	"toolhost/host/hook"
	"toolhost/testdata/support/conform"
)

// TestResultLinks: the result of a call names its file as artifact and resource, its decision, hook and payload as evidence, the rule that
// allowed it, the session, and its span in the client's trace. Each of the records that it names is in the log.
func TestResultLinks(t *testing.T) {
	conform.Held(t, "AT-122", "AT-271", "AT-346", "AT-403", "AT-429")
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	file := agenttool.Ref{ID: "file_1", URI: "file:///ws/a", MediaType: "text/plain", Digest: "sha256:00", Relation: "written"}
	long := strings.Repeat("a line of output\n", 10_000)
	put := &fake{name: "put", run: func(context.Context, fakeInput, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text(long)}, Artifacts: []agenttool.Ref{file}, Resources: []agenttool.Ref{file}}, nil
	}}
	f := newFixture(t, []agenttool.Tool{put}, allowing("put"), watched(hookOf(t, hook.PreToolUse, says("")), hookOf(t, hook.PostToolUse, says(""))))
	got := f.call(host.Request{ID: "c1", Tool: "put", Input: input("a"), Trace: []byte(`{"traceparent":"00-` + trace + `-` + parent + `-01"}`)})
	checkRecords(t, got)
	inv, res := got.Invocation, got.Result
	if len(res.ArtifactRefs) != 1 || res.ArtifactRefs[0].URI != file.URI || len(inv.ArtifactRefs) != 1 || len(res.ResourceRefs) != 2 {
		t.Errorf("artifacts %+v, of the call %+v, resources %+v", res.ArtifactRefs, inv.ArtifactRefs, res.ResourceRefs)
	}
	block := res.Content[len(res.Content)-1]
	if block.Type != "artifact_ref" || block.URI != file.URI || block.Name != "written" || block.Text != "" {
		t.Errorf("the last block is %+v", block)
	}
	payload := got.Persistence.PersistedRef
	want := slices.Concat(inv.PermissionDecisionRefs, inv.HookRefs, []string{payload.ID})
	if len(inv.PermissionDecisionRefs) != 1 || len(inv.HookRefs) != 2 || !slices.Equal(res.EvidenceRefs, want) {
		t.Errorf("evidence %q, want %q", res.EvidenceRefs, want)
	}
	if len(res.PolicyRefs) != 1 || !slices.Equal(res.PolicyRefs, inv.PolicyRefs) || !slices.Equal(res.PolicyRefs, f.decisions(inv.InvocationID)[0].RuleRefs) {
		t.Errorf("rules %q, of the call %q", res.PolicyRefs, inv.PolicyRefs)
	}
	if !slices.Contains(inv.RuntimeRefs, string(f.store.ID())) || inv.SchedulerPolicyRef == "" || len(res.PersistenceRefs) != 1 {
		t.Errorf("runtime %q, scheduler %q, persistence %q", inv.RuntimeRefs, inv.SchedulerPolicyRef, res.PersistenceRefs)
	}
	var span map[string]any
	if len(res.TelemetryRefs) != 1 || json.Unmarshal(res.TelemetryRefs[0], &span) != nil {
		t.Fatalf("telemetry %s", res.TelemetryRefs)
	}
	for name, want := range map[string]any{"trace_id": trace, "parent_span_id": parent, "tool_name": "put", "tool_call_id": inv.NativeCallID,
		"request_id": "c1", "result_size_bytes": float64(len(long))} {
		if span[name] != want {
			t.Errorf("%s is %v, want %v", name, span[name], want)
		}
	}
	if id, _ := span["span_id"].(string); len(id) != 16 || span["duration_ms"] == nil {
		t.Errorf("span %v", span)
	}
	log := f.log()
	for _, ref := range want {
		if !strings.Contains(log, `_id":"`+ref+`"`) && ref != payload.ID || strings.Count(log, ref) < 2 {
			t.Errorf("the log has no record %s", ref)
		}
	}
	if page, err := f.ReadResult(payload.URI, 0, 100); err != nil || !strings.HasPrefix(long, page.Text) {
		t.Errorf("the payload: %+v, %v", page, err)
	}
}

// TestSpansWithoutATrace: calls of a session whose client sends no trace, or one of another form, have the session as trace and a span each.
func TestSpansWithoutATrace(t *testing.T) {
	conform.Held(t, "AT-346")
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true}})
	spans := map[string]string{}
	for id, trace := range map[string]string{"1": "", "2": `{"traceparent":"00-zz-b7ad6b7169203331-01"}`, "3": `{"traceparent":7}`, "4": `[]`} {
		got := f.call(host.Request{ID: id, Tool: "look", Input: input("a"), Trace: []byte(trace)})
		var s struct {
			Trace string `json:"trace_id"`
			Span  string `json:"span_id"`
		}
		if err := json.Unmarshal(got.Result.TelemetryRefs[0], &s); err != nil || len(s.Trace) != 32 {
			t.Fatalf("%s: %s, %v", trace, got.Result.TelemetryRefs, err)
		}
		spans[s.Span] = s.Trace
	}
	if traces := slices.Compact(slices.Sorted(maps.Values(spans))); len(spans) != 4 || len(traces) != 1 {
		t.Errorf("spans and traces %v", spans)
	}
}

// log is all events of the log, as they are stored.
func (f *fixture) log() string {
	f.t.Helper()
	entries, _, err := f.store.Since(0, 10000)
	if err != nil {
		f.t.Fatal(err)
	}
	var log strings.Builder
	for _, e := range entries {
		log.Write(e.Event)
	}
	return log.String()
}

// TestMappingIsKept: native ids that a caller names are in the record, byte for byte. A mapping or trace that is no JSON or too long is refused.
func TestMappingIsKept(t *testing.T) {
	const mapping = `{"source":"function_calling","tool_call_id":"call_7","n":1.0}`
	f := newFixture(t, []agenttool.Tool{&fake{name: "look", reads: true}})
	got := f.call(host.Request{ID: "c", Tool: "look", Input: input("a"), Mapping: []byte(mapping)})
	checkRecords(t, got)
	if m := got.Invocation.ExternalMappings; len(m) != 1 || string(m[0]) != mapping || strings.Count(f.log(), mapping) < 2 {
		t.Errorf("mappings %s", m)
	}
	for _, bad := range []string{"{", `{"x":"` + strings.Repeat("x", 9000) + `"}`, `{"x":` + strings.Repeat("[", 9997) + strings.Repeat("]", 9997) + "}"} {
		if err := f.Invoke(host.Request{ID: "bad", Tool: "look", Input: input("a"), Mapping: []byte(bad)}, func(host.Completion) {}); !host.IsRefused(err) {
			t.Errorf("%.20s: %v", bad, err)
		}
		if err := f.Invoke(host.Request{ID: "bad", Tool: "look", Input: input("a"), Trace: []byte(bad)}, func(host.Completion) {}); !host.IsRefused(err) {
			t.Errorf("trace %.20s: %v", bad, err)
		}
	}
}
