package recordtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"toolhost/agenttool"
)

// The lists that the standard closes in its prose (X01), and those of ours where it has none (X13, X20).
const (
	toolKinds = "function mcp_tool openapi_operation native_tool browser_action shell_command code_execution " +
		"file_operation web_search retrieval model_task skill_tool peer_agent_tool policy_check artifact_operation " +
		"evidence_export custom" // AT-040 … AT-056
	blockedReasons = "policy_blocked credential_missing setup_required model_unsupported recursive_tool_forbidden " +
		"role_not_allowed feature_disabled deferred_until_discovered" // AT-067 … AT-074
	surfaceScopes      = "turn task session tenant skill peer_agent workspace role model_request" // AT-075 … AT-083
	argumentModes      = "json text file multipart stream custom"                                 // AT-005
	invocationStatuses = "planned selected schema_parse_failed arguments_ready validation_failed pre_hooks_running " +
		"awaiting_approval approved denied queued running needs_input partial_result post_hooks_running yielded " +
		"succeeded failed canceled timed_out blocked" // AT-091 … AT-110
	phases = "resolve_tool parse_schema validate_values prepare_observable_input pre_hooks permission schedule " +
		"execute map_result post_hooks persist_result emit_terminal" // AT-111 … AT-135
	behaviors   = "allow ask deny passthrough" // AT-137 … AT-140
	reasonTypes = "rule mode policy hook classifier working_dir sandbox_override safety_check " +
		"permission_prompt_tool async_agent subcommand_results other" // AT-141 … AT-152
	ruleSources = "user_settings project_settings local_settings flag_settings policy_settings cli_arg command " +
		"session" // AT-153 … AT-160
	modes            = "default accept_edits plan sandboxed dont_ask bypass"
	updateOps        = "add_rules replace_rules remove_rules set_mode add_directories remove_directories" // X13
	contextPolicies  = "allow_serial_only defer_until_batch_complete forbid"                              // AT-195, X22
	queueStates      = "queued executing completed yielded discarded"                                     // AT-197 … AT-201
	interrupts       = "cancel block"                                                                     // AT-202, AT-203
	progressStatuses = "queued started running waiting_for_permission waiting_for_input backgrounded " +
		"partial_result completed failed canceled" // AT-230 … AT-239
	resultStatuses = "succeeded partial_succeeded failed denied rejected redacted too_large canceled timed_out " +
		"synthetic_error discarded" // AT-250 … AT-260
	contentTypes = "text structured_content image audio video file resource_link embedded_resource log diff " +
		"artifact_ref persisted_output_ref handoff_ref" // AT-261 … AT-273
	redactionStates = "none redacted partially_redacted withheld expired" // X20
	recoveries      = "retry change_arguments change_arguments_or_policy discover_first approval_required " +
		"sibling_caused not_recoverable inspect_first" // AT-332 … AT-337; the last is ours
	mappedSystems = "mcp openapi function_calling a2a cli browser telemetry" // AT-340 … AT-346
	eventTypes    = "tool.declared tool.surface.created tool.surface.updated tool.deferred.discovered " +
		"tool.deferred.loaded tool.invocation.planned tool.invocation.selected tool.invocation.arguments_ready " +
		"tool.invocation.validation_failed tool.hook.pre.started tool.hook.pre.completed tool.permission.requested " +
		"tool.permission.decided tool.invocation.queued tool.invocation.started tool.invocation.progress " +
		"tool.invocation.partial_result tool.hook.post.started tool.hook.post.completed tool.result.persisted " +
		"tool.invocation.yielded tool.invocation.succeeded tool.invocation.failed tool.invocation.canceled " +
		"tool.invocation.timed_out tool.result.created tool.result.redacted" // AT-350 … AT-376
	executionKinds = "mcp_server http_api native_app local_process shell browser model_service peer_agent " +
		"embedded_runtime hybrid" // AT-440 … AT-449
	capabilities = "supports_progress supports_cancel supports_timeout supports_resume supports_retries " +
		"supports_partial_results supports_background supports_result_persistence supports_artifacts sandboxed " +
		"supports_credential_delegation supports_offline supports_context_modifiers" // AT-450 … AT-462
	accessKinds    = "file_read file_write network browser credential payment external_send code_execution" // AT-466
	writeEffects   = "none local_draft local_persistent remote_mutation irreversible"                       // AT-467
	matchingFields = "path command url operation_id resource_id"                                            // AT-471
	timestamps     = "created_at started_at ended_at decided_at expires_at timestamp time"                  // X21
)

