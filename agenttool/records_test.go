package agenttool_test

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
)

const now = "2026-01-02T03:04:05.678Z"

func number(f float64) *float64 { return &f }

var ref = agenttool.Ref{ID: "ref_1", URI: "toolhost://results/1", MediaType: "text/plain", Digest: "sha256:00",
	SizeBytes: 9}

// records returns one valid record of each kind, as toolhost would write it.
func records() map[recordtest.Kind]any {
	const v, inv, id = agenttool.SchemaVersion, agenttool.InvocationID("inv_1"), agenttool.ToolID("toolhost.read")
	object := json.RawMessage(`{"type":"object"}`)
	failed := agenttool.Failure(agenttool.PermissionDenied, "denied_by_rule", "no")
	return map[recordtest.Kind]any{
		recordtest.KindDeclaration: agenttool.Declaration{SchemaVersion: v, ToolID: id, Namespace: "local.files",
			Name:        "read",
			Description: "reads", Lifecycle: agenttool.Available, ToolKind: agenttool.KindFileOperation,
			InputContract:    &agenttool.InputContract{ModelInputSchema: object, ArgumentMode: "json"},
			ExternalMappings: []agenttool.ExternalMapping{{System: "mcp"}}},
		recordtest.KindInterface: agenttool.Interface{SchemaVersion: v, InterfaceID: "if_1", ToolID: id,
			StaticFacts: agenttool.StaticFacts{IsReadOnly: "by input"},
			Schemas:     agenttool.Schemas{ModelInputSchema: object, SchemaVisibility: "loaded"}, CallRules: agenttool.CallRules{InterruptBehavior: "cancel"}},
		recordtest.KindSurface: agenttool.Surface{SchemaVersion: v, SurfaceID: "surface_1", Scope: "session",
			CreatedAt:    now,
			BlockedTools: []agenttool.BlockedTool{{ToolID: id, Reason: "policy_blocked"}}},
		recordtest.KindExecutionProfile: agenttool.ExecutionProfile{SchemaVersion: v, ExecutionProfileID: "ep",
			ExecutionKind: "shell"},
		recordtest.KindPermissionProfile: agenttool.PermissionProfile{SchemaVersion: v, PermissionProfileID: "pp",
			RiskLevel:   "low",
			AccessKinds: []string{"file_read"}, WriteEffects: []string{"none"}, RuleMatchingFields: []string{"path"}},
		recordtest.KindDecision: agenttool.Decision{SchemaVersion: v, DecisionID: "perm_1", InvocationID: inv,
			Behavior: agenttool.Deny,
			Mode:     "default", Source: "project_settings", RuleRefs: []string{"r"}, DecidedAt: now, ExpiresAt: now,
			Reason: &agenttool.DecisionReason{Type: "rule", Detail: "d", RuleRef: "r"},
			SuggestedUpdates: []agenttool.SuggestedUpdate{{Op: "add_rules", Destination: "session",
				Behavior: agenttool.Allow}}},
		recordtest.KindHook: agenttool.Hook{SchemaVersion: v, HookID: "hook_1", HookEvent: "pre_tool_use",
			StartedAt: now, EndedAt: now},
		recordtest.KindMutation: agenttool.InputMutation{SchemaVersion: v, MutationID: "mut_1", InvocationID: inv,
			SourceType: "hook",
			CreatedAt:  now},
		recordtest.KindInvocation: agenttool.Invocation{SchemaVersion: v, InvocationID: inv, ToolID: id,
			Status: agenttool.StatusSucceeded,
			Inputs: agenttool.Inputs{ModelInput: json.RawMessage(`{"path":"x"}`)}, CreatedAt: now, StartedAt: now, EndedAt: now,
			StatusTransitions: []agenttool.Transition{{Status: agenttool.StatusPlanned, At: now}},
			Phases:            []agenttool.PhaseTiming{{Phase: agenttool.PhaseExecute, StartedAt: now}},
			Scheduler:         &agenttool.SchedulerFacts{QueueState: "queued", ContextModifierPolicy: "forbid"}},
		recordtest.KindSchedulerPolicy: agenttool.SchedulerPolicy{SchemaVersion: v, SchedulerPolicyID: "sp",
			OrderingPolicy: "serial"},
		recordtest.KindDeferredTool: agenttool.DeferredTool{SchemaVersion: v, ToolID: id, Name: "read",
			LoadingState: "discoverable"},
		recordtest.KindProgress: agenttool.Progress{SchemaVersion: v, ProgressID: "prog_1", InvocationID: inv, Sequence: 1,
			Status: "running", Timestamp: now, Percent: number(50), CurrentStep: "2", TotalSteps: 4},
		recordtest.KindResult: agenttool.Result{SchemaVersion: v, ResultID: "res_1", InvocationID: inv,
			Status:  agenttool.ResultDenied,
			IsError: true, Error: failed, Content: []agenttool.Content{agenttool.Text("no")},
			RedactionState: "none", CreatedAt: now,
			ResultRefs: agenttool.ResultRefs{ResourceRefs: []agenttool.Ref{ref}}},
		recordtest.KindPersistence: agenttool.Persistence{SchemaVersion: v, DecisionID: "persist_1", InvocationID: inv,
			Strategy: agenttool.RefOnly, PersistedRef: &ref, CreatedAt: now},
		recordtest.KindEvent: agenttool.Event{SchemaVersion: v, EventID: "evt_1", EventType: agenttool.EventStarted,
			Source: "toolhost",
			Time:   now, InvocationID: inv, Data: json.RawMessage(`{"phase":"execute"}`)},
	}
}

