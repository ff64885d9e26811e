package agenttool_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
)

// example is a record with every field that an example of the standard has, as toolhost would write it. Where an example fails its own
// schema (X03), the missing fields are added.
type example struct {
	rows   []string
	kind   recordtest.Kind // empty: the standard publishes no schema
	into   any
	record string
}

var examples = []example{
	{[]string{"AT-411"}, recordtest.KindSurface, &agenttool.Surface{}, `{"schema_version":"0.2.0","surface_id":"surface_1","scope":"turn","loaded_tools":["tool_search"],
		"deferred_tools":[{"schema_version":"0.2.0","tool_id":"mcp.forge.find_tickets","name":"mcp__forge__find_tickets","namespace":"mcp.forge","search_hint":"find tickets of a project",
		"source":"mcp","schema_visibility":"deferred","loading_state":"discoverable","native_ref":{"server_name":"forge","tool_name":"find_tickets"}}]}`},
	{[]string{"AT-411", "AT-419"}, "", &agenttool.SearchResult{}, `{"schema_version":"0.2.0","query":"select:mcp__forge__find_tickets","matches":[{"tool_id":"mcp.forge.find_tickets",
		"name":"mcp__forge__find_tickets","namespace":"mcp.forge","description":"Finds tickets.","loading_state":"discoverable","score":1,"reason":"exact name"}],
		"missing_names":["mcp__forge__none"],"pending_providers":["wiki"],"total_deferred_tools":31,"next_action":"load_schema_then_call"}`},
	{[]string{"AT-413"}, recordtest.KindPersistence, &agenttool.Persistence{}, `{"schema_version":"0.2.0","decision_id":"persist_1","invocation_id":"inv_1","result_id":"res_1",
		"strategy":"preview_and_persist","threshold":{"max_inline_chars":50000},"original_size_bytes":481204,"preview_size_bytes":2048,
		"persisted_ref":{"id":"inv_1.full_output","uri":"toolhost://results/ses_1/inv_1.full_output","media_type":"text/plain","digest":"sha256:00"},
		"redaction_state":"none","reason":"result_exceeded_inline_limit","created_at":"2026-01-02T03:04:05.678Z"}`},
	{[]string{"AT-413"}, recordtest.KindResult, &agenttool.Result{}, `{"schema_version":"0.2.0","result_id":"res_1","invocation_id":"inv_1","status":"succeeded","is_error":false,
		"content":[{"type":"text","text":"the beginning"}],"model_facing_content":[{"type":"text","text":"the beginning"}],
		"persistence_refs":["persist_1"],"created_at":"2026-01-02T03:04:05.678Z"}`},
	{[]string{"AT-414", "X03"}, recordtest.KindDeclaration, &agenttool.Declaration{}, `{"schema_version":"0.2.0","tool_id":"tool_read","namespace":"local.files","name":"files.read",
		"description":"Reads a file.","search_hint":"read a file","lifecycle":"available","tool_kind":"file_operation",
		"input_contract":{"strict":true,"model_input_schema":{"type":"object","required":["path"]}},"permission_profile_ref":"pp"}`},
	{[]string{"AT-414"}, recordtest.KindResult, &agenttool.Result{}, `{"schema_version":"0.2.0","result_id":"res_2","invocation_id":"inv_2","status":"succeeded","is_error":false,
		"content":[{"type":"resource_link","uri":"file:///w/notes.md","media_type":"text/markdown"}],
		"resource_refs":[{"id":"file","uri":"file:///w/notes.md","media_type":"text/markdown","digest":"sha256:00","access":"workspace"}],
		"summary":"2 lines","redaction_state":"none","created_at":"2026-01-02T03:04:05.678Z"}`},
	{[]string{"AT-414"}, recordtest.KindResult, &agenttool.Result{}, `{"schema_version":"0.2.0","result_id":"res_3","invocation_id":"inv_3","status":"succeeded","is_error":false,
		"content":[{"type":"text","text":"a private file of 2 lines"}],"resource_refs":[{"id":"file","uri":"file:///w/.env","access":"session"}],
		"summary":"a private file of 2 lines","redaction_state":"withheld","created_at":"2026-01-02T03:04:05.678Z"}`},
	{[]string{"AT-416"}, recordtest.KindSchedulerPolicy, &agenttool.SchedulerPolicy{}, `{"schema_version":"0.2.0","scheduler_policy_id":"reads","ordering_policy":"preserve_terminal_order",
		"yield_policy":"progress_immediate_results_ordered","max_parallel":10,"sibling_failure_policy":"ignore","context_modifier_policy":"defer_until_batch_complete"}`},
	{[]string{"AT-416", "X03"}, recordtest.KindInvocation, &agenttool.Invocation{}, `{"schema_version":"0.2.0","invocation_id":"inv_4","tool_id":"tool_read","status":"queued",
		"scheduler":{"is_concurrency_safe":true,"is_read_only":true,"queue_state":"queued","interrupt_behavior":"cancel"},"created_at":"2026-01-02T03:04:05.678Z"}`},
	{[]string{"AT-417"}, recordtest.KindDecision, &agenttool.Decision{}, `{"schema_version":"0.2.0","decision_id":"perm_1","invocation_id":"inv_5","behavior":"deny","mode":"default",
		"source":"project_settings","reason":{"type":"rule","rule_ref":"Write(.keys/**)","detail":"denied by the rule Write(.keys/**)"},"rule_refs":["Write(.keys/**)"],
		"blocked_path":"/w/.keys/a","decided_at":"2026-01-02T03:04:05.678Z"}`},
	{[]string{"AT-417"}, recordtest.KindResult, &agenttool.Result{}, `{"schema_version":"0.2.0","result_id":"res_5","invocation_id":"inv_5","status":"denied","is_error":true,"content":[],
		"error":{"error_class":"permission_denied","error_code":"denied_by_rule","message":"denied by the rule Write(.keys/**)","recoverability":"change_arguments_or_policy","retry_after":null},
		"policy_refs":["rules:1"],"created_at":"2026-01-02T03:04:05.678Z"}`},
	{[]string{"AT-418", "X03"}, recordtest.KindDeclaration, &agenttool.Declaration{}, `{"schema_version":"0.2.0","tool_id":"tool_shell","namespace":"local.shell","name":"shell.exec",
		"description":"Runs a command.","search_hint":"run a command","lifecycle":"available","tool_kind":"shell_command","input_contract":{"strict":true,
		"model_input_schema":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"],"additionalProperties":false},
		"runtime_input_schema":{"type":"object","properties":{"sandbox_override_ref":{"type":"string"},"simulated_edit_ref":{"type":"string"}}},
		"internal_only_fields":["sandbox_override_ref","simulated_edit_ref"]},"interface_ref":"if","execution_profile_ref":"ep","permission_profile_ref":"pp"}`},
	{[]string{"AT-418"}, recordtest.KindInterface, &agenttool.Interface{}, `{"schema_version":"0.2.0","interface_id":"if","tool_id":"tool_shell","is_read_only":"classify.read_only",
		"is_concurrency_safe":"same_as:is_read_only","is_destructive":"classify.destructive","is_open_world":true,"classifier_input":"input.command","permission_matcher":"command",
		"interrupt_behavior":"cancel","max_inline_chars":30000}`},
	{[]string{"AT-418"}, recordtest.KindPermissionProfile, &agenttool.PermissionProfile{}, `{"schema_version":"0.2.0","permission_profile_id":"pp","risk_level":"high",
		"access_kinds":["file_read","file_write","network","code_execution"],"write_effects":["local_persistent","remote_mutation"],"approval_required":true,
		"sandbox_profile":"workspace"}`},
	{[]string{"AT-419"}, recordtest.KindSurface, &agenttool.Surface{}, `{"schema_version":"0.2.0","surface_id":"surface_2","scope":"turn","loaded_tools":["tool_search","mcp.forge.find_tickets"]}`},
}

