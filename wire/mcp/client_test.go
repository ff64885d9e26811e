package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"toolhost/agenttool"
)

// plainly serves clients as they are known.
func plainly(t *testing.T, tools ...agenttool.Tool) *fixture {
	f := newFixture(t, adding(tools...))
	f.o.Results = Results{}
	return f
}

// knownNames are the names that clients give, one for each row of the table, and an unknown one. asJSON says that the model gets the
// result as JSON.
var knownNames = []struct {
	name   string
	asJSON bool
}{
	{"claude-code", false}, {"claude-ai", false}, {"codex-mcp-client", false}, {"github-copilot-cli", false}, {"gemini-cli-mcp-client", false},
	{"qwen-code", false}, {"opencode", false}, {"Cline", true}, {"continue-cli-client", true}, {"somebody", false},
}

// view is what the model of a client gets of a result, see docs/mcp.md.
func view(t *testing.T, who string, asJSON bool, res *sdk.CallToolResult) string {
	t.Helper()
	shown := *res
	delete(shown.Meta, sdk.MetaKeyServerInfo) // of the revision, and nothing that a server can leave out
	hides := strings.HasPrefix(who, "claude") || strings.HasPrefix(who, "codex")
	if !asJSON && !(hides && res.StructuredContent != nil) {
		return strings.Join(texts(res), "\n")
	}
	var b []byte
	var err error
	if asJSON {
		b, err = json.Marshal(shown)
	} else {
		b, err = json.Marshal(res.StructuredContent)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTextOfKnownClients: the model of every known client gets at most a tenth more than the plain text.
func TestTextOfKnownClients(t *testing.T) {
	f := plainly(t)
	f.write("short.txt", "thirty bytes of text in a file")
	f.write("code.go", strings.Repeat("func \"quoted\"(a <b>, c\\d) {\n\treturn '\\n' // é\n}\n", 60))
	for _, who := range knownNames {
		c := f.client(who.name, "2025-06-18", nil)
		for _, arguments := range []map[string]any{{"path": "short.txt"}, {"path": "code.go"}, {"path": "missing.txt"}} {
			res := f.call(c, "read", arguments)
			text := strings.Join(texts(res), "\n")
			plain := view(t, who.name, who.asJSON, &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: res.IsError})
			if got := view(t, who.name, who.asJSON, res); text == "" || 10*len(got) > 11*len(plain) {
				t.Errorf("%s gets %d characters for %d: %s", who.name, len(got), len(plain), got)
			}
		}
	}
}

// TestPagesOfKnownClients: no page is larger than what its client passes on, and its end and the way to the rest are on it.
func TestPagesOfKnownClients(t *testing.T) {
	long := strings.Repeat("a line of forty characters, more or less\n", 5000)
	flood := &fake{name: "flood", run: func(context.Context, agenttool.Reporter) (agenttool.Output, error) {
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text(long + "THE END")}}, nil
	}}
	f := plainly(t, flood)
	f.write("long.txt", long)
	f.write("wide.txt", strings.Repeat("三十字\n", 9000))
	f.write("short lines.txt", strings.Repeat("x\n", 9000))
	for i := range 1100 {
		f.write(fmt.Sprintf("found%04d%s.txt", i, strings.Repeat("-", 20)), "")
	}
	calls := []struct {
		tool      string
		arguments map[string]any
		ends      string // a part of the last 300 bytes
	}{
		{"read", map[string]any{"path": "long.txt"}, "next offset"},
		{"read", map[string]any{"path": "long.txt", "limit": 5000}, "next offset"},
		{"read", map[string]any{"path": "wide.txt"}, "next offset"},
		{"read", map[string]any{"path": "short lines.txt"}, "next offset"},
		{"grep", map[string]any{"pattern": "o|x", "limit": 5000}, "next offset"},
		{"grep", map[string]any{"pattern": "forty", "before": 3, "after": 3, "limit": 2000}, "next offset"},
		{"glob", map[string]any{"pattern": "found*", "limit": 5000}, "next offset"},
		{"flood", nil, "THE END\n[cut; the whole output, 205007 bytes, is toolhost://"},
	}
	seen := map[int]bool{}
	for _, who := range knownNames {
		c, takes := f.client(who.name, "2025-06-18", nil), f.o.Results.clientOf(&sdk.Implementation{Name: who.name}, nil)
		if seen[takes.bytes*takes.lines] {
			continue
		}
		seen[takes.bytes*takes.lines] = true
		for _, call := range calls {
			res := f.call(c, call.tool, call.arguments)
			text := strings.Join(texts(res), "\n")
			if res.IsError || len(text) > takes.bytes || strings.Count(text, "\n") >= takes.lines {
				t.Errorf("%s, %s %v: %d bytes, %d lines: %.100s", who.name, call.tool, call.arguments, len(text), strings.Count(text, "\n"), text)
			}
			if len(text) < takes.bytes/4 && strings.Count(text, "\n") < takes.lines/4 {
				t.Errorf("%s, %s %v: only %d bytes", who.name, call.tool, call.arguments, len(text))
			}
			if !strings.Contains(text[max(0, len(text)-300):], call.ends) {
				t.Errorf("%s, %s: it ends with %q", who.name, call.tool, text[max(0, len(text)-300):])
			}
		}
	}
}

