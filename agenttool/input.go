package agenttool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// DecodeInput decodes a tool's input, which satisfies its schema, into v. It refuses text that encoding/json would
// change: encoding/json replaces invalid characters by U+FFFD, so that a path would name another file. Its errors are
// of class invalid_arguments, code bad_input.
func DecodeInput(input json.RawMessage, v any) error {
	dec := json.NewDecoder(bytes.NewReader(input))
	dec.DisallowUnknownFields()
	switch err := dec.Decode(v); {
	case err != nil:
		return badInput(err)
	case !utf8.Valid(input):
		return Failure(InvalidArguments, "bad_input", "the input is not valid UTF-8")
	case LoneSurrogate(input):
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

// LoneSurrogate reports whether a string of the valid JSON text b escapes half a character.
func LoneSurrogate(b []byte) bool {
	for i := 0; i+1 < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		i++ // the escaped character
		r := escaped(b[i:])
		if !utf16.IsSurrogate(r) {
			continue
		}
		i += len("uD800")
		if i+1 >= len(b) || b[i] != '\\' || utf16.DecodeRune(r, escaped(b[i+1:])) == utf8.RuneError {
			return true
		}
		i += len("uDC00")
	}
	return false
}

// escaped returns the code unit that b, which begins behind a backslash, escapes as uXXXX; 0 for other escapes.
func escaped(b []byte) rune {
	if len(b) < 5 || b[0] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(b[1:5]), 16, 16) // valid JSON has four digits there
	return rune(n)
}
