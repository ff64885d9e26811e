package validate

import (
	"errors"
	"fmt"
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
	var b bounds
	v, err := json.Value(data, b.visit)
	if err == nil {
		return v, nil
	}
	if errors.Is(err, json.ErrUTF8) {
		return nil, &problem{code: "not_json", text: "is not valid UTF-8"}
	}
	if twice, ok := errors.AsType[*json.RepeatedError](err); ok {
		return nil, &problem{path: twice.Path, code: "duplicate_field", text: "is given twice; give it once"}
	}
	if at, ok := errors.AsType[*json.PlacedError](err); ok {
		if beyond, ok := errors.AsType[*boundsError](at.Err); ok {
			return nil, &problem{path: at.Path, code: beyond.code, text: beyond.text}
		}
	}
	return nil, &problem{code: "not_json", text: "is not valid JSON: " + located(err)}
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

// boundsError says which bound a value exceeds.
type boundsError struct{ code, text string }

func (e *boundsError) Error() string { return e.text }

// visit refuses a value that is out of bounds. depth is how many arrays and objects hold it; n is its text if it is a number.
func (b *bounds) visit(depth int, n json.Number) error {
	switch b.values++; {
	case depth > maxDepth:
		return &boundsError{"nested_too_deeply", fmt.Sprintf("is nested more than %d deep", maxDepth)}
	case b.values > maxValues:
		return &boundsError{"too_many_values", fmt.Sprintf("holds more than %d values", maxValues)}
	case !reasonable(string(n)):
		return &boundsError{"value_out_of_range", "is a number out of range"}
	}
	return nil
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
