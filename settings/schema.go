package settings

import (
	_ "embed" // for the schema
	"slices"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of a file of settings, for editors and other programs. Files are not
// decoded by it, which would take longer than all the rest of a start: a test holds decoder and schema to each other.
// What no schema can say (a rule must be one, a key stands once) the decoder alone checks.
func Schema() []byte { return slices.Clone(schema) }