// TestStructuredOnRequest: a client that asks for structured content and records gets both, and no structured content beside an image.
func TestStructuredOnRequest(t *testing.T) {
	picture := &fake{name: "picture", output: `{"type":"object"}`, run: func(context.Context, agenttool.Reporter) (agenttool.Output, error) {
		data := base64.StdEncoding.EncodeToString([]byte("\x89PNG"))
		return agenttool.Output{Content: []agenttool.Content{agenttool.Text("a picture"), {Type: "image", Data: data, MediaType: "image/png"}}}, nil
	}}
	f := plainly(t, picture)
	f.write("a.txt", "text")
	wish := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{Experimental: map[string]any{
		wishesCapability: map[string]any{"structured": true, "meta": true, "bytes": 1000},
	}}}
	for _, revision := range revisions {
		plain, asks := f.client("codex-mcp-client", revision, nil), f.client("program", revision, wish)
		if res := f.call(plain, "glob", map[string]any{"pattern": "*"}); res.StructuredContent != nil || res.Meta[metaStatus] != nil || len(outputSchemas(t, plain)) > 0 {
			t.Errorf("%s: unasked: %+v", revision, res)
		}
		if res := f.call(asks, "glob", map[string]any{"pattern": "*"}); res.StructuredContent == nil || res.Meta[metaStatus] == nil || len(outputSchemas(t, asks)) == 0 {
			t.Errorf("%s: asked: %+v", revision, res)
		}
		for _, c := range []*sdk.ClientSession{plain, asks} {
			if res := f.call(c, "picture", nil); res.StructuredContent != nil || len(res.Content) != 2 {
				t.Errorf("%s: %+v", revision, res)
			}
		}
	}
}

// TestAlwaysLoad: Claude Code is told not to defer the tools; nobody else gets the mark.
func TestAlwaysLoad(t *testing.T) {
	f := plainly(t)
	for name, want := range map[string]bool{"claude-code": true, "claude-ai": false, "codex": false} {
		list, err := f.client(name, "", nil).ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if (tool.Meta[alwaysLoad] == true) != want || tool.OutputSchema != nil {
				t.Errorf("%s, %s: %v, %v", name, tool.Name, tool.Meta, tool.OutputSchema)
			}
		}
		if b, _ := json.Marshal(list); len(b) > 10_000 {
			t.Errorf("%s: the list has %d bytes", name, len(b))
		}
	}
}

// TestWaits: a client that is not known to wait longer waits 50 s for a command.
func TestWaits(t *testing.T) {
	f := plainly(t)
	for name, want := range map[string]time.Duration{"": usualWait, "Cline": usualWait, "codex": provenWait, "claude-code": 10 * time.Minute} {
		c := f.o.Results.clientOf(&sdk.Implementation{Name: name}, nil)
		if got := time.Until(c.capacity().Until).Round(time.Second); got != want {
			t.Errorf("%s waits %v, want %v", name, got, want)
		}
	}
	f.o.Results = Results{WaitMS: new(int64), Bytes: new(int)}
	if c := f.o.Results.clientOf(nil, nil); c.wait != 0 || c.bytes != 0 || c.lines != usualLines || !c.capacity().Until.IsZero() {
		t.Errorf("%+v", c)
	}
}

// TestParseResults reads what serve --results takes.
func TestParseResults(t *testing.T) {
	r, err := ParseResults("structured, meta,bytes=30000,lines=0,wait=2m")
	if err != nil || !*r.Structured || !*r.Meta || *r.Bytes != 30_000 || *r.Lines != 0 || *r.WaitMS != 120_000 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, wrong := range []string{"", "structured=no", "bytes", "bytes=-1", "bytes=10", "lines=x", "wait=5", "wait=-1s", "chars=7"} {
		if _, err := ParseResults(wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}
