package agenttool

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"toolhost/agenttool/json"
)

// Extra holds the JSON fields of a record that this version does not name, by their exact name; nil means none. A record with a field
// of the same name cannot be encoded: an object with a name twice means different things to different readers.
type Extra map[string]json.RawMessage

// Encode returns v as one line of JSON without escaping <, > and &, which source code is full of.
func Encode(v any) ([]byte, error) { return json.Encode(v) }

// appendField adds one member to the encoded object b; no value, no member.
func appendField(b []byte, name string, value []byte) []byte {
	if len(value) == 0 {
		return b
	}
	return append(append(openField(b, name), value...), '}')
}

// openField adds the name of a member to the encoded object b. Its value and a brace are to follow.
func openField(b []byte, name string) []byte {
	b = b[:len(b)-1]
	if len(b) > 1 {
		b = append(b, ',')
	}
	return append(AppendString(b, name), ':')
}

// appendExtra adds the extra fields of a record to the encoded object b, in name order.
func appendExtra[R any](b []byte, extra Extra) ([]byte, error) {
	if len(extra) == 0 {
		return b, nil
	}
	record := reflect.TypeFor[R]()
	for name := range extra {
		if FieldNames(record)[name] {
			return nil, fmt.Errorf("the extra field %q of a %s bears the name of another field", name, record.Name())
		}
	}
	more, err := json.Encode(extra)
	if err != nil {
		return nil, err
	}
	if b = b[:len(b)-1]; len(b) > 1 {
		b = append(b, ',')
	}
	return append(b, more[1:]...), nil
}

var fieldNameCache sync.Map // reflect.Type → map[string]bool, a table filled on first use

// FieldNames returns the JSON names of a struct's fields, with those of embedded parts. The caller must not change the map.
func FieldNames(t reflect.Type) map[string]bool {
	if cached, ok := fieldNameCache.Load(t); ok {
		return cached.(map[string]bool)
	}
	names := map[string]bool{}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names[name] = true
		}
	}
	fieldNameCache.Store(t, names)
	return names
}

// AppendString appends s as a JSON string.
func AppendString(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			quoted, err := Encode(s)
			if err != nil {
				panic("agenttool: a string is always encodable: " + err.Error())
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