// rule is one demand on the values at a path of a record.
type rule struct {
	path     string             // names and [] for every item, joined with dots: status_transitions.[].at
	required bool               // a missing value is a problem, if its parent exists
	check    func(v any) string // returns the problem, or ""
}

// proseProblems returns what record lacks beyond its published schema.
func proseProblems(kind Kind, record map[string]any) []Problem {
	rules := proseOf(kind)
	rules = append(rules, may("schema_version", oneOf(agenttool.SchemaVersion))) // AT-036
	for name := range record {
		if strings.HasSuffix(name, "_id") {
			rules = append(rules, may(name, notEmpty))
		}
	}
	for _, name := range strings.Fields(timestamps) {
		rules = append(rules, may(name, timestamp))
	}
	var found []Problem
	for _, r := range rules {
		found = append(found, r.apply(record, nil, strings.Split(r.path, "."))...)
	}
	return append(found, agreements(kind, record)...)
}

// proseOf returns the rules of one kind. What a schema itself says is not said again.
func proseOf(kind Kind) []rule {
	switch kind {
	case KindDeclaration:
		return []rule{
			may("tool_kind", oneOf(toolKinds)), may("input_contract.argument_mode", oneOf(argumentModes)),
			need("input_contract.model_input_schema", anObject), may("external_mappings.[].system", oneOf(mappedSystems)),
		}
	case KindInterface:
		return []rule{may("interrupt_behavior", oneOf(interrupts)), may("external_mappings.[].system",
			oneOf(mappedSystems))}
	case KindSurface:
		return []rule{
			may("scope", oneOf(surfaceScopes)),
			need("blocked_tools.[].tool_id", notEmpty), need("blocked_tools.[].reason", oneOf(blockedReasons)),
			need("excluded_tools.[].tool_id", notEmpty), need("excluded_tools.[].reason", oneOf(blockedReasons)),
		}
	case KindExecutionProfile:
		rules := []rule{may("execution_kind", oneOf(executionKinds))}
		for _, name := range strings.Fields(capabilities) {
			rules = append(rules, need(name, aBoolean))
		}
		return rules
	case KindPermissionProfile:
		return []rule{
			may("access_kinds.[]", oneOf(accessKinds)), may("write_effects.[]", oneOf(writeEffects)),
			may("rule_matching_fields.[]", oneOf(matchingFields)),
		}
	case KindDecision:
		return decisionRules()
	case KindInvocation:
		return invocationRules()
	case KindProgress:
		return append(refRules("artifact_refs.[]"), may("status", oneOf(progressStatuses)))
	case KindResult:
		return resultRules()
	case KindPersistence:
		return append(refRules("persisted_ref"), may("redaction_state", oneOf(redactionStates)))
	case KindEvent:
		return []rule{may("event_type", eventType), may("data.phase", oneOf(phases))}
	}
	return nil
}

func decisionRules() []rule {
	return []rule{
		may("source", oneOf(ruleSources)), may("mode", oneOf(modes)), need("reason.type", oneOf(reasonTypes)),
		need("suggested_updates.[].op", oneOf(updateOps)), need("suggested_updates.[].destination", oneOf(ruleSources)),
		may("suggested_updates.[].behavior", oneOf(behaviors)), need("content_blocks.[].type", oneOf(contentTypes)),
	}
}

func invocationRules() []rule {
	return append(refRules("artifact_refs.[]"),
		may("status", oneOf(invocationStatuses)),
		need("status_transitions.[].status", oneOf(invocationStatuses)), need("status_transitions.[].at", timestamp),
		need("phases.[].phase", oneOf(phases)), need("phases.[0].started_at", timestamp), may("phases.[].started_at", timestamp),
		need("scheduler.queue_state", oneOf(queueStates)), may("scheduler.context_modifier_policy",
			oneOf(contextPolicies)))
}

func resultRules() []rule {
	classes := make([]string, len(agenttool.ErrorClasses))
	for i, c := range agenttool.ErrorClasses {
		classes[i] = string(c)
	}
	return append(append(refRules("resource_refs.[]"), refRules("artifact_refs.[]")...),
		may("status", oneOf(resultStatuses)), may("redaction_state", oneOf(redactionStates)),
		need("content.[].type", oneOf(contentTypes)), need("model_facing_content.[].type", oneOf(contentTypes)),
		need("error.error_class", oneOf(strings.Join(classes, " "))), need("error.error_code", notEmpty),
		need("error.message", notEmpty), need("error.recoverability", oneOf(recoveries)))
}

