package shell

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolhost/agenttool"
	"toolhost/testdata/support/conform"
	"toolhost/testdata/support/recordtest"
)

func TestBindRefuses(t *testing.T) {
	tests := []struct {
		name, input string
		class       agenttool.ErrorClass
		code        string
	}{
		{"empty command", `{"command":""}`, agenttool.InvalidArguments, "empty_command"},
		{"NUL byte", `{"command":"printf a\u0000b"}`, agenttool.InvalidArguments, "nul_in_command"},
		{"longer than an argument can be", `{"command":"` + strings.Repeat("é", 65536) + `"}`,
			agenttool.InvalidArguments, "command_too_long"},
		{"negative timeout", `{"command":"ls","timeout_ms":-1}`, agenttool.InvalidArguments, "bad_timeout"},
		{"timeout over an hour", `{"command":"ls","timeout_ms":3600001}`, agenttool.InvalidArguments, "bad_timeout"},
		{"NUL in cwd", `{"command":"ls","cwd":"a\u0000"}`, agenttool.InvalidArguments, "bad_path"},
		{"unknown field", `{"command":"ls","sandbox":false}`, agenttool.InvalidArguments, "bad_input"},
		{"size of no terminal", `{"command":"ls","columns":80}`, agenttool.InvalidArguments, "no_terminal"},
	}
	b := newBench(t, Options{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := b.tool.Bind(b.scope, json.RawMessage(tt.input))
			want(t, err, tt.class, tt.code)
		})
	}
}

// AT-210, AT-211: the facts of a command are the classifier's, and where it starts.
func TestFacts(t *testing.T) {
	conform.Held(t, "AT-210")
	b := newBench(t, Options{})
	f := b.bind(t, cmd("git status --short")).Facts()
	if f.ReadOnly != agenttool.Yes || f.OpenWorld != agenttool.No || f.Dir == nil || f.Dir.Resolved != b.dir {
		t.Errorf("facts = %+v", f)
	}
	if want := [][]string{{"git", "status", "--short"}}; !reflect.DeepEqual(f.Commands, want) {
		t.Errorf("Commands = %q, want %q", f.Commands, want)
	}
	if f := b.bind(t, cmd("rm -rf x")).Facts(); f.ReadOnly == agenttool.Yes || f.Destructive != agenttool.Yes {
		t.Errorf("facts of rm = %+v", f)
	}
	if f := b.bind(t, cmd("frobnicate")).Facts(); f.ReadOnly != agenttool.Unknown || f.OpenWorld != agenttool.Unknown || len(f.Reasons) == 0 {
		t.Errorf("facts of an unknown program = %+v", f)
	}
}

