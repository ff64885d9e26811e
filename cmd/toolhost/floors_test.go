package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floors are the layers of the module, from the ground up. Imports go down only; strangers on one floor do not know
// each other. A package belongs to the floor of its first path element; sub-packages are part of their house.
var floors = []struct {
	name      string
	houses    []string
	strangers bool // houses of this floor do not import each other
}{
	{"records", []string{"agenttool"}, true},
	{"names", []string{"permissions/protect"}, true},
	{"leaves", []string{"classify", "permissions", "sandbox", "scheduler", "persist", "settings"}, true},
	{"tools", []string{"tools"}, false},
	{"pipeline", []string{"host"}, true},
	{"transports", []string{"wire/stdio", "wire/socket", "wire/mcp", "wire/http"}, true},
	{"streams", internal("streams"), true},
	{"places and forms", internal("dirs", "output"), true},
	{"parts", internal("builtin", "caller", "code", "effective", "history", "limit", "mcpconfig", "memory", "presence", "repositories", "sockets"), true},
	{"clients and sandbox", internal("approve", "remote", "confine", "setup"), true},
	{"policy", internal("policy"), true},
	{"session", internal("session"), true},
	{"servers and single calls", internal("server", "onecall", "check", "doctor"), true},
	{"hooks of clients", internal("claudecode"), true},
	{"program", []string{"cmd/toolhost"}, true},
}

// internal are packages of the program: commands use them, and nothing else does.
func internal(names ...string) (houses []string) {
	for _, name := range names {
		houses = append(houses, "cmd/toolhost/internal/"+name)
	}
	return houses
}

// groundStdOnly are the packages of the ground floor that may import nothing but the standard library.
const groundStdOnly = "toolhost/agenttool"

type listedPackage struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	Imports    []string
	Standard   bool
}

func TestImportsGoDown(t *testing.T) {
	packages := listPackages(t)
	if len(packages) < 10 {
		t.Fatalf("go list names only %d packages: the test would prove nothing", len(packages))
	}
	for _, p := range packages {
		for _, imported := range p.Imports {
			if err := checkImport(p.ImportPath, imported); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestFloorsCatch shows that the check can fail.
func TestFloorsCatch(t *testing.T) {
	for _, c := range []struct {
		name, from, to string
		wantErr        bool
	}{
		{"down", "toolhost/host", "toolhost/persist", false},
		{"up", "toolhost/persist", "toolhost/host", true},
		{"a leaf asks for names", "toolhost/permissions", "toolhost/permissions/protect", false},
		{"names know no leaf", "toolhost/permissions/protect", "toolhost/permissions", true},
		{"sideways leaves", "toolhost/permissions", "toolhost/persist", true},
		{"sideways transports", "toolhost/wire/stdio", "toolhost/wire/mcp", true},
		{"inside a house", "toolhost/wire/stdio/native", "toolhost/wire/stdio", false},
		{"among tools", "toolhost/tools/files", "toolhost/tools/workspace", false},
		{"ground imports a library", "toolhost/agenttool", "github.com/spf13/cobra", true},
		{"a command uses a session", "toolhost/cmd/toolhost", "toolhost/cmd/toolhost/internal/session", false},
		{"a policy knows no session", "toolhost/cmd/toolhost/internal/policy", "toolhost/cmd/toolhost/internal/session", true},
		{"approve knows no session", "toolhost/cmd/toolhost/internal/approve/client", "toolhost/cmd/toolhost/internal/session", true},
		{"unknown house", "toolhost/util", "fmt", true},
		{"imports an unknown house", "toolhost/host", "toolhost/util", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := checkImport(c.from, c.to); (err != nil) != c.wantErr {
				t.Errorf("checkImport(%s, %s) = %v, want an error: %v", c.from, c.to, err, c.wantErr)
			}
		})
	}
}

func checkImport(from, to string) error {
	fromFloor, fromHouse := floorOf(from)
	if fromFloor < 0 {
		return fmt.Errorf("%s is on no floor: see the floors in docs/architecture.md", from)
	}
	if !strings.HasPrefix(to, "toolhost/") {
		if from == groundStdOnly && strings.Contains(to, ".") {
			return fmt.Errorf("%s imports %s: it may import the standard library only", from, to)
		}
		return nil
	}
	toFloor, toHouse := floorOf(to)
	switch {
	case toFloor < 0:
		return fmt.Errorf("%s imports %s, which is on no floor", from, to)
	case toFloor > fromFloor:
		return fmt.Errorf("%s imports %s: that goes up, from %s to %s", from, to, floors[fromFloor].name, floors[toFloor].name)
	case toFloor == fromFloor && toHouse != fromHouse && floors[toFloor].strangers:
		return fmt.Errorf("%s imports %s: %s are strangers to each other", from, to, floors[toFloor].name)
	}
	return nil
}

// floorOf returns the floor and house of a package, -1 if it has none.
func floorOf(path string) (int, string) {
	rel := strings.TrimPrefix(path, "toolhost/")
	for i, f := range floors {
		j := slices.IndexFunc(f.houses, func(h string) bool { return rel == h || strings.HasPrefix(rel, h+"/") })
		if j >= 0 {
			return i, f.houses[j]
		}
	}
	return -1, ""
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,Dir,GoFiles", "toolhost/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listedPackage
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listedPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// TestOneReaderOfJSON: product code reads and writes JSON with toolhost/agenttool/json, which matches names exactly. Not so the packages
// that speak with other programs' JSON, or see toolhost as others do.
func TestOneReaderOfJSON(t *testing.T) {
	others := []string{"toolhost/agenttool/json", "toolhost/sandbox/gocache", "toolhost/cmd/toolhost/internal/mcpconfig",
		"toolhost/cmd/toolhost/internal/setup", "toolhost/examples", "toolhost/testdata"}
	checked := 0
	for _, p := range listPackages(t) {
		if slices.ContainsFunc(others, func(other string) bool { return p.ImportPath == other || strings.HasPrefix(p.ImportPath, other+"/") }) {
			continue
		}
		for _, file := range p.GoFiles {
			checked++
			for _, use := range usesOf(t, filepath.Join(p.Dir, file), "encoding/json") {
				if use != "RawMessage" && use != "Number" && use != "Marshaler" {
					t.Errorf("%s/%s uses %s of encoding/json", p.ImportPath, file, use)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d files were checked", checked)
	}
}

// usesOf returns the names that a file uses of a package that it imports.
func usesOf(t *testing.T, file, pkg string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	local := ""
	for _, i := range parsed.Imports {
		if i.Path.Value == strconv.Quote(pkg) {
			local = path.Base(pkg)
			if i.Name != nil {
				local = i.Name.Name
			}
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok && local != "" && x.Name == local {
				names = append(names, s.Sel.Name)
			}
		}
		return true
	})
	return names
}