// pointers returns the places of problems.
func pointers(errs []error) []string {
	var at []string
	for _, err := range errs {
		at = append(at, err.(recordtest.Problem).Pointer)
	}
	return at
}

func wantAt(t *testing.T, errs []error, pointer string) {
	t.Helper()
	if found := pointers(errs); !slices.Equal(found, []string{pointer}) {
		t.Errorf("problems at %q, want one at %q", found, pointer)
	}
}

// change returns the record with the value at a dotted path replaced by the JSON text value, or removed when that is
// empty.
func change(t testing.TB, record any, path, value string) []byte {
	t.Helper()
	var root any
	if err := json.Unmarshal(encode(t, record), &root); err != nil {
		t.Fatal(err)
	}
	names := strings.Split(path, ".")
	at := root
	for _, name := range names[:len(names)-1] {
		if i, err := strconv.Atoi(name); err == nil {
			at = at.([]any)[i]
		} else {
			at = at.(map[string]any)[name]
		}
	}
	last := names[len(names)-1]
	var v any
	if value != "" {
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			t.Fatal(err)
		}
	}
	if i, err := strconv.Atoi(last); err == nil {
		at.([]any)[i] = v
	} else if at.(map[string]any)[last] = v; value == "" {
		delete(at.(map[string]any), last)
	}
	return encode(t, root)
}

func TestRecordsOfEveryKind(t *testing.T) {
	conform.Held(t, "AT-007", "AT-453", "AT-485", "AT-486", "AT-488", "AT-489", "AT-490", "AT-491", "AT-492")
	valid := records()
	if len(valid) != 15 || len(recordtest.Kinds) != 15 {
		t.Fatalf("%d records, %d kinds", len(valid), len(recordtest.Kinds))
	}
	for _, kind := range recordtest.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			if err := recordtest.Record(kind, encode(t, valid[kind])); len(err) > 0 {
				t.Error(err)
			}
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(encode(t, valid[kind]), &fields); err != nil {
				t.Fatal(err)
			}
			if err := recordtest.Record(kind, change(t, valid[kind], "schema_version", "")); len(err) == 0 {
				t.Error("a record without schema_version was accepted")
			}
			for name := range fields {
				if !strings.HasSuffix(name, "_id") {
					continue
				}
				if len(recordtest.Record(kind, change(t, valid[kind], name, `""`))) == 0 {
					t.Errorf("an empty %s was accepted", name)
				}
			}
			// AT-381: what a later version adds is no fault
			if err := recordtest.Record(kind, change(t, valid[kind], "x_new", `{"deep":[1]}`)); len(err) > 0 {
				t.Errorf("with an unknown field: %v", err)
			}
		})
	}
}