// TestPlantedProgram: a program in the workspace is not the one that was judged, even if PATH leads there.
func TestPlantedProgram(t *testing.T) {
	b := newBench(t, Options{})
	bin := filepath.Join(b.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho planted\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.tool = New(b.w, Options{Environ: []string{"PATH=" + bin + ":/usr/bin:/bin"}})[0]
	c := b.bind(t, cmd("git status")).(agenttool.Preflighter)
	if e := (*agenttool.Error)(nil); !errors.As(c.Preflight(t.Context()), &e) || e.Code != "planted_program" {
		t.Errorf("a planted git: %v", c.Preflight(t.Context()))
	}
	c = b.bind(t, cmd("git pull")).(agenttool.Preflighter)
	if err := c.Preflight(t.Context()); err != nil {
		t.Errorf("what was asked about runs as it was asked: %v", err)
	}
}

// AT-089: a normalised input binds to itself.
func TestBindingAgainChangesNothing(t *testing.T) {
	b := newBench(t, Options{})
	for _, in := range []map[string]any{
		cmd("ls"),
		{"command": "ls", "cwd": "sub/../sub", "timeout_ms": 5, "description": "look"},
		{"command": "ls", "cwd": "~/x"},
	} {
		raw, _ := json.Marshal(in)
		first, err := b.tool.Bind(b.scope, raw)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := agenttool.Encode(first.Input())
		if err != nil {
			t.Fatal(err)
		}
		moved := b.scope
		moved.Dir = "/elsewhere"
		second, err := b.tool.Bind(moved, encoded)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(first.Input(), second.Input()) {
			t.Errorf("bound %+v, then %+v", first.Input(), second.Input())
		}
	}
}

// AT-001, AT-002, AT-007, AT-008: the records satisfy the published schemas and refer to each other.
func TestRecordsValidate(t *testing.T) {
	conform.Held(t, "AT-002", "AT-008")
	d := newBench(t, Options{}).tool.Describe()
	for kind, record := range map[recordtest.Kind]any{
		recordtest.KindDeclaration: d.Declaration, recordtest.KindInterface: d.Interface,
		recordtest.KindExecutionProfile: d.Execution, recordtest.KindPermissionProfile: d.Permission,
	} {
		encoded, err := agenttool.Encode(record)
		if err != nil {
			t.Fatal(err)
		}
		for _, problem := range recordtest.Record(kind, encoded) {
			t.Errorf("%s: %v", kind, problem)
		}
	}
	refs := []string{d.Declaration.InterfaceRef, d.Declaration.ExecutionProfileRef, d.Declaration.PermissionProfileRef}
	ids := []string{d.Interface.InterfaceID, d.Execution.ExecutionProfileID, d.Permission.PermissionProfileID}
	if !slices.Equal(refs, ids) {
		t.Errorf("refs %q, ids %q", refs, ids)
	}
}

// AT-463: the shell's own facts are in the execution profile.
func TestExecutionProfileStatesTheShell(t *testing.T) {
	conform.Held(t, "AT-463")
	encoded, err := agenttool.Encode(newBench(t, Options{}).tool.Describe().Execution)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"parsing_strategy", "cwd_policy", "env_policy", "exit_code_interpretation",
		"timeout_behaviour", "classifier_input"} {
		if s, _ := fields[name].(string); s == "" {
			t.Errorf("%s is missing in %s", name, encoded)
		}
	}
	if s, _ := fields["parsing_strategy"].(string); !strings.Contains(s, "unknown") {
		t.Errorf("parsing_strategy does not say what becomes of text that is not understood: %s", s)
	}
	for _, name := range []string{"sandboxed", "supports_resume"} {
		if fields[name] != false {
			t.Errorf("%s = %v, want false", name, fields[name])
		}
	}
}

func TestSchemaIsSmallAndAgreesWithBind(t *testing.T) {
	b := newBench(t, Options{})
	d := b.tool.Describe().Declaration
	if n := len(d.InputContract.ModelInputSchema) + len(d.Description); n > 1536 {
		t.Errorf("schema and description have %d bytes, want at most 1,536", n)
	}
	for _, in := range []string{`{"command":"ls"}`, `{"command":"ls","cwd":"x","timeout_ms":3600000,"tty":false}`} {
		if err := validate(t, d.InputContract.ModelInputSchema, json.RawMessage(in)); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		c, err := b.tool.Bind(b.scope, json.RawMessage(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if err := validate(t, d.InputContract.RuntimeInputSchema, c.Input()); err != nil {
			t.Errorf("runtime input %s: %v", in, err)
		}
	}
	for _, in := range []string{`{}`, `{"command":""}`, `{"command":"ls","x":1}`, `{"command":"ls","timeout_ms":0}`} {
		if validate(t, d.InputContract.ModelInputSchema, json.RawMessage(in)) == nil {
			t.Errorf("%s satisfies the schema", in)
		}
	}
}

// validate checks the JSON of v against a schema.
func validate(t *testing.T, schema []byte, v any) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(schema)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := agenttool.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(encoded)))
	if err != nil {
		t.Fatal(err)
	}
	return compiled.Validate(value)
}

