package validate_test

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
	"toolhost/agenttool/validate"
)

const now = "2026-01-02T03:04:05.678Z"

func number(f float64) *float64 { return &f }

var ref = agenttool.Ref{ID: "ref_1", URI: "toolhost://results/1", MediaType: "text/plain", Digest: "sha256:00",
	SizeBytes: 9}

// records returns one valid record of each kind, as toolhost would write it.
func records() map[validate.Kind]any {
	const v, inv, id = agenttool.SchemaVersion, agenttool.InvocationID("inv_1"), agenttool.ToolID("toolhost.read")
	object := json.RawMessage(`{"type":"object"}`)
	failed := agenttool.Failure(agenttool.PermissionDenied, "denied_by_rule", "no")
	return map[validate.Kind]any{
		validate.KindDeclaration: agenttool.Declaration{SchemaVersion: v, ToolID: id, Namespace: "local.files",
			Name:        "read",
			Description: "reads", Lifecycle: agenttool.Available, ToolKind: agenttool.KindFileOperation,
			InputContract:    &agenttool.InputContract{ModelInputSchema: object, ArgumentMode: "json"},
			ExternalMappings: []agenttool.ExternalMapping{{System: "mcp"}}},
		validate.KindInterface: agenttool.Interface{SchemaVersion: v, InterfaceID: "if_1", ToolID: id,
			IsReadOnly:       "by input",
			ModelInputSchema: object, InterruptBehavior: "cancel", SchemaVisibility: "loaded"},
		validate.KindSurface: agenttool.Surface{SchemaVersion: v, SurfaceID: "surface_1", Scope: "session",
			CreatedAt:    now,
			BlockedTools: []agenttool.BlockedTool{{ToolID: id, Reason: "policy_blocked"}}},
		validate.KindExecutionProfile: agenttool.ExecutionProfile{SchemaVersion: v, ExecutionProfileID: "ep",
			ExecutionKind: "shell"},
		validate.KindPermissionProfile: agenttool.PermissionProfile{SchemaVersion: v, PermissionProfileID: "pp",
			RiskLevel:   "low",
			AccessKinds: []string{"file_read"}, WriteEffects: []string{"none"}, RuleMatchingFields: []string{"path"}},
		validate.KindDecision: agenttool.Decision{SchemaVersion: v, DecisionID: "perm_1", InvocationID: inv,
			Behavior: agenttool.Deny,
			Mode:     "default", Source: "project_settings", RuleRefs: []string{"r"}, DecidedAt: now, ExpiresAt: now,
			Reason: &agenttool.DecisionReason{Type: "rule", Detail: "d", RuleRef: "r"},
			SuggestedUpdates: []agenttool.SuggestedUpdate{{Op: "add_rules", Destination: "session",
				Behavior: agenttool.Allow}}},
		validate.KindHook: agenttool.Hook{SchemaVersion: v, HookID: "hook_1", HookEvent: "pre_tool_use",
			StartedAt: now, EndedAt: now},
		validate.KindMutation: agenttool.InputMutation{SchemaVersion: v, MutationID: "mut_1", InvocationID: inv,
			SourceType: "hook",
			CreatedAt:  now},
		validate.KindInvocation: agenttool.Invocation{SchemaVersion: v, InvocationID: inv, ToolID: id,
			Status:     agenttool.StatusSucceeded,
			ModelInput: json.RawMessage(`{"path":"x"}`), CreatedAt: now, StartedAt: now, EndedAt: now,
			StatusTransitions: []agenttool.Transition{{Status: agenttool.StatusPlanned, At: now}},
			Phases:            []agenttool.PhaseTiming{{Phase: agenttool.PhaseExecute, StartedAt: now}},
			Scheduler:         &agenttool.SchedulerFacts{QueueState: "queued", ContextModifierPolicy: "forbid"}},
		validate.KindSchedulerPolicy: agenttool.SchedulerPolicy{SchemaVersion: v, SchedulerPolicyID: "sp",
			OrderingPolicy: "serial"},
		validate.KindDeferredTool: agenttool.DeferredTool{SchemaVersion: v, ToolID: id, Name: "read",
			LoadingState: "discoverable"},
		validate.KindProgress: agenttool.Progress{SchemaVersion: v, ProgressID: "prog_1", InvocationID: inv, Sequence: 1,
			Status: "running", Timestamp: now, Percent: number(50), CurrentStep: "2", TotalSteps: 4},
		validate.KindResult: agenttool.Result{SchemaVersion: v, ResultID: "res_1", InvocationID: inv,
			Status:  agenttool.ResultDenied,
			IsError: true, Error: failed, Content: []agenttool.Content{agenttool.Text("no")},
			RedactionState: "none", CreatedAt: now,
			ResourceRefs: []agenttool.Ref{ref}},
		validate.KindPersistence: agenttool.Persistence{SchemaVersion: v, DecisionID: "persist_1", InvocationID: inv,
			Strategy: agenttool.RefOnly, PersistedRef: &ref, CreatedAt: now},
		validate.KindEvent: agenttool.Event{SchemaVersion: v, EventID: "evt_1", EventType: agenttool.EventStarted,
			Source: "toolhost",
			Time:   now, InvocationID: inv, Data: json.RawMessage(`{"phase":"execute"}`)},
	}
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := agenttool.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
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

// AT-020 … AT-034
func TestRecordsOfEveryKind(t *testing.T) {
	valid := records()
	if len(valid) != 15 || len(validate.Kinds) != 15 {
		t.Fatalf("%d records, %d kinds", len(valid), len(validate.Kinds))
	}
	for _, kind := range validate.Kinds {
		t.Run(string(kind), func(t *testing.T) {
			if err := validate.Record(kind, encode(t, valid[kind])); err != nil {
				t.Error(err)
			}
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(encode(t, valid[kind]), &fields); err != nil {
				t.Fatal(err)
			}
			if err := validate.Record(kind, change(t, valid[kind], "schema_version", "")); err == nil {
				t.Error("a record without schema_version was accepted")
			}
			for name := range fields {
				if !strings.HasSuffix(name, "_id") {
					continue
				}
				if validate.Record(kind, change(t, valid[kind], name, `""`)) == nil {
					t.Errorf("an empty %s was accepted", name)
				}
			}
			// AT-381: what a later version adds is no fault
			if err := validate.Record(kind, change(t, valid[kind], "x_new", `{"deep":[1]}`)); err != nil {
				t.Errorf("with an unknown field: %v", err)
			}
		})
	}
}

var brokenRecords = []struct {
	kind              validate.Kind
	path, value, code string
}{
	{validate.KindEvent, "schema_version", `"0.1.0"`, "value_not_allowed"},
	{validate.KindEvent, "event_type", `"tool.invented"`, "value_not_allowed"},
	{validate.KindEvent, "event_type", `"tool.x."`, "value_not_allowed"},
	{validate.KindEvent, "event_type", `"tool.x.Upper"`, "value_not_allowed"},
	{validate.KindEvent, "event_type", `"tool.x.a..b"`, "value_not_allowed"},
	{validate.KindEvent, "time", `"2026-01-02T03:04:05Z"`, "wrong_format"},
	{validate.KindEvent, "time", `"2026-01-02T03:04:05.678+01:00"`, "wrong_format"},
	{validate.KindEvent, "time", `"2026-01-02 03:04:05.678"`, "wrong_format"},
	{validate.KindEvent, "time", `"2026-02-30T03:04:05.678Z"`, "wrong_format"},
	{validate.KindEvent, "data", `[]`, "wrong_type"},
	{validate.KindEvent, "data.phase", `"executing"`, "value_not_allowed"},
	{validate.KindDeclaration, "tool_kind", `"file"`, "value_not_allowed"},
	{validate.KindDeclaration, "lifecycle", `"ready"`, "value_not_allowed"},
	{validate.KindDeclaration, "input_contract", ``, "missing_field"},
	{validate.KindDeclaration, "input_contract.model_input_schema", ``, "missing_field"},
	{validate.KindDeclaration, "input_contract.model_input_schema", `null`, "wrong_type"},
	{validate.KindDeclaration, "input_contract.argument_mode", `"xml"`, "value_not_allowed"},
	{validate.KindDeclaration, "external_mappings.0.system", `"soap"`, "value_not_allowed"},
	{validate.KindInterface, "is_read_only", `3`, "wrong_type"},
	{validate.KindInterface, "interrupt_behavior", `"kill"`, "value_not_allowed"},
	{validate.KindSurface, "scope", `"machine"`, "value_not_allowed"},
	{validate.KindSurface, "created_at", `"today"`, "wrong_format"},
	{validate.KindSurface, "blocked_tools.0.reason", `"because"`, "value_not_allowed"},
	{validate.KindSurface, "blocked_tools.0.tool_id", ``, "missing_field"},
	{validate.KindExecutionProfile, "execution_kind", `"bash"`, "value_not_allowed"},
	{validate.KindExecutionProfile, "supports_offline", ``, "missing_field"},
	{validate.KindExecutionProfile, "supports_offline", `"no"`, "wrong_type"},
	{validate.KindPermissionProfile, "risk_level", `"none"`, "value_not_allowed"},
	{validate.KindPermissionProfile, "access_kinds.0", `"file read"`, "value_not_allowed"},
	{validate.KindPermissionProfile, "write_effects.0", `"all"`, "value_not_allowed"},
	{validate.KindPermissionProfile, "rule_matching_fields.0", `"argv"`, "value_not_allowed"},
	{validate.KindDecision, "behavior", `"maybe"`, "value_not_allowed"},
	{validate.KindDecision, "source", `"file"`, "value_not_allowed"},
	{validate.KindDecision, "mode", `"yolo"`, "value_not_allowed"},
	{validate.KindDecision, "reason.type", `"whim"`, "value_not_allowed"},
	{validate.KindDecision, "reason.type", ``, "missing_field"},
	{validate.KindDecision, "rule_refs", `["other"]`, "value_not_allowed"},
	{validate.KindDecision, "suggested_updates.0.op", `"add"`, "value_not_allowed"},
	{validate.KindDecision, "suggested_updates.0.destination", `"disk"`, "value_not_allowed"},
	{validate.KindDecision, "decided_at", `"2026-01-02T03:04:05Z"`, "wrong_format"},
	{validate.KindHook, "hook_event", `"before"`, "value_not_allowed"},
	{validate.KindMutation, "source_type", `"model"`, "value_not_allowed"},
	{validate.KindInvocation, "status", `"executing"`, "value_not_allowed"},
	{validate.KindInvocation, "status_transitions.0.status", `"executing"`, "value_not_allowed"},
	{validate.KindInvocation, "status_transitions.0.at", ``, "missing_field"},
	{validate.KindInvocation, "phases.0.phase", `"run"`, "value_not_allowed"},
	{validate.KindInvocation, "scheduler.queue_state", `"running"`, "value_not_allowed"},
	{validate.KindInvocation, "scheduler.context_modifier_policy", `"any"`, "value_not_allowed"},
	{validate.KindSchedulerPolicy, "ordering_policy", `"random"`, "value_not_allowed"},
	{validate.KindDeferredTool, "loading_state", `"later"`, "value_not_allowed"},
	{validate.KindProgress, "status", `"succeeded"`, "value_not_allowed"},
	{validate.KindProgress, "current_step", `2`, "wrong_type"},
	{validate.KindProgress, "percent", `101`, "value_out_of_range"},
	{validate.KindResult, "status", `"ok"`, "value_not_allowed"},
	{validate.KindResult, "content", `null`, "wrong_type"},
	{validate.KindResult, "content.0.type", `"html"`, "value_not_allowed"},
	{validate.KindResult, "redaction_state", `"some"`, "value_not_allowed"},
	{validate.KindResult, "error", ``, "missing_field"},
	{validate.KindResult, "error.error_class", `"oops"`, "value_not_allowed"},
	{validate.KindResult, "error.error_code", `""`, "value_not_allowed"},
	{validate.KindResult, "error.recoverability", `"maybe"`, "value_not_allowed"},
	{validate.KindResult, "resource_refs.0.uri", `""`, "value_not_allowed"},
	{validate.KindPersistence, "strategy", `"keep"`, "value_not_allowed"},
	{validate.KindPersistence, "persisted_ref.id", ``, "missing_field"},
}

// X01, X02, X05, X12, X13, X20, X21, X22
func TestRecordRefuses(t *testing.T) {
	valid := records()
	for _, tt := range brokenRecords {
		t.Run(fmt.Sprintf("%s/%s=%s", tt.kind, tt.path, tt.value), func(t *testing.T) {
			e := failure(t, validate.Record(tt.kind, change(t, valid[tt.kind], tt.path, tt.value)))
			if e == nil || e.Code != tt.code {
				t.Fatalf("got %v, want code %s", e, tt.code)
			}
			if want := "/" + strings.ReplaceAll(tt.path, ".", "/"); e.Pointer != want {
				t.Errorf("pointer %q, want %q", e.Pointer, want)
			}
		})
	}
}

func TestRecordOfNoKind(t *testing.T) {
	if e := failure(t, validate.Record("tool-error", []byte(`{}`))); e == nil || e.Code != "unknown_kind" {
		t.Errorf("got %v", e)
	}
	if e := failure(t, validate.Record(validate.KindEvent, []byte(`{`))); e == nil || e.Code != "not_json" {
		t.Errorf("got %v", e)
	}
}

// A deferred tool's declaration may keep its schema back.
func TestDeferredDeclarationWithoutContract(t *testing.T) {
	d := records()[validate.KindDeclaration].(agenttool.Declaration)
	d.InputContract, d.Lifecycle = nil, agenttool.Deferred
	if err := validate.Record(validate.KindDeclaration, encode(t, d)); err != nil {
		t.Error(err)
	}
}

// Every word that package agenttool can write is one that the gate lets through.
func TestListsHoldTheWordsOfAgenttool(t *testing.T) {
	fields := map[string]struct {
		kind validate.Kind
		path string
	}{
		"InvocationStatus": {validate.KindInvocation, "status"}, "ResultStatus": {validate.KindResult, "status"},
		"EventType": {validate.KindEvent, "event_type"}, "Phase": {validate.KindInvocation, "phases.0.phase"},
		"Behavior": {validate.KindDecision, "behavior"}, "Lifecycle": {validate.KindDeclaration, "lifecycle"},
		"ToolKind": {validate.KindDeclaration, "tool_kind"}, "Strategy": {validate.KindPersistence, "strategy"},
		"Recovery": {validate.KindResult, "error.recoverability"}, "ErrorClass": {validate.KindResult,
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
			if err := validate.Record(field.kind, change(t, valid[field.kind], field.path, w)); err != nil {
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
	files, err := filepath.Glob("../*.go")
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

// AT-350 … AT-376: 27 classes, and extras below tool.x (X11).
func TestEventTypes(t *testing.T) {
	event := records()[validate.KindEvent]
	for _, typ := range []string{"tool.declared", "tool.hook.post.completed", "tool.result.redacted", "tool.x.job.exited"} {
		if err := validate.Record(validate.KindEvent, change(t, event, "event_type", strconv.Quote(typ))); err != nil {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

func event(t testing.TB, data string) []byte {
	t.Helper()
	e := records()[validate.KindEvent].(agenttool.Event)
	e.Data = json.RawMessage(data)
	return encode(t, e)
}

// AT-018
func TestEventChecksWhatItHolds(t *testing.T) {
	valid := records()
	for name, kind := range map[string]validate.Kind{
		"invocation": validate.KindInvocation, "result": validate.KindResult, "decision": validate.KindDecision,
		"persistence": validate.KindPersistence, "progress": validate.KindProgress, "surface": validate.KindSurface,
		"mutation": validate.KindMutation, "declaration": validate.KindDeclaration,
	} {
		t.Run(name, func(t *testing.T) {
			if err := validate.Event(event(t, `{"`+name+`":`+string(encode(t, valid[kind]))+`}`)); err != nil {
				t.Error(err)
			}
			broken := change(t, valid[kind], "schema_version", `"9"`)
			e := failure(t, validate.Event(event(t, `{"`+name+`":`+string(broken)+`}`)))
			if e == nil || e.Pointer != "/data/"+name+"/schema_version" {
				t.Errorf("got %v", e)
			}
			if e := failure(t, validate.Event(event(t, `{"`+name+`":null}`))); e == nil || e.Pointer != "/data/"+name {
				t.Errorf("null: got %v", e)
			}
			if validate.Event(event(t, `{"`+name+`":{}}`)) == nil {
				t.Error("an empty object was accepted")
			}
		})
	}
	for name, kind := range map[string]validate.Kind{"mutations": validate.KindMutation, "declarations": validate.KindDeclaration} {
		good, bad := string(encode(t, valid[kind])), string(change(t, valid[kind], "schema_version", ""))
		if err := validate.Event(event(t, `{"`+name+`":[`+good+`,`+good+`]}`)); err != nil {
			t.Error(err)
		}
		e := failure(t, validate.Event(event(t, `{"`+name+`":[`+good+`,`+bad+`]}`)))
		if e == nil || e.Pointer != "/data/"+name+"/1/schema_version" {
			t.Errorf("%s: got %v", name, e)
		}
	}
	if e := failure(t, validate.Event(change(t, valid[validate.KindEvent], "event_type", `"x"`))); e == nil || e.Pointer != "/event_type" {
		t.Errorf("the envelope: got %v", e)
	}
}

func TestKindsAreDistinct(t *testing.T) {
	kinds := slices.Clone(validate.Kinds)
	slices.Sort(kinds)
	if len(slices.Compact(kinds)) != 15 {
		t.Error("a kind is listed twice")
	}
}
