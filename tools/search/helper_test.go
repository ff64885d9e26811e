package search

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolhost/agenttool"
	"toolhost/tools/search/engine"
	"toolhost/tools/seen"
	"toolhost/tools/workspace"
)

// tree is a directory with files for a test.
type tree struct {
	dir    string
	ws     *workspace.Workspace
	engine *engine.Engine
	seen   *seen.Ledger
	scope  agenttool.Scope
}

// plant makes a tree of files; a name that ends in a slash is a directory.
func plant(t testing.TB, files map[string]string) tree {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		full := filepath.Join(dir, name)
		parent := filepath.Dir(full)
		if strings.HasSuffix(name, "/") {
			parent = full
		}
		if err := os.MkdirAll(parent, 0o755); err != nil {
			t.Fatal(err)
		}
		if parent == full {
			continue
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tr, err := open(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// open returns the tree of files that are there.
func open(t testing.TB, dir string) (tree, error) {
	ws, err := workspace.Open([]string{dir})
	if err != nil {
		return tree{}, err
	}
	t.Cleanup(ws.Close)
	e := engine.New(engine.Options{})
	t.Cleanup(e.Close)
	return tree{dir, ws, e, &seen.Ledger{}, agenttool.Scope{Dir: dir, Roots: []string{dir}, Home: "/nowhere"}}, nil
}

// patient are limits that a busy machine does not reach.
var patient = limits{time.Minute, time.Minute, time.Minute, 0, time.Minute}

func (tr tree) newGrep() agenttool.Tool { return grepTool{session{tr.ws, tr.engine, tr.seen, patient}} }

func (tr tree) newGlob() agenttool.Tool { return globTool{session{tr.ws, tr.engine, tr.seen, patient}} }

// bind binds input, given as JSON or as a value, and locates its paths.
func (tr tree) bind(t testing.TB, tool agenttool.Tool, input any) (agenttool.Call, error) {
	t.Helper()
	raw, ok := input.(string)
	if !ok {
		b, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		raw = string(b)
	}
	checkSchema(t, tool.Describe().Declaration.InputContract.ModelInputSchema, []byte(raw))
	call, err := tool.Bind(tr.scope, json.RawMessage(raw))
	if err != nil {
		return nil, err
	}
	for i := range call.Facts().Reads {
		if err := tr.ws.Locate(&call.Facts().Reads[i]); err != nil {
			return nil, err
		}
	}
	return call, nil
}

// run runs a call and checks what holds for every output.
func run(t testing.TB, tool agenttool.Tool, call agenttool.Call) (agenttool.Output, error) {
	t.Helper()
	if err := call.(agenttool.Preflighter).Preflight(context.Background()); err != nil {
		return agenttool.Output{}, err
	}
	out, err := call.Run(context.Background(), nil)
	if err != nil {
		return out, err
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 1<<20 {
		t.Errorf("output of %d bytes is above 1 MiB", len(b))
	}
	if len(out.Content) != 1 || out.Content[0].Text == "" || out.Summary == "" {
		t.Errorf("output has no text or no summary: %+v", out) // AT-296: an empty result says so
	}
	structured, err := json.Marshal(out.Structured)
	if err != nil {
		t.Fatal(err)
	}
	checkSchema(t, tool.Describe().Interface.OutputSchema, structured) // AT-276
	return out, nil
}

func (tr tree) grep(t testing.TB, input any) (string, grepResult) {
	t.Helper()
	out := tr.must(t, tr.newGrep(), input)
	return out.Content[0].Text, out.Structured.(grepResult)
}

func (tr tree) glob(t testing.TB, input any) (string, globResult) {
	t.Helper()
	out := tr.must(t, tr.newGlob(), input)
	return out.Content[0].Text, out.Structured.(globResult)
}

func (tr tree) must(t testing.TB, tool agenttool.Tool, input any) agenttool.Output {
	t.Helper()
	call, err := tr.bind(t, tool, input)
	if err != nil {
		t.Fatalf("bind %v: %v", input, err)
	}
	out, err := run(t, tool, call)
	if err != nil {
		t.Fatalf("run %v: %v", input, err)
	}
	return out
}

// fail returns the error of a call, of whatever step.
func (tr tree) fail(t testing.TB, tool agenttool.Tool, input any) *agenttool.Error {
	t.Helper()
	call, err := tr.bind(t, tool, input)
	if err == nil {
		_, err = run(t, tool, call)
	}
	if err == nil {
		t.Fatalf("%v: no error", input)
	}
	return agenttool.AsError(err, agenttool.ExecutionFailed)
}

var compiled = map[string]*jsonschema.Schema{}

func checkSchema(t testing.TB, schema, document []byte) {
	t.Helper()
	s := compiled[string(schema)]
	if s == nil {
		parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		c.DefaultDraft(jsonschema.Draft2020)
		if err := c.AddResource("schema.json", parsed); err != nil {
			t.Fatal(err)
		}
		if s, err = c.Compile("schema.json"); err != nil {
			t.Fatal(err)
		}
		compiled[string(schema)] = s
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	if err := s.Validate(value); err != nil {
		t.Errorf("%.200s does not conform to the schema: %v", document, err)
	}
}
