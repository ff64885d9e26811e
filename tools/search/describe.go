package search

import (
	"encoding/json"

	"toolhost/agenttool"
)

// toolTexts holds the parts of a tool's records that differ between grep and glob.
type toolTexts struct {
	name, alias, title, description, hint string
	input, output                         string // JSON Schema, draft 2020-12
	example                               string
	defaults                              map[string]any
}

// describe returns the records of a search tool.
func describe(d toolTexts) agenttool.Description {
	id := agenttool.ToolID("toolhost." + d.name)
	ref := func(part string) string { return string(id) + "." + part }
	input, output := json.RawMessage(d.input), json.RawMessage(d.output)
	return agenttool.Description{
		Declaration: agenttool.Declaration{
			SchemaVersion:  agenttool.SchemaVersion,
			ToolID:         id,
			Namespace:      "local.search",
			Name:           d.name,
			Aliases:        []string{d.alias},
			Title:          d.title,
			Description:    d.description,
			SearchHint:     d.hint,
			Lifecycle:      agenttool.Available,
			ToolKind:       agenttool.KindFileOperation,
			CapabilityRefs: []string{"local_file_search"},
			InputContract: &agenttool.InputContract{
				ModelInputSchema: input, ArgumentMode: "json", Strict: true, Defaults: d.defaults, Examples: []json.RawMessage{json.RawMessage(d.example)},
			},
			OutputContract:       &agenttool.OutputContract{StructuredSchema: output, ContentTypes: []string{"text"}},
			InterfaceRef:         ref("interface"),
			ExecutionProfileRef:  ref("execution"),
			PermissionProfileRef: ref("permission"),
		},
		Interface: agenttool.Interface{
			SchemaVersion: agenttool.SchemaVersion,
			InterfaceID:   ref("interface"),
			ToolID:        id,
			Name:          d.name,
			Aliases:       []string{d.alias},
			SearchHint:    d.hint,
			Schemas: agenttool.Schemas{ModelInputSchema: input,
				OutputSchema:     output,
				Strict:           true,
				SchemaVisibility: "loaded"},
			StaticFacts: agenttool.StaticFacts{IsEnabled: true,
				IsReadOnly:        true,
				IsConcurrencySafe: true,
				IsDestructive:     false,
				IsOpenWorld:       false},
			ClassifierInput:   "path",
			PermissionMatcher: "path",
			ProfileRefs: agenttool.ProfileRefs{ExecutionProfileRef: ref("execution"),
				PermissionProfileRef: ref("permission")},
			Namespace: "local.search",
			CallRules: agenttool.CallRules{InterruptBehavior: "cancel",
				DenyBeforeIO:      true,
				EmptyResultPolicy: "stated"}, // an empty result names the searched place
		},
		Execution: agenttool.ExecutionProfile{
			SchemaVersion:      agenttool.SchemaVersion,
			ExecutionProfileID: ref("execution"),
			ExecutionKind:      "embedded_runtime",
			SupportsCancel:     true,
			SupportsRetries:    true,
			SupportsTimeout:    true,
			SupportsOffline:    true,
		},
		Permission: readsOnly(ref("permission")),
	}
}

// readsOnly is the permission profile of a tool that reads files.
func readsOnly(id string) agenttool.PermissionProfile {
	return agenttool.PermissionProfile{
		SchemaVersion:       agenttool.SchemaVersion,
		PermissionProfileID: id,
		RiskLevel:           "low",
		AccessKinds:         []string{"file_read"},
		WriteEffects:        []string{"none"},
		NetworkScope:        "none",
		TenantScope:         "local",
		CredentialRefs:      []string{},
		SandboxProfile:      "none: the host opens the paths that were decided about, and no other",
		PromptAvoidable:     true,
		RuleMatchingFields:  []string{"path"},
		DataSensitivity:     "unknown",
		RetentionHint:       "session",
		RedactionRequired:   true,
	}
}

