// Package json reads and writes JSON for all of toolhost. It has the names of encoding/json, whose types it shares, and reads more exactly:
//
//   - Names match exactly: "Path" is not "path".
//   - A field of a map type with the tag ",embed" keeps the members that no other field names.
//   - A number of an untyped field is a [Number], as it is spelt. A float64 would round a large one.
//
// All else is as in encoding/json. [Members] and [Repeated] are for texts from outside, where a name that comes twice is a fault: some
// readers take the first value and others the last.
package json

import (
	"bytes"
	std "encoding/json"
	"errors"
	"io"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"
)

// The types of encoding/json. An UnmarshalTypeError names a field by the JSON names that lead to it, with dots between them.
type (
	RawMessage         = std.RawMessage
	Number             = std.Number
	Marshaler          = std.Marshaler
	SyntaxError        = std.SyntaxError
	UnmarshalTypeError = v1.UnmarshalTypeError
)

// The options of all readers and writers.
var (
	common = json.JoinOptions(v1.DefaultOptionsV1(), json.MatchCaseInsensitiveNames(false))
	plain  = json.JoinOptions(common, jsontext.EscapeForHTML(false))

	writing = json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, n Number) error {
		return e.WriteValue(jsontext.Value(n))
	}))
	outlining = json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, m Marshaler) error { // the names of v itself, without those of other texts
		if _, err := m.MarshalJSON(); err != nil {
			return err
		}
		return e.WriteToken(jsontext.Null)
	}))
	reading = json.JoinOptions(common, json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(readTyped), json.UnmarshalFromFunc(readUntyped),
	)))
	known = json.JoinOptions(reading, json.RejectUnknownMembers(true))
)

// unrepeated refuses a name that comes twice in one object, with errors that say where.
var unrepeated = json.JoinOptions(jsontext.AllowDuplicateNames(false), v1.ReportErrorsWithLegacySemantics(false))

// readNumber reads a number as it is spelt, and leaves other values to the reader.
func readNumber(d *jsontext.Decoder, n *Number) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	text, err := d.ReadValue()
	*n = Number(text)
	return err
}

// readTyped reads a number, or null, for a value that can be nothing else: encoding/json takes a number within a string as well, and the reader
// below takes any string, which a writer would write as it is.
func readTyped(d *jsontext.Decoder, n *Number) error {
	if d.PeekKind() == '"' {
		return &UnmarshalTypeError{Value: "string", Type: reflect.TypeFor[Number]()}
	}
	return readNumber(d, n)
}

// readUntyped reads a number as it is spelt, and leaves other values to the reader.
func readUntyped(d *jsontext.Decoder, v *any) error {
	var n Number
	err := readNumber(d, &n)
	if err == nil {
		*v = n
	}
	return err
}

// Unmarshal reads a text into the value that v points to.
func Unmarshal(text []byte, v any) error { return explained(text, json.Unmarshal(text, v, reading)) }

// UnmarshalKnown is Unmarshal, and a member that v has no field for is an error.
func UnmarshalKnown(text []byte, v any) error {
	return explained(text, json.Unmarshal(text, v, known))
}

// Read reads all of r into the value that v points to.
func Read(r io.Reader, v any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return Unmarshal(text, v)
}

// explained returns the error of encoding/json for a text that is no JSON: users know its words.
func explained(text []byte, err error) error {
	if err == nil {
		return nil
	}
	if syntax := Syntax(text); syntax != nil {
		return syntax
	}
	return err
}

// Syntax returns the error of a text that is no JSON, usually a [SyntaxError]; nil if it is JSON.
func Syntax(text []byte) error {
	var raw std.RawMessage
	return std.Unmarshal(text, &raw)
}

// Valid reports whether a text is JSON.
func Valid(text []byte) bool { return jsontext.Value(text).IsValid(common) }

// Exact reports whether JSON says what it says in every reader: it is UTF-8, no escape is half of a surrogate pair, and no name comes
// twice in one object.
func Exact(text []byte) bool { return jsontext.Value(text).IsValid() }

// Marshal writes v as one line, with <, > and & escaped, as a text that may stand in HTML.
func Marshal(v any) ([]byte, error) { return write(v, common) }

// Encode writes v as one line. It does not escape <, > and &, which source code is full of.
func Encode(v any) ([]byte, error) { return write(v, plain) }

// write fails for a kept member that bears the name of a field: readers would disagree on which of the two counts. Within a [RawMessage],
// which is written as it came, names may come twice.
func write(v any, o json.Options) ([]byte, error) {
	text, err := json.Marshal(v, o, writing, unrepeated)
	var raw *json.SemanticError
	if !errors.As(err, &raw) || !errors.Is(err, jsontext.ErrDuplicateName) {
		return text, err
	}
	if _, err := json.Marshal(v, o, outlining, unrepeated); err != nil {
		return nil, err
	}
	return json.Marshal(v, o, writing)
}

// EncodeIndent writes v as Encode does, on several lines.
func EncodeIndent(v any, indent string) ([]byte, error) {
	text, err := Encode(v)
	if err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	err = Indent(&lines, text, "", indent)
	return lines.Bytes(), err
}

// Compact appends a text to dst without the white space between its values.
func Compact(dst *bytes.Buffer, text []byte) error { return std.Compact(dst, text) }

// Indent appends a text to dst on several lines.
func Indent(dst *bytes.Buffer, text []byte, prefix, indent string) error {
	return std.Indent(dst, text, prefix, indent)
}
