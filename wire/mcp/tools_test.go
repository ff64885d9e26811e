package mcp

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/validate"
	"toolhost/host"
	"toolhost/testdata/support/conform"
	"toolhost/tools/files"
	"toolhost/tools/search"
	"toolhost/tools/shell"
)

// revisions are one of each era.
var revisions = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

var builtins = []string{"edit", "glob", "grep", "read", "shell", "shell_input", "shell_kill", "shell_output", "write"}

// TestList: every client gets the same tools in one order, with all four hints, in little room; MCP-10, MCP-11, MCP-12.
func TestList(t *testing.T) {
	f := newFixture(t, adding(&fake{name: "later"}), func(o *host.Options) { o.Tools = o.Tools[:len(o.Tools)-1] })
	var first string
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			list, err := f.client("test", revision, nil).ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
				checkDeclared(t, tool)
			}
			if !slices.Equal(names, builtins) {
				t.Errorf("the tools are %q", names)
			}
			tools, _ := json.Marshal(list.Tools)
			if first == "" {
				first = string(tools)
			}
			if string(tools) != first {
				t.Error("clients of two revisions get other tools")
			}
		})
	}
}

func checkDeclared(t *testing.T, tool *sdk.Tool) {
	t.Helper()
	if !regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`).MatchString(tool.Name) || tool.Title == "" || tool.Description == "" {
		t.Errorf("%s: title %q, description %q", tool.Name, tool.Title, tool.Description)
	}
	a, err := json.Marshal(tool.Annotations)
	if err != nil {
		t.Fatal(err)
	}
	for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		if !strings.Contains(string(a), hint) {
			t.Errorf("%s: no %s in %s", tool.Name, hint, a)
		}
	}
	for which, schema := range map[string]any{"input": tool.InputSchema, "output": tool.OutputSchema} {
		if which == "output" && tool.Name == "read" {
			continue // an image has no structured content beside it
		}
		b, _ := json.Marshal(schema)
		if _, err := validate.Compile(b); err != nil || !strings.Contains(string(b), `"type":"object"`) {
			t.Errorf("%s: %s schema %s: %v", tool.Name, which, b, err)
		}
	}
}

// TestListSize: the whole reply to tools/list has at most 10,000 bytes, ids and all.
func TestListSize(t *testing.T) {
	f := newFixture(t)
	r := f.raw()
	list := <-r.start("tools/list", nil)
	if len(list.Result) > 10_000-len(`{"jsonrpc":"2.0","id":1234567890,"result":}`) {
		t.Errorf("the list has %d bytes", len(list.Result))
	}
	t.Logf("%d bytes", len(list.Result))
	var told struct {
		ResultType string `json:"resultType"`
		TTL        *int   `json:"ttlMs"`
		Scope      string `json:"cacheScope"`
	}
	if err := json.Unmarshal(list.Result, &told); err != nil || told.TTL == nil || *told.TTL < 0 || told.Scope == "" || told.ResultType != "complete" {
		t.Errorf("%+v, %v", told, err)
	}
}

// TestCursor: an empty cursor is a cursor, one that is none is -32602; MCP-10.
func TestCursor(t *testing.T) {
	conform.Held(t, "MCP-10")
	f := newFixture(t)
	for cursor, want := range map[string]int64{"": 0, "nonsense": -32602} {
		answer := <-f.raw().start("tools/list", map[string]any{"cursor": cursor})
		if got := errorCode(answer.Error); got != want {
			t.Errorf("cursor %q: code %d, want %d", cursor, got, want)
		}
	}
}

// TestCapabilities: no logging, and a list of tools that changes with the surface; MCP-04, MCP-06.
func TestCapabilities(t *testing.T) {
	conform.Held(t, "MCP-04", "MCP-06")
	f := newFixture(t)
	for _, revision := range revisions {
		got := f.client("test", revision, nil).InitializeResult()
		b, err := json.Marshal(got.Capabilities)
		if err != nil || string(b) != `{"resources":{"subscribe":true},"tools":{"listChanged":true}}` {
			t.Errorf("%s: %s, %v", revision, b, err)
		}
		if got.Instructions != "be brief" || got.ServerInfo.Name != "toolhost" || got.ServerInfo.Version != "1.2.3" {
			t.Errorf("%s: %+v", revision, got)
		}
	}
}

// TestDeclareIsLooser: what a tool takes and gives satisfies what clients are told of it.
func TestDeclareIsLooser(t *testing.T) {
	tools := append(files.New(nil, files.Options{}), search.New(nil, nil, nil)...)
	for _, tool := range append(tools, shell.New(nil, shell.Options{})...) {
		d := tool.Describe()
		told := Declare(d)
		schema, err := validate.Compile(told.InputSchema.(json.RawMessage))
		if err != nil {
			t.Fatal(err)
		}
		for _, example := range d.Declaration.InputContract.Examples {
			var sample struct {
				Input json.RawMessage `json:"input"`
			}
			if json.Unmarshal(example, &sample) != nil || sample.Input == nil {
				sample.Input = example
			}
			if err := schema.Check(sample.Input); err != nil {
				t.Errorf("%s does not take %s: %v", told.Name, sample.Input, err)
			}
		}
		if err := schema.Check(json.RawMessage(`{"no_such_member":1}`)); err == nil {
			t.Errorf("%s takes anything", told.Name)
		}
	}
}

func TestSchemas(t *testing.T) {
	conform.Held(t, "MCP-11")
	tests := []struct{ name, native, input, output string }{
		{"order is kept, bounds are not", `{ "type":"object", "properties": {"b":{"type":"string","minLength":1}, "a":{"type":"integer","maximum":3}} }`,
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}}}`, `{"properties":{"text":{"type":"string"}},"type":"object"}`},
		{"a member may be called like a bound", `{"properties":{"maximum":{"type":"integer","minimum":0}},"required":["maximum"]}`,
			`{"properties":{"maximum":{"type":"integer"}},"required":["maximum"]}`, `{"properties":{"maximum":{"type":"integer"},"text":{"type":"string"}},"type":"object"}`},
		{"within items and choices", `{"items":{"maxLength":3},"anyOf":[{"minimum":1},true],"default":{"minimum":1}}`,
			`{"items":{},"anyOf":[{},true],"default":{"minimum":1}}`, `{"properties":{"text":{"type":"string"}},"type":"object"}`},
		{"only scalars that are always there",
			`{"required":["a","b","c","d","e","stdout","gone"],"properties":{"a":{"enum":["x"]},"b":{"enum":["x",1]},"c":{"type":["integer","null"]},"d":{"type":["string","array"]},"e":{"type":"object"},"f":{"type":"string"},"stdout":{"type":"string"}}}`,
			``, `{"properties":{"a":{"type":"string"},"c":{"type":["integer","null"]},"text":{"type":"string"}},"type":"object"}`},
		{"no schema", `3`, `3`, ``},
		{"none", ``, ``, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(inputSchema(json.RawMessage(tt.native))); tt.input != "" && got != tt.input {
				t.Errorf("input:\n%s\n%s", got, tt.input)
			}
			got := ""
			if told, there := members(json.RawMessage(tt.native)); there {
				got = string(outputSchema(told))
			}
			if got != tt.output {
				t.Errorf("output:\n%s\n%s", got, tt.output)
			}
		})
	}
}

// TestHintsAreSafe: what is not known of every input is told as the unsafe value.
func TestHintsAreSafe(t *testing.T) {
	conform.Held(t, "MCP-12")
	tests := []struct {
		name  string
		known any
		want  sdk.ToolAnnotations
	}{
		{"unknown", nil, sdk.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(true)}},
		{"computed by input", "classifier", sdk.ToolAnnotations{DestructiveHint: new(true), OpenWorldHint: new(true)}},
		{"yes", true, sdk.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(true), OpenWorldHint: new(true)}},
		{"no", false, sdk.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(false)}},
	}
	for _, tt := range tests {
		d := agenttool.Description{Interface: agenttool.Interface{StaticFacts: agenttool.StaticFacts{IsReadOnly: tt.known, IsDestructive: tt.known, IsOpenWorld: tt.known}}}
		got, _ := json.Marshal(Declare(d).Annotations)
		want, _ := json.Marshal(tt.want)
		if string(got) != string(want) {
			t.Errorf("%s: %s, want %s", tt.name, got, want)
		}
	}
}
