// Package validate checks inputs against JSON Schemas, with messages that teach.
//
//	schema, err := validate.Compile(declaration.InputContract.ModelInputSchema)
//	err = schema.Check([]byte(`{"pth":"go.mod"}`))
//	// unknown field "pth" — did you mean "path"?
//
// Schemas are toolhost's own and trusted. Inputs come from models and hooks, so Check bounds their depth, their number
// of values and the size of their numbers. It refuses duplicate fields, because some readers take the first one and
// others the last.
//
// Messages name fields and the constraints of the schema. They never repeat a value of the input, which may be a secret.
//
// Agent Tool v0.2.0, "Schema gates" (AT-020 … AT-036) and parse_schema (AT-112).
package validate
