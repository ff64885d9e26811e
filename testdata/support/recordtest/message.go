package recordtest

import (
	"fmt"
	"maps"
	"slices"
)

// Message checks one line of the native wire, or of a session log: every record in it, at any depth, must be a record
// of its kind, as [Record] says. It is for tests that tap the wire and the log.
//
// Records are known by the name that they stand under: invocation, result, decision, persistence, progress, surface,
// mutation, hook, declaration, interface, execution_profile, permission_profile, scheduler_policy and event, the plural
// of each for an array, and results for an array of {invocation, result, persistence?}. What is under such a name and
// is null, or an object that is no such record, is reported; a scalar is not, since other protocols use these names as
// well. So is a reply or an item of results with an invocation but no result or a result but no invocation,
// records that stand together and name different invocations, and an agenttool/event without its seq or event. A line
// that is itself an event is checked as one.
//
// What belongs to a tool is not searched: inputs, outputs, content and schemas.
//
// Each error is a [Problem], in the order of their pointers; none means that all is well.
func Message(line []byte) []error {
	return walk(line, (*walker).line)
}

// Seen returns the kinds of the records that Message finds in a line, sorted.
func Seen(line []byte) (kinds []Kind) {
	_ = walk(line, func(w *walker, v any) {
		w.line(v)
		kinds = slices.Sorted(maps.Keys(w.kinds))
	})
	return kinds
}

// kindOf returns the kind of the record, or of each record of the array, that stands under a name; "" for none.
func kindOf(name string) Kind {
	switch name {
	case "invocation", "invocations":
		return KindInvocation
	case "result":
		return KindResult
	case "decision", "decisions":
		return KindDecision
	case "persistence":
		return KindPersistence
	case "progress":
		return KindProgress
	case "surface", "surfaces":
		return KindSurface
	case "mutation", "mutations":
		return KindMutation
	case "hook", "hooks":
		return KindHook
	case "declaration", "declarations":
		return KindDeclaration
	case "interface", "interfaces":
		return KindInterface
	case "execution_profile", "execution_profiles":
		return KindExecutionProfile
	case "permission_profile", "permission_profiles":
		return KindPermissionProfile
	case "scheduler_policy", "scheduler_policies":
		return KindSchedulerPolicy
	case "event", "events":
		return KindEvent
	}
	return ""
}

// isForeign reports whether what stands under a name belongs to a tool, whose fields may bear any name.
func isForeign(name string) bool {
	switch name {
	case "input", "arguments", "model_input", "observable_input", "permission_input", "call_input", "updated_input",
		"structured_content", "structuredContent", "content", "model_facing_content", "updated_output", "native_output",
		"outputs", "annotations", "_meta", "input_contract", "output_contract", "model_input_schema",
		"runtime_input_schema", "output_schema", "inputSchema", "outputSchema":
		return true
	}
	return false
}

// walker looks for records in a decoded message.
type walker struct {
	path  []string
	found []Problem
	kinds map[Kind]bool // of the records so far
}

// report adds problems that are placed below the path.
func (w *walker) report(problems ...Problem) {
	at := problemAt(w.path, "").Pointer
	for _, p := range problems {
		w.found = append(w.found, Problem{at + p.Pointer, p.Text})
	}
}

// at runs step with name on the path.
func (w *walker) at(name string, step func()) {
	w.path = append(w.path, name)
	step()
	w.path = w.path[:len(w.path)-1]
}

// line walks a whole line. The result of a JSON-RPC reply is no tool_result, whatever its name.
func (w *walker) line(v any) {
	obj, _ := v.(map[string]any)
	switch {
	case obj["jsonrpc"] != nil:
		w.rpc(obj)
	case obj["event_type"] != nil:
		w.record(KindEvent, v)
	default:
		w.search(v)
	}
}

func (w *walker) rpc(message map[string]any) {
	if message["method"] == "agenttool/event" {
		params, _ := message["params"].(map[string]any)
		for _, name := range []string{"seq", "event"} {
			if _, ok := params[name]; !ok {
				w.report(missing([]string{"params"}, name, ""))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(message)) {
		if name == "result" {
			w.at(name, func() { w.outcome(message[name]); w.search(message[name]) })
		} else if name != "id" && name != "jsonrpc" && name != "method" {
			w.at(name, func() { w.search(message[name]) })
		}
	}
}

// outcome checks that an invocation and its result come together.
func (w *walker) outcome(v any) {
	obj, _ := v.(map[string]any)
	_, hasInvocation := obj["invocation"]
	_, hasResult := obj["result"]
	_, hasPersistence := obj["persistence"]
	if !hasInvocation && (hasResult || hasPersistence) {
		w.report(missing(nil, "invocation", " beside the result"))
	}
	if !hasResult && (hasInvocation || hasPersistence) {
		w.report(missing(nil, "result", " beside the invocation"))
	}
}

// search looks for records below v.
func (w *walker) search(v any) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			w.at(fmt.Sprint(i), func() { w.search(item) })
		}
	case map[string]any:
		w.sameInvocation(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !isForeign(name) {
				w.at(name, func() { w.member(name, v[name]) })
			}
		}
	}
}

func (w *walker) member(name string, v any) {
	kind := kindOf(name)
	items, isArray := v.([]any)
	_, isObject := v.(map[string]any)
	switch {
	case name == "results" && isArray:
		w.results(items)
	case kind == "":
		w.search(v)
	case v == nil:
		w.report(problemAt(nil, "got null, want %s; leave it out when there is none", kind))
	case isArray:
		for i, item := range items {
			w.at(fmt.Sprint(i), func() { w.record(kind, item) })
		}
	case isObject:
		w.record(kind, v)
	}
}

// results checks the items of a batch's reply.
func (w *walker) results(items []any) {
	for i, item := range items {
		w.at(fmt.Sprint(i), func() {
			obj, _ := item.(map[string]any)
			if obj["invocation"] == nil && obj["result"] == nil {
				w.report(problemAt(nil, "want an object with an invocation and its result"))
			}
			w.outcome(item)
			w.search(item)
		})
	}
}

// record checks v and what it holds. Events of an array may come with their numbers: {seq, event}.
func (w *walker) record(kind Kind, v any) {
	obj, _ := v.(map[string]any)
	if kind == KindEvent && obj["event"] != nil && obj["event_type"] == nil {
		w.search(v)
		return
	}
	w.kinds[kind] = true
	w.report(recordProblems(kind, v)...)
	if tools, ok := obj["deferred_tools"].([]any); ok && kind == KindSurface {
		for i, tool := range tools {
			if _, isRecord := tool.(map[string]any); isRecord {
				w.at("deferred_tools", func() { w.at(fmt.Sprint(i), func() { w.record(KindDeferredTool, tool) }) })
			}
		}
	}
	w.search(v)
}

// sameInvocation checks that the records that stand together in obj are of one invocation.
func (w *walker) sameInvocation(obj map[string]any) {
	want, _ := lookup(obj, "invocation", "invocation_id").(string)
	for _, name := range []string{"result", "persistence", "decision", "progress", "mutation"} {
		got, _ := lookup(obj, name, "invocation_id").(string)
		if want != "" && got != "" && got != want {
			w.report(problemAt([]string{name, "invocation_id"}, "want the id of the invocation beside it"))
		}
	}
}
