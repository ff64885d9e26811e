package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"mvdan.cc/sh/v3/shell"
)

// TestArchitectureNames: each file, package and function that docs/architecture.md names exists.
func TestArchitectureNames(t *testing.T) {
	t.Parallel()
	page := readDoc(t, "architecture.md")
	prose := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(page, "")
	checked := 0
	for _, m := range regexp.MustCompile("`([a-z_/]+)(\\.[A-Za-z_.]+)?`").FindAllStringSubmatch(prose, -1) {
		path, member := m[1], strings.TrimPrefix(m[2], ".")
		if strings.Contains(path, "/") || isDir(path) {
			if checked++; !isNamed(t, path, member) {
				t.Errorf("there is no %s", m[0])
			}
		}
	}
	if checked < 40 {
		t.Errorf("only %d names were checked", checked)
	}
}

// TestNamesAreMissed shows that the check can fail.
func TestNamesAreMissed(t *testing.T) {
	for path, member := range map[string]string{"host/none": "go", "tools/none": "", "host": "Host.None", "classify": "None", "classify/none": "Command"} {
		if isNamed(t, path, member) {
			t.Errorf("%s.%s is found", path, member)
		}
	}
}

// TestToolOfTheDocs calls the tool of docs/architecture.md, in a program that was built as the page says.
func TestToolOfTheDocs(t *testing.T) {
	t.Parallel()
	if underRace {
		t.Skip("the program is built without the race detector: the ordinary run shows it")
	}
	program, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	dir, state := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("a\nb\nc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		deny, want string
		code       int
	}{{"write", "3 lines", 0}, {"count", "denied by cli_arg:count", 3}, {"Read(go.mod)", "denied by cli_arg:Read(go.mod)", 3}} {
		call := exec.Command(program, "call", "count", `{"path":"go.mod"}`, "--workspace", dir, "--deny", c.deny)
		call.Dir, call.Env = dir, append(os.Environ(), "XDG_STATE_HOME="+state)
		if out, err := call.CombinedOutput(); call.ProcessState.ExitCode() != c.code || !strings.Contains(string(out), c.want) {
			t.Errorf("with %s denied: %v\n%s", c.deny, err, out)
		}
	}
}

// TestToolOfTheDocsIsDescribed: the declaration of the tool of docs/architecture.md has the members of a tool that is shipped, and its hints
// say that it only reads.
func TestToolOfTheDocsIsDescribed(t *testing.T) {
	t.Parallel()
	if underRace {
		t.Skip("the program is built without the race detector: the ordinary run shows it")
	}
	program, err := documented()
	if err != nil {
		t.Fatal(err)
	}
	named := func(tools []map[string]any, name string) map[string]any {
		i := slices.IndexFunc(tools, func(tool map[string]any) bool { return tool["name"] == name })
		if i < 0 {
			t.Fatalf("no tool is named %s", name)
		}
		return tools[i]
	}
	printed := func(format string, into any) {
		out, err := exec.Command(program, "tools", "--format", format).Output()
		if err := errors.Join(err, json.Unmarshal(out, into)); err != nil {
			t.Fatal(err)
		}
	}
	var declared []map[string]any
	printed("agenttool", &declared)
	ours := named(declared, "count")
	for member := range named(declared, "read") {
		if ours[member] == nil && member != "aliases" {
			t.Errorf("the declaration has no %s", member)
		}
	}
	var mcp struct{ Tools []map[string]any }
	printed("mcp", &mcp)
	if got, want := named(mcp.Tools, "count")["annotations"], named(mcp.Tools, "read")["annotations"]; !reflect.DeepEqual(got, want) {
		t.Errorf("the hints are %v, and those of read %v", got, want)
	}
}

// documented is the path of the program with the tool of docs/architecture.md. It is built once for all tests.
var documented = sync.OnceValues(func() (string, error) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		return "", err
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 2 {
		return "", fmt.Errorf("the page has %d blocks of Go, want a tool and the line that adds it", len(blocks))
	}
	const list = "cmd/toolhost/internal/builtin/builtin.go"
	source, err := os.ReadFile(filepath.Join("../..", list))
	if err != nil {
		return "", err
	}
	added := strings.Replace(string(source), "\t\"toolhost/tools/files\"\n", "\t\"toolhost/tools/count\"\n\t\"toolhost/tools/files\"\n", 1)
	added = strings.Replace(added, "\ttools = append(tools, files.New", blocks[1][1]+"\ttools = append(tools, files.New", 1)
	dir, err := sharedDir()
	if err != nil {
		return "", err
	}
	files, err := overlay(dir, map[string]string{"tools/count/count.go": blocks[0][1], list: added})
	if err != nil {
		return "", err
	}
	return builtAs(filepath.Join(dir, "toolhost"), "-overlay", files)
})

// overlay writes files that the go command takes for files of the module, and returns the list of them.
func overlay(dir string, files map[string]string) (string, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for name, text := range files {
		at := filepath.Join(dir, filepath.Base(name))
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(root, name)] = at
	}
	encoded, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "overlay.json")
	return at, os.WriteFile(at, encoded, 0o600)
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func isDir(path string) bool {
	info, err := os.Stat(filepath.Join("../..", path))
	return err == nil && info.IsDir()
}