var brokenRecords = []struct {
	kind        recordtest.Kind
	path, value string
}{
	{recordtest.KindEvent, "schema_version", `"0.1.0"`},
	{recordtest.KindEvent, "event_type", `"tool.invented"`},
	{recordtest.KindEvent, "event_type", `"tool.x."`},
	{recordtest.KindEvent, "event_type", `"tool.x.Upper"`},
	{recordtest.KindEvent, "event_type", `"tool.x.a..b"`},
	{recordtest.KindEvent, "time", `"2026-01-02T03:04:05Z"`},
	{recordtest.KindEvent, "time", `"2026-01-02T03:04:05.678+01:00"`},
	{recordtest.KindEvent, "time", `"2026-01-02 03:04:05.678"`},
	{recordtest.KindEvent, "time", `"2026-02-30T03:04:05.678Z"`},
	{recordtest.KindEvent, "data", `[]`},
	{recordtest.KindEvent, "data.phase", `"executing"`},
	{recordtest.KindDeclaration, "tool_kind", `"file"`},
	{recordtest.KindDeclaration, "lifecycle", `"ready"`},
	{recordtest.KindDeclaration, "input_contract", ``},
	{recordtest.KindDeclaration, "input_contract.model_input_schema", ``},
	{recordtest.KindDeclaration, "input_contract.model_input_schema", `null`},
	{recordtest.KindDeclaration, "input_contract.argument_mode", `"xml"`},
	{recordtest.KindDeclaration, "external_mappings.0.system", `"soap"`},
	{recordtest.KindInterface, "is_read_only", `3`},
	{recordtest.KindInterface, "interrupt_behavior", `"kill"`},
	{recordtest.KindSurface, "scope", `"machine"`},
	{recordtest.KindSurface, "created_at", `"today"`},
	{recordtest.KindSurface, "blocked_tools.0.reason", `"because"`},
	{recordtest.KindSurface, "blocked_tools.0.tool_id", ``},
	{recordtest.KindExecutionProfile, "execution_kind", `"bash"`},
	{recordtest.KindExecutionProfile, "supports_offline", ``},
	{recordtest.KindExecutionProfile, "supports_offline", `"no"`},
	{recordtest.KindPermissionProfile, "risk_level", `"none"`},
	{recordtest.KindPermissionProfile, "access_kinds.0", `"file read"`},
	{recordtest.KindPermissionProfile, "write_effects.0", `"all"`},
	{recordtest.KindPermissionProfile, "rule_matching_fields.0", `"argv"`},
	{recordtest.KindDecision, "behavior", `"maybe"`},
	{recordtest.KindDecision, "source", `"file"`},
	{recordtest.KindDecision, "mode", `"yolo"`},
	{recordtest.KindDecision, "reason.type", `"whim"`},
	{recordtest.KindDecision, "reason.type", ``},
	{recordtest.KindDecision, "rule_refs", `["other"]`},
	{recordtest.KindDecision, "suggested_updates.0.op", `"add"`},
	{recordtest.KindDecision, "suggested_updates.0.destination", `"disk"`},
	{recordtest.KindDecision, "decided_at", `"2026-01-02T03:04:05Z"`},
	{recordtest.KindHook, "hook_event", `"before"`},
	{recordtest.KindMutation, "source_type", `"model"`},
	{recordtest.KindInvocation, "status", `"executing"`},
	{recordtest.KindInvocation, "status_transitions.0.status", `"executing"`},
	{recordtest.KindInvocation, "status_transitions.0.at", ``},
	{recordtest.KindInvocation, "phases.0.phase", `"run"`},
	{recordtest.KindInvocation, "phases.0.started_at", ``},
	{recordtest.KindInvocation, "phases.0.started_at", `"soon"`},
	{recordtest.KindInvocation, "scheduler.queue_state", `"running"`},
	{recordtest.KindInvocation, "scheduler.context_modifier_policy", `"any"`},
	{recordtest.KindSchedulerPolicy, "ordering_policy", `"random"`},
	{recordtest.KindDeferredTool, "loading_state", `"later"`},
	{recordtest.KindProgress, "status", `"succeeded"`},
	{recordtest.KindProgress, "current_step", `2`},
	{recordtest.KindProgress, "percent", `101`},
	{recordtest.KindResult, "status", `"ok"`},
	{recordtest.KindResult, "content", `null`},
	{recordtest.KindResult, "content.0.type", `"html"`},
	{recordtest.KindResult, "redaction_state", `"some"`},
	{recordtest.KindResult, "error", ``},
	{recordtest.KindResult, "error.error_class", `"oops"`},
	{recordtest.KindResult, "error.error_code", `""`},
	{recordtest.KindResult, "error.recoverability", `"maybe"`},
	{recordtest.KindResult, "resource_refs.0.uri", `""`},
	{recordtest.KindPersistence, "strategy", `"keep"`},
	{recordtest.KindPersistence, "persisted_ref.id", ``},
}

