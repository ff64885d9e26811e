package mcp

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestInputIsRecordedAsSent: the record has the model's own input, and says what became of it.
func TestInputIsRecordedAsSent(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "one\ntwo\n")
	res := f.call(f.client("test", "", nil), "Read", map[string]any{"file_path": "a.txt", "offset": "2", "limit": nil})
	if res.IsError || !strings.Contains(texts(res)[0], "two") || strings.Contains(texts(res)[0], "one") {
		t.Fatalf("%q", texts(res))
	}
	inv := f.invocations()[0]
	if sent := string(inv.ModelInput); !strings.Contains(sent, `"file_path":"a.txt"`) || !strings.Contains(sent, `"limit":null`) {
		t.Errorf("the model's input is %s", sent)
	}
	if seen := string(inv.ObservableInput); !strings.Contains(seen, `"path"`) || strings.Contains(seen, "file_path") {
		t.Errorf("the input is %s", seen)
	}
	if len(inv.Mutations) != 1 {
		t.Fatalf("the mutations are %+v", inv.Mutations)
	}
	m := inv.Mutations[0]
	if m.SourceType != "adapter" || m.FromInputRef != "#/model_input" || m.ToInputRef != "#/observable_input" ||
		!slices.Equal(m.ChangedFields, []string{"file_path", "limit", "offset", "path"}) || !strings.Contains(m.Reason, "file_path is path here") {
		t.Errorf("the mutation is %+v", m)
	}
}

// TestApplyPatch: the tool that GPT models know is our edit. A patch that deletes asks also where edits are accepted.
func TestApplyPatch(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "one\n")
	f.write("b.txt", "two\n")
	c := f.client("codex-mcp-client", "2025-06-18", nil)
	patch := func(sections string) *sdk.CallToolResult {
		return f.call(c, "apply_patch", map[string]any{"input": "*** Begin Patch\n" + sections + "*** End Patch\n"})
	}
	if res := patch("*** Update File: a.txt\n-one\n+1\n*** Add File: c.txt\n+three\n"); res.IsError || !f.has("c.txt") || !strings.Contains(texts(res)[0], "+three") {
		t.Errorf("%q", texts(res))
	}
	if res := patch("*** Update File: a.txt\n-1\n+2\n*** Delete File: b.txt\n"); !res.IsError || !f.has("b.txt") {
		t.Errorf("it deleted unasked: %q", texts(res))
	}
	if inv := f.invocations()[0]; inv.ToolID != "toolhost.edit" || !strings.Contains(string(inv.ModelInput), `"input"`) || !strings.Contains(string(inv.ObservableInput), `"patch"`) {
		t.Errorf("%s: %s, %s", inv.ToolID, inv.ModelInput, inv.ObservableInput)
	}
	if res := patch("*** Add File: ../outside.txt\n+x\n"); !res.IsError {
		t.Errorf("it wrote outside of the workspace: %q", texts(res))
	}
}
