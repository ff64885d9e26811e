package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"toolhost/agenttool"
	"toolhost/tools/search/engine"
	"toolhost/tools/workspace"
)

// project is a tree with a bit of everything.
var project = map[string]string{
	".gitignore":     "*.log\n",
	".hidden/h.go":   "package hidden // needle\n",
	"a.log":          "needle\n",
	"bin/image.png":  "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR needle\n",
	"go.mod":         "module needle\n",
	"main.go":        "package main\n\nfunc main() {\n\tneedle(1)\n\tneedle(needle(2))\n}\n",
	"main_test.go":   "package main\n",
	"src-x/x.ts":     "const needle = 1\n",
	"src/a.ts":       "let a\nneedle\r\nlet b\r\n",
	"src/deep/b.tsx": "// Needle\n",
	"src/z.md":       "no newline at the end: needle",
}

// leftOut is what searches of the project leave out.
const leftOut = "left out 1 ignored (no_ignore), 2 hidden (hidden)]\n"

func TestGrep(t *testing.T) {
	tr := plant(t, project)
	tests := []struct{ name, input, want string }{
		{"content", `{"pattern":"needle"}`, "go.mod:1:module needle\nmain.go:4:\tneedle(1)\nmain.go:5:\tneedle(needle(2))\n" +
			"src-x/x.ts:1:const needle = 1\nsrc/a.ts:2:needle\nsrc/z.md:1:no newline at the end: needle\n[skipped 1 binary with matches (bin/image.png); " +
			leftOut},
		{"files", `{"pattern":"needle","output_mode":"files_with_matches","type":"go"}`, "main.go\n[" + leftOut},
		{"count", `{"pattern":"needle","output_mode":"count","glob":"*.go"}`, "main.go:2\n[" + leftOut},
		{"case", `{"pattern":"NEEDLE","ignore_case":true,"path":"src"}`,
			"src/a.ts:2:needle\nsrc/deep/b.tsx:1:// Needle\nsrc/z.md:1:no newline at the end: needle\n"},
		{"glob with a slash", `{"pattern":"(?i)needle","glob":"src/**/*.{ts,tsx}"}`, "src/a.ts:2:needle\nsrc/deep/b.tsx:1:// Needle\n"},
		{"glob is below the path", `{"pattern":"(?i)needle","path":"src","glob":"deep/*"}`, "src/deep/b.tsx:1:// Needle\n"},
		{"glob that leaves out", `{"pattern":"needle","glob":"!src*"}`, "go.mod:1:module needle\nmain.go:4:\tneedle(1)\n" +
			"main.go:5:\tneedle(needle(2))\n[skipped 1 binary with matches (bin/image.png); " + leftOut},
		{"hidden", `{"pattern":"needle","type":"go","hidden":true,"output_mode":"count"}`, ".hidden/h.go:1\nmain.go:2\n[left out 1 ignored (no_ignore)]\n"},
		{"a glob with a dot finds hidden names", `{"pattern":"needle","glob":".hidden/*"}`, ".hidden/h.go:1:package hidden // needle\n"},
		{"no_ignore", `{"pattern":"needle","glob":"*.log","no_ignore":true}`, "a.log:1:needle\n[left out 2 hidden (hidden)]\n"},
		{"a file", `{"pattern":"needle","path":"src/a.ts"}`, "src/a.ts:2:needle\n"},
		{"an ignored file, named", `{"pattern":"needle","path":"a.log","type":"go"}`, "a.log:1:needle\n"},
		{"context", `{"pattern":"needle$","path":"src/a.ts","context":1}`, "src/a.ts-1-let a\nsrc/a.ts:2:needle\nsrc/a.ts-3-let b\n"},
		{"groups", `{"pattern":"needle","glob":"*.{go,mod}","before":1}`, "go.mod:1:module needle\n--\n" +
			"main.go-3-func main() {\nmain.go:4:\tneedle(1)\nmain.go:5:\tneedle(needle(2))\n[" + leftOut},
		{"multiline", `{"pattern":"main\\(\\).*?needle","multiline":true}`, "main.go:3:func main() {\nmain.go:4:\tneedle(1)\n[" + leftOut},
		{"limit", `{"pattern":"needle","limit":2}`, "go.mod:1:module needle\nmain.go:4:\tneedle(1)\n" +
			"[showing 2 of at least 3 matching lines; next offset 2; skipped 1 binary with matches (bin/image.png); " + leftOut},
		{"offset", `{"pattern":"needle","limit":1,"offset":2}`, "main.go:5:\tneedle(needle(2))\n" +
			"[showing 3 to 3 of at least 4 matching lines; next offset 3; skipped 1 binary with matches (bin/image.png); " + leftOut},
		{"the last page", `{"pattern":"needle","offset":5}`, "src/z.md:1:no newline at the end: needle\n" +
			"[showing 6 to 6 of 6 matching lines; skipped 1 binary with matches (bin/image.png); " + leftOut},
		{"behind the last page", `{"pattern":"needle","offset":9,"path":"src"}`, "[nothing at offset 9: there are 2 matching lines]\n"},
		{"limit of files", `{"pattern":"needle","limit":1,"output_mode":"files_with_matches"}`,
			"go.mod\n[showing 1 of at least 2 files; next offset 1; skipped 1 binary with matches (bin/image.png); " + leftOut},
		{"nothing", `{"pattern":"nowhere"}`, "No matches. Searched 8 files in the workspace.\n[" + leftOut},
		{"nothing in a directory", `{"pattern":"nowhere","path":"src"}`, "No matches. Searched 3 files in src.\n"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if got, _ := tr.grep(t, tc.input); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestGrepStructured(t *testing.T) {
	tr := plant(t, project)
	four, one := 4, 1
	tests := []struct {
		name, input string
		want        grepResult
	}{
		{"content", `{"pattern":"needle","path":"main.go"}`, grepResult{
			grepFound: grepFound{Matches: []grepMatch{
				{"main.go", 4, 2, "\tneedle(1)", []engine.Span{{Start: 1, End: 7}}},
				{"main.go", 5, 2, "\tneedle(needle(2))", []engine.Span{{Start: 1, End: 7}, {Start: 8, End: 14}}},
			}},
			Total: 2, FilesSearched: 1,
		}},
		{"no match", `{"pattern":"nowhere","path":"bin"}`, grepResult{grepFound: grepFound{Matches: []grepMatch{}}, FilesSearched: 1}},
		{"a match in a binary file", `{"pattern":"needle","path":"bin"}`,
			grepResult{grepFound: grepFound{Matches: []grepMatch{}}, Skipped: skipCounts{Binary: 1}}},
		{"count", `{"pattern":"needle","path":"src","output_mode":"count","limit":1}`, grepResult{
			grepFound: grepFound{Counts: []grepCount{{"src/a.ts", 1}}}, Total: 2, LowerBound: true, NextOffset: &one, FilesSearched: 3,
		}},
		{"files", `{"pattern":"n","output_mode":"files_with_matches","limit":2,"offset":2}`, grepResult{
			grepFound: grepFound{Files: []string{"main_test.go", "src-x/x.ts"}}, Total: 5, LowerBound: true, NextOffset: &four,
			FilesSearched: 5, Skipped: skipCounts{Binary: 1},
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if _, got := tr.grep(t, tc.input); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got  %s\nwant %s", asJSON(t, got), asJSON(t, tc.want))
			}
		})
	}
}

func asJSON(t testing.TB, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestGrepErrors(t *testing.T) {
	tr := plant(t, map[string]string{"a": "", "state/x": "needle"})
	private, err := workspace.Open([]string{tr.dir}, filepath.Join(tr.dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	defer private.Close()
	tests := []struct{ name, input, code, want string }{
		{"pattern", `{"pattern":"(a|b"}`, "bad_pattern", "missing closing ) at character 1, `(`"},
		{"glob", `{"pattern":"x","glob":"[a"}`, "bad_glob", `"[a"`},
		{"endless glob", `{"pattern":"x","glob":"` + strings.Repeat("{a,b}", 40) + `"}`, "bad_glob", "more than 256"},
		{"type", `{"pattern":"x","type":"pythn"}`, "unknown_type", "py, python?"},
		{"type with nothing near", `{"pattern":"x","type":"qqqqqq"}`, "unknown_type", "a language or a file extension"},
		{"missing", `{"pattern":"x","path":"b"}`, "not_found", "b does not exist"},
		{"below a file", `{"pattern":"x","path":"a/b"}`, "not_a_directory", "a/b"},
		{"private", `{"pattern":"x","path":"state"}`, "private_path", "toolhost's own state"},
	}
	tr.ws = private
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			e := tr.fail(t, tr.newGrep(), tc.input)
			if e.Code != tc.code || !strings.Contains(e.Message, tc.want) {
				t.Errorf("got  %s: %s\nwant %s: %s", e.Code, e.Message, tc.code, tc.want)
			}
		})
	}
	if text, _ := tr.grep(t, `{"pattern":"needle"}`); !strings.HasPrefix(text, "No matches. Searched 1 file in") {
		t.Errorf("toolhost's own state was searched: %s", text)
	}
}

func TestGrepBind(t *testing.T) {
	tr := plant(t, map[string]string{"src/a": ""})
	tool := tr.newGrep()
	scope := agenttool.Scope{Dir: filepath.Join(tr.dir, "src"), Roots: []string{tr.dir}, Home: "/home/me"}
	tests := []struct{ name, input, path string }{
		{"none is the workspace", `{"pattern":"x"}`, tr.dir},
		{"relative to the session's directory", `{"pattern":"x","path":"a"}`, tr.dir + "/src/a"},
		{"home", `{"pattern":"x","path":"~/a"}`, "/home/me/a"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			call, err := tool.Bind(scope, json.RawMessage(tc.input))
			if err != nil {
				t.Fatal(err)
			}
			facts := call.Facts()
			if facts.ReadOnly != agenttool.Yes || facts.PathsComplete != agenttool.Yes || len(facts.Reads) != 1 ||
				facts.Reads[0].Absolute != tc.path || facts.Writes != nil {
				t.Errorf("facts %+v", facts)
			}
			// What is normalised binds to itself.
			again, err := tool.Bind(scope, json.RawMessage(asJSON(t, call.Input())))
			if err != nil || !reflect.DeepEqual(again.Input(), call.Input()) {
				t.Errorf("%+v binds to %+v, %v", call.Input(), again, err)
			}
		})
	}
}

func TestGrepPagesAreTheWhole(t *testing.T) {
	files := map[string]string{}
	for i := range 30 {
		files[fmt.Sprintf("d%d/f%d", i%4, i)] = strings.Repeat("x\nneedle\n", i%7) + "needle"
	}
	tr := plant(t, files)
	for _, mode := range []string{contentMode, filesMode, countMode} {
		for _, limit := range []int{1, 3, 7, 50} {
			input := map[string]any{"pattern": "needle", "output_mode": mode, "limit": 10_000}
			_, whole := tr.grep(t, input)
			if whole.NextOffset != nil || whole.LowerBound {
				t.Fatalf("%s: the whole has a next page", mode)
			}
			var got grepResult
			input["limit"] = limit
			for next := new(int); next != nil; {
				input["offset"] = *next
				_, page := tr.grep(t, input)
				got.Matches = append(got.Matches, page.Matches...)
				got.Files = append(got.Files, page.Files...)
				got.Counts = append(got.Counts, page.Counts...)
				next = page.NextOffset
				if page.Total > whole.Total || next == nil && page.Total != whole.Total {
					t.Errorf("%s: total %d of %d", mode, page.Total, whole.Total)
				}
			}
			if !slices.EqualFunc(got.Matches, whole.Matches, func(a, b grepMatch) bool { return reflect.DeepEqual(a, b) }) ||
				!slices.Equal(got.Files, whole.Files) || !slices.Equal(got.Counts, whole.Counts) {
				t.Errorf("%s, limit %d: the pages are not the whole", mode, limit)
			}
		}
	}
}

// A page that is cut by size goes on where it was cut.
func TestGrepOutputIsBounded(t *testing.T) {
	files := map[string]string{}
	for i := range 10 {
		files[strings.Repeat("d", 200)+fmt.Sprint(i)+"/f"] = strings.Repeat("\x01<needle>"+strings.Repeat("&", 400)+"\n", 100)
	}
	tr := plant(t, files)
	total, pages := 0, 0
	for next := new(int); next != nil; pages++ {
		_, page := tr.grep(t, map[string]any{"pattern": "needle", "limit": 10_000, "offset": *next})
		total += len(page.Matches)
		next = page.NextOffset
	}
	if total != 1000 || pages < 3 {
		t.Errorf("%d matches on %d pages", total, pages)
	}
	text, got := tr.grep(t, map[string]any{"pattern": "needle", "limit": 100, "context": 1000})
	if len(got.Matches) == 0 || got.NextOffset == nil {
		t.Errorf("%d matches, next %v, %.100q", len(got.Matches), got.NextOffset, text)
	}
}

func TestGrepTimeLimit(t *testing.T) {
	tr := plant(t, project)
	tool := tr.newGrep().(grepTool)
	tool.limits.search = 0
	out := tr.must(t, tool, `{"pattern":"needle"}`)
	got := out.Structured.(grepResult)
	if !got.TimedOut || !got.LowerBound || !strings.Contains(out.Content[0].Text, "stopped at the time limit") {
		t.Errorf("%s\n%+v", out.Content[0].Text, got)
	}
}

func TestGrepCancel(t *testing.T) {
	tr := plant(t, project)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tool := range []agenttool.Tool{tr.newGrep(), tr.newGlob()} {
		call, err := tr.bind(t, tool, `{"pattern":"x"}`)
		if err != nil {
			t.Fatal(err)
		}
		out, err := call.Run(ctx, nil)
		if !errors.Is(err, context.Canceled) || !strings.Contains(out.Content[0].Text, "canceled") {
			t.Errorf("%v, %+v", err, out)
		}
	}
}

// The same search gives the same result, however many workers it has.
func TestGrepIsStable(t *testing.T) {
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("d%d/e%d/f%d", i%3, i%5, i)] = strings.Repeat("needle\n", 1+i%3)
	}
	tr := plant(t, files)
	first, _ := tr.grep(t, `{"pattern":"needle","limit":150,"offset":20}`)
	for range 20 {
		if again, _ := tr.grep(t, `{"pattern":"needle","limit":150,"offset":20}`); again != first {
			t.Fatalf("got\n%s\nbefore\n%s", again, first)
		}
	}
	_, got := tr.grep(t, `{"pattern":"needle","output_mode":"files_with_matches"}`)
	if want := slices.Sorted(maps.Keys(files)); !slices.Equal(got.Files, want) {
		t.Errorf("files are not in byte order: %q", got.Files)
	}
}

