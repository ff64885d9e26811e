package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
	"toolhost/tools/workspace"
)

// project is a workspace with the three tools on it.
type project struct {
	t         testing.TB
	dir       string
	workspace *workspace.Workspace
	tools     map[string]agenttool.Tool
	schemas   map[string]*jsonschema.Schema
}

func newProject(t testing.TB, o Options) *project { return projectIn(t, t.TempDir(), o) }

func projectIn(t testing.TB, dir string, o Options) *project { return withPrivate(t, dir, o) }

// withPrivate returns a project with directories that calls never see.
func withPrivate(t testing.TB, dir string, o Options, private ...string) *project {
	t.Helper()
	w, err := workspace.Open([]string{dir}, private...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	p := &project{t: t, dir: dir, workspace: w, tools: map[string]agenttool.Tool{}, schemas: map[string]*jsonschema.Schema{}}
	for _, tool := range New(w, o) {
		d := tool.Describe()
		p.tools[d.Interface.Name] = tool
		p.schemas[d.Interface.Name+".in"] = compile(t, d.Interface.ModelInputSchema)
		p.schemas[d.Interface.Name+".out"] = compile(t, d.Interface.OutputSchema)
	}
	return p
}

func compile(t testing.TB, schema []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatalf("schema %s: %v", schema, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("mem:///schema", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///schema")
	if err != nil {
		t.Fatalf("schema %s: %v", schema, err)
	}
	return s
}

func (p *project) path(name string) string { return filepath.Join(p.dir, name) }

func (p *project) put(name, content string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o777); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) get(name string) string {
	p.t.Helper()
	b, err := os.ReadFile(p.path(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// names lists a directory of the project.
func (p *project) names(dir string) []string {
	p.t.Helper()
	entries, err := os.ReadDir(p.path(dir))
	if err != nil {
		p.t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// bind binds the input and locates its paths, as the host does.
func (p *project) bind(tool string, input any) (agenttool.Call, error) {
	p.t.Helper()
	raw, err := agenttool.Encode(input)
	if err != nil {
		p.t.Fatal(err)
	}
	scope := agenttool.Scope{Dir: p.dir, Roots: []string{p.dir}}
	call, err := p.tools[tool].Bind(scope, raw)
	if err != nil {
		return nil, err
	}
	p.validate(tool+".in", raw)
	for _, paths := range [][]agenttool.Path{call.Facts().Reads, call.Facts().Writes} {
		for i := range paths {
			if err := p.workspace.Locate(&paths[i]); err != nil {
				return nil, err
			}
		}
	}
	return call, nil
}

func (p *project) mustBind(tool string, input any) agenttool.Call {
	p.t.Helper()
	call, err := p.bind(tool, input)
	if err != nil {
		p.t.Fatal(err)
	}
	return call
}

func (p *project) validate(schema string, raw []byte) {
	p.t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := p.schemas[schema].Validate(v); err != nil {
		p.t.Errorf("%s does not conform to %s: %v", raw, schema, err)
	}
}

// run binds and runs, and checks the structured output against its schema.
func (p *project) run(tool string, input any) (agenttool.Output, error) {
	p.t.Helper()
	call, err := p.bind(tool, input)
	if err != nil {
		return agenttool.Output{}, err
	}
	out, err := call.Run(context.Background(), nil)
	if out.Shown != nil {
		out.Shown(out.Content)
	}
	if out.Structured != nil {
		raw, encodeErr := agenttool.Encode(out.Structured)
		if encodeErr != nil {
			p.t.Fatal(encodeErr)
		}
		p.validate(tool+".out", raw)
	}
	return out, err
}

func (p *project) read(name string) (readResult, string) {
	p.t.Helper()
	return p.readInput(in{"path": name})
}

func (p *project) readInput(input in) (readResult, string) {
	p.t.Helper()
	out, err := p.run("read", input)
	if err != nil {
		p.t.Fatalf("read %v: %v", input, err)
	}
	return out.Structured.(readResult), out.Content[0].Text
}

func (p *project) write(name, content string) (changeResult, error) {
	p.t.Helper()
	out, err := p.run("write", in{"path": name, "content": content})
	r, _ := out.Structured.(changeResult)
	return r, err
}

func (p *project) edit(name, old, now string) (changeResult, error) {
	p.t.Helper()
	out, err := p.run("edit", in{"path": name, "old_string": old, "new_string": now})
	r, _ := out.Structured.(changeResult)
	return r, err
}

// in is the input of a call.
type in map[string]any

// wantError checks class, code and that the message holds every one of the words.
func wantError(t testing.TB, err error, class agenttool.ErrorClass, code string, words ...string) {
	t.Helper()
	var e *agenttool.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v, want %s/%s", err, class, code)
	}
	if e.Class != class || e.Code != code {
		t.Errorf("error = %s/%s (%s), want %s/%s", e.Class, e.Code, e.Message, class, code)
	}
	for _, word := range words {
		if !strings.Contains(e.Message, word) {
			t.Errorf("message %q does not say %q", e.Message, word)
		}
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestRecordsConform(t *testing.T) {
	conform.Held(t, "AT-297", "AT-421", "AT-422", "AT-423", "AT-465", "X04", "X19")
	p := newProject(t, Options{})
	for name, tool := range p.tools {
		d := tool.Describe()
		for kind, record := range map[recordtest.Kind]any{
			recordtest.KindDeclaration: d.Declaration, recordtest.KindInterface: d.Interface,
			recordtest.KindExecutionProfile: d.Execution, recordtest.KindPermissionProfile: d.Permission,
		} {
			for _, problem := range recordtest.Record(kind, must[[]byte](t)(agenttool.Encode(record))) {
				t.Errorf("%s %s: %v", name, kind, problem)
			}
		}
		if d.Declaration.InterfaceRef != d.Interface.InterfaceID ||
			d.Declaration.ExecutionProfileRef != d.Execution.ExecutionProfileID ||
			d.Declaration.PermissionProfileRef != d.Permission.PermissionProfileID ||
			d.Interface.ExecutionProfileRef != d.Execution.ExecutionProfileID ||
			d.Interface.PermissionProfileRef != d.Permission.PermissionProfileID {
			t.Errorf("%s: the references between its records do not hold", name)
		}
		raw := must[[]byte](t)(agenttool.Encode(d.Interface))
		for _, fact := range []string{"is_read_only", "is_destructive", "is_open_world", "is_concurrency_safe"} {
			if !bytes.Contains(raw, []byte(`"`+fact+`":`)) {
				t.Errorf("%s: %s is not stated", name, fact)
			}
		}
	}
	if got := p.tools["read"].Describe().Interface.PersistencePolicyRef; got != "never_persist" { // AT-297
		t.Errorf("read: persistence_policy_ref = %q", got)
	}
}

func TestSchemasAreShort(t *testing.T) {
	size := 0
	for _, tool := range newProject(t, Options{}).tools {
		d := tool.Describe()
		size += len(d.Interface.ModelInputSchema) + len(d.Interface.OutputSchema) + len(d.Declaration.Description)
	}
	if size > 3584 {
		t.Errorf("schemas and descriptions take %d bytes, more than 3.5 KiB", size)
	}
}

func TestFacts(t *testing.T) {
	conform.Held(t, "AT-384")
	p := newProject(t, Options{})
	tests := []struct {
		tool                  string
		input                 in
		readOnly, destructive agenttool.Fact
		reads, writes         int
		inferred              []string
	}{
		{"read", in{"path": "a"}, agenttool.Yes, agenttool.No, 1, 0, nil},
		{"write", in{"path": "a", "content": ""}, agenttool.No, agenttool.Yes, 0, 1, []string{"destructive"}},
		{"edit", in{"path": "a", "old_string": "x", "new_string": "y"}, agenttool.No, agenttool.No, 1, 1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.tool, func(t *testing.T) {
			f := p.mustBind(tt.tool, tt.input).Facts()
			if f.ReadOnly != tt.readOnly || f.Destructive != tt.destructive || !slices.Equal(f.Inferred, tt.inferred) {
				t.Errorf("read_only %v, destructive %v, inferred %v", f.ReadOnly, f.Destructive, f.Inferred)
			}
			if len(f.Reads) != tt.reads || len(f.Writes) != tt.writes {
				t.Errorf("reads %v, writes %v", f.Reads, f.Writes)
			}
			if f.ConcurrencySafe != agenttool.Yes || f.PathsComplete != agenttool.Yes {
				t.Errorf("concurrency_safe %v, paths_complete %v", f.ConcurrencySafe, f.PathsComplete)
			}
			for _, no := range []agenttool.Fact{f.OpenWorld, f.Interactive, f.LongRunning, f.ObservesHost} {
				if no != agenttool.No {
					t.Errorf("facts %+v: want open_world, interactive, long_running and observes_host no", f)
				}
			}
		})
	}
}

// Binding the normalised input again gives the same call: what hooks and prompts hand back is bound anew.
func TestInputIsStable(t *testing.T) {
	p := newProject(t, Options{})
	p.put("d/x", "")
	inputs := map[string]in{
		"read":  {"path": "d/../a", "offset": -3},
		"write": {"path": "a", "content": "x\r\n"},
		"edit":  {"path": "./a", "old_string": "x", "new_string": "y", "replace_all": true},
	}
	for tool, input := range inputs {
		first := must[[]byte](t)(agenttool.Encode(p.mustBind(tool, input).Input()))
		again := must[[]byte](t)(agenttool.Encode(p.mustBind(tool, json.RawMessage(first)).Input()))
		if !bytes.Equal(first, again) {
			t.Errorf("%s: %s was bound again as %s", tool, first, again)
		}
		if !bytes.Contains(first, []byte(`"path":"`+p.dir)) {
			t.Errorf("%s: input %s has no absolute path", tool, first)
		}
	}
}

func TestBindRefuses(t *testing.T) {
	p := newProject(t, Options{})
	pair := in{"old_string": "a", "new_string": "b"}
	many := slices.Repeat([]any{pair}, 101)
	tests := []struct {
		name  string
		tool  string
		input any
		words string
	}{
		{"offset 0", "read", in{"path": "a", "offset": 0}, "lines count from 1"},
		{"limit too large", "read", in{"path": "a", "limit": 10001}, "10,000"},
		{"no path", "read", in{"path": ""}, "empty"},
		{"NUL in path", "read", in{"path": "a\x00b"}, "NUL"},
		{"write to a directory's name", "write", in{"path": "d/", "content": ""}, "directory"},
		{"both forms", "edit", in{"path": "a", "old_string": "a", "new_string": "b", "edits": []any{pair}}, "not both"},
		{"neither form", "edit", in{"path": "a"}, "old_string and new_string"},
		{"no edits", "edit", in{"path": "a", "edits": []any{}}, "nothing to do"},
		{"too many edits", "edit", in{"path": "a", "edits": many}, "101"},
		{"half a pair", "edit", in{"path": "a", "old_string": "a"}, "belong together"},
		{"empty old_string", "edit", in{"path": "a", "old_string": "", "new_string": "b"}, "use write"},
		{"same strings", "edit", in{"path": "a", "old_string": "b", "new_string": "b"}, "the same"},
		{"lone surrogate", "write", json.RawMessage(`{"path":"a","content":"x\ud83dy"}`), "surrogate"},
		{"lone low surrogate", "write", json.RawMessage(`{"path":"a","content":"\udc00"}`), "surrogate"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := p.bind(tt.tool, tt.input)
			if !errors.Is(err, agenttool.InvalidArguments) || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("error = %v, want invalid arguments with %q", err, tt.words)
			}
		})
	}
	for _, fine := range []string{`"\ud83d\ude00"`, `"\\ud83d"`, `"\ufffd"`, `"é\n"`} {
		if _, err := p.bind("write", json.RawMessage(`{"path":"a","content":`+fine+`}`)); err != nil {
			t.Errorf("content %s: %v", fine, err)
		}
	}
	if _, err := p.tools["write"].Bind(agenttool.Scope{Dir: "/"}, []byte("{\"path\":\"a\",\"content\":\"\xff\"}")); err == nil {
		t.Error("content that is not UTF-8 was bound")
	}
}