// TestPublishedExamples: records with all fields of the standard's examples are valid, toolhost has a field for each of them, and writes
// them back as they were.
func TestPublishedExamples(t *testing.T) {
	conform.Held(t, "AT-411", "AT-413", "AT-414", "AT-416", "AT-417", "AT-418", "AT-419", "X03")
	for _, x := range examples {
		t.Run(x.rows[0]+" "+reflect.TypeOf(x.into).Elem().Name(), func(t *testing.T) {
			if x.kind != "" {
				for _, problem := range recordtest.Record(x.kind, []byte(x.record)) {
					t.Errorf("it is not valid: %v", problem)
				}
			}
			if err := json.Unmarshal([]byte(x.record), x.into); err != nil {
				t.Fatal(err)
			}
			if extra := reflect.ValueOf(x.into).Elem().FieldByName("Extra"); extra.Len() > 0 {
				t.Errorf("there is no field for %v", extra)
			}
			var want, got map[string]any
			if err := json.Unmarshal([]byte(x.record), &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(encode(t, x.into), &got); err != nil {
				t.Fatal(err)
			}
			for name, value := range want {
				if !contains(got[name], value) {
					t.Errorf("%s is %v, was %v", name, got[name], value)
				}
			}
		})
	}
}

// contains reports whether a value has all that another has. It may have more members.
func contains(got, want any) bool {
	w, isObject := want.(map[string]any)
	if !isObject {
		if w, isList := want.([]any); isList {
			g, _ := got.([]any)
			for i := range w {
				if len(g) != len(w) || !contains(g[i], w[i]) {
					return false
				}
			}
			return len(g) == len(w)
		}
		return reflect.DeepEqual(got, want)
	}
	g, _ := got.(map[string]any)
	for name, value := range w {
		if !contains(g[name], value) {
			return false
		}
	}
	return true
}
