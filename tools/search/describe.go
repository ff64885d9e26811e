package search

import (
	"embed"
	"encoding/json"

	"toolhost/agenttool"
	"toolhost/tools/workspace"
)

// The schemas are those of input and result, in draft 2020-12.
//
//go:embed schema/*.json
var schemas embed.FS

// describe completes the declaration of a search tool, and returns its records.
func describe(d agenttool.Declaration, defaults map[string]any, example string) agenttool.Description {
	d.Namespace, d.ToolKind, d.CapabilityRefs = "local.search", agenttool.KindFileOperation, []string{"local_file_search"}
	d.InputContract = &agenttool.InputContract{
		ModelInputSchema: agenttool.ReadSchema(schemas, "schema/"+d.Name+".json"), Defaults: defaults, Examples: []json.RawMessage{json.RawMessage(example)},
	}
	d.OutputContract = &agenttool.OutputContract{
		StructuredSchema: agenttool.ReadSchema(schemas, "schema/"+d.Name+"_result.json"), ContentTypes: []string{"text"},
	}
	return agenttool.Description{
		Declaration: d,
		Interface: agenttool.Interface{
			StaticFacts:     agenttool.StaticFacts{IsReadOnly: true, IsConcurrencySafe: true, IsDestructive: false, IsOpenWorld: false},
			ClassifierInput: "path", PermissionMatcher: "path", CallRules: agenttool.CallRules{EmptyResultPolicy: "stated"}, // with the searched place
		},
		Execution:  agenttool.ExecutionProfile{ExecutionKind: "embedded_runtime", SupportsRetries: true},
		Permission: workspace.Reading,
	}.Complete()
}
