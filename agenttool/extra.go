package agenttool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Extra holds the JSON fields of a record that this version does not name, by their exact name. Nil means none.
type Extra map[string]json.RawMessage

// Encode returns v as one line of JSON without escaping <, > and &, which source code is full of.
func Encode(v any) ([]byte, error) { return encodeWithRoom(v, 0) }

// encodeWithRoom is Encode into a slice that has room for so many more bytes.
func encodeWithRoom(v any, room int) ([]byte, error) {
	buf := encodeBuffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= maxPooled {
			encodeBuffers.Put(buf)
		}
	}()
	buf.Reset()
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	line := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	return append(make([]byte, 0, len(line)+room), line...), nil
}

// encodeBuffers are reused, since every call encodes a dozen records; large ones are left to the collector.
var encodeBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const maxPooled = 64 << 10

// encodeRecord writes the named fields of a record, then the extra ones in name order.
func encodeRecord(named any, extra Extra) ([]byte, error) {
	b, err := Encode(named)
	if err != nil {
		return nil, err
	}
	return appendExtra(b, reflect.TypeOf(named), extra), nil
}

// appendExtra adds the extra fields to the encoded object b in name order. One that bears the name of a field of
// the record type is left out: an object with a name twice means different things to different readers.
func appendExtra(b []byte, record reflect.Type, extra Extra) []byte {
	if len(extra) == 0 {
		return b
	}
	known := FieldNames(record)
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if !known[name] {
			b = appendField(b, name, extra[name])
		}
	}
	return b
}

// appendField adds one member to the encoded object b; no value is null.
func appendField(b []byte, name string, value []byte) []byte {
	b = openField(b, name)
	if len(value) == 0 {
		value = []byte("null")
	}
	b = append(b, value...)
	return append(b, '}')
}

// openField adds the name of a member to the encoded object b. Its value and a brace are to follow.
func openField(b []byte, name string) []byte {
	b = b[:len(b)-1]
	if len(b) > 1 {
		b = append(b, ',')
	}
	return append(AppendString(b, name), ':')
}

// decodeRecord reads the members of data that named has a field for, and sets extra to the rest. Names match exactly:
// "Status" is not "status".
func decodeRecord(data []byte, named any, extra *Extra) error {
	*extra = nil
	var members Extra
	if err := json.Unmarshal(data, &members); err != nil {
		return err
	}
	known := FieldNames(reflect.TypeOf(named).Elem())
	rest := Extra{}
	for name, value := range members {
		if !known[name] {
			rest[name] = value
			delete(members, name)
		}
	}
	if len(rest) == 0 {
		return unmarshalExact(data, named)
	}
	kept, err := json.Marshal(members)
	if err != nil {
		return fmt.Errorf("encode named fields: %w", err)
	}
	*extra = rest
	return unmarshalExact(kept, named)
}

// unmarshalExact decodes data and keeps each number of an untyped field as it is spelt, as a json.Number: a float64
// would round a large one.
func unmarshalExact(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return dec.Decode(v)
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
