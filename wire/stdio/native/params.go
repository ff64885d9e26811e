package native

import (
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"

	"toolhost/wire/stdio"
)

// decode reads params, by name, into the struct that p points to. Absent params are an empty object. A field of
// another type, or a name that differs from a known one in case only, is an error; other unknown names are for later
// versions and are passed over.
func decode(params json.RawMessage, p any) error {
	if params == nil {
		return nil
	}
	if params[0] != '{' {
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: pass them by name, as an object")
	}
	if err := checkCase(params, reflect.TypeOf(p).Elem()); err != nil {
		return err
	}
	err := json.Unmarshal(params, p)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: %s is a %s; it must be %s", wrong.Field, wrong.Value, typeName(wrong.Type))
	}
	if err != nil {
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: %v", err)
	}
	return nil
}

// checkCase refuses names that encoding/json would take for another, since keys are matched exactly.
func checkCase(params json.RawMessage, t reflect.Type) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(params, &members); err != nil {
		return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: %v", err)
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		for given := range members {
			if given != name && strings.EqualFold(given, name) {
				return stdio.Errorf(stdio.CodeInvalidParams, "invalid params: %q is not known; did you mean %q?", given, name)
			}
		}
	}
	return nil
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