func TestRecordRefuses(t *testing.T) {
	conform.Held(t, "AT-466", "AT-467", "X01", "X02", "X05", "X08", "X12", "X13", "X14", "X16", "X20")
	valid := records()
	for _, tt := range brokenRecords {
		t.Run(fmt.Sprintf("%s/%s=%s", tt.kind, tt.path, tt.value), func(t *testing.T) {
			found := pointers(recordtest.Record(tt.kind, change(t, valid[tt.kind], tt.path, tt.value)))
			if want := "/" + strings.ReplaceAll(tt.path, ".", "/"); !slices.Contains(found, want) {
				t.Errorf("problems at %q, want one at %q", found, want)
			}
		})
	}
}

func TestRecordOfNoKind(t *testing.T) {
	if len(recordtest.Record("tool-error", []byte(`{}`))) == 0 {
		t.Error("a kind that does not exist was accepted")
	}
	if len(recordtest.Record(recordtest.KindEvent, []byte(`{`))) == 0 {
		t.Error("what is not JSON was accepted")
	}
}

// A deferred tool's declaration may keep its schema back.
func TestDeferredDeclarationWithoutContract(t *testing.T) {
	d := records()[recordtest.KindDeclaration].(agenttool.Declaration)
	d.InputContract, d.Lifecycle = nil, agenttool.Deferred
	if err := recordtest.Record(recordtest.KindDeclaration, encode(t, d)); len(err) > 0 {
		t.Error(err)
	}
}

// Every word that package agenttool can write is one that the gate lets through.
func TestListsHoldTheWordsOfAgenttool(t *testing.T) {
	fields := map[string]struct {
		kind recordtest.Kind
		path string
	}{
		"InvocationStatus": {recordtest.KindInvocation, "status"}, "ResultStatus": {recordtest.KindResult, "status"},
		"EventType": {recordtest.KindEvent, "event_type"}, "Phase": {recordtest.KindInvocation, "phases.0.phase"},
		"Behavior": {recordtest.KindDecision, "behavior"}, "Lifecycle": {recordtest.KindDeclaration, "lifecycle"},
		"ToolKind": {recordtest.KindDeclaration, "tool_kind"}, "Strategy": {recordtest.KindPersistence, "strategy"},
		"Recovery": {recordtest.KindResult, "error.recoverability"}, "ErrorClass": {recordtest.KindResult,
			"error.error_class"},
	}
	valid, seen := records(), map[string]int{}
	for typ, word := range constants(t) {
		field, ok := fields[typ]
		if !ok {
			continue
		}
		for _, w := range word {
			seen[typ]++
			if err := recordtest.Record(field.kind, change(t, valid[field.kind], field.path, w)); len(err) > 0 {
				t.Errorf("%s %s: %v", typ, w, err)
			}
		}
	}
	for typ := range fields {
		if seen[typ] < 2 {
			t.Errorf("%d constants of type %s found: the test shows nothing", seen[typ], typ)
		}
	}
}

