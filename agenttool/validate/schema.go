package validate

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolhost/agenttool"
)

// Schema is a compiled JSON Schema. It is safe for use by several goroutines.
type Schema struct {
	compiled *jsonschema.Schema
	root     *node
	nodes    map[string]*node // by location
}

// maxSchemaSize bounds a schema, in bytes.
const maxSchemaSize = 256 << 10

// location is where a schema is said to come from, so that a relative reference leads to a place that does not exist.
const location = "toolhost://schema/"

// Compile reads a JSON Schema: draft 2020-12 unless its $schema names an earlier draft. It does no IO.
//
// It fails with class capability_gap and one of these codes: schema_invalid; schema_too_large, in bytes, values, depth
// or patterns; schema_remote_ref, a reference that leads out of the schema; schema_unbounded, one that leads back to
// where it stands; schema_not_supported, a dynamic reference.
//
// A small schema takes about 0.1 ms. Patterns are RE2.
func Compile(schema json.RawMessage) (s *Schema, err error) {
	if len(schema) > maxSchemaSize {
		return nil, unusable("schema_too_large", fmt.Sprintf("the schema is larger than %d bytes", maxSchemaSize))
	}
	doc, fault := decode(schema, schemaLimits)
	if fault != nil {
		return nil, unusable(schemaCode(fault.code), "the schema: "+fault.sentence())
	}
	if _, ok := doc.(map[string]any); !ok {
		return nil, unusable("schema_invalid", "the schema: "+wrongRoot(doc).sentence())
	}
	if weighPlaces(doc, 0) > maxPlaces {
		return nil, unusable("schema_too_large", "the names in the schema are too long, for how deep they stand")
	}
	if ref := oddReference(doc); ref != "" {
		return nil, unusable("schema_invalid", fmt.Sprintf("the schema refers to %s; write an index without sign and "+
			"leading zeros", quote(ref)))
	}
	defer refusePanic(&err, unusable("schema_invalid", "the schema cannot be compiled"))

	engine := &patterns{}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nil)
	c.UseRegexpEngine(engine.compile)
	if err := c.AddResource(location, doc); err != nil {
		return nil, unusable("schema_invalid", "the schema cannot be compiled").Because(err)
	}
	compiled, err := c.Compile(location)
	engine.sealed = true
	if engine.exceeded {
		return nil, unusable("schema_too_large", "the patterns of the schema are too large")
	}
	if err != nil {
		return nil, compileError(doc, err)
	}
	root, nodes, err := survey(compiled)
	if err != nil {
		return nil, err
	}
	return &Schema{compiled: compiled, root: root, nodes: nodes}, nil
}

func unusable(code, message string) *agenttool.Error {
	return agenttool.Failure(agenttool.CapabilityGap, code, message)
}

// schemaCode says in words for schemas what decode says of any document.
func schemaCode(code string) string {
	switch code {
	case "nested_too_deeply", "too_many_values":
		return "schema_too_large"
	}
	return "schema_invalid"
}

func compileError(doc any, err error) error {
	var remote *jsonschema.LoadURLError
	if errors.As(err, &remote) {
		return unusable("schema_remote_ref", fmt.Sprintf("the schema refers to %s; it must hold all it needs",
			quote(remote.URL)))
	}
	var invalid *jsonschema.SchemaValidationError
	var why *jsonschema.ValidationError
	if errors.As(err, &invalid) && errors.As(invalid.Err, &why) {
		r := reader{input: doc, spent: &effort{}}
		found := arrange(r.problems(why))
		return unusable("schema_invalid", "the schema is not a JSON Schema: "+found[0].sentence()+others(len(found)-1))
	}
	return unusable("schema_invalid", "the schema cannot be compiled").Because(err)
}

// refusePanic turns a panic of the library into err. The library is sound as far as its tests go; here it meets what
// strangers wrote, and the process holds everybody's jobs.
func refusePanic(err *error, refusal *agenttool.Error) {
	if r := recover(); r != nil {
		*err = refusal.Because(fmt.Errorf("jsonschema: %v", r))
	}
}

// Check reports whether input satisfies the schema. It returns nil or an *agenttool.Error of class
// schema_validation_failed whose Pointer leads to the offending place (for a missing field, to where it belongs), and
// whose Message says what is wrong there and what is expected; Hint lists the fields that are allowed. When more than
// one thing is wrong, the first by pointer is told, and how many others there are, of the first 10,000. The same input
// gets the same error.
//
// Codes: not_json, wrong_type, duplicate_field, nested_too_deeply, too_many_values, too_expensive, missing_field,
// unknown_field, invalid_field_name, value_not_allowed, value_out_of_range, wrong_length, wrong_format, duplicate_item,
// missing_item, no_form_matches, several_forms_match, schema_broken.
//
// Agent Tool v0.2.0, parse_schema (AT-112).
func (s *Schema) Check(input []byte) (err error) {
	defer refusePanic(&err, agenttool.Failure(agenttool.SchemaValidationFailed, "schema_broken",
		"the input could not be checked: the schema of the tool is broken"))
	v, fault := decode(input, inputLimits)
	found := s.problems(v)
	if fault != nil {
		found = []problem{*fault}
	}
	if len(found) == 0 {
		return nil
	}
	e := refusal(found)
	if e.Hint == "" {
		e.Hint = allowedFields(s.root)
	}
	return e
}

// problems returns what is wrong with v, in no order.
func (s *Schema) problems(v any) []problem {
	if _, ok := v.(map[string]any); !ok {
		return []problem{wrongRoot(v)}
	}
	if b := (budget{left: maxWork}); !b.spend(s.root, v) {
		return []problem{{code: "too_expensive", text: "would take too long to check; send less of it"}}
	}
	err := s.compiled.Validate(v)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []problem{{code: "schema_broken", text: "could not be checked: the schema of the tool is broken"}}
	}
	if found := (reader{input: v, nodes: s.nodes, spent: &effort{}}).problems(invalid); len(found) > 0 {
		return found
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