const grepInputSchema = `{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{` +
	`"pattern":{"type":"string","minLength":1,"maxLength":4096,"description":"RE2 regular expression"},` +
	`"path":{"type":"string","minLength":1,"description":"file or directory (default: workspace)"},` +
	`"glob":{"type":"string","minLength":1,"maxLength":1024,` +
	`"description":"only these files, e.g. *.go or src/**/*.{ts,tsx}; !x leaves x out"},` +
	`"type":{"type":"string","minLength":1,"maxLength":32,"description":"file type, e.g. go, py, ts, rust"},` +
	`"output_mode":{"enum":["content","files_with_matches","count"],"description":"default content"},` +
	`"before":{"type":"integer","minimum":0,"maximum":1000,"description":"context lines"},` +
	`"after":{"type":"integer","minimum":0,"maximum":1000},` +
	`"context":{"type":"integer","minimum":0,"maximum":1000,"description":"before and after"},` +
	`"ignore_case":{"type":"boolean"},` +
	`"multiline":{"type":"boolean","description":"matches may span lines, . matches \\n"},` +
	`"hidden":{"type":"boolean","description":"also names that begin with a dot"},` +
	`"no_ignore":{"type":"boolean","description":"also files that .gitignore leaves out"},` +
	`"limit":{"type":"integer","minimum":1,"maximum":10000,"description":"matching lines, or files (default 250)"},` +
	`"offset":{"type":"integer","minimum":0,"maximum":1000000}}}`

const grepOutputSchema = `{"type":"object","additionalProperties":false,` +
	`"required":["total","total_is_lower_bound","files_searched","skipped","timed_out"],` +
	`"oneOf":[{"required":["matches"]},{"required":["files"]},{"required":["counts"]}],"properties":{` +
	`"matches":{"type":"array","items":{"type":"object","additionalProperties":false,` +
	`"required":["path","line","column","text","submatches"],"properties":{"path":{"type":"string"},` +
	`"line":{"type":"integer","minimum":1},"column":{"type":"integer","minimum":1},"text":{"type":"string"},` +
	`"submatches":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["start","end"],` +
	`"properties":{"start":{"type":"integer","minimum":0},"end":{"type":"integer","minimum":0}}}}}}},` +
	`"files":{"type":"array","items":{"type":"string"}},` +
	`"counts":{"type":"array","items":{"type":"object","additionalProperties":false,"required":["path","count"],` +
	`"properties":{"path":{"type":"string"},"count":{"type":"integer","minimum":1}}}},` +
	`"total":{"type":"integer","minimum":0},"total_is_lower_bound":{"type":"boolean"},` +
	`"next_offset":{"type":"integer","minimum":1},"files_searched":{"type":"integer","minimum":0},` +
	`"skipped":{"type":"object","additionalProperties":false,"required":["denied","binary","unreadable","special","too_large"],` +
	`"properties":{"denied":{"type":"integer","minimum":0},"binary":{"type":"integer","minimum":0},"unreadable":{"type":"integer","minimum":0},` +
	`"special":{"type":"integer","minimum":0},"too_large":{"type":"integer","minimum":0}}},` +
	`"timed_out":{"type":"boolean"}}}`

const globInputSchema = `{"type":"object","additionalProperties":false,"required":["pattern"],"properties":{` +
	`"pattern":{"type":"string","minLength":1,"maxLength":1024,` +
	`"description":"e.g. *.go (any depth), src/**/*.{ts,tsx}"},` +
	`"path":{"type":"string","minLength":1,"description":"directory (default: workspace)"},` +
	`"hidden":{"type":"boolean","description":"also names that begin with a dot"},` +
	`"no_ignore":{"type":"boolean","description":"also files that .gitignore leaves out"},` +
	`"limit":{"type":"integer","minimum":1,"maximum":10000,"description":"default 1000"},` +
	`"offset":{"type":"integer","minimum":0,"maximum":1000000},` +
	`"sort":{"enum":["path","modified"],"description":"default path; modified: newest first"}}}`

const globOutputSchema = `{"type":"object","additionalProperties":false,` +
	`"required":["paths","total","total_is_lower_bound","skipped","timed_out"],"properties":{` +
	`"paths":{"type":"array","items":{"type":"string"}},` +
	`"total":{"type":"integer","minimum":0},"total_is_lower_bound":{"type":"boolean"},` +
	`"next_offset":{"type":"integer","minimum":1},` +
	`"skipped":{"type":"object","additionalProperties":false,"required":["denied","unreadable","special"],` +
	`"properties":{"denied":{"type":"integer","minimum":0},"unreadable":{"type":"integer","minimum":0},"special":{"type":"integer","minimum":0}}},` +
	`"timed_out":{"type":"boolean"}}}`
