package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
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
	{"the wire as others see it, for tests", []string{"wire/wiretest"}, true},
	{"names", []string{"permissions/protect"}, true},
	{"leaves", []string{"classify", "permissions", "sandbox", "scheduler", "persist", "settings"}, true},
	{"tools", []string{"tools"}, false},
	{"pipeline", []string{"host"}, true},
	{"transports", []string{"wire/stdio", "wire/socket", "wire/mcp", "wire/http"}, true},
	{"places and forms", internal("dirs", "output"), true},
	{"parts", internal("builtin", "caller", "code", "effective", "history", "limit", "mcpconfig", "memory", "presence", "prune", "repositories", "sockets", "streams", "usage"), true},
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
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "toolhost/...").Output()
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
