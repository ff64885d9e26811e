package agenttool

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"toolhost/agenttool/json"
)

// DecodeInput decodes a tool's input, which satisfies its schema, into v. It refuses text that a reader would
// change: it replaces invalid characters by U+FFFD, so that a path would name another file. Its errors are
// of class invalid_arguments, code bad_input.
func DecodeInput(input json.RawMessage, v any) error {
	switch err := json.UnmarshalKnown(input, v); {
	case err != nil:
		return badInput(err)
	case !utf8.Valid(input):
		return Failure(InvalidArguments, "bad_input", "the input is not valid UTF-8")
	case !json.Exact(input):
		return Failure(InvalidArguments, "bad_input", `a \u escape in the input is half of a surrogate pair: send the whole character`)
	}
	return nil
}

// badInput says in the input's own words what encoding/json says in Go's.
func badInput(err error) error {
	message := err.Error()
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		message = fmt.Sprintf("%s: %s does not fit; an integer is written without fraction or exponent and has at most 18 digits", wrong.Field, wrong.Value)
	}
	e := Failure(InvalidArguments, "bad_input", message).Because(err)
	if wrong != nil {
		e.Pointer = "/" + wrong.Field
	}
	return e
}