// isNamed reports whether a path of the module has what is named: nothing, an extension, a function or a method.
func isNamed(t *testing.T, path, member string) bool {
	t.Helper()
	if _, err := os.Stat(filepath.Join("../..", strings.TrimSuffix(path+"."+member, "."))); err == nil {
		return true
	}
	if !isDir(path) || member == "" {
		return false
	}
	sources, err := filepath.Glob(filepath.Join("../..", path, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(sources, func(source string) bool {
		if strings.HasSuffix(source, "_test.go") {
			return false
		}
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
			f, ok := d.(*ast.FuncDecl)
			return ok && functionName(f) == member
		})
	})
}

// functionName returns Name, or Type.Name of a method.
func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if name, ok := receiver.(*ast.Ident); ok {
		return name.Name + "." + f.Name.Name
	}
	return f.Name.Name
}

// pages are the README and the pages of docs.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	beside, err := filepath.Glob("../../*.md")
	if err != nil {
		t.Fatal(err)
	}
	return append(found, beside...)
}

// TestLinksOfTheDocs: each link to a file leads to one.
func TestLinksOfTheDocs(t *testing.T) {
	t.Parallel()
	links := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`).FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
	if links < 20 {
		t.Errorf("only %d links were checked", links)
	}
}

// TestPagesAreMerged: no page has the lines of a merge that was not finished.
func TestPagesAreMerged(t *testing.T) {
	t.Parallel()
	unfinished := regexp.MustCompile(`(?m)^(<<<<<<<|>>>>>>>) `)
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if line := unfinished.Find(text); line != nil {
			t.Errorf("%s has a line with %s", page, line)
		}
	}
}

// TestReadmeIsShort: the README is read in one sitting.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > 150 {
		t.Errorf("the README has %d lines, at most 150", n)
	}
}

// TestConsoleOfTheDocs runs each command of the blocks marked console, and compares its output with the lines below it. In such a
// line … stands for any text; a line of its own, for any lines.
func TestConsoleOfTheDocs(t *testing.T) {
	t.Parallel()
	ran := 0
	for _, page := range pages(t) {
		for _, block := range blocks(t, page, "console") {
			ran += runConsole(t, page, block)
		}
	}
	if ran < 5 {
		t.Errorf("only %d commands were run", ran)
	}
}

// runConsole runs the commands of one block in a directory of its own and returns how many there are.
func runConsole(t *testing.T, page, block string) int {
	t.Helper()
	dir, status, ran := t.TempDir(), 0, 0
	for _, shown := range strings.Split("\n"+block, "\n$ ")[1:] {
		command, want, _ := strings.Cut(shown, "\n")
		cmd := exec.Command("bash", "-c", "(exit $1); "+command, "bash", strconv.Itoa(status))
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		status = cmd.ProcessState.ExitCode()
		ran++
		if want, got := strings.TrimSpace(want), strings.TrimSpace(string(out)); !globbed(want, got) {
			t.Errorf("%s: %s prints\n%s\nand the page shows\n%s", page, command, got, want)
		}
	}
	return ran
}

// TestSettingsOfTheDocs: each block marked jsonc is a file of settings without an error.
func TestSettingsOfTheDocs(t *testing.T) {
	checked := 0
	for _, page := range pages(t) {
		for _, block := range blocks(t, page, "jsonc") {
			file := filepath.Join(t.TempDir(), "settings.json")
			if err := os.WriteFile(file, []byte(block), 0o600); err != nil {
				t.Fatal(err)
			}
			checked++
			if _, err := executed(t, "settings", "check", file, "--workspace", t.TempDir()); err != nil {
				t.Errorf("%s: %v in\n%s", page, err, block)
			}
		}
	}
	if checked < 6 {
		t.Errorf("only %d blocks were checked", checked)
	}
}

// TestCommandsOfTheDocs: each indented line that calls toolhost names a command that exists, with flags and as many arguments as it takes.
func TestCommandsOfTheDocs(t *testing.T) {
	checked := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^    (?:\./)?toolhost (.*)$`).FindAllStringSubmatch(string(text), -1) {
			line, _, _ := strings.Cut(m[1], "  ") // its explanation
			line, _, _ = strings.Cut(line, " >")
			checked++
			if err := accepted(line); err != nil {
				t.Errorf("%s: toolhost %s: %v", page, line, err)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d commands were checked", checked)
	}
}

// accepted reports why toolhost would refuse a command line before it does anything.
func accepted(line string) error {
	words, err := shell.Fields(line, nil)
	if err != nil {
		return err
	}
	cmd, rest, err := newRoot().Find(words)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// blocks returns the fenced blocks of a page that are marked so.
func blocks(t *testing.T, page, mark string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```"+mark+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		list = append(list, m[1])
	}
	return list
}

// executed runs a command line in this process and returns its output.
func executed(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.Execute()
	return out.String(), err
}