// constants returns the quoted values of the typed string constants of package agenttool, by type.
func constants(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			typ, isTyped := spec.Type.(*ast.Ident)
			value, isLiteral := spec.Values[0].(*ast.BasicLit)
			if isTyped && isLiteral && value.Kind == token.STRING {
				found[typ.Name] = append(found[typ.Name], value.Value)
			}
			return true
		})
	}
	return found
}

// The standard has 27 classes of events; extras stand below tool.x.
func TestEventTypes(t *testing.T) {
	event := records()[recordtest.KindEvent]
	for _, typ := range []string{"tool.declared", "tool.hook.post.completed", "tool.result.redacted", "tool.x.job.exited"} {
		if err := recordtest.Record(recordtest.KindEvent, change(t, event, "event_type", strconv.Quote(typ))); len(err) > 0 {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

func event(t testing.TB, data string) []byte {
	t.Helper()
	e := records()[recordtest.KindEvent].(agenttool.Event)
	e.Data = json.RawMessage(data)
	return encode(t, e)
}

func TestEventChecksWhatItHolds(t *testing.T) {
	valid := records()
	for name, kind := range map[string]recordtest.Kind{
		"invocation": recordtest.KindInvocation, "result": recordtest.KindResult, "decision": recordtest.KindDecision,
		"persistence": recordtest.KindPersistence, "progress": recordtest.KindProgress, "surface": recordtest.KindSurface,
		"mutation": recordtest.KindMutation, "declaration": recordtest.KindDeclaration,
	} {
		t.Run(name, func(t *testing.T) {
			if err := recordtest.Event(event(t, `{"`+name+`":`+string(encode(t, valid[kind]))+`}`)); len(err) > 0 {
				t.Error(err)
			}
			broken := change(t, valid[kind], "schema_version", `"9"`)
			wantAt(t, recordtest.Event(event(t, `{"`+name+`":`+string(broken)+`}`)), "/data/"+name+"/schema_version")
			wantAt(t, recordtest.Event(event(t, `{"`+name+`":null}`)), "/data/"+name)
			if len(recordtest.Event(event(t, `{"`+name+`":{}}`))) == 0 {
				t.Error("an empty object was accepted")
			}
		})
	}
	for name, kind := range map[string]recordtest.Kind{"mutations": recordtest.KindMutation, "declarations": recordtest.KindDeclaration} {
		good, bad := string(encode(t, valid[kind])), string(change(t, valid[kind], "schema_version", ""))
		if err := recordtest.Event(event(t, `{"`+name+`":[`+good+`,`+good+`]}`)); len(err) > 0 {
			t.Error(err)
		}
		wantAt(t, recordtest.Event(event(t, `{"`+name+`":[`+good+`,`+bad+`]}`)), "/data/"+name+"/1/schema_version")
	}
	wantAt(t, recordtest.Event(change(t, valid[recordtest.KindEvent], "event_type", `"x"`)), "/event_type")
}

func TestKindsAreDistinct(t *testing.T) {
	kinds := slices.Clone(recordtest.Kinds)
	slices.Sort(kinds)
	if len(slices.Compact(kinds)) != 15 {
		t.Error("a kind is listed twice")
	}
}
