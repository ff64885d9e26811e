package search

import (
	"encoding/json"
	"testing"

	"toolhost/agenttool"
)

func TestDescribe(t *testing.T) {
	tr := plant(t, nil)
	tests := []struct {
		tool    agenttool.Tool
		name    string
		maxSize int // of schema and description
	}{
		{tr.newGrep(), "grep", 2048},
		{tr.newGlob(), "glob", 1024},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			d := tc.tool.Describe()
			if d.Declaration.Name != tc.name || d.Declaration.ToolID != agenttool.ToolID("toolhost."+tc.name) {
				t.Errorf("name %s, id %s", d.Declaration.Name, d.Declaration.ToolID)
			}
			if size := len(d.Declaration.Description) + len(d.Declaration.InputContract.ModelInputSchema); size > tc.maxSize {
				t.Errorf("schema and description are %d bytes", size)
			}
			if d.Declaration.InterfaceRef != d.Interface.InterfaceID ||
				d.Declaration.ExecutionProfileRef != d.Execution.ExecutionProfileID ||
				d.Interface.PermissionProfileRef != d.Permission.PermissionProfileID {
				t.Error("the records do not refer to each other")
			}
			if d.Interface.IsReadOnly != true || d.Interface.IsDestructive != false || !d.Interface.DenyBeforeIO ||
				!d.Execution.SupportsCancel || d.Execution.SupportsBackground || d.Permission.RiskLevel != "low" {
				t.Error("a fact is not as stated")
			}
			for _, schema := range []json.RawMessage{d.Interface.ModelInputSchema, d.Interface.OutputSchema} {
				var s struct {
					AdditionalProperties *bool `json:"additionalProperties"`
				}
				if err := json.Unmarshal(schema, &s); err != nil || s.AdditionalProperties == nil || *s.AdditionalProperties {
					t.Errorf("not strict: %s", schema)
				}
			}
		})
	}
}
