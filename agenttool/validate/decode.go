package validate

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"toolhost/agenttool/json"
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
	var v any
	err := json.Strict(data, &v)
	var twice *json.RepeatedError
	switch {
	case errors.Is(err, json.ErrUTF8):
		return nil, &problem{code: "not_json", text: "is not valid UTF-8"}
	case errors.As(err, &twice):
		return nil, &problem{path: twice.Path, code: "duplicate_field", text: "is given twice; give it once"}
	case err != nil:
		return nil, &problem{code: "not_json", text: "is not valid JSON: " + located(err)}
	}
	var b bounds
	return v, b.check(v, 0)
}

// located is a syntax error, with its place.
func located(err error) string {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return "it cannot be read"
	}
	return fmt.Sprintf("%s (byte %d)", syntax, syntax.Offset)
}

// bounds counts the values of an input.
type bounds struct{ values int }

// check returns a value from v on that is out of bounds; nil if none is. depth is how many arrays and objects v is within.
func (b *bounds) check(v any, depth int) *problem {
	switch v := v.(type) {
	case map[string]any:
		if p := b.enter(len(v), depth); p != nil {
			return p
		}
		for _, name := range slices.Sorted(maps.Keys(v)) { // the same input gets the same problem
			if p := b.check(v[name], depth+1); p != nil {
				return p.inside(name)
			}
		}
	case []any:
		if p := b.enter(len(v), depth); p != nil {
			return p
		}
		for i, element := range v {
			if p := b.check(element, depth+1); p != nil {
				return p.inside(strconv.Itoa(i))
			}
		}
	case json.Number:
		if !reasonable(string(v)) {
			return &problem{code: "value_out_of_range", text: "is a number out of range"}
		}
	}
	return nil
}

// enter counts the values of an array or object.
func (b *bounds) enter(n, depth int) *problem {
	switch b.values += n; {
	case depth >= maxDepth:
		return &problem{code: "nested_too_deeply", text: fmt.Sprintf("is nested more than %d deep", maxDepth)}
	case b.values > maxValues:
		return &problem{code: "too_many_values", text: fmt.Sprintf("holds more than %d values", maxValues)}
	}
	return nil
}

// inside adds the name of an enclosing member to the path of a problem.
func (p *problem) inside(name string) *problem {
	p.path = slices.Insert(p.path, 0, name)
	return p
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
