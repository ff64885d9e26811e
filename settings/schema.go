package settings

import (
	_ "embed" // for the schema
	"slices"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of a settings file, for editors and other programs. The decoder does
// not use it, because that would take longer than the rest of a start; a test keeps decoder and schema consistent.
// Only the decoder checks conditions that a schema cannot express (rules are valid, keys are not repeated).
func Schema() []byte { return slices.Clone(schema) }
