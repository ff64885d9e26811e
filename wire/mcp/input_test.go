package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
)

// TestInputsOfModels: what models send in place of our input is read, and what says something else is left to the host.
func TestInputsOfModels(t *testing.T) {
	f := newFixture(t)
	for _, tt := range []struct{ name, tool, sent, want string }{ // want is empty: it stays as it is
		{"as it is", "read", `{"path":"a"}`, ``},
		{"null", "read", `{"path":"a","offset":null,"limit":null}`, `{"path":"a"}`},
		{"empty", "read", `{"path":"a","offset":"","limit":""}`, `{"path":"a"}`},
		{"a required null", "read", `{"path":null}`, ``},
		{"numbers in strings", "read", `{"path":"a","offset":"2","limit":"-3"}`, `{"path":"a","offset":2,"limit":-3}`},
		{"a fraction of nothing", "read", `{"path":"a","offset":2.0}`, `{"path":"a","offset":2}`},
		{"a fraction", "read", `{"path":"a","offset":2.5}`, ``},
		{"no number", "read", `{"path":"a","offset":"two"}`, ``},
		{"a path of digits", "read", `{"path":"7"}`, ``},
		{"booleans", "grep", `{"pattern":"x","hidden":"true","ignore_case":"False"}`, `{"pattern":"x","hidden":true,"ignore_case":false}`},
		{"empty choices", "grep", `{"pattern":"x","path":"","glob":"","type":"","output_mode":""}`, `{"pattern":"x"}`},
		{"Claude's grep", "grep", `{"pattern":"x","-i":true,"-C":"2","head_limit":5}`, `{"pattern":"x","ignore_case":true,"context":2,"limit":5}`},
		{"file_path", "Read", `{"file_path":"a","limit":10}`, `{"path":"a","limit":10}`},
		{"both names", "Read", `{"file_path":"a","path":"b"}`, ``},
		{"an unknown member", "Read", `{"path":"a","colour":"red"}`, ``},
		{"Edit", "Edit", `{"file_path":"a","old_string":"x","new_string":"","replace_all":null}`, `{"path":"a","old_string":"x","new_string":""}`},
		{"old names of edits", "edit", `{"path":"a","edits":[{"oldText":"x","newText":"y","replace_all":"true"}]}`, `{"path":"a","edits":[{"old_string":"x","new_string":"y","replace_all":true}]}`},
		{"edits in a string", "edit", `{"path":"a","edits":"[{\"old_str\":\"x\",\"new_str\":\"y\"}]"}`, `{"path":"a","edits":[{"old_string":"x","new_string":"y"}]}`},
		{"an empty file", "write", `{"file_path":"a","content":""}`, `{"path":"a","content":""}`},
		{"Bash", "Bash", `{"command":"ls","timeout":120000,"description":"","run_in_background":"false"}`, `{"command":"ls","timeout_ms":120000,"description":"","run_in_background":false}`},
		{"seconds", "shell", `{"command":"ls","timeout":"30"}`, `{"command":"ls","timeout_ms":30000}`},
		{"our own milliseconds", "shell", `{"command":"ls","timeout_ms":30}`, ``},
		{"a job", "BashOutput", `{"bash_id":"j1","filter":"x"}`, `{"job":"j1","grep":"x"}`},
		{"twice", "read", `{"path":"a","limit":null,"path":"b"}`, ``},
		{"no object", "read", `["a"]`, ``},
		{"an unknown tool", "nothing", `{"a":null}`, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(f.catalog.inputs[tt.tool].read([]byte(tt.sent))); got != tt.want {
				t.Errorf("%s became %s, want %s", tt.sent, got, tt.want)
			}
		})
	}
}

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
	entries, _, err := f.store.Since(0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, entry := range entries {
		var e struct {
			Data struct {
				Mutation *agenttool.InputMutation `json:"mutation"`
			} `json:"data"`
		}
		if json.Unmarshal(entry.Event, &e) == nil && e.Data.Mutation != nil {
			reasons = append(reasons, e.Data.Mutation.Reason)
		}
	}
	if len(reasons) != 1 || !strings.HasPrefix(reasons[0], "read as the model meant it") {
		t.Errorf("the mutations say %q", reasons)
	}
}

// FuzzInputReader: whatever is sent, what is read is JSON, and reading it again changes nothing.
func FuzzInputReader(f *testing.F) {
	for _, seed := range []string{`{"path":"a","edits":"[1]"}`, `{"path":"a","edits":[{"old_str":null}]}`, `{"limit":"1e3"}`, `{"timeout":"0x1"}`, `{"a":/**/1,}`} {
		f.Add(seed)
	}
	schema := `{"type":"object","required":["path"],"properties":{"path":{"type":"string"},"limit":{"type":"integer"},"timeout_ms":{"type":"integer"},
		"all":{"type":"boolean"},"rate":{"type":"number"},"edits":{"type":"array","items":{"type":"object","properties":{"old_string":{"type":"string"},"all":{"type":"boolean"}}}}}}`
	r := newInputReader([]byte(schema))
	f.Fuzz(func(t *testing.T, sent string) {
		got := r.read([]byte(sent))
		if got == nil {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%s became %s", sent, got)
		}
		if again := r.read(got); again != nil {
			t.Fatalf("%s became %s and then %s", sent, got, again)
		}
	})
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
