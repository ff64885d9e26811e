package native

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"toolhost/agenttool"
	"toolhost/agenttool/json"
	"toolhost/agenttool/near"
	"toolhost/wire/stdio"
)

// decode reads params, by name, into the struct that p points to. Absent params are an empty object. A field of
// another type, or a name that surely stands for a known one, is an error; other unknown names are for later
// versions and are passed over.
func decode(params json.RawMessage, p any) error {
	if params == nil {
		return nil
	}
	if params[0] != '{' {
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: pass them by name, as an object")
	}
	if err := checkNames(params, reflect.TypeOf(p).Elem()); err != nil {
		return err
	}
	err := json.Unmarshal(params, p)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: %s is a %s; it must be %s", wrong.Field, wrong.Value, typeName(wrong.Type))
	}
	if err != nil {
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: %v", err)
	}
	return nil
}

// oneOf refuses a word that is none of known, and names the one that it most likely stands for.
func oneOf[T ~string](name string, word T, known []T) error {
	words := agenttool.Names(known)
	if slices.Contains(known, word) {
		return nil
	}
	if meant := near.Word(string(word), words); meant != "" {
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: %s is %q; did you mean %q?", name, word, meant)
	}
	return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: %s is %q; it can be one of %s", name, word, strings.Join(words, ", "))
}

// checkNames refuses names that encoding/json would take for another, since keys are matched exactly, and names that
// surely stand for another.
func checkNames(params json.RawMessage, t reflect.Type) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(params, &members); err != nil {
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: %v", err)
	}
	known := agenttool.FieldNames(t)
	maps.DeleteFunc(members, func(given string, _ json.RawMessage) bool { return known[given] })
	for _, given := range slices.Sorted(maps.Keys(members)) {
		for _, name := range slices.Sorted(maps.Keys(known)) {
			if misspells(given, name) {
				return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: %q is not known; did you mean %q?", given, name)
			}
		}
	}
	return nil
}

// misspells reports whether given surely stands for name: another case, one letter more, less or other, or a word that
// other protocols use for it.
func misspells(given, name string) bool {
	if slices.Contains(otherWords[name], given) || strings.EqualFold(given, name) {
		return true
	}
	if len(name) < 4 || len(given)-len(name) > 1 || len(name)-len(given) > 1 {
		return false
	}
	i := 0
	for i < min(len(given), len(name)) && given[i] == name[i] {
		i++
	}
	rest, want := given[i:], name[i:]
	switch {
	case len(rest) == len(want):
		return len(rest) > 0 && rest[1:] == want[1:] || len(rest) > 1 && rest[0] == want[1] && rest[1] == want[0] && rest[2:] == want[2:]
	case len(rest) > len(want):
		return rest[1:] == want
	}
	return rest == want[1:]
}

var otherWords = map[string][]string{
	"input": {"arguments", "args"}, "tool": {"name", "tool_name"}, "timeout_ms": {"timeout"}, "after": {"depends_on"},
}

// typeName names a type as JSON does.
func typeName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

func appendEntry(b []byte, seq int64, event []byte) []byte {
	b = append(b, `{"seq":`...)
	b = strconv.AppendInt(b, seq, 10)
	b = append(b, `,"event":`...)
	b = append(b, event...)
	return append(b, '}')
}
