package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The bounds of an input.
const (
	maxDepth  = 128 // arrays and objects within each other
	maxValues = 100_000
)

// A number beyond these is no quantity that a tool could mean, and exact arithmetic on it takes for ever.
const (
	maxNumberLength = 1_000
	maxExponent     = 1_000
)

// decode returns the JSON value of data: map[string]any, []any, string, json.Number, bool or nil.
func decode(data []byte) (any, *problem) {
	if !utf8.Valid(data) {
		return nil, &problem{code: "not_json", text: "is not valid UTF-8"}
	}
	if !json.Valid(data) {
		return nil, &problem{code: "not_json", text: "is not valid JSON: " + syntaxError(data)}
	}
	d := decoder{rest: data}
	v := d.value()
	return v, d.fault
}

// syntaxError says what is wrong with data, which is not JSON.
func syntaxError(data []byte) string {
	var v json.RawMessage
	err := json.Unmarshal(data, &v)
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return "it cannot be read"
	}
	return fmt.Sprintf("%s (byte %d)", syntax, syntax.Offset)
}

// decoder reads valid JSON, so it looks only at the bytes that separate values. After a fault its values are
// meaningless.
type decoder struct {
	rest   []byte
	path   []string
	values int
	fault  *problem
}

func (d *decoder) fail(code, format string, args ...any) {
	if d.fault == nil {
		d.fault = &problem{path: append([]string(nil), d.path...), code: code, text: fmt.Sprintf(format, args...)}
	}
}

// next skips white space and returns the byte that follows, which stays.
func (d *decoder) next() byte {
	for {
		switch c := d.rest[0]; c {
		case ' ', '\t', '\n', '\r', ',', ':':
			d.rest = d.rest[1:]
		default:
			return c
		}
	}
}

func (d *decoder) value() any {
	switch d.next() {
	case '{':
		return d.object()
	case '[':
		return d.array()
	case '"':
		return d.text()
	case 't':
		d.rest = d.rest[len("true"):]
		return true
	case 'f':
		d.rest = d.rest[len("false"):]
		return false
	case 'n':
		d.rest = d.rest[len("null"):]
		return nil
	}
	return d.number()
}

// enter steps into an array or object, unless that is too deep.
func (d *decoder) enter() bool {
	d.rest = d.rest[1:]
	if len(d.path) >= maxDepth {
		d.fail("nested_too_deeply", "is nested more than %d deep", maxDepth)
	}
	return d.fault == nil
}

// member reads one value of an array or object.
func (d *decoder) member(name string) any {
	if d.values++; d.values > maxValues {
		d.fail("too_many_values", "holds more than %d values", maxValues)
		return nil
	}
	d.path = append(d.path, name)
	v := d.value()
	d.path = d.path[:len(d.path)-1]
	return v
}

func (d *decoder) object() any {
	obj := map[string]any{}
	if !d.enter() {
		return nil
	}
	for d.next() != '}' {
		name := d.text()
		if _, twice := obj[name]; twice {
			d.path = append(d.path, name)
			d.fail("duplicate_field", "is given twice; give it once")
		}
		obj[name] = d.member(name)
		if d.fault != nil {
			return nil
		}
	}
	d.rest = d.rest[1:]
	return obj
}

func (d *decoder) array() any {
	arr := []any{}
	if !d.enter() {
		return nil
	}
	for d.next() != ']' {
		arr = append(arr, d.member(strconv.Itoa(len(arr))))
		if d.fault != nil {
			return nil
		}
	}
	d.rest = d.rest[1:]
	return arr
}

func (d *decoder) text() string {
	end := 1
	plain := true
	for d.rest[end] != '"' {
		if d.rest[end] == '\\' {
			plain = false
			end++
		}
		end++
	}
	quoted := d.rest[:end+1]
	d.rest = d.rest[end+1:]
	if plain {
		return string(quoted[1:end])
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		d.fail("not_json", "is not a valid string")
	}
	return s
}

func (d *decoder) number() any {
	end := bytes.IndexFunc(d.rest, func(r rune) bool { return !strings.ContainsRune("+-.0123456789eE", r) })
	if end < 0 {
		end = len(d.rest)
	}
	n := string(d.rest[:end])
	d.rest = d.rest[end:]
	if !reasonable(n) {
		d.fail("value_out_of_range", "is a number out of range")
	}
	return json.Number(n)
}

// reasonable reports whether exact arithmetic on n is cheap.
func reasonable(n string) bool {
	if len(n) > maxNumberLength {
		return false
	}
	_, exponent, has := strings.Cut(strings.ToLower(n), "e")
	if !has {
		return true
	}
	e, err := strconv.Atoi(exponent)
	return err == nil && -maxExponent <= e && e <= maxExponent
}
