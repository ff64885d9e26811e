package validate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolhost/agenttool"
)

// Schema is a compiled JSON Schema. It is safe for use by several goroutines.
type Schema struct {
	compiled *jsonschema.Schema
	parts    func() map[string]*jsonschema.Schema // by location; collected when the first input is refused
}

// location is the base URL of schemas. It does not exist, so that no relative reference resolves to a file.
const location = "toolhost://schema/"

// Compile reads a JSON Schema: draft 2020-12 unless its $schema names an earlier draft. It does no IO, so a schema must
// hold all that it refers to. Patterns are RE2.
//
// It fails with class capability_gap and code schema_invalid.
func Compile(schema json.RawMessage) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, unusable(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nil)
	if err := c.AddResource(location, doc); err != nil {
		return nil, unusable(err)
	}
	compiled, err := c.Compile(location)
	if err != nil {
		return nil, unusable(err)
	}
	return &Schema{compiled: compiled, parts: sync.OnceValue(func() map[string]*jsonschema.Schema { return partsOf(compiled) })}, nil
}

func unusable(err error) error {
	return agenttool.Failure(agenttool.CapabilityGap, "schema_invalid", "the schema cannot be used").Because(err)
}

// partsOf returns root and the schemas that it is made of, by location.
func partsOf(root *jsonschema.Schema) map[string]*jsonschema.Schema {
	found := map[string]*jsonschema.Schema{}
	var visit func(schemas ...*jsonschema.Schema)
	visit = func(schemas ...*jsonschema.Schema) {
		for _, s := range schemas {
			if s == nil || found[s.Location] != nil {
				continue
			}
			found[s.Location] = s
			visit(sameValue(s)...)
			visit(slices.Collect(maps.Values(s.Properties))...)
			visit(slices.Collect(maps.Values(s.PatternProperties))...)
			visit(s.PrefixItems...)
			additional, _ := s.AdditionalProperties.(*jsonschema.Schema)
			visit(additional, s.Items2020, s.UnevaluatedProperties, s.UnevaluatedItems, s.Contains)
		}
	}
	visit(root)
	return found
}

// sameValue returns the schemas that s applies to the value that it is applied to itself; some may be nil.
func sameValue(s *jsonschema.Schema) []*jsonschema.Schema {
	return slices.Concat([]*jsonschema.Schema{s.Ref, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.DependentSchemas)))
}

// Check reports whether input satisfies the schema. It returns nil or an *agenttool.Error of class
// schema_validation_failed whose Pointer leads to the offending place (for a missing field, to where it belongs), and
// whose Message names the problem there and the value that the schema wants; Hint lists the allowed fields. If there
// are several problems, Message names the first by pointer and counts the others, of the first 10,000. The same input
// gets the same error.
//
// Codes: not_json, wrong_type, duplicate_field, nested_too_deeply, too_many_values, missing_field, unknown_field,
// invalid_field_name, value_not_allowed, value_out_of_range, wrong_length, wrong_format, duplicate_item,
// missing_item, no_form_matches, several_forms_match.
//
// Agent Tool v0.2.0, parse_schema (AT-112).
func (s *Schema) Check(input []byte) error {
	v, fault := decode(input)
	found := []problem{}
	if fault != nil {
		found = append(found, *fault)
	} else {
		found = s.problems(v)
	}
	if len(found) == 0 {
		return nil
	}
	e := refusal(found)
	if e.Hint == "" {
		e.Hint = allowedFields(s.compiled)
	}
	return e
}

// problems returns the problems of v, in no order.
func (s *Schema) problems(v any) []problem {
	if _, ok := v.(map[string]any); !ok {
		return []problem{wrongRoot(v)}
	}
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		if found := (reader{input: v, parts: s.parts(), spent: &effort{}}).problems(invalid); len(found) > 0 {
			return found
		}
	}
	return []problem{{code: "value_not_allowed", text: "does not satisfy the schema"}}
}

func wrongRoot(v any) problem {
	return problem{code: "wrong_type", text: fmt.Sprintf("got %s, want object", typeName(v))}
}

// refusal tells the first of the problems and counts the others.
func refusal(problems []problem) *agenttool.Error {
	found := arrange(problems)
	e := agenttool.Failure(agenttool.SchemaValidationFailed, found[0].code, found[0].sentence()+others(len(found)-1))
	e.Pointer, e.Hint = found[0].pointer(), allowedFields(found[0].owner)
	return e
}
