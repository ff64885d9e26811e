package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
	"toolhost/agenttool/validate"
	"toolhost/host"
	"toolhost/testdata/support/conform"
)

// shows are clients that show their model content, and clients that show it the structured content.
var shows = []struct {
	name string
	only bool
}{{"somebody", false}, {"codex-mcp-client", true}, {"claude-code", true}, {"Claude Code", true}, {"", false}}

// TestResults: for every client, the structured content of every tool is what its output schema says, and all that the
// tool had to say is where that client shows it; MCP-13.
func TestResults(t *testing.T) {
	conform.Held(t, "MCP-13")
	f := newFixture(t)
	f.write("a.txt", "one\ntwo\nthree\n")
	calls := []struct {
		tool      string
		arguments map[string]any
		says      string
	}{
		{"read", map[string]any{"path": "a.txt"}, "two"},
		{"grep", map[string]any{"pattern": "t[wh]"}, "three"},
		{"glob", map[string]any{"pattern": "*.txt"}, "a.txt"},
		{"edit", map[string]any{"path": "a.txt", "edits": []any{map[string]any{"old_string": "two", "new_string": "2"}}}, "+2"},
		{"edit", map[string]any{"path": "a.txt", "edits": []any{map[string]any{"old_string": "2", "new_string": "two"}}}, "+two"},
		{"write", map[string]any{"path": "b.txt", "content": "new"}, "b.txt"},
	}
	for _, revision := range revisions {
		for _, who := range shows {
			if who.name == "" && isModern(revision) {
				continue // it must say who it is
			}
			c := f.client(who.name, revision, nil)
			schemas := outputSchemas(t, c)
			for _, call := range calls {
				res := f.call(c, call.tool, call.arguments)
				told := structuredOf(t, res)
				if schema := schemas[call.tool]; res.IsError || schema != nil && schema.Check(told) != nil {
					t.Errorf("%s, %s: %s, %v", who.name, call.tool, told, res.IsError)
				}
				if who.only && !strings.Contains(string(told), jsonOf(call.says)) || !strings.Contains(strings.Join(texts(res), ""), call.says) {
					t.Errorf("%s, %s: %q is not in %s and %q", who.name, call.tool, call.says, told, texts(res))
				}
			}
		}
	}
}

// jsonOf is a text as it stands within a JSON string.
func jsonOf(text string) string {
	b, _ := agenttool.Encode(text)
	return strings.Trim(string(b), `"`)
}

func outputSchemas(t *testing.T, c *sdk.ClientSession) map[string]*validate.Schema {
	t.Helper()
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*validate.Schema{}
	for _, tool := range list.Tools {
		b, _ := json.Marshal(tool.OutputSchema)
		if tool.OutputSchema == nil {
			continue
		}
		if found[tool.Name], err = validate.Compile(b); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func structuredOf(t *testing.T, res *sdk.CallToolResult) json.RawMessage {
	t.Helper()
	b, err := agenttool.Encode(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTextOnce: a large text comes once, where the client shows it.
func TestTextOnce(t *testing.T) {
	f := newFixture(t)
	f.write("big.txt", strings.Repeat("nothing but words in a line, forty bytes\n", 1000))
	for _, who := range shows[:4] {
		t.Run(who.name, func(t *testing.T) {
			res := f.call(f.client(who.name, "", nil), "read", map[string]any{"path": "big.txt", "limit": 2000})
			b, err := json.Marshal(res)
			if err != nil {
				t.Fatal(err)
			}
			all, inStructured := strings.Count(string(b), "forty bytes"), strings.Count(string(structuredOf(t, res)), "forty bytes")
			if all < 200 || len(b) > 50*all+1000 {
				t.Errorf("%d lines in %d bytes", all, len(b))
			}
			if inStructured != 0 && inStructured != all || (inStructured == all) != who.only {
				t.Errorf("%d of %d lines are in structured content", inStructured, all)
			}
			if content := strings.Join(texts(res), ""); who.only && (content == "" || len(content) > maxTwice) {
				t.Errorf("content says %q", content)
			}
		})
	}
}

// TestErrors: a tool that is none is an error of the protocol, and recorded; whatever else goes wrong is told as a
// result, without structured content; MCP-13.
func TestErrors(t *testing.T) {
	broken := &fake{name: "broken", output: `{"type":"object"}`, run: func(context.Context, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Structured: map[string]any{"a": 1}}, errors.New("it broke")
	}}
	f := newFixture(t, adding(broken))
	c := f.client("codex", "", nil)
	_, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "no_such\x1b[2Jtool"})
	if errorCode(err) != -32602 || !strings.Contains(err.Error(), "read") || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("an unknown tool: %v", err)
	}
	if all := f.invocations(); len(all) != 1 || all[0].Status != agenttool.StatusFailed {
		t.Errorf("the record of an unknown tool: %+v", all)
	}
	tests := []struct {
		name, tool string
		arguments  any
		class      agenttool.ErrorClass
	}{
		{"a schema that is not met", "read", map[string]any{"pith": "a"}, agenttool.SchemaValidationFailed},
		{"no arguments", "read", nil, agenttool.SchemaValidationFailed},
		{"a bound that clients are not told", "read", map[string]any{"path": "a", "limit": 0}, agenttool.SchemaValidationFailed},
		{"a bad value", "grep", map[string]any{"pattern": "[z-a]"}, agenttool.InvalidArguments},
		{"the tool fails", "broken", nil, agenttool.ExecutionFailed},
		{"nobody may", "write", map[string]any{"path": "/etc/toolhost-test", "content": ""}, agenttool.ApprovalRejected},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := f.call(c, tt.tool, tt.arguments)
			if !res.IsError || res.StructuredContent != nil || len(texts(res)) == 0 || res.Meta[metaErrorClass] != string(tt.class) || res.Meta[metaErrorCode] == "" {
				t.Errorf("%+v, %q", res, texts(res))
			}
		})
	}
}

