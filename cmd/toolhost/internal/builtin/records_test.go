package builtin_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/agenttool/validate"
	"toolhost/cmd/toolhost/internal/builtin"
	"toolhost/host"
	"toolhost/persist"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
)

// view returns the records of all tools as clients get them.
func view(t *testing.T) host.View {
	t.Helper()
	h, err := host.New(host.Options{
		Tools: builtin.Tools(nil, builtin.Options{}), Store: persist.New(persist.Options{Ephemeral: true}), Locate: func(*agenttool.Path) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	v := h.Surface()
	if len(v.Interfaces) < 8 || len(v.ExecutionProfiles) != len(v.Interfaces) || len(v.PermissionProfiles) != len(v.Interfaces) {
		t.Fatalf("%d interfaces, %d and %d profiles", len(v.Interfaces), len(v.ExecutionProfiles), len(v.PermissionProfiles))
	}
	return v
}

// members returns the members of a record that conforms.
func members(t *testing.T, of recordtest.Kind, record any) map[string]any {
	t.Helper()
	encoded, err := agenttool.Encode(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range recordtest.Record(of, encoded) {
		t.Errorf("%s: %v", of, problem)
	}
	var m map[string]any
	if err := json.Unmarshal(encoded, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestInterfacePartitions: the interface that a client gets of each tool states every field of the standard's ten partitions. What does
// not apply is false, 0, none or an empty list.
func TestInterfacePartitions(t *testing.T) {
	conform.Held(t, "AT-278", "AT-420", "AT-475", "AT-476", "AT-477", "AT-478", "AT-479", "AT-480", "AT-481", "AT-482", "AT-483", "AT-484", "X15")
	v := view(t)
	for n, i := range v.Interfaces {
		m := members(t, recordtest.KindInterface, i)
		for partition, names := range map[string]string{
			"identity":     "tool_id name aliases namespace native_ids user_facing_name",
			"discovery":    "search_hint description capability_refs schema_visibility should_defer always_load",
			"schemas":      "model_input_schema runtime_input_schema output_schema strict",
			"availability": "is_enabled requires_setup required_credentials model_requirements feature_gate_refs",
			"validation":   "schema_validation value_validation io_preflight_validation deny_before_io",
			"safety":       "is_read_only is_destructive is_open_world requires_user_interaction sandbox_profile classifier_input",
			"permission":   "permission_profile_ref permission_matcher permission_channel decision_ref",
			"execution":    "execution_profile_ref timeout_ms abort_semantics progress_schema context_modifier_policy",
			"result":       "result_mapper max_inline_chars persistence_policy_ref empty_result_policy redaction_policy_refs",
		} {
			for name := range strings.FieldsSeq(names) {
				if value, there := m[name]; !there || value == nil || value == "" {
					t.Errorf("%s, %s: %s is %v", i.Name, partition, name, value)
				}
			}
		}
		for _, name := range []string{"ui_summary", "activity_description", "progress_render_hint", "rejected_render_hint", "error_render_hint", "transcript_search_text"} {
			if text, _ := i.Rendering[name].(string); text == "" {
				t.Errorf("%s, rendering: %s is missing", i.Name, name)
			}
		}
		if text := i.Rendering["transcript_search_text"]; text != "result.content" { // toolhost log grep searches that
			t.Errorf("%s: a search of the transcript finds %v", i.Name, text)
		}
		native, _ := m["native_ids"].(map[string]any)
		if native["mcp"] != i.Name || native["function_calling"] != i.Name {
			t.Errorf("%s: native_ids %v", i.Name, native)
		}
		if want := "none"; !v.ExecutionProfiles[n].SupportsProgress && m["progress_schema"] != want {
			t.Errorf("%s: progress_schema %v, want %s", i.Name, m["progress_schema"], want)
		}
		if i.DenyBeforeIO != true || m["io_preflight_validation"] != "after_permission" {
			t.Errorf("%s: its IO comes before the decision", i.Name)
		}
	}
}

// TestProfiles: each tool says how it runs, and what a person or a policy needs to know to decide about it.
func TestProfiles(t *testing.T) {
	conform.Held(t, "AT-444", "AT-448", "AT-468", "AT-469", "AT-470", "AT-471", "AT-472")
	v := view(t)
	kinds := map[string]string{}
	for i, p := range v.PermissionProfiles {
		name := v.Declarations[i].Name
		kinds[name] = v.ExecutionProfiles[i].ExecutionKind
		members(t, recordtest.KindExecutionProfile, v.ExecutionProfiles[i])
		if x := v.ExecutionProfiles[i]; x.SupportsPartialResults != (name == "shell") || x.SupportsPartialResults && !x.SupportsBackground {
			t.Errorf("%s: partial results %v: they come from calls whose jobs go on", name, x.SupportsPartialResults)
		}
		m := members(t, recordtest.KindPermissionProfile, p)
		for _, field := range []string{"network_scope", "tenant_scope", "sandbox_profile", "credential_refs", "approval_required", "prompt_avoidable",
			"rule_matching_fields", "retention_hint", "redaction_required"} {
			if value, there := m[field]; !there || value == nil || value == "" {
				t.Errorf("%s: %s is %v", name, field, value)
			}
		}
	}
	for name, want := range map[string]string{"shell": "shell", "shell_output": "shell", "read": "embedded_runtime", "edit": "embedded_runtime", "grep": "embedded_runtime"} {
		if kinds[name] != want {
			t.Errorf("the execution kind of %s is %q, want %s", name, kinds[name], want)
		}
	}
}

// TestDeclarations: the declaration that a client gets of each tool has all fields that the standard requires or recommends, and its contracts
// state all of theirs. Examples fit the schema, and defaults are fields of it.
func TestDeclarations(t *testing.T) {
	conform.Held(t, "AT-001", "AT-005", "AT-006", "AT-019")
	v := view(t)
	for _, d := range v.Declarations {
		m := members(t, recordtest.KindDeclaration, d)
		states(t, d.Name, m, "schema_version tool_id namespace name search_hint title description lifecycle tool_kind capability_refs input_contract "+
			"output_contract interface_ref execution_profile_ref permission_profile_ref external_mappings")
		in, _ := m["input_contract"].(map[string]any)
		states(t, d.Name+", input", in, "model_input_schema runtime_input_schema strict defaults examples sensitive_fields internal_only_fields argument_mode mutation_policy")
		out, _ := m["output_contract"].(map[string]any)
		states(t, d.Name+", output", out, "structured_schema content_types artifact_expectations max_inline_chars persistence_policy_ref rendering_boundary redaction_rules fallback_summary")
		if n := len(strings.Fields(d.SearchHint)); n < 3 || n > 10 {
			t.Errorf("%s: the search hint has %d words", d.Name, n)
		}
		schema, err := validate.Compile(d.InputContract.ModelInputSchema)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.InputContract.Examples) == 0 {
			t.Errorf("%s has no example", d.Name)
		}
		for _, example := range d.InputContract.Examples {
			if problem := schema.Check(example); problem != nil {
				t.Errorf("%s: the example %s: %v", d.Name, example, problem)
			}
		}
		var fields struct{ Properties map[string]any }
		if err := json.Unmarshal(d.InputContract.ModelInputSchema, &fields); err != nil {
			t.Fatal(err)
		}
		for name := range d.InputContract.Defaults {
			if fields.Properties[name] == nil {
				t.Errorf("%s: a default of %s, which is no field", d.Name, name)
			}
		}
		mappings, _ := agenttool.Encode(d.ExternalMappings)
		for _, want := range []string{`{"system":"mcp","method":"tools/call","tool_name":"` + d.Name + `"}`, `{"system":"function_calling","function_name":"` + d.Name + `","strict":true}`} {
			if !strings.Contains(string(mappings), want) {
				t.Errorf("%s: mappings %s lack %s", d.Name, mappings, want)
			}
		}
	}
}

// states checks that a record has the named fields, and that none of them is null or an empty string.
func states(t *testing.T, what string, record map[string]any, names string) {
	t.Helper()
	for name := range strings.FieldsSeq(names) {
		if value, there := record[name]; !there || value == nil || value == "" {
			t.Errorf("%s: %s is %v", what, name, value)
		}
	}
}
