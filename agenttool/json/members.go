package json

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Errors of texts that have no members, besides those of [Syntax].
var (
	ErrUTF8     = errors.New("the text is not UTF-8")
	ErrNoObject = errors.New("the text is JSON, but no object")
)

// RepeatedError is the error of a text with an object that has a name twice.
type RepeatedError struct {
	Path []string // the names and indexes that lead to it; the last one is the name
}

func (e *RepeatedError) Error() string {
	return fmt.Sprintf("%q comes twice in one object", e.Name())
}

// Name is the name that comes twice.
func (e *RepeatedError) Name() string { return e.Path[len(e.Path)-1] }

// strict reads a text from outside. Its errors are ErrUTF8, those of [Syntax], a [RepeatedError] about an object at any depth, and those of
// a value that does not fit v, in words that change from process to process.
func strict(text []byte, v any, more ...json.Options) error {
	if !utf8.Valid(text) {
		return ErrUTF8
	}
	err := json.Unmarshal(text, v, reading, unrepeated, json.JoinOptions(more...))
	if twice := asRepeated(err); twice != nil && Valid(text) {
		return twice
	}
	return explained(text, err)
}

// PlacedError is an error that a visitor of [Value] found, with its place.
type PlacedError struct {
	Path []string // the names and indexes that lead to the value
	Err  error
}

func (e *PlacedError) Error() string { return e.Err.Error() }

func (e *PlacedError) Unwrap() error { return e.Err }

// Value returns the value of a text from outside: map[string]any, []any, string, [Number], bool or nil. Before one within it is built, visit
// gets how many arrays and objects hold it, and its text if it is a number. An error is ErrUTF8, one of [Syntax], a [RepeatedError], or a
// [PlacedError] with the error of visit, which ends reading.
func Value(text []byte, visit func(depth int, n Number) error) (v any, err error) {
	visiting := json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
		depth := d.StackDepth()
		err := readUntyped(d, v)
		n, _ := (*v).(Number)
		if refused := visit(depth, n); refused != nil {
			return refused
		}
		return err
	}))
	err = strict(text, &v, visiting)
	if at, ok := errors.AsType[*json.SemanticError](err); ok {
		err = &PlacedError{Path: slices.Collect(at.JSONPointer.Tokens()), Err: at.Err}
	}
	return v, err
}

// Members returns the members of one JSON object, as they are spelt. An error is ErrUTF8, one of [Syntax], ErrNoObject, or a
// [RepeatedError]. With the last it returns the members as well, the last one of each name. A name that the object itself has twice is
// reported before one of an object within it.
func Members(text []byte) (members map[string]RawMessage, err error) {
	err = strict(text, &members)
	switch {
	case err == nil && members != nil:
		return members, nil
	case errors.Is(err, ErrUTF8) || !Valid(text):
		return nil, err
	case bytes.TrimLeft(text, " \t\r\n")[0] != '{':
		return nil, ErrNoObject
	}
	if twice := repeatedMember(text); twice != nil {
		err = twice
	}
	return members, cmp.Or(Unmarshal(text, &members), err)
}

// repeatedMember returns the first name that comes twice in an object, without a look at its values; nil if none does.
func repeatedMember(object []byte) *RepeatedError {
	d := jsontext.NewDecoder(bytes.NewBuffer(object), common)
	_, err := d.ReadToken() // the brace
	seen := map[string]bool{}
	for err == nil && d.PeekKind() == '"' {
		token, _ := d.ReadToken() // it was peeked at, in valid JSON
		name := token.String()
		if seen[name] {
			return &RepeatedError{Path: []string{name}}
		}
		seen[name] = true
		err = d.SkipValue()
	}
	return nil
}

// Repeated returns where an object in a JSON text has a name twice, at any depth; nil if none has.
func Repeated(text []byte) *RepeatedError {
	return asRepeated(jsontext.NewDecoder(bytes.NewBuffer(text), common, unrepeated).SkipValue())
}

func asRepeated(err error) *RepeatedError {
	var syntactic *jsontext.SyntacticError
	if !errors.As(err, &syntactic) || !errors.Is(syntactic.Err, jsontext.ErrDuplicateName) {
		return nil
	}
	return &RepeatedError{Path: slices.Collect(syntactic.JSONPointer.Tokens())}
}
