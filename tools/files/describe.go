package files

import (
	"embed"
	"encoding/json"

	"toolhost/agenttool"
	"toolhost/tools/workspace"
)

// The schemas are JSON Schema draft 2020-12 and short, because every session of every model pays for them. Bind
// checks the other conditions with better messages. edit's two forms are not a oneOf at the top, which model
// providers refuse in a tool.
//
//go:embed schema/*.json
var schemas embed.FS

// contracts completes the declaration of a file tool, whose results have the schema of that name.
func contracts(d agenttool.Declaration, result, example string) agenttool.Declaration {
	d.Namespace, d.ToolKind = "local.files", agenttool.KindFileOperation
	d.InputContract = &agenttool.InputContract{
		ModelInputSchema: agenttool.ReadSchema(schemas, "schema/"+d.Name+".json"), Examples: []json.RawMessage{json.RawMessage(example)},
	}
	d.OutputContract = &agenttool.OutputContract{StructuredSchema: agenttool.ReadSchema(schemas, "schema/"+result+".json")}
	return d
}

// describeRead returns the records of a tool that only reads. A page is never persisted: a model that reads a persisted page back would
// persist that page again (AT-297).
func describeRead(d agenttool.Declaration, defaults map[string]any) agenttool.Description {
	d.CapabilityRefs, d.InputContract.Defaults = []string{"local_file_read"}, defaults
	out := d.OutputContract
	out.ContentTypes, out.MaxInlineChars, out.PersistencePolicyRef = []string{"text", "image", "file"}, wideChars, string(agenttool.NeverPersist)
	return agenttool.Description{
		Declaration: d,
		Interface:   callable(agenttool.StaticFacts{IsReadOnly: true, IsDestructive: false}),
		Execution:   agenttool.ExecutionProfile{ExecutionKind: "embedded_runtime", SupportsRetries: true},
		Permission:  workspace.Reading,
	}.Complete()
}

// describeChange returns the records of a tool that changes files. destructive is a value, or the name of the classifier.
func describeChange(d agenttool.Declaration, destructive any) agenttool.Description {
	d.CapabilityRefs = []string{"local_file_write"}
	d.OutputContract.ContentTypes = []string{"text", "diff", "artifact_ref", "persisted_output_ref"}
	d.OutputContract.ArtifactExpectations = []string{"each file that was written, with its digest"}
	return agenttool.Description{
		Declaration: d,
		Interface:   callable(agenttool.StaticFacts{IsReadOnly: false, IsDestructive: destructive}),
		Execution:   agenttool.ExecutionProfile{ExecutionKind: "embedded_runtime", SupportsArtifacts: true, SupportsResultPersistence: true},
		Permission:  workspace.Writing,
	}.Complete()
}

func callable(facts agenttool.StaticFacts) agenttool.Interface {
	facts.IsConcurrencySafe, facts.IsOpenWorld = true, false
	return agenttool.Interface{
		StaticFacts: facts, ClassifierInput: "path", PermissionMatcher: "path", CallRules: agenttool.CallRules{EmptyResultPolicy: "explicit_text"},
	}
}