func TestPreflight(t *testing.T) {
	b := newBench(t, Options{})
	outside := t.TempDir()
	if err := os.Mkdir(filepath.Join(b.dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(b.dir, "out")); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, cwd, code string }{
		{"below the root", "sub", ""},
		{"absolute", b.dir, ""},
		{"missing", "nowhere", "not_found"},
		{"a file", "file", "not_a_directory"},
		{"outside", outside, "cwd_outside_workspace"},
		{"outside by dots", "..", "cwd_outside_workspace"},
		{"outside by a link", "out", "cwd_outside_workspace"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := b.bind(t, map[string]any{"command": "pwd >> ran", "cwd": tt.cwd})
			err := c.(agenttool.Preflighter).Preflight(t.Context())
			_, runErr := c.Run(t.Context(), &fakeReporter{})
			if tt.code == "" {
				if err != nil || runErr != nil {
					t.Fatalf("preflight %v, run %v", err, runErr)
				}
				return
			}
			want(t, err, agenttool.InvalidArguments, tt.code)
			want(t, runErr, agenttool.InvalidArguments, tt.code) // whoever forgets the preflight
		})
	}
}

func TestNeverLocatedNeverRuns(t *testing.T) {
	b := newBench(t, Options{})
	c, err := b.tool.Bind(b.scope, json.RawMessage(`{"command":"touch ran"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context(), &fakeReporter{}); err == nil {
		t.Error("a call that was never located ran")
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("the command ran")
	}
}

// A link that takes the directory's place between the decision and the start is an error, never a detour.
func TestSwappedDirectoryIsNotEntered(t *testing.T) {
	b := newBench(t, Options{})
	outside := t.TempDir()
	sub := filepath.Join(b.dir, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	c := b.bind(t, map[string]any{"command": "touch ran", "cwd": "sub"})
	if err := os.Remove(sub); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, sub); err != nil {
		t.Fatal(err)
	}
	_, err := c.Run(t.Context(), &fakeReporter{})
	want(t, err, agenttool.PolicyBlocked, "path_changed")
	if _, err := os.Stat(filepath.Join(outside, "ran")); err == nil {
		t.Error("the command ran outside")
	}
}

func TestBashIsFoundOutsideTheWorkspaceOnly(t *testing.T) {
	b := newBench(t, Options{Bash: "/no-such-name-of-toolhost/bash"})
	e := want(t, b.run(t, cmd("true")).err, agenttool.SetupRequired, "bash_not_found")
	if !strings.Contains(e.Message, "/no-such-name-of-toolhost/bash") {
		t.Errorf("message %q does not say where it was looked for", e.Message)
	}
	planted := filepath.Join(b.dir, "bin")
	tl := New(b.w, Options{Environ: []string{"PATH=.:" + planted + ":/opt/bin"}})[0].(*tool)
	if got, want := tl.searchPath(), []string{"/opt/bin/bash"}; !slices.Equal(got, want) {
		t.Errorf("searchPath = %q, want %q", got, want)
	}
}

// A working directory whose name is stored in another Unicode form is named as the tools take it.
func TestWorkingDirInAnotherForm(t *testing.T) {
	b := newBench(t, Options{})
	if err := os.Mkdir(filepath.Join(b.dir, "cafe\u0301"), 0o777); err != nil {
		t.Fatal(err)
	}
	call := b.bind(t, map[string]any{"command": "true", "cwd": "caf\u00e9"})
	err := call.(agenttool.Preflighter).Preflight(t.Context())
	if err == nil || !strings.Contains(err.Error(), `the same name in another Unicode form does: $'cafe\xcc\x81'`) {
		t.Errorf("%v", err)
	}
	call = b.bind(t, map[string]any{"command": "true", "cwd": `$'cafe\xcc\x81'`})
	if err := call.(agenttool.Preflighter).Preflight(t.Context()); err != nil {
		t.Error(err)
	}
}