// refRules hold for a reference to something that can be read again (AT-283).
func refRules(path string) []rule {
	return []rule{need(path+".id", notEmpty), need(path+".uri", notEmpty)}
}

// agreements returns where fields of one record contradict each other.
func agreements(kind Kind, record map[string]any) []Problem {
	switch kind {
	case KindDecision:
		ref, _ := lookup(record, "reason", "rule_ref").(string)
		refs, _ := record["rule_refs"].([]any)
		if ref != "" && !slices.Contains(refs, any(ref)) {
			return []Problem{problemAt([]string{"rule_refs"}, "want reason.rule_ref among them")} // X12
		}
	case KindResult:
		if record["is_error"] == true && record["error"] == nil {
			return []Problem{missing(nil, "error", ", required when is_error is true")} // AT-282
		}
	case KindDeclaration:
		if record["input_contract"] == nil && record["lifecycle"] != string(agenttool.Deferred) {
			return []Problem{missing(nil, "input_contract", "")} // X02; a deferred tool's schema is not sent yet
		}
	}
	return nil
}

// lookup returns the member of a member of record, or nil.
func lookup(record map[string]any, name, inner string) any {
	member, _ := record[name].(map[string]any)
	return member[inner]
}

func may(path string, check func(any) string) rule  { return rule{path, false, check} }
func need(path string, check func(any) string) rule { return rule{path, true, check} }

// apply checks the values at rest, seen from v, which stands at path.
func (r rule) apply(v any, path, rest []string) []Problem {
	if len(rest) == 0 {
		if text := r.check(v); text != "" {
			return []Problem{problemAt(path, "%s", text)}
		}
		return nil
	}
	if rest[0] == "[]" || rest[0] == "[0]" { // of all items, or of the first
		var found []Problem
		items, _ := v.([]any)
		if rest[0] == "[0]" {
			items = items[:min(len(items), 1)]
		}
		for i, item := range items {
			found = append(found, r.apply(item, append(slices.Clone(path), fmt.Sprint(i)), rest[1:])...)
		}
		return found
	}
	obj, ok := v.(map[string]any)
	if !ok {
		return nil // that it is no object, the schema says
	}
	member, ok := obj[rest[0]]
	if ok {
		return r.apply(member, append(slices.Clone(path), rest[0]), rest[1:])
	}
	if r.required && len(rest) == 1 {
		return []Problem{missing(path, rest[0], "")}
	}
	return nil
}

// oneOf checks for one of the words of list, which spaces separate.
func oneOf(list string) func(any) string {
	return func(v any) string {
		words := strings.Fields(list)
		if s, ok := v.(string); ok && slices.Contains(words, s) {
			return ""
		}
		return "want one of " + list
	}
}

func notEmpty(v any) string {
	if s, ok := v.(string); ok && s != "" {
		return ""
	}
	return "want a string that is not empty"
}

func anObject(v any) string {
	if _, ok := v.(map[string]any); ok {
		return ""
	}
	return fmt.Sprintf("got %T, want an object", v)
}

func aBoolean(v any) string {
	if _, ok := v.(bool); ok {
		return ""
	}
	return fmt.Sprintf("got %T, want a boolean", v)
}

func timestamp(v any) string {
	s, _ := v.(string)
	if t, err := time.Parse(time.RFC3339, s); err == nil && agenttool.Timestamp(t) == s {
		return ""
	}
	return "want a timestamp such as 2006-01-02T15:04:05.000Z: UTC, with milliseconds"
}

// eventType checks for one of the standard's classes, or an extra of ours: words below tool.x (X11).
func eventType(v any) string {
	s, _ := v.(string)
	if slices.Contains(strings.Fields(eventTypes), s) {
		return ""
	}
	extra, ours := strings.CutPrefix(s, "tool.x.")
	isWord := func(w string) bool { return w != "" && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz_") == "" }
	if ours && !slices.ContainsFunc(strings.Split(extra, "."), func(w string) bool { return !isWord(w) }) {
		return ""
	}
	return "want one of the standard's 27 event types, or words below tool.x"
}
