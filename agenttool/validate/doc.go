// Package validate checks inputs against JSON Schemas and records against the standard.
//
//	schema, err := validate.Compile(declaration.InputContract.ModelInputSchema)
//	err = schema.Check([]byte(`{"pth":"go.mod"}`))
//	// unknown field "pth" — did you mean "path"?
//
// A schema comes from a tool that somebody else may have written, and an input from a model: both are bounded before
// they meet. Compile refuses a schema that is too large, that refers to anything outside itself, or that can apply to
// itself without end. Check refuses an input that is too deep or whose check would take too long. A field given twice is
// refused wherever it stands, since readers disagree on which one counts.
//
// Messages name fields and what the schema wants. They never repeat a value of the input, which may be a secret.
//
// [Record], [Event] and [Message] hold records to the published schemas and to the lists that the standard closes only
// in its prose. They are for what toolhost writes; what it reads may say more.
//
// Agent Tool v0.2.0, "Schema gates" (AT-020 … AT-036) and parse_schema (AT-112).
package validate
