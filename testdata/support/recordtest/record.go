// Package recordtest holds records to the schemas that the standard publishes, and to the lists that the standard closes
// only in its prose. It is for tests of what toolhost writes; what toolhost reads may say more.
//
// Agent Tool v0.2.0, "Schema gates" (AT-020 … AT-036).
package recordtest

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"toolhost/agenttool/json"
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
var published = sync.OnceValue(func() map[Kind]*jsonschema.Schema {
	schemas := make(map[Kind]*jsonschema.Schema, len(Kinds))
	for _, of := range Kinds {
		text, err := files.ReadFile("schemas/agenttool-" + string(of) + ".schema.json")
		if err != nil {
			panic(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			panic(err)
		}
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		if err := c.AddResource(string(of), doc); err != nil {
			panic(err)
		}
		schemas[of] = c.MustCompile(string(of))
	}
	return schemas
})

// Problem is one thing that is wrong with a record.
type Problem struct {
	Pointer string // to the place (RFC 6901); of a missing field, to where it belongs
	Text    string
}

func (p Problem) Error() string { return p.Pointer + ": " + p.Text }

// problemAt returns the problem at a path of names.
func problemAt(path []string, format string, args ...any) Problem {
	escaped := strings.NewReplacer("~", "~0", "/", "~1")
	var pointer strings.Builder
	for _, name := range path {
		pointer.WriteString("/" + escaped.Replace(name))
	}
	return Problem{pointer.String(), fmt.Sprintf(format, args...)}
}

func missing(path []string, name, when string) Problem {
	return problemAt(append(slices.Clone(path), name), "is missing%s", when)
}

// Record checks a record of a kind against its published schema and returns the problems. It also checks the rules that the
// standard's prose and this project add: schema_version is the current one, timestamps are RFC 3339 in UTC with milliseconds, ids
// are not empty, and lists that the schema leaves open hold listed words only. Each error is a [Problem].
//
// Agent Tool v0.2.0, "Schema gates" (AT-020 … AT-034, AT-036, X01, X22).
func Record(of Kind, record []byte) []error {
	return walk(record, func(w *walker, v any) { w.found = recordProblems(of, v) })
}

// Event checks a tool_event as [Record] does, and every record in its data as [Message] does. It returns the problems.
func Event(record []byte) []error {
	return walk(record, func(w *walker, v any) { w.record(KindEvent, v) })
}

// walk decodes data, has step look for problems in it, and returns them sorted by pointer.
func walk(data []byte, step func(w *walker, v any)) []error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return []error{Problem{"", err.Error()}}
	}
	w := &walker{kinds: map[Kind]bool{}}
	if twice := json.Repeated(data); twice != nil { // readers disagree on which of the two counts
		w.report(problemAt(twice.Path, "is given twice"))
	}
	step(w, v)
	slices.SortFunc(w.found, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Pointer, b.Pointer), cmp.Compare(a.Text, b.Text)) })
	var errs []error
	for _, p := range slices.Compact(w.found) {
		errs = append(errs, p)
	}
	return errs
}

func recordProblems(of Kind, v any) []Problem {
	schema := published()[of]
	if schema == nil {
		return []Problem{problemAt(nil, "%q is no kind of record", of)}
	}
	var found []Problem
	var invalid *jsonschema.ValidationError
	if errors.As(schema.Validate(v), &invalid) {
		found = leaves(invalid)
	}
	if obj, ok := v.(map[string]any); ok {
		found = append(found, proseProblems(of, obj)...)
	}
	return found
}

// leaves returns the problems at the ends of the tree that the library makes of them.
func leaves(e *jsonschema.ValidationError) []Problem {
	var found []Problem
	for _, cause := range e.Causes {
		found = append(found, leaves(cause)...)
	}
	if required, ok := e.ErrorKind.(*kind.Required); ok {
		for _, name := range required.Missing {
			found = append(found, missing(e.InstanceLocation, name, ""))
		}
	} else if len(e.Causes) == 0 {
		found = append(found, problemAt(e.InstanceLocation, "%v", e))
	}
	return found
}