func TestGrepOtherWorkspaceRoot(t *testing.T) {
	tr := plant(t, map[string]string{"a": "needle\n"})
	other := plant(t, map[string]string{"b": "needle\n"})
	text, _ := tr.grep(t, map[string]any{"pattern": "needle", "path": other.dir})
	if want := other.dir + "/b:1:needle\n"; text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

// What ripgrep finds is what grep finds.
func TestGrepAgreesWithRipgrep(t *testing.T) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		t.Skip("rg is not installed: nothing to compare with")
	}
	tr := plant(t, project)
	for _, dir := range []string{tr.dir, filepath.Join(build.Default.GOROOT, "src", "regexp")} {
		tr, err := open(t, dir)
		if err != nil {
			t.Skip("the Go sources are not here:", err)
		}
		for _, tc := range []struct {
			input string
			args  []string
		}{
			{`{"limit":10000,"pattern":"needle"}`, []string{"needle"}},
			{`{"limit":10000,"pattern":"func \\w+\\(","type":"go"}`, []string{`func [0-9A-Za-z_]+\(`, "-tgo"}},
			{`{"limit":10000,"pattern":"error|nil","glob":"*.go","output_mode":"count"}`, []string{"error|nil", "-g*.go", "-c"}},
			{`{"limit":10000,"pattern":"ERROR","ignore_case":true,"output_mode":"files_with_matches"}`, []string{"ERROR", "-il"}},
			{`{"limit":10000,"pattern":"^import \\($","context":2,"glob":"!*_test.go"}`, []string{`^import \($`, "-C2", "-g!*_test.go"}},
			{`{"limit":10000,"pattern":"\\{\\n\\t*return nil","multiline":true}`, []string{`\{\n\t*return nil`, "-U"}},
			{`{"limit":10000,"pattern":"\\s+$","hidden":true,"no_ignore":true,"glob":"*.md"}`, []string{`\s+$`, "-g*.md", "--hidden", "-uu"}},
		} {
			args := append([]string{"--no-config", "--no-require-git", "--no-heading", "-n", "--color=never"}, tc.args...)
			cmd := exec.Command(rg, append(args, ".")...)
			cmd.Dir = dir
			want, _ := cmd.Output() // status 1 without a match
			text, _ := tr.grep(t, tc.input)
			if got, want := fileBlocks(text), fileBlocks(strings.ReplaceAll(string(want), "\r\n", "\n")); !reflect.DeepEqual(got, want) {
				t.Errorf("%s\ngot  %.2000q\nwant %.2000q", tc.input, got, want)
			}
		}
	}
}

// fileBlocks returns the lines of an output in sorted order, without separators and notes.
func fileBlocks(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "./")
		if line != "--" && !strings.HasPrefix(line, "[") && !strings.HasPrefix(line, "No matches.") {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return out
}

func BenchmarkGrepSmall(b *testing.B) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("pkg%d/file%d.go", i%4, i)] = "package x\n\nimport \"fmt\"\n" +
			strings.Repeat("// some line of a comment in a file\nfunc f() { fmt.Println() }\n", 80) +
			fmt.Sprintf("var needle%d = 1\n", i)
	}
	tr := plant(b, files)
	if err := os.WriteFile(filepath.Join(tr.dir, ".gitignore"), []byte("*.o\n/bin/\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	tool := tr.newGrep()
	for b.Loop() {
		call, err := tool.Bind(tr.scope, json.RawMessage(`{"pattern":"needle\\d+"}`))
		if err != nil {
			b.Fatal(err)
		}
		if err := tr.ws.Locate(&call.Facts().Reads[0]); err != nil {
			b.Fatal(err)
		}
		out, err := call.Run(context.Background(), nil)
		if err != nil || len(out.Structured.(grepResult).Matches) != 20 {
			b.Fatal(err, out)
		}
	}
}
