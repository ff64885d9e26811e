package validate

import (
	"embed"
	"fmt"
	"sync"
)

// Kind is a kind of record for which the standard publishes a schema.
type Kind string

// The 15 kinds.
const (
	KindDeclaration       Kind = "tool-declaration"
	KindInterface         Kind = "tool-interface"
	KindSurface           Kind = "tool-surface"
	KindExecutionProfile  Kind = "execution-profile"
	KindPermissionProfile Kind = "permission-profile"
	KindDecision          Kind = "permission-decision"
	KindHook              Kind = "hook"
	KindMutation          Kind = "input-mutation"
	KindInvocation        Kind = "invocation"
	KindSchedulerPolicy   Kind = "scheduler-policy"
	KindDeferredTool      Kind = "deferred-tool"
	KindProgress          Kind = "progress"
	KindResult            Kind = "result"
	KindPersistence       Kind = "result-persistence"
	KindEvent             Kind = "event"
)

// Kinds lists the kinds in the standard's order (AT-020 … AT-034).
var Kinds = []Kind{
	KindDeclaration, KindInterface, KindSurface, KindExecutionProfile, KindPermissionProfile, KindDecision, KindHook,
	KindMutation, KindInvocation, KindSchedulerPolicy, KindDeferredTool, KindProgress, KindResult, KindPersistence,
	KindEvent,
}

//go:embed schemas/*.schema.json
var files embed.FS

// published holds the compiled schemas; they are compiled together when the first is needed.
var published = sync.OnceValue(func() map[Kind]*Schema {
	schemas := make(map[Kind]*Schema, len(Kinds))
	for _, kind := range Kinds {
		text, err := files.ReadFile("schemas/agenttool-" + string(kind) + ".schema.json")
		if err != nil {
			panic("validate: a schema is missing from the build: " + err.Error())
		}
		if schemas[kind], err = Compile(text); err != nil {
			panic(fmt.Sprintf("validate: the published schema %s: %v", kind, err))
		}
	}
	return schemas
})

// Record reports whether record satisfies the published schema of its kind, and what the standard's prose and this
// project add to it: schema_version is the current one, timestamps are RFC 3339 in UTC with milliseconds, ids are not
// empty, and lists that the schema leaves open hold listed words only. It is a gate for what toolhost writes.
//
// The error is an *agenttool.Error as of [Schema.Check]; a record of an unknown kind has code unknown_kind.
//
// Agent Tool v0.2.0, "Schema gates" (AT-020 … AT-034, AT-036, X01, X22).
func Record(kind Kind, record []byte) error {
	return check(record, func(v any) []problem { return recordProblems(kind, v) })
}

// Event reports whether record is a tool_event, as [Record] does, and whether every record in its data is one of its
// own kind, as [Message] does.
func Event(record []byte) error {
	return check(record, func(v any) []problem {
		w := walker{}
		w.record(KindEvent, v)
		return w.found
	})
}

func check(record []byte, problems func(v any) []problem) error {
	v, fault := decode(record, recordLimits)
	if fault != nil {
		return refusal([]problem{*fault})
	}
	if found := problems(v); len(found) > 0 {
		return refusal(found)
	}
	return nil
}

func recordProblems(kind Kind, v any) []problem {
	schema := published()[kind]
	if schema == nil {
		return []problem{{code: "unknown_kind", text: fmt.Sprintf("%s is no kind of record", quote(string(kind)))}}
	}
	found := schema.problems(v)
	if obj, ok := v.(map[string]any); ok {
		found = append(found, overlayProblems(kind, obj)...)
	}
	return found
}