// TestAlias: a tool can be called by its aliases, which are not listed.
func TestAlias(t *testing.T) {
	f := newFixture(t, adding(&fake{name: "new_name", output: `{"type":"object"}`}))
	res := f.call(f.client("test", "", nil), "old_new_name", nil)
	if res.IsError || texts(res)[0] != "done" || res.Meta[metaTool] != "test.new_name" {
		t.Errorf("%+v", res)
	}
}

// TestArgumentsThatAreNone: arguments that are no object are refused and end nothing.
func TestArgumentsThatAreNone(t *testing.T) {
	f := newFixture(t)
	f.write("a.txt", "hello")
	r := f.raw()
	for _, arguments := range []any{"x", 3, []any{"path"}, true, json.RawMessage(`{"path":"a.txt","path":"a.txt"}`)} {
		answer := <-r.start("tools/call", map[string]any{"name": "read", "arguments": arguments})
		var res struct {
			IsError bool `json:"isError"`
		}
		if errorCode(answer.Error) == 0 && (json.Unmarshal(answer.Result, &res) != nil || !res.IsError) {
			t.Errorf("%v: %s", arguments, answer.Result)
		}
	}
	if res := f.call(f.client("test", "", nil), "read", map[string]any{"path": "a.txt"}); res.IsError {
		t.Errorf("%+v", res)
	}
}

// TestBlocks: what is no text stays what it is, whatever the client shows.
func TestBlocks(t *testing.T) {
	pixel := base64.StdEncoding.EncodeToString([]byte("\x89PNG"))
	picture := &fake{name: "picture", output: `{"type":"object"}`, run: func(context.Context, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{
			agenttool.Text("a picture"), {Type: "image", Data: pixel, MediaType: "image/png"}, {Type: "image", Data: "no base64"},
			{Type: "diff", Diff: "+line"}, {Type: "audio", Data: pixel, MediaType: "audio/wav"}, {Type: "log", Text: "logged"},
		}}, nil
	}}
	f := newFixture(t, adding(picture))
	for _, who := range shows[:2] {
		res := f.call(f.client(who.name, "", nil), "picture", nil)
		var image *sdk.ImageContent
		var audio *sdk.AudioContent
		for _, b := range res.Content {
			switch b := b.(type) {
			case *sdk.ImageContent:
				image = b
			case *sdk.AudioContent:
				audio = b
			}
		}
		if len(res.Content) != 3 || texts(res)[0] != "a picture\n+line\nlogged" || image == nil || string(image.Data) != "\x89PNG" || audio == nil {
			t.Errorf("%s: %+v", who.name, res.Content)
		}
	}
}

// TestResultMeta: a result says where its records are, under keys of our own; MCP-20.
func TestResultMeta(t *testing.T) {
	conform.Held(t, "MCP-20")
	f := newFixture(t)
	f.write("a.txt", "hello")
	res := f.call(f.client("test", "", nil), "read", map[string]any{"path": "a.txt"})
	inv := f.invocations()[0]
	if res.Meta[metaInvocation] != string(inv.InvocationID) || res.Meta[metaTool] != "toolhost.read" || res.Meta[metaStatus] != "succeeded" {
		t.Errorf("%v", res.Meta)
	}
	if refs, ok := res.Meta[metaDecisions].([]any); !ok || len(refs) != 1 || refs[0] != string(inv.PermissionDecisionRefs[0]) {
		t.Errorf("decisions %v, want %v", res.Meta[metaDecisions], inv.PermissionDecisionRefs)
	}
	for key := range res.Meta {
		if !strings.HasPrefix(key, metaPrefix) && key != sdk.MetaKeyServerInfo {
			t.Errorf("a key of %q", key)
		}
	}
	if left := resultMeta(host.Completion{Job: "j1"}); left[metaJob] != "j1" || res.Meta[metaJob] != nil {
		t.Errorf("job %v, want j1; without one %v", left[metaJob], res.Meta[metaJob])
	}
}
